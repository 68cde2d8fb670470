# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Drift of ESXi hosts, switches and VMs, from the checks of their stages. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift.row import (
    AS_REQUESTED,
    EVERYTHING,
    UNKNOWN,
    Row,
    differs,
    of_item,
    of_items,
    refused,
    unread,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.finding import failed
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.hosts import STEPS
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.machine_due import OF_POWER
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.machine_steps import key_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HOSTS, FABRIC, MACHINES = "hosts", "fabric", "machines"
NOT_READ = "It was not read. The rows above, or the output of the run, have the reason."
# Steps of the role esxi_host whose gaps do not contain the answer of the module.
ALSO = ("driver", "passthrough", "firmware", "mig")
# Answers of the role that say how a run would go, and nothing about a setting.
OF_RUNS = ("ports", "managed", "profile", "maintenance", "leave", "reboot", "shutdown", "vms", "left_off")


def hosts(previews: Mapping[str, Mapping[str, Any] | None]) -> Iterator[Row]:
    """previews: {name: esxi_host_preview, or nothing if the host was not read}."""
    for name, preview in previews.items():
        yield from _closed(HOSTS, name, list(_host(name, preview)))


def _host(name: str, preview: Mapping[str, Any] | None) -> Iterator[Row]:
    if not preview:
        yield unread(HOSTS, name, EVERYTHING, NOT_READ)
        return
    answers, host = preview["answers"], preview.get("host") or {}
    moid = str(host.get("moid") or "")
    for step, answer in answers.items():
        if step not in OF_RUNS and answer:
            for one in answer.get("results") or [answer]:
                if failed(one):
                    yield refused(HOSTS, name, STEPS.get(step, step), one)
    if not host or host.get("connection") != "connected":
        found = f"It is {host['connection']}." if host.get("connection") else NOT_READ
        yield unread(HOSTS, name, EVERYTHING, f"vCenter cannot read its settings. {found}")
        return
    reported = set()
    for gap in preview["gaps"]:
        reported.add(gap["path"])
        yield differs(HOSTS, name, gap["path"], gap["requested"], gap["found"], moid)
    for step in ALSO:
        for row in of_items(HOSTS, name, STEPS[step], answers.get(step)):
            if row.state != UNKNOWN and not any(_same(row.setting, path) for path in reported):
                yield row
    if host.get("in_maintenance"):
        yield differs(HOSTS, name, "in_maintenance", False, True, moid)
    for what in preview.get("unseen") or []:
        yield unread(HOSTS, name, what, "Only SSH shows it. SSH does not run on the host, and drift does not start it.")


def _same(setting: str, path: str) -> bool:
    return setting == path or path.endswith(f".{setting}")


def switches(looks: Mapping[str, Mapping[str, Any] | None]) -> Iterator[Row]:
    """looks: {name: the answer of roce_qos in check mode, or nothing if the switch was not read}."""
    for name, answer in looks.items():
        yield from _closed(FABRIC, name, list(_switch(name, answer)))


def _switch(name: str, answer: Mapping[str, Any] | None) -> Iterator[Row]:
    if not answer or answer.get("skipped"):
        yield unread(FABRIC, name, EVERYTHING, NOT_READ)
    elif failed(answer):
        yield refused(FABRIC, name, EVERYTHING, answer)
    else:
        yield from of_item(FABRIC, name, answer["switch"])
        for port in answer["switch"].get("ports_down") or []:
            yield differs(FABRIC, name, f"{port['port']}.link", "up", port["reason"])


def machines(preview: Mapping[str, Any] | None) -> Iterator[Row]:
    """preview: training_vm_preview, or nothing if the VMs were not read."""
    if not preview:
        yield unread(MACHINES, "VMs", EVERYTHING, NOT_READ)
        return
    answers = preview["answers"]
    rows: dict[str, list[Row]] = {}
    for part in ("clone", "config", "power"):
        answer = answers.get(part) or {}
        vms = list(answer.get("vms") or [])
        if failed(answer) and not any(vm.get("failed") for vm in vms):
            rows.setdefault("VMs", []).append(refused(MACHINES, "VMs", part, answer))
        for vm in vms:
            rows.setdefault(_path(vm), []).extend(_vm(part, vm, preview))
    for name, found in rows.items():
        yield from _closed(MACHINES, name, found)
    yield from _drs(answers.get("drs"))


def _path(vm: Mapping[str, Any]) -> str:
    return str(vm.get("path") or vm.get("name") or "VM")


def _vm(part: str, vm: Mapping[str, Any], preview: Mapping[str, Any]) -> Iterator[Row]:
    name = _path(vm)
    if vm.get("failed"):
        yield refused(MACHINES, name, part, vm)
    elif not vm.get("before"):
        # A module that rejects one VM does not compare the others.
        yield unread(MACHINES, name, part, "It was not compared, because the request for another VM is rejected.")
    elif part == "clone" and vm.get("changed") and not vm["before"].get("exists"):
        yield differs(MACHINES, name, "exists", True, False)
    elif part == "power":
        # The site may leave the power of its VMs to others.
        due = {key_of(entry) for entry in (preview.get("due") or {}).get("on") or []}
        if due & {vm.get(key) for key in ("name", "path", "moid", "instance_uuid")}:
            yield from (row for row in of_item(MACHINES, name, vm) if row.setting == "power")
    else:
        yield from (row for row in of_item(MACHINES, name, vm) if row.setting not in OF_POWER)


def _drs(answer: Mapping[str, Any] | None) -> Iterator[Row]:
    if not answer or answer.get("skipped"):
        return
    if failed(answer):
        yield refused(MACHINES, "DRS", "rules", answer)
        return
    cluster = answer.get("cluster") or {}
    yield from _closed(MACHINES, str(cluster.get("name") or "DRS"), list(of_item(MACHINES, cluster["name"], cluster)))


def _closed(stage: str, owner: str, rows: Sequence[Row]) -> Sequence[Row]:
    """The rows of an object; without any, one row that it is as requested."""
    return rows or [Row(stage, owner, EVERYTHING, AS_REQUESTED)]
