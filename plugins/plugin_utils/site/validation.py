# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Inputs of the role validation from a site and its guests, without the prefix of their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import intent as roce_of
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import expected, suite, thresholds
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import guests_of
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import params as pairs
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import rounds
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import directpath
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.guests import given, of_stage
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.hosts import RDMA_PATHS
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.machines import gpudirect, gpus_of
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.relaxed import relaxed
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.stack import stack
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.training import GUEST, training

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

HANDED_ON = ("packages", "perftest", "thresholds", "baseline", "keep", "simulated", "notes", "fail_on")
# Options of training_run that all runs of a validation share.
RUN = (
    *("image", "pull", "engine", "launcher", "controller", "environment", "gpudirect", "gpus", "container_engine"),
    *("memlock", "shm_size", "mounts", "limits", "check_build"),
)
DIRECT = ("sriov", "passthrough")
# Framework of the built-in benchmark.
FRAMEWORK = "pytorch"
STALL_S = 60
# Program of nccl-tests that the built-in all_reduce of training_run replaces where no mpirun starts ranks.
ALL_REDUCE = "all_reduce_perf"
# Checks that run in containers.
CLUSTER = tuple(check for check in suite.CHECKS if check.startswith("cluster.") or check in suite.PROGRAMS)


def validation(
    site: Any,
    guests: Sequence[Mapping[str, Any]] | None = None,
    host_ports: Sequence[Mapping[str, Any]] | None = None,
    surroundings: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The inputs, and problems of the guests; host_ports is the result of esxi_roce_info.

    surroundings has settings that are not in the site, see site_relaxed.relaxed.
    """
    whole, (site, requested) = site, of_stage(site, "validation")
    # A guest without a data path is a result, not an error.
    reported = training(whole, guests, unfit=False) if site["training"] else _without_training(whole, guests)
    hosts = reported["hosts"]
    facts = {own["inventory_hostname"]: own.get(GUEST) or {} for own in guests or []}
    wanted = _intent(site, requested, reported, facts, host_ports)
    intent = expected.intent_of(wanted)
    return {
        **{key: requested[key] for key in HANDED_ON},
        "guests": [_guest(host, facts.get(host["name"], {}), site["network"]["nics"]) for host in hosts],
        "intent": wanted,
        "pairs": _pairs(site, requested, wanted),
        "run": _run(reported, wanted["skip"]) if site["training"] else {},
        "nccl_command": [] if "cluster.nccl" in wanted["skip"] else requested["nccl_command"],
        "nccl_builtin": bool(site["training"]) and site["training"]["engine"] != "horovod",
        "osu": _osu(requested, intent, reported) if site["training"] else [],
        "osu_stall_s": (requested["osu"] or {}).get("stall_s") or STALL_S,
        "trainings": _trainings(site, requested, intent, reported) if site["training"] else [],
        "stack": dict(wanted["stack"], dcgm_package=site["stack"]["dcgm"]["package"]),
        "user": (site["guests"] or {}).get("training_user") or "",
        "site_name": site["cluster"] or site["datacenter"] or "",
        "relaxed": relaxed(site, dict(surroundings or {}, speed_gb=_speed(site["network"], facts, host_ports))),
        "problems": reported["problems"] + problems(site),
    }


def problems(site: Mapping[str, Any]) -> list[str]:
    """Problems of a validated site's section validation."""
    requested = site["validation"]
    if not requested:
        return []
    found = [f"site.validation.{one}" for one in thresholds.problems(requested["thresholds"])]
    for key, known in (("checks", pairs.CHECKS), ("skip", suite.CHECKS), ("notes", suite.CHECKS)):
        found += [
            f"site.validation.{key}: the check {one} is unknown. Known checks: {', '.join(known)}."
            for one in requested[key] or ()
            if one not in known
        ]
    if requested["osu"] and requested["osu"]["stall_s"] < 1:
        found.append(f"site.validation.osu.stall_s: {requested['osu']['stall_s']} is too low. Use at least 1 second.")
    for key in ("seconds", "qps", "streams", "rounds", "speed_gb"):
        if requested[key] is not None and requested[key] < 1:
            found.append(f"site.validation.{key}: {requested[key]} is too low. Use at least 1.")
    found += [
        f"site.validation.nodes: {one} is not a valid number of guests. Use at least 1."
        for one in requested["nodes"] or ()
        if one < 1
    ]
    return found


def _without_training(site: Any, guests: Sequence[Mapping[str, Any]] | None) -> dict[str, Any]:
    """Hosts and GPUs as for a training, for a site without one."""
    reported = training(dict(site, training={"image": "none", "builtin": "small"}), guests, unfit=False)
    return dict(reported, problems=[one for one in reported["problems"] if "site.training" not in one])


def _guest(host: Mapping[str, Any], facts: Mapping[str, Any], nics: Sequence[str]) -> dict[str, Any]:
    return {
        "name": host["name"],
        "address": host.get("address", ""),
        "interface": host.get("interface", ""),
        "mac": (facts.get("data_interface") or {}).get("mac") or "",
        "host": facts.get("host") or "",
        # With several adapters, the one that carries this guest is unknown.
        "nic": nics[0] if len(nics) == 1 else "",
        "gpu": facts.get("gpus") or 0,
        "slots": host.get("slots") or 1,
    }


def _intent(
    site: Mapping[str, Any],
    requested: Mapping[str, Any],
    reported: Mapping[str, Any],
    facts: Mapping[str, Mapping[str, Any]],
    host_ports: Sequence[Mapping[str, Any]] | None,
) -> dict[str, Any]:
    """The judge's view of the site; see module_utils/validation/judge/expected.py."""
    network, hosts = site["network"], reported["hosts"]
    rdma = network["path"] in RDMA_PATHS
    mtus = [guest["data_interface"].get("mtu") for guest in facts.values() if guest.get("data_interface")]
    roce = roce_of(given(site["roce"])) if rdma else None
    skip = {**without_launcher(site, requested), **requested["skip"]}
    if site["fabric"]["agreement"] == "skip":
        skip.setdefault("fabric.settings", "site.fabric.agreement is skip")
    engine = site["training"]["engine"] if site["training"] else "horovod"
    if engine != "horovod":
        skip.setdefault("cluster.check_build", f"site.training.engine is {engine}, which is not part of Horovod")
    elif site["training"] and not site["training"]["check_build"]:
        skip.setdefault("cluster.check_build", "site.training.check_build is false")
    gpus = [guest.get("gpus") or 0 for guest in facts.values()]
    on_processors = bool(site["training"]) and any(gpus) and reported["gpus"] == "none"
    if on_processors:
        skip = {**without_gpus(requested), **skip}
    return {
        "guests": [host["name"] for host in hosts],
        "data_path": network["path"],
        "speed_gb": requested["speed_gb"] or _speed(network, facts, host_ports),
        "mtu": min((one for one in mtus if one), default=network["mtu"] if rdma else None),
        # A site gives each VM GPUs. A vCenter that reports none must not lower the requirement.
        "gpus": "all",
        # A VM that lost a GPU must not lower the requirement.
        "gpus_per_guest": max(min(gpus, default=0), min(gpus_of(entry, site["gpu"]) for entry in site["vms"])),
        "gpu": site["gpu"]["profile"] or "",
        "licence": site["gpu"]["mode"] in ("vgpu", "mig"),
        "nvlink": site["gpu"]["nvlink"] == "required",
        "nvlink_gpus": directpath.gpus_of_set(site),
        "gpudirect": {"ignore": "auto"}.get(gpudirect(network), gpudirect(network)),
        "lossless": roce is not None and site["roce"]["mode"] == "lossless",
        "priority": site["roce"]["priority"],
        "memlock": (site["guests"] or {}).get("limits", {}).get("memlock", "unlimited"),
        "driver": ((site["guests"] or {}).get("driver") or {}).get("version") or None,
        "addresses": {name: address for name, address in map(_fixed_address, facts.items()) if address},
        "interfaces": {host["name"]: host["interface"] for host in hosts if host.get("interface")},
        "share_hosts": requested["share_hosts"],
        "rounds": requested["rounds"],
        "osu": list(programs(requested)),
        "nodes": expected.counts(requested["nodes"], len(hosts)),
        "transports": ["tcp"] if on_processors else None,
        "stack": stack(site),
        "build": _build(reported) if site["training"] else {},
        "skip": skip,
    }


def without_launcher(site: Mapping[str, Any], requested: Mapping[str, Any]) -> dict[str, str]:
    """{check: reason} of the checks across guests that the training of the site cannot start."""
    if not site["training"]:
        return dict.fromkeys(CLUSTER, "site.training is not set")
    found: dict[str, str]
    found, engine = {}, site["training"]["engine"]
    if engine != "horovod" and programs(requested):
        found = dict.fromkeys(suite.PROGRAMS, f"site.training.engine is {engine}, and OSU programs need mpirun")
    program = (requested["nccl_command"] or [""])[0].rpartition("/")[2]
    if not program:
        found["cluster.nccl"] = "site.validation.nccl_command is empty"
    elif engine != "horovod" and program != ALL_REDUCE:
        # Without MPI, each process of nccl-tests is a job of its own. Only this program has a replacement.
        found["cluster.nccl"] = f"site.training.engine is {engine}, and {program} needs mpirun between ranks"
    return found


def without_gpus(requested: Mapping[str, Any]) -> dict[str, str]:
    """{check: reason} of the checks of NCCL for a training on processors."""
    # Simulated GPUs are not in a container.
    checks = ("cluster.rdma_gain", *(() if "gpu" in requested["simulated"] else ("cluster.nccl",)))
    return dict.fromkeys(checks, "the training uses no GPUs, and NCCL needs GPUs")


def _fixed_address(known: tuple[str, Mapping[str, Any]]) -> tuple[str, str]:
    """(guest, the address that the site fixes for its data path); an address that the guest reports proves nothing."""
    name, guest = known
    return name, str((guest.get("data_interface") or {}).get("address") or "").partition("/")[0]


def _build(reported: Mapping[str, Any]) -> dict[str, list[str]]:
    """Required build options of Horovod: the controller, the gradient operations, and the benchmark's framework."""
    carried = "nccl" if reported["gpus"] != "none" else reported["controller"]
    return {"frameworks": [FRAMEWORK], "controllers": [reported["controller"]], "operations": [carried]}


def _speed(
    network: Mapping[str, Any], facts: Mapping[str, Mapping[str, Any]], host_ports: Iterable[Mapping[str, Any]] | None
) -> int | None:
    """The highest speed of the host ports on the data path, so that a slow one is visible; None if no port reports one.

    With TCP, the ports of the data path are unknown.
    """
    names = network["nics"] if network["path"] in RDMA_PATHS else []
    used = {guest.get("host") for guest in facts.values()}
    ports = [
        port
        for one in host_ports or []
        if one.get("name") in used
        for port in (one["ports"].values() if isinstance(one["ports"], dict) else one["ports"])
    ]
    mine = [port for port in ports if port.get("name") in names and port.get("up") is not False]
    return max((port["speed"] for port in mine if port.get("speed")), default=None)


def _pairs(site: Mapping[str, Any], requested: Mapping[str, Any], intent: Mapping[str, Any]) -> dict[str, Any]:
    """Options of pair_test."""
    path = intent["data_path"]
    able = [spec.check for spec in map(suite.of, pairs.CHECKS) if spec is not None and path in spec.paths]
    if path not in DIRECT or intent["gpudirect"] == "disabled":
        able = [check for check in able if check != pairs.OF_GPU]
    checks = [one for one in requested["checks"] or able if one in able and one not in intent["skip"]]
    options = {
        "checks": checks,
        "seconds": requested["seconds"],
        "qps": requested["qps"],
        "streams": requested["streams"],
        "rounds": requested["rounds"],
        "mtu": intent["mtu"],
        "traffic_class": roce_of(given(site["roce"])).traffic_class if path in RDMA_PATHS else None,
        "gpu_memory": "peermem" if _peermem(site) else "dmabuf",
    }
    return {key: value for key, value in options.items() if value is not None}


def _peermem(site: Mapping[str, Any]) -> bool:
    return ((site["guests"] or {}).get("rdma") or {}).get("gpudirect") == "peermem"


def _run(reported: Mapping[str, Any], skip: Container[str]) -> dict[str, Any]:
    options = {key: reported[key] for key in (*RUN, "roce", "interface")}
    options["check_build"] = options["check_build"] and "cluster.check_build" not in skip
    return {key: value for key, value in options.items() if value != ""}


def programs(requested: Mapping[str, Any]) -> dict[str, list[str]]:
    """{what the program measures: the command}."""
    return {
        name: words for name, words in (requested["osu"] or {}).items() if name in suite.PROGRAMS.values() and words
    }


def _osu(
    requested: Mapping[str, Any], intent: Mapping[str, Any], reported: Mapping[str, Any]
) -> list[list[dict[str, Any]]]:
    """Steps of the OSU programs, [[{check, guests, hosts, command}]]: runs of one step share no guest."""
    everybody = intent["guests"]
    hosts = {host["name"]: host for host in reported["hosts"]}
    steps = []
    for spec in suite.SUITE:
        command = programs(requested).get(spec.program)
        if not command or suite.left_out(spec, intent):
            continue
        pairs = spec.of == "pair"
        # A pair has exactly two ranks.
        own = {"slots": 1} if pairs else {}
        for step in rounds.steps(everybody, intent["rounds"]) if pairs else [[everybody]]:
            runs = [(list(names), [dict(hosts[name], **own) for name in names]) for names in step]
            steps.append(
                [{"check": spec.check, "guests": names, "hosts": some, "command": command} for names, some in runs]
            )
    return steps


def _trainings(
    site: Mapping[str, Any], requested: Mapping[str, Any], intent: Mapping[str, Any], reported: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """[{check, variant, guests, hosts, data_path}] of all trainings, small ones first."""
    found = []
    for row in expected.rows(intent):
        if row["check"] != "cluster.training" or row["skip"]:
            continue
        names = guests_of(row["subject"])
        found.append(
            {
                "check": row["check"],
                "variant": row["variant"],
                "guests": names,
                "hosts": [host for host in reported["hosts"] if host["name"] in names],
                "data_path": site["network"]["path"] if row["variant"].endswith(":rdma") else "tcp",
                "arguments": requested["arguments"],
            }
        )
    return found
