# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Steps that restore the objects of a Kubernetes cluster. Pure."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.kubernetes import noun
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.supervisor import vm_class
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.charts import GPU_OPERATOR
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.judge import CANNOT, UNREACHABLE
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import (
    FAILED,
    PLANNED,
    Cannot,
    Net,
    Step,
    cannot,
    net,
    step,
)

if TYPE_CHECKING:
    from typing import Iterable, Mapping, Sequence, Union

    from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import Entry, Inverse

    Steps = list[Union[Step, Cannot]]

MODULE, VM_CLASS, HELM = "kubernetes_object", "vm_class", "helm_release"
GONE, UNFINISHED = "helm_revision_gone", "helm_unfinished"
# The object is another one now, or others use it.
OF_OTHERS = (noun.GONE, noun.OTHER, noun.CHANGED, noun.FILLED, "vm_class_incomplete", "vm_class_in_use")
# In this order: jobs use networks, networks use policies, and all of them are in namespaces.
ORDER = (
    ("MPIJob", "TrainJob"),
    ("HostDeviceNetwork", "MacvlanNetwork", "IPPool"),
    ("Node",),
    ("NicClusterPolicy", "ClusterPolicy"),
    (HELM,),
    ("ConfigMap", "Secret", "ServiceAccount", "SecurityContextConstraints"),
    ("Namespace",),
    # On the Supervisor.
    ("Cluster",),
)
VMS, NAMESPACE, NAMESPACES = ("Cluster",), "Namespace", "namespaces"
_DELETE_VMS = (
    "The runs created the nodes of the cluster or changed them. Set restore_delete_vms to true to delete a cluster "
    "that they created, with its nodes."
)
_DELETE_NAMESPACE = "The runs created the namespace. Set restore_delete_namespaces to true to delete it if it is empty."
_UNIDENTIFIED = (
    "A run was killed while it created the object, so the journal has no uid. Check the object and delete it with "
    "kubectl."
)
_DELETED = "The run deleted the object. Run the playbook kubernetes to create it again."
_DELETE_NODES = (
    "The nodes of the cluster of these runs use the VM class. Set restore_delete_vms to true to restore it after the "
    "cluster."
)
_KILLED = (
    "A run was killed while Helm changed the release, or could not read the release afterwards. Check it with "
    "`helm history`, and set it back with Helm."
)
_STATUS = "status"
_RESERVATION = "vCenter cannot remove a reservation of a VM class. Set it to 0 with the module vm_class."
# Where the module of a step connects to.
SUPERVISOR, INSIDE, VCENTER = "supervisor", "cluster", "vcenter"
_SECRET = "The journal has no content of secrets."


_LOST_SECRET = (
    "A run of the stage deleted the secret {name} after the licence token was renewed, and the journal has no content "
    "of secrets. Set the earlier token and run the playbook kubernetes, or set the field by hand."
)
_KEPT_SECRET = "The ClusterPolicy still names the secret, because the secret before is deleted."
# Field of the ClusterPolicy with the name of the secret of the licence token.
OF_SECRET = "spec.driver.licensingConfig.secretName"


def lost(steps: Sequence[Mapping[str, Any]], why: str, gone: bool = True) -> list[dict[str, Any]]:
    """Rows for the report of restore: the cluster of these steps is gone, or it does not answer now."""
    state = CANNOT if gone else UNREACHABLE
    return [
        {**{key: one[key] for key in ("stage", "host", "object")}, "setting": path, "state": state, "why": why}
        for one in steps
        for path in one["back"]
    ]


def deleted_secrets(entries: Iterable[Entry]) -> set[str]:
    """Names of the secrets that runs of the stage deleted and did not create again."""
    return {name for name, (_before, exists) in _secrets(entries).items() if not exists}


def _secrets(entries: Iterable[Entry]) -> dict[str, tuple[bool, bool]]:
    """{name: (whether it existed before the entries, whether it exists after them)}."""
    known: dict[str, tuple[bool, bool]] = {}
    for entry in entries:
        definition = entry.request.get("definition") or {}
        if entry.module == MODULE and definition.get("kind") == "Secret":
            for made in entry.changes:
                if made.path == noun.EXISTS:
                    name = definition["metadata"]["name"]
                    known[name] = (known.get(name, (made.before,))[0] is True, made.after is True)
    return known


def without_rollback(found: Steps, entries: Sequence[Entry], due: Iterable[Entry], kept: set[str]) -> Steps:
    """The steps without the return of a release to values with the name of a secret that the same runs deleted.

    kept gets the secrets that these runs created, because the release keeps naming one of them.
    """
    secrets = _secrets(due)
    gone = sorted(name for name, (existed, exists) in secrets.items() if existed and not exists)
    made: Steps = []
    for one in found:
        if isinstance(one, Cannot) or not gone or one.args["name"] != GPU_OPERATOR or "content" not in one.args:
            made.append(one)
            continue
        made += [cannot(entries, path, _LOST_SECRET.format(name=", ".join(gone))) for path in one.back]
        kept.update(name for name, (existed, exists) in secrets.items() if exists and not existed)
    return made


