# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parameters of gpu_capacity_info, and their problems before any request to vCenter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterator, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import parse
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.params import check_maxima

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.args import Options


TIME_SLICED, MIG, PASSTHROUGH = "time_sliced", "mig", "passthrough"
TOTAL, FREE = "total", "free"
_KUEUE: Options = {
    "label": {"type": "str", "default": "aiready.vsphere/gpu"},
    "resource": {"type": "str", "default": "nvidia.com/gpu"},
    "quota": {"type": "str", "choices": [TOTAL, FREE], "default": TOTAL},
}
ARGUMENTS = dict(
    args.CONNECTION,
    **args.DATACENTER,
    cluster={"type": "str"},
    modes={
        "type": "list",
        "elements": "str",
        "choices": [TIME_SLICED, MIG, PASSTHROUGH],
        "default": [TIME_SLICED, MIG, PASSTHROUGH],
    },
    profiles={"type": "list", "elements": "str", "default": []},
    gpu_label={"type": "str"},
    memory_gb={"type": "int"},
    most_per_gpu={"type": "dict"},
    host_overhead_gb={"type": "int", "default": 16},
    source={"type": "str", "choices": ["auto", "model"], "default": "auto"},
    kueue={"type": "dict", "options": _KUEUE, "apply_defaults": True},
    stun_estimates={"type": "bool", "default": False},
)
# The form of label keys and resource names in Kubernetes: an optional DNS prefix and a name.
_QUALIFIED = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?\Z")


@dataclass(frozen=True)
class Kueue:
    """Names and numbers in the data for Kueue."""

    label: str
    resource: str
    quota: str


@dataclass(frozen=True)
class CapacityRequest:
    """Devices of which the capacity is asked."""

    modes: tuple[str, ...]
    profiles: tuple[str, ...]
    label: str
    memory_mb: int
    ask_server: bool
    kueue: Kueue


def request_of(params: Mapping[str, Any]) -> CapacityRequest:
    """Return the options of a task as a typed value."""
    return CapacityRequest(
        modes=tuple(params["modes"]),
        profiles=tuple(dict.fromkeys(params["profiles"])),
        label=params["gpu_label"] or "",
        memory_mb=1024 * (params["memory_gb"] or 0),
        ask_server=params["source"] == "auto",
        kueue=request(Kueue, params["kueue"]),
    )


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters together, one sentence each."""
    return args.check_common(params) + list(_check(params))


def _check(params: Mapping[str, Any]) -> Iterator[str]:
    modes = params["modes"]
    if not modes:
        yield "modes is empty; list at least one mode, or remove the option."
    if params["memory_gb"] is not None and params["memory_gb"] < 1:
        yield f"memory_gb is {params['memory_gb']}; it must be at least 1."
    if params["host_overhead_gb"] < 0:
        yield f"host_overhead_gb is {params['host_overhead_gb']}; it cannot be negative."
    yield from check_maxima(params["most_per_gpu"] or {})
    for profile in params["profiles"]:
        name = parse(profile)
        if name is None:
            yield f"profiles has {profile!r}, which is not the name of a vGPU profile, such as grid_a100-40c."
        elif (MIG if name.mig_backed else TIME_SLICED) not in modes:
            kind = "MIG-backed" if name.mig_backed else "time-sliced"
            yield f"{profile} is {kind}, and modes has no {MIG if name.mig_backed else TIME_SLICED}; add it to modes."
    for key in ("label", "resource"):
        if not _QUALIFIED.match(params["kueue"][key]):
            value = params["kueue"][key]
            yield f"kueue.{key} is {value!r}; use a name in the form of Kubernetes, such as example.com/gpu."
