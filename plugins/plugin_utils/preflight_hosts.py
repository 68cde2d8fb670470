# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What was found of ESXi hosts and switches, by the looks of the stages themselves. Pure."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight_finding import (
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
    "maintenance": "maintenance mode",
    "leave": "maintenance mode",
    "reboot": "restart",
    "profiles": "vGPU profiles",
}
STAGE = "The stage hosts does it."
# Failures that are about the BMC itself and not about what it was asked for.
OF_BMC = ("bmc_", "not_redfish", "invalid_parameters")


def hosts(previews):
    """Findings of each host; previews: {name: esxi_host_preview, or nothing where there was no look}."""
    for name, preview in previews.items():
        if not preview:
            yield Finding(
                "hosts", name, "host", OPEN, "It was not looked at.", todo="Mend what blocks, and look again."
            )
        else:
            yield from _host(name, preview)


def _host(name, preview):
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
    gaps = preview["gaps"]
    for gap in gaps:
        what = STEPS.get(gap["step"], gap["step"])
        yield Finding("hosts", name, what, CHANGED, sentence(gap["text"]), todo=STAGE)
    yield from _restart(name, preview)
    for what in preview["unseen"]:
        found = "SSH does not run on the host, and nothing is started for a look."
        yield Finding("hosts", name, what, OPEN, found, todo="The stage hosts starts SSH, and decides then.")
    if not preview["allowed"]["ssh"]:
        found = "MIG or the firmware of network adapters needs SSH, and it does not run."
        yield Finding("hosts", name, "SSH", BLOCKS, found, "SSH", "Start it, or set site.hosts.ssh to start.")
    if not (gaps or refused or preview["unseen"]):
        yield Finding("hosts", name, "settings", OK, "Nothing is to be changed.")


def _refusals(name, answers):
    for step, answer in answers.items():
        for one in answer.get("results") or [answer]:
            if failed(one):
                of_bmc = step == "bios" and code_of(one).startswith(OF_BMC)
                yield refusal("bmc" if of_bmc else "hosts", name, "BMC" if of_bmc else STEPS[step], one)


def _restart(name, preview):
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


def switches(looks):
    """Findings of each switch; looks: {name: the answer of roce_qos in check mode, or nothing}."""
    for name, answer in looks.items():
        if not answer or answer.get("skipped"):
            yield Finding(
                "switches", name, "switch", OPEN, "It was not looked at.", todo="Mend what blocks, and look again."
            )
        elif failed(answer):
            todo = (
                "Check its address, the user and the password or key in the inventory."
                if answer.get("unreachable")
                else ""
            )
            yield refusal("switches", name, "switch", answer, todo=todo)
        else:
            yield from _switch(name, answer["switch"])


def _switch(name, switch):
    yield Finding("switches", name, "login", OK, f"It lets the user in; its platform is {_platform(switch)}.")
    changes = [change["path"] for change in switch["changes"]]
    if changes:
        shown = ", ".join(changes[:3]) + (f" and {len(changes) - 3} more" if len(changes) > 3 else "")
        found = f"{len(changes)} settings differ: {shown}."
        yield Finding("switches", name, "RoCE", CHANGED, found, todo="The stage fabric does it.")
    else:
        yield Finding("switches", name, "RoCE", OK, "Nothing is to be changed.")


def _platform(switch):
    return " ".join(str(switch[key]) for key in ("platform", "version") if switch.get(key)) or "not known"
