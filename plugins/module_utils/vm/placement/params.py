# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parameters of vm_placement_info: their spec, and their problems before any request to vCenter."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import parse
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.args import Options


_INT: dict[str, object] = {"type": "int"}
_ENTRY: Options = {
    "name": {"type": "str"},
    "path": {"type": "str"},
    "profiles": {"type": "list", "elements": "str", "default": []},
    "gpus": {"type": "int", "default": 0},
    "nics": _INT,
    "memory_gb": _INT,
    "cpus": _INT,
    "disk_gb": _INT,
    "host": {"type": "str"},
    "job": {"type": "str"},
}
# Modes whose VMs have whole GPUs, and paths whose VMs have whole ports.
WHOLE = ("passthrough", "dvx")
ARGUMENTS = dict(
    args.CONNECTION,
    **args.DATACENTER,
    cluster={"type": "str"},
    policy={"type": "str", "choices": ["spread", "packed"], "default": "spread"},
    anti_affinity={"type": "bool", "default": False},
    gpudirect={"type": "bool", "default": False},
    gpu_nic_numa={"type": "str", "choices": ["any", "strict"], "default": "any"},
    path={"type": "str", "choices": ["tcp", "pvrdma", "sriov", *WHOLE], "default": "tcp"},
    portgroup={"type": "str"},
    switch={"type": "str"},
    gpu_mode={"type": "str", "choices": ["vgpu", "mig", *WHOLE], "default": "vgpu"},
    gpu_label={"type": "str"},
    nic_label={"type": "str"},
    datastore={"type": "str"},
    max_per_vm=_INT,
    most_per_gpu={"type": "dict"},
    host_overhead_gb={"type": "int", "default": 16},
    leaving={"type": "list", "elements": "str", "default": []},
    fit={"type": "str", "choices": ["fail", "report"], "default": "fail"},
    vms={
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": _ENTRY,
        "required_one_of": [("name", "path")],
        "mutually_exclusive": [("name", "path")],
    },
)


def label(entry: Mapping[str, Any]) -> str:
    """Return the name of a VM in the task."""
    return entry["path"] or entry["name"] or ""


def ports(entry: Mapping[str, Any], path: str) -> int:
    """Return the number of ports of a VM."""
    if path == "tcp":
        return 0
    return 1 if entry["nics"] is None else entry["nics"]


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters together, one sentence each."""
    problems = args.check_common(params) + list(_check_task(params))
    names = Counter(label(entry) for entry in params["vms"])
    problems += [
        f"VM {name} is listed {count} times; list it once." for name, count in names.items() if count > 1 and name
    ]
    for entry in params["vms"]:
        called = label(entry).strip() or "(without a name)"
        problems += [f"VM {called}: {problem}" for problem in _check_entry(entry, params)]
    return problems


def _check_task(params: Mapping[str, Any]) -> Iterator[str]:
    path = params["path"]
    if not params["vms"]:
        yield "vms is empty; list at least one VM."
    if params["gpudirect"] and path == "pvrdma":
        yield (
            "gpudirect does not work over path=pvrdma: GPUDirect RDMA needs the network adapter as a PCIe device in "
            "the VM, and a PVRDMA adapter is a virtual one, so data goes through host memory; use path=sriov, "
            "path=passthrough or path=dvx, or remove gpudirect."
        )
    if params["gpudirect"] and path == "tcp":
        yield "gpudirect does not work over path=tcp, which has no RDMA; use path=sriov, path=passthrough or path=dvx."
    if path == "pvrdma" and not (params["portgroup"] or params["switch"]):
        yield "path=pvrdma needs portgroup, since all VMs of a job must be on one distributed switch."
    if path in WHOLE and (params["portgroup"] or params["switch"]):
        yield f"path={path} has no port group: the VM gets the port itself; remove portgroup and switch."
    if params["host_overhead_gb"] < 0:
        yield f"host_overhead_gb is {params['host_overhead_gb']}; it cannot be negative."
    if params["max_per_vm"] is not None and params["max_per_vm"] < 1:
        yield f"max_per_vm is {params['max_per_vm']}; it must be at least 1."
    yield from check_maxima(params["most_per_gpu"] or {})


def check_maxima(given: Mapping[str, int | str]) -> Iterator[str]:
    """Problems of the option most_per_gpu, one sentence each."""
    for profile, number in given.items():
        if parse(str(profile)) is None:
            yield f"most_per_gpu has {profile!r}, which is not the name of a vGPU profile, such as grid_a100-40c."
        elif not str(number).isdecimal() or int(number) < 1:
            yield f"most_per_gpu: {number!r} of {profile} is not a number of vGPUs; use at least 1."


def maxima(given: Mapping[str, int | str]) -> dict[str, int]:
    """The option most_per_gpu with numeric values; ansible-core before 2.19 passes numbers as text."""
    return {str(profile): int(number) for profile, number in given.items()}


def _check_entry(entry: Mapping[str, Any], params: Mapping[str, Any]) -> Iterator[str]:
    mode, profiles = params["gpu_mode"], entry["profiles"]
    if not label(entry).strip("/ "):
        yield "its name is empty; set it."
    if entry["host"] is not None and not entry["host"].strip():
        yield "host is empty; remove it to let the module choose a host."
    for key, least in (("gpus", 0), ("nics", 0), ("memory_gb", 1), ("cpus", 1), ("disk_gb", 0)):
        if entry[key] is not None and entry[key] < least:
            yield f"{key} is {entry[key]}; it must be at least {least}."
    if mode in WHOLE and profiles:
        yield f"profiles cannot be combined with gpu_mode={mode}, which uses whole GPUs; set gpus instead."
    if mode not in WHOLE and entry["gpus"]:
        yield f"gpus needs gpu_mode=passthrough or dvx; with gpu_mode={mode} list profiles."
    if params["path"] == "tcp" and entry["nics"]:
        yield "nics needs path=pvrdma, sriov, passthrough or dvx; with path=tcp a VM gets no port."
    if params["path"] in ("sriov", "pvrdma", *WHOLE) and entry["nics"] == 0:
        yield f"nics is 0, but path={params['path']} needs at least one."
    if params["gpudirect"] and not (profiles or entry["gpus"]):
        yield "gpudirect needs a GPU in each VM."
    yield from _check_profiles(profiles, mode)


def _check_profiles(profiles: Sequence[str], mode: str) -> Iterator[str]:
    if not all(profile.strip() for profile in profiles):
        yield "profiles has an empty entry; remove it."
    names = [name for name in map(parse, profiles) if name is not None]
    boards, series = {name.board for name in names}, {name.series.upper() for name in names}
    if len(boards) > 1:
        yield f"all vGPUs of a VM must be of one board, but these are of {' and '.join(sorted(boards))}."
    if len(series) > 1:
        yield f"all vGPUs of a VM must be of one series, but these are of {' and '.join(sorted(series))}."
    sliced = sorted({name.text for name in names if not name.mig_backed})
    instances = sorted({name.text for name in names if name.mig_backed})
    if mode == "mig" and sliced:
        yield f"{', '.join(sliced)} is time-sliced, which gpu_mode=mig does not allow; use a MIG-backed profile."
    if mode == "vgpu" and instances:
        yield f"{', '.join(instances)} is MIG-backed; set gpu_mode=mig, or use a time-sliced profile."