def without_secrets(found: Steps, entries: Sequence[Entry], gone: set[str], kept: set[str]) -> Steps:
    """The steps without the name of a deleted secret, which no driver pod could mount.

    The policy then keeps the name that it has. kept gets this name, so that its secret is not deleted either.
    """
    made: Steps = []
    for one in found:
        name = "" if isinstance(one, Cannot) else str(one.back.get(OF_SECRET) or "")
        if isinstance(one, Cannot) or one.whole or name not in gone:
            made.append(one)
            continue
        made.append(cannot(entries, OF_SECRET, _LOST_SECRET.format(name=name)))
        left = {path: value for path, value in one.back.items() if path != OF_SECRET}
        if left:
            values = {path: value for path, value in one.args["values"].items() if path != OF_SECRET}
            args = {**one.args, "values": values}
            after = {path: value for path, value in one.left.items() if path != OF_SECRET}
            made.append(replace(one, args=args, back=left, left=after))
        kept.add(str(one.left.get(OF_SECRET)))
    return made


def is_kept(one: Mapping[str, Any], kept: set[str]) -> bool:
    """Whether a step would delete a secret that a ClusterPolicy keeps naming."""
    made = one["args"].get("definition") or {}
    return bool(one["whole"] and made.get("kind") == "Secret" and made["metadata"]["name"] in kept)


def of_kept(one: Mapping[str, Any]) -> dict[str, Any]:
    """What the report shows instead of such a step."""
    return asdict(Cannot(one["stage"], one["object"], noun.EXISTS, _KEPT_SECRET, one["host"]))


def rank(one: Mapping[str, Any]) -> int:
    """The place of a step in the order; 0 for a step of another module. VM classes are last: nodes use them."""
    if one["module"] == VM_CLASS:
        return len(ORDER) + 1
    if one["module"] not in (MODULE, HELM):
        return 0
    return next((number for number, kinds in enumerate(ORDER) if kind_of(one) in kinds), len(ORDER))


def kind_of(one: Mapping[str, Any]) -> str:
    """The kind of the object of a step; a release has the name of its module."""
    return HELM if one["module"] == HELM else str(one["args"]["definition"]["kind"])


def place(one: Step) -> str:
    """Where the module of a step connects to; empty for another stage."""
    if one.module == VM_CLASS:
        return VCENTER
    if one.module == HELM:
        return INSIDE
    if one.module != MODULE:
        return ""
    return SUPERVISOR if one.args["definition"]["kind"] in VMS else INSIDE


def has_nodes(entries: Iterable[Entry]) -> bool:
    """Whether the runs created or changed a cluster, whose nodes use the VM classes."""
    return any(one.module == MODULE and one.request["definition"]["kind"] in VMS for one in entries)


def permitted(found: Steps, delete_vms: bool, delete_namespaces: bool) -> Steps:
    """The steps, with those that need a permission of their own as what is not restored."""
    return [_permitted(one, delete_vms, delete_namespaces) for one in found]


def kept_classes(found: Steps) -> Steps:
    """VM classes of a cluster that stays, as what is not restored."""
    return [
        one if isinstance(one, Cannot) else Cannot(one.stage, one.object, path, _DELETE_NODES, one.host)
        for one in found
        for path in ([""] if isinstance(one, Cannot) else one.back)
    ]


def _permitted(one: Step | Cannot, delete_vms: bool, delete_namespaces: bool) -> Step | Cannot:
    if isinstance(one, Cannot) or one.module == HELM:
        return one
    kind = one.args["definition"]["kind"]
    what = noun.EXISTS if one.whole else ", ".join(one.back)
    if kind in VMS and not delete_vms:
        return Cannot(one.stage, one.object, what, _DELETE_VMS, one.host)
    if kind == NAMESPACE and one.whole and not delete_namespaces:
        return Cannot(one.stage, one.object, what, _DELETE_NAMESPACE, one.host)
    return one


def _object(entries: Sequence[Entry]) -> Steps:
    last = entries[-1]
    uid = str(last.ids.get("uid") or "")
    # An object that was created again under the same name is another object.
    entries = [one for one in entries if str(one.ids.get("uid") or uid) == uid]
    # An object that was deleted and created again has no earlier values from before.
    begins = [number for number, one in enumerate(entries) if _creates(one)]
    if begins and (begins[0] == 0 or entries[begins[-1]].ids.get("uid") == uid):
        return _created(entries, uid)
    settings = net(entries)
    exists = settings.pop(noun.EXISTS, None)
    found: Steps = [cannot(entries, noun.EXISTS, _DELETED)] if exists is not None and exists.back else []
    definition = last.request["definition"]
    # The journal shows the content of each change in the same way.
    filled = any(noun.is_data(made.path) for one in entries for made in one.changes)
    if definition["kind"] == "Secret" and (settings or filled):
        return [*found, cannot(entries, "data", _SECRET)]
    if not settings or found:
        return found
    values = {path: one.back for path, one in settings.items()}
    args = {"definition": _latest(entries), "values": values, "uid": uid}
    return [step(entries, args, settings)]


def _creates(entry: Entry) -> bool:
    return any(made.path == noun.EXISTS and made.before is False for made in entry.changes)


