# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The readings of a health check: counters and states of each object, from the answers of modules. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import counters as counted
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.finding import failed, refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# Counters of a switch port, with their kind.
_OF_PORTS = {
    "watchdog_events": "pfc_storms",
    "roce_drops": "drops",
    "discards_received": "discards",
    "discards_sent": "discards",
}
# Counters of an adapter by their names in drivers.
_LINK_DOWN = ("link_down_events_phy", "link_downed", "link_down_events")
# Kinds of memory errors and bus errors of a GPU.
_OF_GPUS = {"uncorrected": "ecc_uncorrected", "corrected": "ecc_corrected", "replays": "pcie_replays"}
_OF_NVLINKS = {"replays": "nvlink_errors", "recoveries": "nvlink_errors", "crc": "nvlink_crc"}
_STATES = {
    "pending": "Retired or remapped rows wait for a reset of the GPU.",
    "remap_failed": "A row of the GPU memory could not be remapped.",
    "unrepairable": "The GPU has memory that cannot be repaired.",
    "exceeded": "The GPU has more SRAM errors than its threshold.",
}


def readings(answers: Mapping[str, Any]) -> dict[str, Any]:
    """{object: {counters, states, boot, unread}}.

    answers: {guests: {name: result of guest_health_info}, switches: {name: result of roce_qos_info}, hosts: [result of
    esxi_roce_info]}. counters: {name: [kind, number]}. states: {name: value}. unread: sentences. boot changes with each
    restart.
    """
    found = {name: _guest(answer) for name, answer in (answers.get("guests") or {}).items()}
    found.update({name: _switch(answer) for name, answer in (answers.get("switches") or {}).items()})
    hosts = answers.get("hosts") or {}
    if hosts and (failed(hosts) or "hosts" not in hosts):
        found["ESXi hosts"] = _nothing(hosts)
    for host in hosts.get("hosts") or []:
        found[str(host["name"])] = _host(host)
    return found


def _nothing(answer: Mapping[str, Any]) -> dict[str, Any]:
    reported = refusal("", "", "", answer or {"msg": "It was not read."}, again="health")
    return {"counters": {}, "states": {}, "boot": "", "unread": [f"{reported.found} {reported.todo}".strip()]}


def _guest(answer: Mapping[str, Any] | None) -> dict[str, Any]:
    if not answer or failed(answer) or "measurements" not in answer:
        return _nothing(answer or {})
    counters: dict[str, list[Any]] = {}
    states: dict[str, Any] = {}
    unread, boot = [], ""
    for one in answer["measurements"]:
        values = one.get("readings") or {}
        if one["status"] == "skipped":
            continue
        if one["status"] != "done":
            unread.append(f"{one['check']}: {one.get('why') or one['status']}")
        elif one["check"] == "guest.kernel":
            boot = str(values.get("boot") or "")
        elif one["check"] == "guest.clock":
            states["clock.synchronised"] = values.get("synchronised")
            states["clock.offset_s"] = values.get("offset_s")
        elif one["check"] == "guest.licence":
            states.update(_licences(values.get("gpus") or []))
        elif one["check"] == "guest.xid":
            counters.update(_xids(values.get("xids") or []))
        elif one["check"] == "guest.ecc":
            for key, number in _gpus(values.get("gpus") or []):
                (counters if isinstance(number, list) else states)[key] = number
        elif one["check"] == "guest.counters":
            counters.update(_adapter(values.get("counters") or {}))
    return {"counters": counters, "states": states, "boot": boot, "unread": unread}


def _licences(gpus: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    for gpu in gpus:
        # Boards without vGPU need no licence and report none.
        if gpu.get("licence") is not None:
            yield f"licence.{gpu['address']}.licensed", bool(gpu.get("licensed"))
            yield f"licence.{gpu['address']}.expiry", gpu.get("expiry")


def _xids(xids: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The number of errors of each kind and code since the restart; no Xid is a count of 0 of hardware errors."""
    found: dict[str, list[Any]] = {"xid.hardware": ["xid_hardware", 0], "xid.program": ["xid_program", 0]}
    for one in xids:
        kind = "hardware" if one.get("kind") == "hardware" else "program"
        found[f"xid.{kind}"][1] += 1
    return found


def _gpus(gpus: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    for gpu in gpus:
        reported = gpu.get("ecc") or {}
        for key, kind in _OF_GPUS.items():
            if isinstance(reported.get(key), int):
                yield f"gpu.{gpu['address']}.{key}", [kind, reported[key]]
        for key, number in (gpu.get("nvlink") or {}).items():
            yield f"gpu.{gpu['address']}.nvlink_{key}", [_OF_NVLINKS[key], number]
        for key in _STATES:
            if key in reported:
                yield f"gpu.{gpu['address']}.{key}", bool(reported[key])


def _adapter(values: Mapping[str, Any]) -> dict[str, list[Any]]:
    found = {}
    for name, number in values.items():
        if not isinstance(number, int):
            continue
        if name in _LINK_DOWN:
            found[f"adapter.{name}"] = ["link_flaps", number]
        elif counted.kind(name) == counted.DROPS:
            found[f"adapter.{name}"] = ["drops", number]
    return found


def _switch(answer: Mapping[str, Any] | None) -> dict[str, Any]:
    if not answer or failed(answer) or "switch" not in answer:
        return _nothing(answer or {})
    counters: dict[str, list[Any]] = {}
    states: dict[str, Any] = {}
    for name, port in (answer["switch"].get("ports") or {}).items():
        running = port.get("running") or {}
        for counter, number in (running.get("counters") or {}).items():
            if counter in _OF_PORTS and isinstance(number, int):
                counters[f"{name}.{counter}"] = [_OF_PORTS[counter], number]
        if port.get("enabled") is not False and running.get("up") is not None:
            states[f"{name}.up"] = bool(running["up"])
        if running.get("storms"):
            states[f"{name}.storms"] = list(running["storms"])
    return {"counters": counters, "states": states, "boot": "", "unread": []}


def _host(host: Mapping[str, Any]) -> dict[str, Any]:
    states = {f"{port['name']}.up": port["up"] for port in host.get("ports") or [] if port.get("up") is not None}
    return {"counters": {}, "states": states, "boot": "", "unread": [str(one) for one in host.get("not_read") or []]}


def meaning(state: str) -> str:
    """The sentence about a state of a GPU that is not healthy."""
    return _STATES.get(state.rpartition(".")[2], "")


def seen(variables: Mapping[str, Mapping[str, Any]], groups: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The readings from the variables in which the plays of playbook health stored the answers."""
    own = variables["localhost"]
    known = own.get("__health_guests") or {}
    look = own.get("__health_vms") or {}
    answers: dict[str, Any] = {
        "guests": {name: variables[name].get("__health_guest") or {} for name in known.get("reached") or ()},
        "switches": {name: variables[name].get("__health_switch") or {} for name in groups.get("switches") or ()},
        "hosts": own.get("__health_hosts") if groups.get("esxi_hosts") else {},
    }
    found = readings(answers)
    if failed(look):
        found["VMs"] = _nothing(look)
    for name in known.get("later") or ():
        if name not in answers["guests"]:
            found[str(name)] = _nothing({"msg": "The VM has no address, so its guest was not read."})
    return found
