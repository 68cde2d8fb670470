# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compute ports from the settings of Cumulus Linux, and their running values from its outputs. Pure."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import part
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus import shows, text, vlans
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus.files import ALL, of_files
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking, Port
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.unread import lacks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus.text import Tree
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Switch

    class Reported(Port):
        """A Port with all RoCE values set, as _preset() creates it."""

        dscp_map: dict[int, int]
        queues: dict[int, int]
        pfc: list[int]
        ecn: dict[int, Marking]
        strict: list[int]
        shares: dict[int, int]


ROCE_CLASS, CNP_CLASS = 3, 6  # of the presets
IDENTITY = {priority: priority for priority in range(8)}
EIGHTS = {dscp: dscp >> 3 for dscp in range(64)}
PRESET_QUEUES = {**dict.fromkeys(range(8), 0), 3: ROCE_CLASS, 6: CNP_CLASS}
PRESET_MARKING = Marking(150000, 1500000, 100)
FACTORY_MTU, FACTORY_CABLE_M = 9216, 100
FACTORY_POLL_MS, FACTORY_ROBUSTNESS = 100, 3
# The preset with a traffic class for each level of congestion. It trims packets and marks in classes 1 to 3.
MULTI_MARKING = Marking(163 * 1024, 234 * 1024, 5)
MULTI_SHARES = {0: 4, 1: 8, 2: 18, 3: 22, 4: 22, 5: 22, 6: 4, 7: 0}
MULTI_DSCPS = ("0,7-10,51-63", "1-2", "3-4", "5-6", "11-40")
# Since 5.15 (its list of new features). The earlier path is not documented.
MULTI_DSCPS_5, MULTI_DSCPS_5_SINCE = "41-50", (5, 15)
# {kind of profile: effects that it sets}
PROFILE_KEYS = {
    "mapping": {"trust", "roce_priority", "cnp_priority"},
    "egress-queue-mapping": {"roce_queue_shared_with", "cnp_strict"},
    "pfc": {"pfc_mode", "pfc", "pfc_sends", "lossless", "cable_length_m"},
    "congestion-control": {"ecn"},
    "egress-scheduler": {"bandwidth_percent", "cnp_strict"},
    "link-pause": {"pause"},
}
SYSTEM_KEYS = {key for keys in PROFILE_KEYS.values() for key in keys}
DCBX = ("dcbx-pfc-tlv", "dcbx-ets-config-tlv", "dcbx-ets-recomm-tlv")
TRUSTS = {"l2": "pcp", "l3": "dscp", "both": "both", "port": "none"}


def switch_of(switch: Switch, texts: Mapping[str, str]) -> Switch:
    """Return a Switch from {command: output}."""
    settings: Tree | None = None
    shown = [(text.command_in(output) or command, output) for command, output in texts.items()]
    for command, output in shown:
        words = command.split()
        if words[:3] == ["nv", "config", "show"] and text.documents(output):
            header, settings = text.config_of(output)
            switch.version = _version(header.get("version")) or switch.version
            switch.model = header.get("model") or switch.model
        elif words[:3] == ["nv", "config", "show"] and output.strip():
            switch.unread.append(f"Cannot read `{command}`. Its output is not JSON. Give `nv config show -o json`.")
            continue
        elif command.endswith(".conf"):
            settings = of_files(text.properties(output))
        else:
            continue
        found = [(f"qos.{at}", value) for at, value in _strange(part(settings, "qos"))]
        for name, one in part(settings, "interface").items():
            found += [(f"{name}.qos.{at}", value) for at, value in _strange(part(one, "qos"))]
        switch.unread += [lacks(command, f"{at} = {value!r}") for at, value in found]
    # Without the settings, tables of running values supply the ports.
    made: Callable[[str], Port]
    made = (
        (lambda _name: Port())
        if settings is None
        else (lambda name: port_of(cast("Tree", settings), name, switch.version))
    )
    settings = settings or {}
    switch.hostname = _at(settings, "system", "hostname")
    switch.raw = {"settings": settings}
    names = dict.fromkeys(part(settings, "interface"))
    for command, output in shown:
        reported = shows.ports_of(command, output) if "show" in command else ()
        names.update(dict.fromkeys(name for name in reported if name != shows.ANY))
    switch.ports = {name: made(name) for name in names if name.startswith(("swp", shows.ANY))}
    default = {name: _of_all(settings, name) for name in switch.ports} if settings else {}
    # Outputs for all ports come last, when the ports are known.
    for command, output in sorted(shown, key=lambda one: one[0].startswith("nv show qos")):
        if command.startswith("nv show"):
            shows.read(switch, command, output, default)
    for name, port in switch.ports.items() if "bridge" in settings or "system" in settings else ():
        vlans.switched(settings, name, port)
    for name in switch.ports:
        for profile, users in _own(settings, name):
            switch.own.setdefault(f"qos congestion-control {profile}", []).extend(users)
    kept = {key: settings[key] for key in ("qos",) if key in settings}
    ports = {name: _kept(one) for name, one in part(settings, "interface").items() if _kept(one)}
    switch.config = json.dumps(dict(kept, interface=ports), indent=2, sort_keys=True) if settings else ""
    return switch


