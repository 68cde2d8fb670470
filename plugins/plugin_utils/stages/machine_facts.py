# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Facts of each training VM for the next stages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.machine_steps import (
    ADAPTERS,
    key_of,
    name_of,
    place_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# Expected result of the network test by path, if the module of the adapters is not more specific.
EXPECTED = {
    "tcp": "TCP between the VMs: the baseline that the other paths are compared with.",
    "sriov": "RDMA over a virtual function (mlx5) in each guest, and traffic that its port counts as RDMA.",
    "passthrough": "RDMA over the port itself (mlx5) in each guest, and traffic that it counts as RDMA.",
    "pvrdma": "RDMA (vmw_pvrdma) between VMs on different hosts, and not the TCP that it falls back to silently.",
}


def facts(
    steps: Mapping[str, Sequence[Mapping[str, Any]]],
    seen: Mapping[str, Sequence[Mapping[str, Any]]],
    placement: Mapping[str, Any] | None,
    inputs: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """One dictionary per VM; seen has the latest result of each step."""
    results = {step: _by_vm(entries, seen.get(step)) for step, entries in steps.items()}
    return [_machine(entry, results, place_of(entry, placement), inputs) for entry in steps["power"]]


def _machine(
    entry: Mapping[str, Any],
    results: Mapping[str, Mapping[str | None, Mapping[str, Any]]],
    place: Mapping[str, Any],
    inputs: Mapping[str, Any],
) -> dict[str, Any]:
    found = {step: known[key_of(entry)] for step, known in results.items() if key_of(entry) in known}
    part, config = ADAPTERS.get(inputs["path"], "passthrough"), found.get("config", {})
    after, expects = config.get("after", {}), config.get("expects") or {}
    power = found.get("power", {}).get("after", {})
    return {
        "name": _known(found, "name") or name_of(entry),
        "moid": _known(found, "moid"),
        "instance_uuid": _known(found, "instance_uuid"),
        "inventory_path": _known(found, "path"),
        "host": _known(found, "host") or place.get("host"),
        "power": power.get("power"),
        "address": power.get("address") or "",
        "addresses": power.get("addresses") or [],
        "path": inputs["path"],
        "gpus": after.get("vgpu", {}).get("profiles") or [gpu["id"] for gpu in place.get("gpus", [])],
        "nics": _nics(after.get(part, {}), inputs) or list(place.get("nics", [])),
        "numa_nodes": list(place.get("numa_nodes") or []),
        "expects": expects.get(part) or {"path": inputs["path"], "proof": EXPECTED[inputs["path"]]},
    }


def _nics(state: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The adapters of the data path; others, such as management adapters, are ignored."""
    adapters = state.get("adapters") or []
    return [adapter for adapter in adapters if adapter["portgroup"] == inputs["portgroup"]]


def _by_vm(
    entries: Sequence[Mapping[str, Any]], results: Sequence[Mapping[str, Any]] | None
) -> dict[str | None, Mapping[str, Any]]:
    return {key_of(entry): result for entry, result in zip(entries, results or ())}


def _known(found: Mapping[str, Mapping[str, Any]], key: str) -> str | None:
    """The first value of a VM that any module returned; a planned VM has no IDs yet."""
    return next((result[key] for result in found.values() if result.get(key)), None)


def table(machines: Sequence[Mapping[str, Any]]) -> list[str]:
    """The machines as readable lines."""
    rows = [("VM", "host", "address", "GPU", "adapter", "NUMA")]
    rows += [
        (
            machine["name"],
            machine["host"] or "-",
            machine["address"] or "-",
            ", ".join(machine["gpus"]) or "-",
            f"{machine['path']}: {', '.join(_titles(machine['nics'])) or '-'}",
            ", ".join(str(node) for node in machine["numa_nodes"]) or "-",
        )
        for machine in machines
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def _titles(nics: Iterable[Mapping[str, Any]]) -> list[str]:
    return [nic.get("portgroup") or nic.get("pci") or nic.get("mac") or "?" for nic in nics]
