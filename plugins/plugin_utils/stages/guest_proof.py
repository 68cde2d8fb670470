# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The values that the verification of a guest compares, and the facts that the role guest_vm leaves. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.guest_reads import installed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.guest_plan import Inputs, Limits, Rdma


def restarted(seen: Mapping[str, Any]) -> bool:
    return bool(seen["restarted"].get("rebooted"))


def proofs(
    requested: Inputs,
    wanted: Iterable[str],
    limits: Limits,
    rdma: Rdma,
    waiting: Iterable[str],
    reads: Mapping[str, bool],
    seen: Mapping[str, Any],
) -> Iterator[dict[str, Any]]:
    """The values that the verification compares."""
    shown = seen["limits_proof"].get("stdout_lines") or ()
    modules = (seen["modules_proof"].get("rdma") or {}).get("modules") or ()
    licensed = "licence" in seen["licence"]
    yield {
        "step": "packages",
        "requested": dict.fromkeys(wanted if reads["packages"] else (), "installed"),
        "found": dict.fromkeys(installed(seen["packages_proof"]), "installed"),
    }
    yield {"step": "limits", "requested": _pairs(limits.shown), "found": _pairs(shown)}
    yield {"step": "adapter", "asked": reads["adapter"], "answer": seen["nic_proof"]}
    yield {
        "step": "rdma",
        "requested": dict.fromkeys(rdma.modules if rdma.due else (), "loaded"),
        "found": dict.fromkeys(modules, "loaded"),
    }
    yield {"step": "driver", "asked": reads["driver"], "answer": seen["driver_proof"]}
    yield {
        "step": "restart",
        "requested": dict.fromkeys(() if restarted(seen) else waiting, "effective"),
        "found": dict.fromkeys(waiting, "waits for a restart"),
    }
    yield {
        "step": "licence",
        "requested": {"licence": "requested"} if requested.licence else {},
        "found": {"licence": "requested"} if licensed else {},
    }
    yield {
        "step": "user",
        "requested": {"user": requested.user} if requested.user else {},
        "found": {"user": seen["user"].get("name", "")},
    }
    yield {"step": "roce", "asked": reads["roce"], "answer": seen["roce_proof"]}


def _pairs(lines: Iterable[str]) -> dict[str, str]:
    return {name: value for name, separator, value in (line.partition("=") for line in lines) if separator}


def now(waiting: list[str], seen: Mapping[str, Any]) -> dict[str, Any]:
    """The result of the role, in the fact guest_vm_seen."""
    last = seen["driver_again"] if "driver" in seen["driver_again"] else seen["driver"]
    interface, roce = seen["nic"].get("interface"), seen["roce"].get("roce")
    return {
        "driver": _after(last.get("driver")),
        "licence": _after(seen["licence"].get("licence")),
        "interface": {
            "name": interface["name"],
            "addresses": _after(interface).get("addresses"),
            "mtu": _after(interface).get("mtu"),
        }
        if interface
        else {},
        "rdma": {"device": roce["device"], "traffic_class": _after(roce).get("traffic_class")} if roce else {},
        "pending": [] if restarted(seen) else waiting,
        "reboots": int(restarted(seen)),
    }


def _after(noun: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The state that a module left, or would leave in check mode."""
    return (noun or {}).get("after") or {}