def command_of(output: str) -> str | None:
    """Return the command of an output; None if NVUE does not print it."""
    named = text.command_in(output)
    if named:
        return named
    for reported in text.documents(output):
        entries = reported if isinstance(reported, list) else [reported]
        if any(isinstance(entry, dict) and ("set" in entry or "qos" in entry) for entry in entries):
            return "nv config show -o json"
        if any(key.startswith("swp") for key in part(reported)):
            return "nv show interface -o json"
    if re.search(r"^\s*(pfc|traffic|default_ecn_red_conf|pfc_watchdog)\.", output, re.M):
        return "/etc/cumulus/datapath/qos/qos_features.conf"
    return shows.command_of(output)


# Readers of setting values, by key. A release may write a word for a default value.
_READERS: dict[str, Callable[[Any], object]] = {
    **dict.fromkeys(("tx", "rx", "state", "enable", "ecn", "red"), text.switched),
    **dict.fromkeys(("min-threshold", "max-threshold", "probability", "cable-length", "bw-percent"), text.number),
    **dict.fromkeys(("switch-priority", "traffic-class", "polling-interval", "robustness"), text.number),
    "trust": TRUSTS.get,
}
_BY_ITSELF = ("auto", "default")


def _strange(settings: Tree) -> list[tuple[str, object]]:
    """Return [(path, value)] of settings whose value has an unknown form."""
    leaves = [(path, value) for path, value in text.flat(settings).items() if path and value is not None]
    leaves = [(path, value) for path, value in leaves if path[-1] in _READERS and value not in _BY_ITSELF]
    return [(".".join(path), value) for path, value in leaves if _READERS[path[-1]](value) is None]


def preset_of(settings: Tree) -> str | None:
    """Return the active mode of RoCE; None without RoCE."""
    roce = _at(settings, "qos", "roce")
    if roce is None:
        return None
    roce = part(roce)
    for key in ("enable", "state"):
        if key in roce and not text.is_on(roce[key]):
            return None
    return str(roce.get("mode") or "lossless")


def port_of(settings: Tree, name: str, version: str | None = None) -> Port:
    """Return the Port that the settings configure: the preset of the release, overridden by explicit settings."""
    one = part(settings, "interface", name)
    mode = preset_of(settings)
    port = cast("Reported", _preset(mode, version))
    lossless_pools = (mode or "").startswith("lossless") or _has_lossless_pool(settings)
    profiles = {kind: _profile(settings, one, kind) for kind in PROFILE_KEYS}
    _mapped(port, profiles["mapping"], profiles["egress-queue-mapping"])
    flow = profiles["pfc"]
    if flow:
        port.pfc = text.numbers(flow.get("switch-priority") or {})
        port.pfc_sends = text.is_on(flow.get("tx", "enable"))
        if not port.pfc_sends and not text.is_on(flow.get("rx", "enable")):
            port.pfc = []
    port.pfc_mode = "on" if port.pfc else "off"
    port.lossless = list(port.pfc) if lossless_pools or flow.get("port-buffer") else []
    length = flow.get("cable-length") or _at(settings, "qos", "roce", "cable-length")
    port.cable_length_m = text.number(length) or FACTORY_CABLE_M
    classes = _classes(profiles["congestion-control"])
    if classes and mode is None:
        port.ecn = {}
    _marked(port, classes)
    _scheduled(port, _classes(profiles["egress-scheduler"]))
    port.pause = any(text.is_on(profiles["link-pause"].get(way, "off")) for way in ("tx", "rx"))
    port.mtu = text.number(_at(one, "link", "mtu")) or FACTORY_MTU
    port.watchdog = text.is_on(_at(one, "qos", "pfc-watchdog", "state"))
    watch = part(settings, "qos", "pfc-watchdog")
    polls = text.number(watch.get("robustness")) or FACTORY_ROBUSTNESS
    port.watchdog_detection_ms = (text.number(watch.get("polling-interval")) or FACTORY_POLL_MS) * polls
    port.dcbx = "ieee" if any(text.is_on(_at(one, "lldp", kind)) for kind in DCBX) else "off"
    return port


