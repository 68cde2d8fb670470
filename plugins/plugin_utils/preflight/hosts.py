# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What was found of ESXi hosts and switches, by the looks of the stages themselves. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.host import reach
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.finding import (
    BLOCKS,
    CHANGED,
    OK,
    OPEN,
    Finding,
    code_of,
    failed,
    refusal,
    sentence,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# What the module says of a VMkernel adapter that the host does not have.
NO_ADAPTER = "There is no such VMkernel adapter"
# What each step of the role esxi_host is about.
STEPS = {
    "look": "vCenter's view of it",
    "cluster": "connection and cluster",
    "ports": "ports",
    "bios": "BIOS settings",
    "driver": "NVIDIA host driver",
    "kernel": "kernel settings",
    "modules": "options of the network driver",
    "passthrough": "passthrough",
    "pvrdma": "PVRDMA",
    "mtu": "MTU",
    "graphics": "graphics types",
    "mig": "MIG",
    "firmware": "firmware of the network adapters",
    "shutdown": "VMs of the site",
    "maintenance": "maintenance mode",
    "leave": "maintenance mode",
    "reboot": "restart",
    "profiles": "vGPU profiles",
    "vfs": "virtual functions",
    "host": "host",
}
STAGE = "The stage hosts does it."
# Failures that are about the BMC itself and not about what it was asked for.
OF_BMC = ("bmc_", "not_redfish", "invalid_parameters")


def hosts(previews: Mapping[str, Mapping[str, Any] | None]) -> Iterator[Finding]:
    """Findings of each host; previews: {name: esxi_host_preview, or nothing where there was no look}."""
    for name, preview in previews.items():
        if not preview:
            yield Finding(
                "hosts", name, "host", OPEN, "It was not looked at.", todo="Mend what blocks, and look again."
            )
        else:
            yield from _host(name, preview)


def _host(name: str, preview: Mapping[str, Any]) -> Iterator[Finding]:
    host, answers = preview.get("host"), preview["answers"]
    refused = list(_refusals(name, answers))
    yield from refused
    if not host:
        return
    if not failed(answers.get("cluster")):
        where = f", in the cluster {host['cluster']}" if host.get("cluster") else ""
        yield Finding("hosts", name, "host", OK, f"ESXi {host['version']} is connected{where}.")
    bios = answers.get("bios") or {"skipped": True}
    if preview["allowed"]["bmc"] and not (bios.get("skipped") or failed(bios)):
        yield Finding("bmc", name, "BMC", OK, "It lets the user in, and tells its BIOS settings.")
    if host.get("connection") != "connected":
        return
    if host.get("in_maintenance"):
        found = "The host is in maintenance mode, so that no VM is placed on it."
        todo = "Exit maintenance mode, or leave the host out. The stage hosts ends only what it began itself."
        yield Finding("hosts", name, "maintenance mode", OPEN, found, todo=todo)
    gaps = preview["gaps"]
    for gap in gaps:
        what = STEPS.get(gap["step"], gap["step"])
        yield Finding("hosts", name, what, CHANGED, sentence(gap["text"]), todo=STAGE)
    for one in preview.get("blockers") or ():
        yield Finding("hosts", name, one["what"], BLOCKS, one["found"], "", one["todo"])
    yield from _restart(name, preview)
    if preview.get("shut") and not failed(answers.get("shutdown")):
        found = f"{', '.join(preview['shut'])}: shut down for the restart, and started again once the host is back."
        yield Finding("hosts", name, STEPS["shutdown"], CHANGED, found, todo=STAGE)
    for what in preview["unseen"]:
        found = "SSH does not run on the host, and nothing is started for a look."
        yield Finding("hosts", name, what, OPEN, found, todo="The stage hosts starts SSH, and decides then.")
    if not preview["allowed"]["ssh"]:
        found = "MIG or the firmware of network adapters needs SSH, and it does not run."
        yield Finding("hosts", name, "SSH", BLOCKS, found, "SSH", "Start it, or set site.hosts.ssh to start.")
    if not (gaps or refused or preview["unseen"] or preview.get("blockers")):
        yield Finding("hosts", name, "settings", OK, "Nothing is to be changed.")


def _refusals(name: str, answers: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    for step, answer in answers.items():
        # Its own row says that the adapter is not there, with the names of those that are.
        if step == "mtu" and NO_ADAPTER in str((answers.get("pvrdma") or {}).get("msg")):
            continue
        for one in answer.get("results") or [answer]:
            if failed(one):
                of_bmc = step == "bios" and code_of(one).startswith(OF_BMC)
                yield refusal("bmc" if of_bmc else "hosts", name, "BMC" if of_bmc else STEPS[step], one)


def _restart(name: str, preview: Mapping[str, Any]) -> Iterator[Finding]:
    restart, allowed = preview["restart"], preview["allowed"]
    if not restart["reboot"]:
        return
    why = ", ".join(restart["reasons"])
    if allowed["reboot"] != "allow":
        todo = "Set site.hosts.reboot to allow."
        yield Finding("hosts", name, "restart", BLOCKS, f"It is needed because of {why}, and is not allowed.", "", todo)
    elif restart["kind"] == "cold" and (allowed["cold_cycle"] != "allow" or not allowed["bmc"]):
        todo = "Set site.hosts.cold_cycle to allow, and give the host its bmc_address."
        why = ", ".join(restart["cold_reasons"])
        found = f"It has to be switched off and on because of {why}, and that is not allowed or not possible."
        yield Finding("hosts", name, "restart", BLOCKS, found, "", todo)
    else:
        kind = {"cold": "One cold power cycle", "warm": "One restart"}[restart["kind"]]
        yield Finding("hosts", name, "restart", CHANGED, f"{kind} is needed, because of {why}.", todo=STAGE)


def switches(looks: Mapping[str, Mapping[str, Any] | None]) -> Iterator[Finding]:
    """Findings of each switch; looks: {name: the answer of roce_qos in check mode, or nothing}."""
    for name, answer in looks.items():
        if not answer or answer.get("skipped"):
            yield Finding(
                "switches", name, "switch", OPEN, "It was not looked at.", todo="Mend what blocks, and look again."
            )
        elif failed(answer):
            todo = (
                "Check its address (ansible_host, ansible_port), ansible_network_os, ansible_user, ansible_password "
                "or the key in the inventory."
                if answer.get("unreachable")
                else ""
            )
            yield refusal("switches", name, "switch", answer, todo=todo)
        else:
            yield from _switch(name, answer["switch"])


def _switch(name: str, switch: Mapping[str, Any]) -> Iterator[Finding]:
    yield Finding("switches", name, "login", OK, f"It lets the user in; its platform is {_platform(switch)}.")
    yield from _links(name, switch)
    changes = [change["path"] for change in switch["changes"]]
    if changes:
        shown = ", ".join(changes[:3]) + (f" and {len(changes) - 3} more" if len(changes) > 3 else "")
        found = f"{len(changes)} settings differ: {shown}."
        yield Finding("switches", name, "RoCE", CHANGED, found, todo="The stage fabric does it.")
    else:
        yield Finding("switches", name, "RoCE", OK, "Nothing is to be changed.")


def _links(name: str, switch: Mapping[str, Any]) -> Iterator[Finding]:
    """Ports that the inventory names and that carry nothing; a link may come with a host that is off now."""
    down = [one["port"] for one in switch.get("ports_down") or [] if one["reason"] == "administratively down"]
    dark = [one["port"] for one in switch.get("ports_down") or [] if one["port"] not in down]
    if down:
        found = f"{', '.join(down)} {'is' if len(down) == 1 else 'are'} administratively down."
        todo = "Enable the port on the switch, or remove it from switch_host_ports or switch_fabric_ports."
        yield Finding("switches", name, "ports", BLOCKS, found, "Ports that the inventory names are enabled.", todo)
    if dark:
        found = f"{', '.join(dark)} {'has' if len(dark) == 1 else 'have'} no link."
        yield Finding(
            "switches", name, "links", OPEN, found, todo="Check cable and peer; fabric_check reports an error."
        )


def data_path(previews: Mapping[str, Mapping[str, Any] | None]) -> Iterator[Finding]:
    """Whether the VMkernel adapters that PVRDMA will use reach each other: VLAN, subnet, duplicates."""
    ends = []
    for name, preview in previews.items():
        host, vmknic = (preview or {}).get("host") or {}, (preview or {}).get("vmknic")
        for one in host.get("vmkernel") or []:
            if vmknic and one["device"] == vmknic and "netmask" in one:
                keys = ("device", "ip", "netmask", "vlan", "portgroup")
                ends.append(reach.End(name, **{key: one[key] for key in keys if one[key] is not None}))
    for trouble in reach.troubles(ends):
        yield Finding(
            "hosts",
            trouble.end.owner,
            f"address of {trouble.end.device}",
            BLOCKS,
            f"{trouble.text}.",
            "The VMkernel adapters for PVRDMA are in one VLAN and one subnet, each with an address of its own.",
            "Correct the port group or the address of the VMkernel adapter. PVRDMA falls back to TCP otherwise.",
        )


def _platform(switch: Mapping[str, Any]) -> str:
    return " ".join(str(switch[key]) for key in ("platform", "version") if switch.get(key)) or "not known"
