# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parameters of vm_clone: their spec, the rules between them, and the request for each VM."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence, TypedDict

from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args, escapes
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import cloud_init, disk

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.cloud_init import CloudInit

    class Network(TypedDict, total=False):
        """One adapter of customization.networks; ip and netmask are set if its type is static."""

        type: str
        ip: str
        netmask: str
        gateway: str | None


LONGEST_NAME = 80
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NO_OWNER = re.compile(r"[/\x00-\x1f\x7f]")

_CLOUD_INIT = {
    "type": "dict",
    "options": {"metadata": {"type": "raw"}, "userdata": {"type": "str", "no_log": True}},
}
_CUSTOMIZATION = {
    "type": "dict",
    "options": {
        "spec": {"type": "str"},
        "hostname": {"type": "str"},
        "domain": {"type": "str"},
        "networks": {
            "type": "list",
            "elements": "dict",
            "options": {
                "type": {"type": "str", "choices": ["dhcp", "static"], "default": "dhcp"},
                "ip": {"type": "str"},
                "netmask": {"type": "str"},
                "gateway": {"type": "str"},
            },
            "required_if": [("type", "static", ("ip", "netmask"))],
        },
        "dns_servers": {"type": "list", "elements": "str"},
        "dns_suffixes": {"type": "list", "elements": "str"},
    },
}
_INLINE = ("hostname", "domain", "networks", "dns_servers", "dns_suffixes")
_PER_VM = {
    "folder": {"type": "str"},
    "host": {"type": "str"},
    "datastore": {"type": "str"},
    "annotation": {"type": "str"},
    "cloud_init": _CLOUD_INIT,
    "customization": _CUSTOMIZATION,
}

ARGUMENTS = dict(
    args.CONNECTION,
    vms={
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": dict({"name": {"type": "str", "required": True}, "instance_uuid": {"type": "str"}}, **_PER_VM),
    },
    state={"type": "str", "choices": ["present", "absent"], "default": "present"},
    owner={"type": "str"},
    planned={"type": "dict", "options": {"power": {"type": "str", "choices": ["off"]}}},
    template={"type": "str"},
    library={"type": "str"},
    library_item={"type": "str"},
    accept_eula={"type": "bool", "default": False},
    cluster={"type": "str"},
    resource_pool={"type": "str"},
    disk={"type": "str", "choices": ["thin", "thick", "template"], "default": "template"},
    disk_gb={"type": "int"},
    firmware={"type": "str", "choices": ["efi", "ignore"], "default": "efi"},
    move={"type": "str", "choices": ["keep", "refuse", "cold"], "default": "keep"},
    **_PER_VM,
    **args.DATACENTER,
    **args.TASK_WAITING,
)


@dataclass(frozen=True)
class Customization:
    """Guest customization of a new VM: a saved specification, or its parts."""

    spec: str | None
    hostname: str | None
    domain: str | None
    networks: Sequence[Network] | None
    dns_servers: Sequence[str] | None
    dns_suffixes: Sequence[str] | None


@dataclass(frozen=True)
class CloneRequest:
    """One VM that is to exist, or not."""

    name: str
    # The only VM that may be removed under this name.
    instance_uuid: str | None
    state: str
    folder: str | None
    host: str | None
    datastore: str | None
    annotation: str | None
    # The options of cloud_init that are set. The user data is a secret.
    cloud_init: CloudInit | None = field(repr=False)
    customization: Customization | None
    owner: str | None
    move: str
    # 0 keeps the size of the template's disk.
    disk_gb: int
    # True if an earlier task of the same play powers the VM off, in check mode.
    planned_off: bool


def requests(params: Mapping[str, Any]) -> list[CloneRequest]:
    """One request per VM. An option that its entry leaves out has the value of the task."""
    return [_request(params, entry) for entry in params["vms"]]


