# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Capacity for other programs: objects of Kueue, and flat metrics for dashboards. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Iterator, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.params import FREE, PASSTHROUGH

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.params import CapacityRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.report import Capacity, Line

# Served from Kueue 0.15 on (kueue, tags and schemas of v0.19).
KUEUE = "kueue.x-k8s.io/v1beta2"
_PREFIX = "aiready_gpu_capacity_"
_HELP = {
    "fits": "GPU devices that fit now, with the memory of the VMs.",
    "free": "GPU devices that fit now.",
    "in_use": "GPU devices of running VMs.",
    "max": "GPU devices that fit if none is in use.",
    "blocked": "GPU devices that a cause makes unavailable.",
}


def kueue(found: Capacity, requested: CapacityRequest) -> dict[str, Any]:
    """Return a flavor for each device, and the resource group of a ClusterQueue with their quotas."""
    lines = _for_kueue(found, requested)
    several = len({line.cluster for line in lines}) > 1
    named = [(_name(line, several), line) for line in lines]
    names = [requested.kueue.resource]
    return {
        "resource_flavors": [
            {
                "apiVersion": KUEUE,
                "kind": "ResourceFlavor",
                "metadata": {"name": name},
                "spec": {"nodeLabels": {requested.kueue.label: name}},
            }
            for name, line in named
        ],
        "resource_groups": [
            {
                "coveredResources": names,
                "flavors": [
                    {"name": name, "resources": [{"name": names[0], "nominalQuota": _quota(line, requested)}]}
                    for name, line in named
                ],
            }
        ]
        if named
        else [],
    }


def _for_kueue(found: Capacity, requested: CapacityRequest) -> list[Line]:
    """Return the requested profiles; without any, the largest that fits or is in use, per board, mode and cluster.

    Profiles of one board share its GPUs, so that quotas for all of them would offer the same GPU several times.
    """
    lines = [line for line in (*found.clusters, *_alone(found)) if line.check.numbers.most]
    if requested.profiles:
        return lines
    chosen: dict[tuple[str, str, str], Line] = {}
    for line in lines:
        if line.fits or line.check.numbers.used:
            chosen.setdefault((line.cluster, line.board, line.mode), line)
    return list(chosen.values())


def _alone(found: Capacity) -> list[Line]:
    """Return the lines of hosts that are in no cluster."""
    clusters = {host.moid for line in found.clusters for host in line.check.place.hosts}
    return [line for line in found.hosts if line.check.place.moid not in clusters]


def _quota(line: Line, requested: CapacityRequest) -> int:
    return line.fits + (0 if requested.kueue.quota == FREE else line.check.numbers.used)


def _name(line: Line, several: bool) -> str:
    """A name in the form of Kubernetes: the profile or the board; with the cluster if there are several."""
    device = line.profile or f"{line.board}-{PASSTHROUGH}"
    text = f"{line.cluster}-{device}" if several else device
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:63].strip("-")


def metrics(found: Capacity) -> list[dict[str, Any]]:
    """Return one flat entry per number of each host."""
    return [entry for line in found.hosts for entry in _of_line(line)]


def _of_line(line: Line) -> Iterator[dict[str, Any]]:
    numbers = line.check.numbers
    labels = {
        "cluster": line.cluster,
        "host": line.host,
        "board": line.board,
        "mode": line.mode,
        "profile": line.profile,
        "source": line.check.source,
    }
    values = (("fits", line.fits), ("free", numbers.free), ("in_use", numbers.used), ("max", numbers.most))
    for name, value in values:
        yield {"name": _PREFIX + name, "value": value, "cause": "", **labels}
    for block in line.blocks:
        yield {"name": f"{_PREFIX}blocked", "value": block.lost, "cause": block.cause, **labels}


def prometheus(entries: Sequence[dict[str, Any]]) -> str:
    """The same in the text format of Prometheus, for the textfile collector of its node exporter."""
    lines: list[str] = []
    for name, help_text in _HELP.items():
        mine = [entry for entry in entries if entry["name"] == _PREFIX + name]
        if mine:
            lines += [f"# HELP {_PREFIX}{name} {help_text}", f"# TYPE {_PREFIX}{name} gauge"]
        for entry in mine:
            labels = ",".join(
                f'{key}="{_escaped(value)}"'
                for key, value in entry.items()
                if key not in ("name", "value") and (key != "cause" or value)
            )
            lines.append(f"{entry['name']}{{{labels}}} {entry['value']}")
    return "".join(f"{line}\n" for line in lines)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
