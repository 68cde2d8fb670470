# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Findings on ESXi hosts and switches, from the checks of the stages themselves. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.host import reach
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.finding import (
    AGAIN,
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
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.host_restart import Restart

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Start of the module's message about a missing VMkernel adapter.
NO_ADAPTER = "There is no such VMkernel adapter"
# The subject of each step of the role esxi_host.
STEPS = {
    "look": "vCenter's view of it",
    "cluster": "connection and cluster",
    "ports": "ports",
    "managed": "configuration profile of the cluster",
    "profile": "configuration profile of the cluster",
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
STAGE = "The stage hosts makes the change."
# Failures of the BMC itself, not of a request to it.
OF_BMC = ("bmc_", "not_redfish", "invalid_parameters")


def hosts(previews: Mapping[str, Mapping[str, Any] | None]) -> Iterator[Finding]:
    """Findings on each host; previews: {name: esxi_host_preview, or nothing if it was not checked}."""
    for name, preview in previews.items():
        if not preview:
            yield Finding("hosts", name, "host", OPEN, "It was not checked.", todo=AGAIN)
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
        yield Finding("bmc", name, "BMC", OK, "The login succeeded, and it reports its BIOS settings.")
    if host.get("connection") != "connected":
        return
    if host.get("in_maintenance"):
        found = "The host is in maintenance mode, so no VM can be placed on it."
        todo = (
            "Exit maintenance mode, or leave the host out. The stage hosts ends only a maintenance mode that it "
            "started."
        )
        yield Finding("hosts", name, "maintenance mode", OPEN, found, todo=todo)
    gaps = preview["gaps"]
    for gap in gaps:
        what = STEPS.get(gap["step"], gap["step"])
        yield Finding("hosts", name, what, CHANGED, sentence(gap["text"]), todo=STAGE)
    for one in preview.get("blockers") or ():
        yield Finding("hosts", name, one["what"], BLOCKS, one["found"], "", one["todo"])
    yield from _reverted(name, preview)
    yield from _restart(name, preview)
    if preview.get("shut") and not failed(answers.get("shutdown")):
        found = f"{', '.join(preview['shut'])}: shut down for the restart, and started again afterwards."
        yield Finding("hosts", name, STEPS["shutdown"], CHANGED, found, todo=STAGE)
    for what in preview["unseen"]:
        found = "SSH does not run on the host, and preflight does not start it."
        yield Finding(
            "hosts", name, what, OPEN, found, todo="Run the stage hosts, which starts SSH and checks these settings."
        )
    if not preview["allowed"]["ssh"]:
        found = "MIG or the firmware of network adapters needs SSH, and it does not run."
        yield Finding("hosts", name, "SSH", BLOCKS, found, "SSH", "Start it, or set site.hosts.ssh to start.")
    if not (gaps or refused or preview["unseen"] or preview.get("blockers")):
        yield Finding("hosts", name, "settings", OK, "No change is needed.")


def _refusals(name: str, answers: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    for step, answer in answers.items():
        # The adapter has its own finding, with the names of the existing ones.
        if step == "mtu" and NO_ADAPTER in str((answers.get("pvrdma") or {}).get("msg")):
            continue
        for one in answer.get("results") or [answer]:
            if failed(one):
                of_bmc = step == "bios" and code_of(one).startswith(OF_BMC)
                yield refusal("bmc" if of_bmc else "hosts", name, "BMC" if of_bmc else STEPS[step], one)


def _reverted(name: str, preview: Mapping[str, Any]) -> Iterator[Finding]:
    """Settings of the run that the next remediation of the cluster reverts, or may revert."""
    profile = preview["answers"].get("profile") or {}
    lost = (profile.get("cluster") or {}).get("reverted") or ()
    if lost and not failed(profile):
        found = f"The next remediation of the cluster reverts these host settings: {', '.join(lost)}."
        todo = "Run the stage hosts again after each remediation, or extend the schema of the profile."
        yield Finding("hosts", name, STEPS["profile"], OPEN, found, todo=todo)
    maybe = preview.get("uncompared") or ()
    if maybe:
        found = f"The next remediation of the cluster may revert these host settings: {', '.join(maybe)}."
        todo = "Compare them with the configuration of the cluster in vCenter, and run the stage again after a change."
        yield Finding("hosts", name, STEPS["profile"], OPEN, found, todo=todo)


def _restart(name: str, preview: Mapping[str, Any]) -> Iterator[Finding]:
    restart, allowed = preview["restart"], preview["allowed"]
    why = Restart(**restart).why
    if not why:
        return
    if allowed["reboot"] != "allow":
        todo = "Set site.hosts.reboot to allow."
        yield Finding(
            "hosts",
            name,
            "restart",
            BLOCKS,
            f"A restart is needed because of {why}, and restarts are not allowed.",
            "",
            todo,
        )
    elif restart["kind"] == "cold" and (allowed["cold_cycle"] != "allow" or not allowed["bmc"]):
        todo = "Set site.hosts.cold_cycle to allow, and give the host its bmc_address."
        why = ", ".join(restart["cold_reasons"])
        found = f"A cold power cycle is needed because of {why}, and it is not allowed or not possible."
        yield Finding("hosts", name, "restart", BLOCKS, found, "", todo)
    else:
        kind = "One cold power cycle" if restart["kind"] == "cold" else "One restart"
        yield Finding("hosts", name, "restart", CHANGED, f"{kind} is needed, because of {why}.", todo=STAGE)


def switches(looks: Mapping[str, Mapping[str, Any] | None]) -> Iterator[Finding]:
    """Findings on each switch; looks: {name: the answer of roce_qos in check mode, or nothing}."""
    for name, answer in looks.items():
        if not answer or answer.get("skipped"):
            yield Finding("switches", name, "switch", OPEN, "It was not checked.", todo=AGAIN)
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
    yield Finding("switches", name, "login", OK, f"The login succeeded; the platform is {_platform(switch)}.")
    yield from _links(name, switch)
    changes = [change["path"] for change in switch["changes"]]
    if changes:
        shown = ", ".join(changes[:3]) + (f" and {len(changes) - 3} more" if len(changes) > 3 else "")
        found = f"{len(changes)} settings differ: {shown}."
        yield Finding("switches", name, "RoCE", CHANGED, found, todo="The stage fabric makes the change.")
    else:
        yield Finding("switches", name, "RoCE", OK, "No change is needed.")


def _links(name: str, switch: Mapping[str, Any]) -> Iterator[Finding]:
    """Findings on inventory ports without traffic; a link may come up with a host that is off now."""
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
    """Whether the VMkernel adapters for PVRDMA reach each other: VLAN, subnet, duplicates."""
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
