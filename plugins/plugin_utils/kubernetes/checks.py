# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Checks of the nodes of a cluster in pods: the pods, and their results in the format of the check suite. Pure.

The probes and the verdicts are those of guests. Only the place where the commands run differs.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import posixpath
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import rdma
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import expected, suite
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.measured import (
    DONE,
    FAILED,
    SKIPPED,
    measurement,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import params
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import probes
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import network_operator, nodes, openshift
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.causes import IMAGE, of_pods, short
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.job import DATA, HOSTNAME, INTERFACE
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.recorded import (
    RecordedCommands,
    RecordedFiles,
    Recording,
    Stack,
    again,
    script,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.refused import refused
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.unread import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Objects = Sequence[Mapping[str, Any]]
    Made = dict[str, Any]

NAME = "aiready-check"
LABEL, OF_NODE = "aiready.vsphere/check", "aiready.vsphere/node"
CONTAINER = "check"
ALL = ("guest.kernel", "guest.driver", "guest.licence", "guest.xid", "guest.ecc", "guest.memlock")
# On request of site.stack.
OF_STACK = ("guest.dcgm", "guest.gds", "guest.gds_read")
# Read again after the pairs and jobs. Only they load the GPUs.
AGAIN = ("guest.licence", "guest.xid", "guest.ecc")
HEALTH = "guest.dcgm_health"
NOT_TIMED = "site.kubernetes.checks has neither pairs nor jobs, so there are no timed runs"
# The Service of the GPU Operator for its host engines of DCGM. It leads to that of the node of the client
# (internalTrafficPolicy Local, gpu-operator assets/state-dcgm).
ENGINE = "nvidia-dcgm.{namespace}.svc:5555"
VOLUME = "storage"
WITH_RDMA = ("guest.address", "guest.mtu", "guest.modules", "guest.rdma_device", "guest.gid", "fabric.settings")
# The pods of a training have the first one too. The log of the kernel needs the second one.
CAPABILITIES = ("IPC_LOCK", "SYSLOG")
# Jobs across nodes, and figures derived from them.
OF_JOBS = (*suite.PROGRAMS, "cluster.nccl", "cluster.training", "cluster.efficiency", "cluster.rdma_gain")
NOT_IN_PODS = "pods do not measure it"
TC = "NCCL_IB_TC"


def pair_checks(network: Mapping[str, Any]) -> tuple[str, ...]:
    """The tests of pairs that pods run."""
    return (params.TCP, *((params.LATENCY, params.BANDWIDTH) if network else ()))


def pods(requested: Mapping[str, Any], seen: Objects, guests: Mapping[str, Any] | None = None) -> list[Made]:
    """A pod for each GPU node. The name has a hash of the definition.

    guests are the results before the timed runs. With them, the pods are those after the timed runs.
    """
    account = openshift.ACCOUNT if nodes.is_openshift(seen) else ""
    chosen = nodes.chosen(seen, requested["nodes"])
    if guests is not None:
        measured = [name for name, one in guests.items() if "measurements" in one["before"]]
        chosen = [one for one in chosen if one["metadata"]["name"] in measured and suite.is_timed(requested["checks"])]
    return [_pod(requested, one, account, guests is not None) for one in chosen]


def _stack(requested: Mapping[str, Any]) -> Stack:
    checks = requested["checks"]
    watched = checks["dcgm_health"] and suite.is_timed(checks)
    engine = ENGINE.format(namespace=requested["gpu_operator"]["namespace"]) if watched else ""
    return Stack(checks["dcgm_level"], checks["gds"], checks["gds_file"], engine)


def _pod(requested: Mapping[str, Any], node: Mapping[str, Any], account: str, late: bool) -> Made:
    checks, network = requested["checks"], requested.get("network_operator") or {}
    stack, more_s = _stack(requested), 0
    if not late:
        more_s = probes.DIAG_S.get(stack.level, 0) + (probes.LIMIT_S if stack.file else 0)
    environment = {"NVIDIA_DRIVER_CAPABILITIES": "compute,utility"}
    environment.update(network_operator.environment(network) if network else {})
    # The container runtime of NVIDIA then adds the devices of nvidia_fs.
    environment.update({"NVIDIA_GDS": "enabled"} if checks["gds"] else {})
    container: Made = {
        "name": CONTAINER,
        "image": checks["image"],
        "command": ["/bin/sh", "-c", again(stack) if late else script(stack)],
        "env": [{"name": name, "value": value} for name, value in environment.items()],
        "resources": {"limits": {nodes.GPU: requested["gpus"], **network_operator.resources(network)}},
        "securityContext": {"capabilities": {"add": list(CAPABILITIES)}},
    }
    volumes = [] if late or not stack.file else [_volume(checks)]
    if volumes:
        mount = {"name": VOLUME, "mountPath": posixpath.dirname(stack.file), "readOnly": True}
        container["volumeMounts"] = [mount]
    return pod(requested, node, account, container, NAME, "node", more_s, volumes)


def _volume(checks: Mapping[str, Any]) -> Made:
    """The storage with the file of the read test."""
    if checks["gds_claim"]:
        return {"name": VOLUME, "persistentVolumeClaim": {"claimName": checks["gds_claim"], "readOnly": True}}
    # Without a type, the container runtime would create a missing folder.
    return {"name": VOLUME, "hostPath": {"path": posixpath.dirname(checks["gds_file"]), "type": "Directory"}}


def of_node(checks: Mapping[str, Any]) -> bool:
    """Whether the pods mount a folder of their node."""
    return bool(checks.get("gds_file") and not checks.get("gds_claim"))


def pod(
    requested: Mapping[str, Any],
    node: Mapping[str, Any],
    account: str,
    container: Made,
    prefix: str,
    label: str,
    more_s: int = 0,
    volumes: Sequence[Made] = (),
) -> Made:
    """A pod with this container on a node. more_s is added to the limit of its time."""
    checks, network = requested["checks"], requested.get("network_operator") or {}
    spec: Made = {
        "containers": [container],
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        # A started pod ends also without the controller.
        "activeDeadlineSeconds": max(int(checks["limit_s"]), 1) + more_s,
        "nodeSelector": {HOSTNAME: nodes.labels(node).get(HOSTNAME) or node["metadata"]["name"]},
        "tolerations": list(nodes.TOLERATIONS),
    }
    if volumes:
        spec["volumes"] = list(volumes)
    if account:
        spec["serviceAccountName"] = account
    if checks["pull_secrets"]:
        spec["imagePullSecrets"] = [{"name": name} for name in checks["pull_secrets"]]
    name = str(node["metadata"]["name"])
    digest = hashlib.sha256(json.dumps([name, spec], sort_keys=True).encode()).hexdigest()[:10]
    metadata: Made = {
        "name": f"{prefix}-{digest}",
        "namespace": checks["namespace"],
        "labels": {LABEL: label},
        "annotations": {OF_NODE: name, **network_operator.pod_annotations(network, checks["namespace"])},
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def ended(found: Objects) -> bool:
    """Whether every pod ended, or cannot start because of its image."""
    return bool(found) and all(_ended(one.get("status") or {}) for one in found)


def _ended(status: Mapping[str, Any]) -> bool:
    waits = [(one.get("state") or {}).get("waiting") or {} for one in status.get("containerStatuses") or []]
    stuck = any(one.get("reason") in IMAGE.split("|") and one["reason"] != "ErrImagePull" for one in waits)
    return stuck or status.get("phase") in ("Succeeded", "Failed")


def results(
    requested: Mapping[str, Any], seen: Mapping[str, Any], late: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Inputs of the module validation_result: {intent, guests, agreement, simulated, site}.

    seen has made (the definitions of the pods), pods, events, logs as {name of a pod: text}, unread as {name of a pod:
    failed result of its log}, and refused (failed results of the pods). late has the same of the pods after the timed
    runs, or nothing.
    """
    checks, network = requested["checks"], requested.get("network_operator") or {}
    guests: dict[str, Any] = {}
    differences: dict[str, list[tuple[str, str]]] = {}
    for node, why, recording in _recorded(seen, checks):
        guests[node] = {"before": {"msg": why}}
        if recording:
            try:
                guests[node] = {"before": _measured(requested, node, recording)}
                differences[node] = list(_differences(network, node, recording)) if network else []
            except (ValueError, LookupError) as error:
                guests[node] = {"before": {"msg": _unreadable(error)}}
    for node, why, recording in _recorded(late, checks) if late else ():
        guests[node]["after"] = _missing(requested, node, why)
        if recording:
            try:
                guests[node]["after"] = _measured(requested, node, recording, probes.AFTER)
            except (ValueError, LookupError) as error:
                guests[node]["after"] = _missing(requested, node, _unreadable(error))
    agreement = _agreement(differences) if network and differences else {}
    return {
        "intent": intent_of(requested, list(guests)),
        "guests": guests,
        "agreement": agreement,
        "simulated": checks["simulated"],
        "site": checks["site"],
    }


def _recorded(seen: Mapping[str, Any], checks: Mapping[str, Any]) -> Iterator[tuple[str, str, Recording | None]]:
    """(node, why it has no result, or its recording) of each pod."""
    found, seen = {one["metadata"]["name"]: one for one in seen["pods"]}, {**seen, "logs": current(seen)}
    for made in seen["made"]:
        node, name = made["metadata"]["annotations"][OF_NODE], made["metadata"]["name"]
        recording = Recording(str(seen["logs"].get(name) or ""))
        if recording.complete:
            yield node, "", recording
        else:
            yield node, trouble(name, found.get(name), seen, checks), None


def _unreadable(error: Exception) -> str:
    return f"The pod printed a value that cannot be read: {short(str(error))}"


def _missing(requested: Mapping[str, Any], node: str, why: str) -> dict[str, Any]:
    """Each check after the timed runs, with the reason why its pod has no result."""
    variants = {check: probes.AFTER if check in probes.WITH_PHASE else "" for check in _wanted(requested, probes.AFTER)}
    measured = [measurement(check, {"guest": node}, FAILED, why, variant=one) for check, one in variants.items()]
    return {"measurements": measured, "outputs": {}}


def _wanted(requested: Mapping[str, Any], phase: str) -> list[str]:
    """The checks with a probe that pods run in this phase."""
    checks, network = requested["checks"], requested.get("network_operator") or {}
    if phase == probes.AFTER:
        return [*AGAIN, *([HEALTH] if checks["dcgm_health"] else [])]
    wanted = (*ALL, *OF_STACK, *(WITH_RDMA if network else ()))
    return [check for check in wanted if check in probes.CHECKS and check != "guest.kernel"]


def current(seen: Mapping[str, Any]) -> dict[str, Any]:
    """The logs of pods that are not being deleted: one that an earlier check left has the output of that time."""
    left = {one["metadata"]["name"] for one in seen["pods"] if one["metadata"].get("deletionTimestamp")}
    return {name: text for name, text in seen["logs"].items() if name not in left}


def intent_of(requested: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The requirements of these nodes, with the checks that pods do not run."""
    checks, network = requested["checks"], requested.get("network_operator") or {}
    pairs, jobs = checks.get("pairs") or {}, checks.get("jobs") or {}
    known = (*ALL, *OF_STACK, HEALTH, *(WITH_RDMA if network else ()), *(pair_checks(network) if pairs else ()))
    skip = {check: NOT_IN_PODS for check in suite.CHECKS if check not in known}
    skip.update(dict.fromkeys(OF_JOBS, "site.kubernetes.checks.jobs is not set"))
    if not suite.is_timed(checks):
        skip.update({"guest.licence:after": NOT_TIMED, **({HEALTH: NOT_TIMED} if checks.get("dcgm_health") else {})})
    if jobs:
        skip = {check: why for check, why in skip.items() if check not in OF_JOBS}
    return {
        **checks["intent"],
        "guests": list(names),
        "rounds": (pairs or jobs).get("rounds"),
        "nodes": expected.counts(jobs["nodes"], len(names)) if jobs else None,
        "transports": jobs.get("transports"),
        "osu": list(jobs.get("osu") or ()),
        "interfaces": dict.fromkeys(names, DATA) if network else {},
        "skip": {**skip, **jobs.get("skip", {}), **checks["intent"]["skip"]},
    }


def trouble(name: str, pod: Mapping[str, Any] | None, seen: Mapping[str, Any], checks: Mapping[str, Any]) -> str:
    """Why a pod has no result."""
    if pod is None:
        said = refused([one for one in seen.get("refused") or () if one["item"]["metadata"]["name"] == name])
        return " ".join(said).rstrip(".") or f"The pod {name} does not exist"
    if pod["metadata"].get("deletionTimestamp"):
        node = short((pod.get("spec") or {}).get("nodeName") or "none")
        return (
            f"The pod {name} is being deleted and does not end. Check its node {node}, and delete it with: kubectl "
            f"--namespace {checks['namespace']} delete pod {name} --force"
        )
    # Other objects of the namespace have events too.
    events = [one for one in seen["events"] if (one.get("involvedObject") or {}).get("name") == name]
    found = of_pods([pod], events)
    if found:
        return " ".join(found).rstrip(".")
    phase = short((pod.get("status") or {}).get("phase") or "unknown")
    problem = (seen.get("unread") or {}).get(name)
    if problem and phase != "Pending":
        return sentence(problem, f"the log of the pod {name}").rstrip(".")
    if phase not in ("Succeeded", "Failed"):
        limit = (pod.get("spec") or {}).get("activeDeadlineSeconds", checks["limit_s"])
        return f"The pod {name} has the phase {phase} and printed no complete result within {limit} s"
    lines = str(seen["logs"].get(name) or "").splitlines()
    last = f"The last line is {short(lines[-1])}" if lines else "It is empty"
    return f"The pod {name} ended with the phase {phase}, but its log has no complete result. {last}"


def _measured(
    requested: Mapping[str, Any], node: str, recording: Recording, phase: str = probes.BEFORE
) -> dict[str, Any]:
    """The result of a node in the format of guest_health_info."""
    checks, network = requested["checks"], requested.get("network_operator") or {}
    commands, files = RecordedCommands(recording), RecordedFiles(recording)
    request = probes.HealthRequest(
        name=node,
        interface=DATA if network else INTERFACE,
        mac=None,
        address=None,
        user=None,
        gpu=True,
        # Without RDMA, the limit of locked memory is not required.
        rdma=bool(network),
        checks=_wanted(requested, phase),
        phase=phase,
        simulated=checks["simulated"],
        dcgm_level=checks["dcgm_level"],
        dcgm_health=checks["dcgm_health"],
        gds=checks["gds"],
        gds_file=checks["gds_file"],
    )
    measurements, outputs = probes.measured(request, commands, files)
    if phase == probes.AFTER:
        return {"measurements": list(map(_readable, measurements)), "outputs": outputs}
    release = commands.run(["uname", "-r"])
    system = next(
        (
            line.partition("=")[2].strip('"')
            for line in (files.text("/etc/os-release") or "").splitlines()
            if line.startswith("PRETTY_NAME=")
        ),
        None,
    )
    # The kernel of the node, and the system of the image.
    values = {"kernel": release.stdout.strip() or None, "system": system, "boot": None}
    kernel = measurement("guest.kernel", {"guest": node}, readings=values, command=["uname", "-r"])
    outputs["guest.kernel"] = release.stdout
    return {"measurements": [kernel, *map(_readable, measurements)], "outputs": outputs}


def _readable(one: dict[str, Any]) -> dict[str, Any]:
    """A container runtime may hide the log of the kernel, which says nothing about the GPU."""
    if one["check"] == "guest.xid" and one["status"] not in (DONE, SKIPPED):
        return dict(one, status=SKIPPED, why=f"The pod cannot read the kernel log: {one['why']}")
    return one


def _agreement(differences: Mapping[str, Sequence[tuple[str, str]]]) -> dict[str, Any]:
    """The RoCE settings of the pods against those of the site, in the format of roce_agreement_info."""
    wrong, ends = [], []
    for node, mine in differences.items():
        wrong += [
            {
                "severity": "error",
                "code": f"pod_{key}",
                "key": key,
                "msg": text,
                "a": {"name": node, "port": DATA},
            }
            for key, text in mine
        ]
        known = ["traffic_class", "devices", "gid", "mtu"]
        ends.append({"name": node, "port": DATA, "switch": False, "known": known, "unknown": [], "unreported": []})
    paths = [{"a": {"name": node, "port": DATA}, "b": {"name": "site.roce", "port": ""}} for node in differences]
    return {"disagreements": wrong, "not_known": [], "paths": paths, "agreed": not wrong, "ends": ends}


def _differences(network: Mapping[str, Any], node: str, recording: Recording) -> Iterator[tuple[str, str]]:
    """(setting, sentence) of each difference between a pod and the site."""
    environment, files = recording.environment(), RecordedFiles(recording)
    want = network_operator.environment(network)
    for name in (TC, "UCX_IB_TRAFFIC_CLASS"):
        if environment.get(name) != want[name]:
            yield (
                "traffic_class",
                f"{name} is {_reported(environment.get(name))} in a pod on {node}, but site.roce requires {want[name]}."
                " Hosts and switches do not treat its packets as RoCE. Check mutating webhooks of the cluster.",
            )
    devices = {one["name"]: one for one in rdma.devices(files)}
    for name in network["devices"]:
        if name not in devices:
            yield (
                "devices",
                f"A pod on {node} has no RDMA device {short(name)}, which site.kubernetes.network_operator.devices "
                f"names. It has {', '.join(sorted(map(short, devices))) or 'none'}. Correct the names.",
            )
    if devices and not any(path.startswith("/dev/infiniband/uverbs") for path in recording.files):
        yield (
            "devices",
            f"A pod on {node} sees RDMA devices, but has no /dev/infiniband/uverbs device, so NCCL uses sockets. Check "
            f"that the pod requests {', '.join(network_operator.resources(network))}, and the device plugin.",
        )
    yield from _gids(network, node, [gid for one in devices.values() for port in one["ports"] for gid in port["gids"]])
    for number in range(1, len(network["subnets"]) + 1):
        name = f"net{number}"
        mtu = (files.text(f"/sys/class/net/{name}/mtu") or "").strip()
        if mtu != str(network["mtu"]):
            yield (
                "mtu",
                f"{name} of a pod on {node} has an MTU of {_reported(mtu)}, but site.network.mtu is {network['mtu']}. "
                "Set the MTU of the adapter in the node, or of the macvlan network.",
            )


def _gids(network: Mapping[str, Any], node: str, gids: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    versions = [one for one in gids if one["type"] == "roce_v2" and one["ipv4"]]
    usable = [one for one in versions if any(_inside(one["address"], subnet) for subnet in network["subnets"])]
    lacking = [subnet for subnet in network["subnets"] if not any(_inside(one["address"], subnet) for one in usable)]
    index = network["gid_index"]
    if lacking:
        yield (
            "gid",
            f"A pod on {node} has no RoCE v2 GID with an address of {', '.join(lacking)}. Check the addresses of its "
            "adapters, and the RDMA namespace mode of the node.",
        )
    elif index is not None and index not in [one["index"] for one in usable]:
        found = next((f"{one['type']} with {one['address']}" for one in gids if one["index"] == index), "no entry")
        places = ", ".join(str(one["index"]) for one in usable)
        yield (
            "gid",
            f"GID index {index} of site.kubernetes.network_operator.gid_index is {found} in a pod on {node}. The "
            f"usable index there is {places}. Remove gid_index with NCCL 2.21 or newer, or correct it.",
        )


def _inside(address: str, subnet: str) -> bool:
    return ipaddress.ip_address(address) in ipaddress.ip_network(subnet)


def _reported(value: str | None) -> str:
    return short(value) if value else "not set"