def _created(entries: Sequence[Entry], uid: str) -> Steps:
    settings = net(entries)
    exists = settings.get(noun.EXISTS)
    if exists is None:
        # A restore deleted it already.
        return []
    if not uid or entries[-1].state == PLANNED and not entries[-1].ids.get("uid"):
        return [cannot(entries, noun.EXISTS, _UNIDENTIFIED)]
    definition = entries[-1].request["definition"]
    metadata = {key: definition["metadata"][key] for key in ("name", "namespace") if key in definition["metadata"]}
    plain = {"apiVersion": definition["apiVersion"], "kind": definition["kind"], "metadata": metadata}
    args = {"definition": plain, "state": "absent", "uid": uid}
    return [replace(step(entries, args, {noun.EXISTS: exists}), whole=True)]


def _latest(entries: Sequence[Entry]) -> Mapping[str, Any]:
    """The last definition that a run of the stage applied. A restore applies one without the fields that it removed."""
    applied = [one for one in entries if one.request.get("values") is None]
    definition: Mapping[str, Any] = (applied or list(entries))[-1].request["definition"]
    return definition


def _vm_class(entries: Sequence[Entry]) -> Steps:
    earlier = net(entries, settled=True).get(noun.EXISTS)
    if earlier is not None and earlier.back:
        return [cannot(entries, noun.EXISTS, _DELETED)]
    # A restore may have deleted a class that a later run created again.
    begins = [number for number, one in enumerate(entries) if _creates(one)]
    entries = entries[begins[-1] :] if begins else entries
    name, settings = entries[-1].request["name"], net(entries)
    exists = settings.pop(noun.EXISTS, None)
    if begins:
        return [] if exists is None else [_without_class(entries, name, exists, settings)]
    spaces = settings.pop(NAMESPACES, None)
    found: Steps = [
        cannot(entries, path, _RESERVATION)
        for path, one in settings.items()
        if path.endswith("_reservation") and one.back is None
    ]
    settings = {path: one for path, one in settings.items() if not (path.endswith("_reservation") and one.back is None)}
    if settings:
        found.append(step(entries, {"name": name, **_options(settings)}, settings))
    if spaces is not None:
        before, after = set(spaces.back), {*spaces.left, *(one for more in spaces.also for one in more)}
        args = {"name": name, NAMESPACES: sorted(before - after), "withdraw_from": sorted(after - before)}
        found.append(step(entries, args, {NAMESPACES: spaces}))
    return found


def _without_class(entries: Sequence[Entry], name: str, exists: Net, settings: Mapping[str, Net]) -> Step:
    """The step that deletes a class with the settings that we left."""
    intact = {path: [one.left, *one.also] for path, one in settings.items()}
    offered = sorted({space for left in intact.get(NAMESPACES, ()) for space in left or ()})
    args = {"name": name, "state": "absent", "withdraw_from": offered}
    made = step(entries, args, {noun.EXISTS: exists})
    # Others may have withdrawn the class. The module rejects a class that they offered elsewhere.
    return replace(made, whole=True, intact={**intact, NAMESPACES: [*intact.get(NAMESPACES, ()), None]})


def _options(settings: Mapping[str, Net]) -> dict[str, Any]:
    """Options of the module vm_class from the paths of its changes."""
    made: dict[str, Any] = {}
    for path, one in settings.items():
        option, dot, key = path.partition(".")
        if dot:
            made.setdefault(option, {})[key] = one.back
        elif option == "devices":
            made[option] = [vm_class.device_of(text) for text in one.back]
        else:
            made[option] = vm_class.NO_FIRMWARE if option == "firmware" and one.back is None else one.back
    return made


def _release(entries: Sequence[Entry]) -> Steps:
    # A run that Helm rejected after a killed one changed nothing.
    entries = [one for one in entries if one.changes]
    # Somebody may have changed a release that a restore returned, or installed it again.
    first = [one.changes[0].before for one in entries[:1]]
    back = [end for end, one in enumerate(entries, 1) if one.state != PLANNED and one.changes[0].after in first]
    # Helm gives a release the content of its target also if a rollback fails, so the next restore rolls it back again.
    again = bool(back) and back[-1] == len(entries) and entries[-1].state == FAILED and first[0] is not None
    ends = back[:-1] if again else back
    entries = entries[ends[-1] :] if ends else entries
    if not entries:
        return []
    settings, request = net(entries), entries[-1].request
    if entries[-1].state == PLANNED:
        return [cannot(entries, path, _KILLED) for path in net(entries, settled=True)]
    args = {"name": request["name"], "namespace": request["namespace"], "state": "restored"}
    revision = entries[0].ids["revision"]
    if again:
        settings = {_STATUS: Net(_STATUS, "deployed", "failed", None, None)}
        return [step(entries, {**args, "content": first[0], "revision": revision}, settings)]
    return [
        step(entries, {**args, **({"content": one.back, "revision": revision} if one.back else {})}, {path: one})
        for path, one in settings.items()
    ]


INVERSE: Mapping[str, Inverse] = {MODULE: _object, VM_CLASS: _vm_class, HELM: _release}