def _preset(mode: str | None, version: str | None = None) -> Port:
    """Return a port with the values of the RoCE mode alone, or with factory defaults without a mode."""
    if mode is None:
        return Port(
            trust="pcp",
            dscp_map=dict(EIGHTS),
            queues=dict(IDENTITY),
            pfc=[],
            ecn={0: Marking(40000, 200000, 100)},
            strict=[],
            shares={},
        )
    if mode == "lossy-multi-tc":
        known = [int(one) for one in re.findall(r"\d+", version or "")[:2]]
        rows = (*MULTI_DSCPS, MULTI_DSCPS_5) if tuple(known) >= MULTI_DSCPS_5_SINCE else MULTI_DSCPS
        return Port(
            trust="both",
            dscp_map={dscp: at for at, row in enumerate(rows) for dscp in text.numbers(row)},
            queues=dict(IDENTITY),
            pfc=[],
            ecn=dict.fromkeys((1, 2, 3), MULTI_MARKING),
            strict=[],
            shares=dict(MULTI_SHARES),
        )
    lossless = mode.startswith("lossless")
    return Port(
        trust="both",
        dscp_map=dict(EIGHTS),
        queues=dict(PRESET_QUEUES),
        pfc=[3] if lossless else [],
        pfc_sends=True if lossless else None,
        ecn={0: PRESET_MARKING, ROCE_CLASS: PRESET_MARKING},
        strict=[CNP_CLASS],
        shares={0: 50, ROCE_CLASS: 50},
    )


def _mapped(port: Reported, mapping: Tree, queues: Tree) -> None:
    port.trust = TRUSTS.get(str(mapping.get("trust")), port.trust)
    for dscp, what in part(mapping, "dscp").items():
        _put(port.dscp_map, dscp, part(what).get("switch-priority"))
    for priority, what in part(queues, "switch-priority").items():
        _put(port.queues, priority, part(what).get("traffic-class"))


def _put(table: dict[int, int], key: str, value: object) -> None:
    """Set values that are numbers; a release may write a word for a default."""
    at, what = text.number(key), text.number(value)
    if at is not None and what is not None:
        table[at] = what


def _classes(profile: Tree) -> dict[int, Tree]:
    """Return {traffic class: its settings} of a profile."""
    found = part(profile, "traffic-class")
    return {int(queue): part(what) for queue, what in found.items() if queue.isdecimal()}


def _marked(port: Reported, classes: Mapping[int, Tree]) -> None:
    for queue, what in classes.items():
        usual = port.ecn.get(queue, Marking(40000, 200000, 100))
        low, high = text.number(what.get("min-threshold")), text.number(what.get("max-threshold"))
        probability = text.number(what.get("probability"))
        marks = text.is_on(what["ecn"]) if "ecn" in what else queue in port.ecn
        if not marks and not text.is_on(what.get("red", "disable")):
            port.ecn.pop(queue, None)
            continue
        port.ecn[queue] = Marking(
            usual.min_bytes if low is None else low,
            usual.max_bytes if high is None else high,
            usual.probability if probability is None else probability,
            marks,
        )


def _scheduled(port: Reported, classes: Mapping[int, Tree]) -> None:
    for queue, what in classes.items():
        if what.get("mode") == "strict":
            port.strict = sorted({*port.strict, queue})
            port.shares.pop(queue, None)
        elif "bw-percent" in what or what.get("mode") == "dwrr":
            port.strict = [one for one in port.strict if one != queue]
            port.shares[queue] = text.number(what.get("bw-percent")) or port.shares.get(queue, 0)


def _of_all(settings: Tree, name: str) -> set[str]:
    """Return the kinds of profiles where a port uses the profile of all ports."""
    one = part(settings, "interface", name)
    return {kind for kind in PROFILE_KEYS if str(_at(one, "qos", kind, "profile") or ALL) == ALL}


def _profile(settings: Tree, one: Tree, kind: str) -> Tree:
    name = str(_at(one, "qos", kind, "profile") or ALL)
    return part(settings, "qos", kind, name)


def _has_lossless_pool(settings: Tree) -> bool:
    pools = part(settings, "qos", "traffic-pool")
    return any("lossless" in name and text.number(part(one).get("memory-percent")) for name, one in pools.items())


def _own(settings: Tree, name: str) -> list[tuple[str, list[str]]]:
    """Return the profiles with the name of this module, each with this port if the port uses it."""
    mine = _at(settings, "interface", name, "qos", "congestion-control", "profile")
    profiles = part(settings, "qos", "congestion-control")
    return [(one, [name] if mine == one else []) for one in profiles if one.startswith("aiready-")]


def _kept(one: object) -> Tree:
    mtu = _at(one, "link", "mtu")
    kept = {key: one[key] for key in ("qos", "lldp") if isinstance(one, dict) and key in one}
    return dict(kept, link={"mtu": mtu}) if mtu is not None else kept


def _version(value: object) -> str | None:
    found = re.search(r"\d+\.\d+(?:\.\d+)?", str(value or ""))
    return found.group(0) if found else None


def _at(tree: object, *path: str) -> Any:
    for key in path:
        if not isinstance(tree, dict) or key not in tree:
            return None
        tree = tree[key]
    return tree