def _request(params: Mapping[str, Any], entry: Mapping[str, Any]) -> CloneRequest:
    task, own = _said_in(params), _said_in(entry)
    options = {key: task[key] if own[key] is None else own[key] for key in _PER_VM}
    for kind, other in (("cloud_init", "customization"), ("customization", "cloud_init")):
        # One of the two in an entry replaces the other one of the task.
        if own[kind] is not None and own[other] is None:
            options[other] = None
    if task["cloud_init"] and own["cloud_init"]:
        options["cloud_init"] = {**task["cloud_init"], **_set_values(own["cloud_init"])}
    return request(
        CloneRequest,
        {**params, **options},
        name=entry["name"].strip(),
        instance_uuid=(entry.get("instance_uuid") or "").strip().lower() or None,
        customization=request(Customization, options["customization"]) if options["customization"] else None,
        disk_gb=params["disk_gb"] or 0,
        planned_off=(params["planned"] or {}).get("power") == "off",
    )


def _said_in(level: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _said(level[key]) for key in _PER_VM}


def _said(value: object) -> object:
    """Return a value; None for a dictionary without set values."""
    return None if isinstance(value, dict) and not _set_values(value) else value


def _set_values(options: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in options.items() if value is not None}


def ids(name: str) -> dict[str, object]:
    """The identity that a result reports before the inventory was read."""
    unknown = ("moid", "instance_uuid", "path", "host", "cluster", "host_wanted", "datastore_wanted")
    return dict({"name": name}, **dict.fromkeys(unknown))


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters together, one sentence each."""
    problems = args.check_common(params)
    if not params["vms"]:
        problems.append("vms is empty; list at least one VM.")
    if params["state"] == "present" and not (params["template"] or params["library_item"]):
        problems.append("template or library_item is needed to create VMs; set one of them.")
    if params["template"] and params["library_item"]:
        problems.append("template and library_item are both set; remove one of them.")
    if params["library"] and not params["library_item"]:
        problems.append("library is set without library_item; set library_item too.")
    if _said(params["cloud_init"]) and _said(params["customization"]):
        problems.append("cloud_init and customization are both set; a guest uses only one of them; remove the other.")
    if not 0 <= (params["disk_gb"] or 0) <= disk.MOST_GB:
        problems.append(f"disk_gb is {params['disk_gb']}; use 0, or a size of up to {disk.MOST_GB} GB (62 TB).")
    if params["owner"] is not None and (not params["owner"].strip() or _NO_OWNER.search(params["owner"])):
        problems.append("owner must be a name without slashes and control characters.")
    wanted = requests(params)
    # vCenter stores a/b as a%2fb, and accepts either for the other.
    names = Counter(escapes.unescaped(requested.name).lower() for requested in wanted)
    problems += [
        f"VM {name} is listed {count} times; list it once." for name, count in names.items() if count > 1 and name
    ]
    for requested in wanted:
        problems += [f"VM {requested.name or '(without a name)'}: {problem}" for problem in _check(requested)]
    return problems


def _check(requested: CloneRequest) -> Iterator[str]:
    name = requested.name
    if not name:
        yield "name is empty; set it."
    if len(name) > LONGEST_NAME:
        yield f"the name has {len(name)} characters; vSphere allows at most {LONGEST_NAME}."
    if _CONTROL.search(name):
        yield "the name contains a control character."
    if requested.instance_uuid and requested.state == "present":
        yield "instance_uuid is set, but it only restricts removals; remove it or set state=absent."
    if requested.cloud_init and requested.customization:
        yield "cloud_init and customization are both set; a guest uses only one of them; remove the other."
    if requested.cloud_init:
        yield from cloud_init.problems(requested.cloud_init)
    if requested.customization:
        yield from _check_customization(requested.customization)


def _check_customization(requested: Customization) -> Iterator[str]:
    inline = [key for key in _INLINE if getattr(requested, key)]
    if requested.spec and inline:
        yield (
            f"customization.spec is set, and {', '.join(inline)} too; a saved specification already contains "
            "these settings."
        )
    if not requested.spec and not requested.domain:
        yield "customization needs spec, or domain with the other options."
