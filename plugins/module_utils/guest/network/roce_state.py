# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Present and desired RoCE QoS of one guest adapter, and the commands between them. Pure.

A guest controls flow control and trust only of an adapter in full passthrough. The host controls those of a virtual
function and of a paravirtual adapter; the guest only sets the class that its packets request.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Iterable

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import ini

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent


DATA_PATHS = ("pvrdma", "sriov", "passthrough")
CONFIGFS = "/sys/kernel/config/rdma_cm"


@dataclass
class State:
    """One adapter. None means unknown or missing."""

    interface: str
    mac: str
    device: str
    port: int
    traffic_class: int | None = None  # of programs that use the connection manager
    override: int | None = None  # of everything that the adapter sends; a file that only OFED has
    tools: list[str] = field(default_factory=list)
    trust: str | None = None
    pfc: list[int] | None = None
    dscp_map: dict[int, int] | None = None
    dcbx_owner: str | None = None
    kept: list[str] = field(default_factory=list)  # commands that the next start runs


def tos_path(device: str, port: int) -> str:
    return f"{CONFIGFS}/{device}/ports/{port}/default_roce_tos"


def override_path(device: str, port: int) -> str:
    return f"/sys/class/infiniband/{device}/tc/{port}/traffic_class"


def unit_path(interface: str) -> str:
    return f"/etc/systemd/system/{unit_name(interface)}"


def unit_name(interface: str) -> str:
    return f"aiready-roce-{interface}.service"


def owns(data_path: str, intent: Intent) -> bool:
    """Return whether the guest sets flow control and trust; with DCBX the adapter gets them from the switch."""
    return data_path == "passthrough" and intent.dcbx != "ieee"


def want(now: State, intent: Intent, data_path: str) -> State:
    """The State that an intent asks for."""
    wanted = replace(now, traffic_class=intent.traffic_class)
    if now.override is not None:
        wanted.override = intent.traffic_class
    if owns(data_path, intent):
        wanted.trust = "dscp"
        wanted.pfc = intent.lossless
        wanted.dscp_map = {**(now.dscp_map or {}), **intent.dscp_map}
        wanted.dcbx_owner = "os" if now.dcbx_owner == "firmware" else now.dcbx_owner
    wanted.kept = commands(wanted, intent, data_path)
    return wanted


def compare(now: State, wanted: State) -> list[Change]:
    """The changes from one state to the other."""
    names = ("dcbx_owner", "trust", "pfc", "traffic_class", "override")
    found = [Change(name, getattr(now, name), getattr(wanted, name)) for name in names if not _same(name, now, wanted)]
    asked = wanted.dscp_map or {}
    # The default map of most adapters has these pairs already, reported or not.
    given = {dscp: dscp >> 3 for dscp in asked} if now.dscp_map is None else now.dscp_map
    gap = {dscp: priority for dscp, priority in asked.items() if given.get(dscp, dscp >> 3) != priority}
    if gap:
        before = {str(dscp): given.get(dscp, dscp >> 3) for dscp in gap}
        found.append(Change("dscp_map", before, {str(dscp): priority for dscp, priority in gap.items()}))
    if now.kept != wanted.kept:
        found.append(Change("kept", now.kept, wanted.kept))
    return found


def _same(name: str, now: State, wanted: State) -> bool:
    before, after = getattr(now, name), getattr(wanted, name)
    # An adapter that supports both uses the DSCP if a packet has one, and every packet of RoCE v2 has.
    return before == after or (name == "trust" and (before, after) == ("both", "dscp"))


def commands(wanted: State, intent: Intent, data_path: str) -> list[str]:
    """Return the commands of the next start, as lines of a unit; the same commands make the change now."""
    folder = f"{CONFIGFS}/$$(dirname $$(dirname $$p))"
    reported = f"mkdir -p {folder}; echo {wanted.traffic_class} > {CONFIGFS}/$$p/default_roce_tos"
    if wanted.override is not None:
        reported += f"; echo {wanted.override} > $$(dirname $$(dirname $$p))/tc/$$(basename $$p)/traffic_class"
    # Devices get other names when rdma-core is installed, so that the start asks for the one of this adapter.
    ours = f"grep -qsx {wanted.interface} $$p/gid_attrs/ndevs/*"
    loop = f"cd /sys/class/infiniband && for p in */ports/*; do {ours} || continue; {reported}; done"
    lines = ["-/sbin/modprobe rdma_cm", f"/bin/sh -c '{loop}'"]
    if owns(data_path, intent):
        lines += [" ".join(argv) for argv in adapter_commands(wanted, intent)]
    return lines


def adapter_commands(wanted: State, intent: Intent) -> list[list[str]]:
    """Return the calls that set trust, map and flow control of the adapter, with the installed tool."""
    if "mlnx_qos" in wanted.tools:
        calls = [["--dcbx", "os"]] if wanted.dcbx_owner == "os" else []
        return [["/usr/bin/mlnx_qos", "-i", wanted.interface, *call] for call in [*calls, *intent.mlnx_qos()]]
    pairs = [f"{dscp}:{priority}" for dscp, priority in sorted(intent.dscp_map.items())]
    pauses = [f"{priority}:on" for priority in intent.lossless]
    return [
        # The driver begins to trust DSCP with the first pair.
        ["/sbin/dcb", "app", "replace", "dev", wanted.interface, "dscp-prio", *pairs],
        ["/sbin/dcb", "pfc", "set", "dev", wanted.interface, "prio-pfc", "all:off", *pauses],
    ]


def unit(interface: str, lines: Iterable[str]) -> str:
    """The text of the unit that runs these lines when the guest starts."""
    return ini.render(
        [
            (
                "Unit",
                [
                    ("Description", f"RoCE traffic class on {interface}"),
                    ("Wants", "network-online.target"),
                    ("After", "network-online.target openibd.service"),
                ],
            ),
            ("Service", [("Type", "oneshot"), ("RemainAfterExit", "yes"), *(("ExecStart", line) for line in lines)]),
            ("Install", [("WantedBy", "multi-user.target")]),
        ]
    )


def lines_of(text: str) -> list[str]:
    """The lines that a unit runs."""
    return ini.values(ini.parse(text), "Service", "ExecStart")


def project(state: State, data_path: str, intent: Intent) -> dict[str, Any]:
    """A state as the user sees it."""
    asked = intent.dscp_map
    shown = {str(dscp): priority for dscp, priority in (state.dscp_map or {}).items() if dscp in asked}
    return {
        "interface": state.interface,
        "device": state.device,
        "port": state.port,
        "traffic_class": state.traffic_class,
        "adapter_traffic_class": state.override,
        "trust": state.trust,
        "pfc": state.pfc,
        "dscp_map": shown,
        "dcbx_owner": state.dcbx_owner,
        "kept": list(state.kept),
        "not_managed": [] if owns(data_path, intent) else [_why(data_path)],
    }


def _why(data_path: str) -> str:
    if data_path == "passthrough":
        return "Flow control and trust: the switch configures them on the adapter (dcbx: ieee)."
    return "Flow control and trust: the host configures them for all its guests."
