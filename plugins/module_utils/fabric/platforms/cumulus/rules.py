# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compute the nv commands from current settings of Cumulus Linux to the requested RoCE QoS, and for rollback. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.compare import differing, effect
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus import state, text
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus.files import ALL

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence, Set
    from typing import Tuple, Union

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Thresholds
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Effect
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus.text import Tree
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Switch
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.undo.facts import Facts

    Path = Tuple[str, ...]  # of a setting
    Value = Union[str, int, Tree]  # of a setting; a table where only the path is set

OWN = "aiready-ecn"
# RENAMED: the release that renamed on|off to enabled|disabled. PROFILES: the first with configurable profiles.
RENAMED, PROFILES = (5, 15), (5, 3)
EMPTY = "{}"  # the value of a fact that is an empty branch
POLLS = 3  # default number of watchdog polls before it takes effect


def commands(switch: Switch, wanted: Mapping[str, Effect], intent: Intent | None, exact: bool = True) -> list[str]:
    """Return the commands from a Switch to {port: requested effect}; without intent, to no RoCE QoS."""
    before: Tree = cast("Tree", switch.raw or {}).get("settings") or {}
    if intent is None:
        return _commands(before, _removal(before, wanted), {})
    _check_release(switch, intent)
    changed = {name: differing(effect(switch.ports[name], intent), wanted[name], exact) for name in wanted}
    unset, given = _settings(switch, before, wanted, intent, changed, exact)
    return _commands(before, unset, given)


def way_back(now: Tree, before: Tree) -> list[str]:
    """Return the commands that restore previous settings."""
    old, new = _relevant(before), _relevant(now)
    found = [_line("unset", path) for path in _tops(new, old)]
    return found + [_line("set", path, value) for path, value in old.items() if new.get(path, "") != value]


def facts(settings: Tree) -> Facts:
    """Return the settings that an edit may change, for restore."""
    found = _relevant(settings)
    return {tuple(map(str, path)): EMPTY if value is None else value for path, value in found.items()}


def between(now: Facts, then: Facts, settings: Tree) -> list[str]:
    """Return the commands from one set of facts to another; settings are all of the switch."""
    gone = [path for path in now if path not in then]
    # A port without other settings goes as a whole, because an empty one would stay in the configuration.
    ports = settings.get("interface") or {}
    bare = [name for name in ports if all(("interface", name, *path) in gone for path in text.flat(ports[name]))]
    found = [_line("unset", ("interface", name)) for name in bare]
    kept = [path for path in gone if path[0] != "interface" or path[1] not in bare]
    found += [_line("unset", path) for path in _tops(kept, list(then))]
    for path, value in then.items():
        if now.get(path) != value:
            found.append(_line("set", path, None if value == EMPTY else value))
    return found


def _settings(
    switch: Switch,
    before: Tree,
    wanted: Mapping[str, Effect],
    intent: Intent,
    changed: Mapping[str, Sequence[str]],
    exact: bool,
) -> tuple[list[Path], dict[Path, Value]]:
    """Return (paths to unset, {path: value} to set) for the intent."""
    unset, given = [], {}
    keys = {key for found in changed.values() for key in found}
    if keys & state.SYSTEM_KEYS or not switch.ports:
        given.update(_preset(switch, before, intent))
        for path, value in _overrides(before, intent, exact).items():
            if value is None:
                unset.append(path)
            else:
                given[path] = value
        for name, found in changed.items():
            unset += _detached(before, name, set(found))
    for name, want in wanted.items():
        given.update(_port_settings(_words(switch), name, want, set(changed[name]), intent))
    if not (intent.lossless or _stays(before, unset, ("qos", "pfc", ALL))):
        # Without a lossless priority, the switch rejects the watchdog.
        bare = [name for name in before.get("interface") or {} if not _stays(before, unset, _pfc_of(name))]
        unset += [("interface", name, "qos", "pfc-watchdog") for name in bare]
    gone = _stale(before, given, unset)
    unset += gone
    # Removing a profile also removes its contents.
    unset += [path for path in _strays(before) if path[:3] not in gone]
    return unset, given


def strays(before: Tree) -> dict[str, tuple[str, str]]:
    """Return {own profile: (the traffic classes that it marks, the only one that it must mark)}."""
    found: dict[str, list[str]] = {}
    for *profile, _kind, queue in _strays(before):
        found.setdefault(" ".join(profile), []).append(queue)
    asked = f"traffic-class {state.ROCE_CLASS}"
    return {name: (f"{asked} and {', '.join(queues)}", asked) for name, queues in found.items()}


def _strays(before: Tree) -> list[Path]:
    """Return the paths of traffic classes other than RoCE that own profiles mark."""
    base: Path
    found: list[Path]
    base, found = ("qos", "congestion-control"), []
    for name, profile in sorted((_get(before, base) or {}).items()):
        if name.startswith(OWN) and isinstance(profile, dict):
            queues = sorted({*(profile.get("traffic-class") or {})} - {str(state.ROCE_CLASS)})
            found += [(*base, name, "traffic-class", queue) for queue in queues]
    return found


def _stays(before: Tree, unset: Collection[Path], path: Path) -> bool:
    return _get(before, path) is not None and path not in unset


def _pfc_of(name: str) -> Path:
    return ("interface", name, "qos", "pfc")


def _preset(switch: Switch, before: Tree, intent: Intent) -> dict[Path, Value]:
    mode = "lossy" if intent.mode == "lossy" else "lossless"
    roce = state.preset_of(before)
    if roce and roce.startswith(mode) and roce != "lossy-multi-tc":
        mode = roce
    key, value = ("enable", "on") if _release(switch) < RENAMED else ("state", "enabled")
    given: dict[Path, Value] = {("qos", "roce", key): value, ("qos", "roce", "mode"): mode}
    if intent.cable_length_m is not None:
        given["qos", "roce", "cable-length"] = intent.cable_length_m
    return given


def _release(switch: Switch) -> tuple[int, int]:
    found = re.search(r"(\d+)\.(\d+)", switch.version or "")
    return (int(found.group(1)), int(found.group(2))) if found else (99, 0)


def _check_release(switch: Switch, intent: Intent) -> None:
    old = _release(switch) < PROFILES
    if old and (not intent.is_preset or intent.mode == "semi_lossless" or intent.watchdog.enabled and intent.lossless):
        raise OperatorError(
            switch.hostname or "switch",
            "cannot configure these RoCE values or the watchdog",
            f"Cumulus Linux {switch.version} has only the RoCE preset in NVUE",
            "Use the values of the preset and set watchdog.state to disabled, or upgrade the switch to 5.3 or newer",
            "release_too_old",
            version=switch.version,
        )


def _overrides(before: Tree, intent: Intent, exact: bool) -> dict[Path, Value | None]:
    """Return {path: value, or None to unset} of values that differ from the preset; equal values are not written."""
    path: Path
    found: dict[Path, Value | None] = {}
    for dscp, priority in intent.dscp_map.items():
        path = ("qos", "mapping", ALL, "dscp", str(dscp))
        found.update({(*path, "switch-priority"): priority} if dscp >> 3 != priority else {path: None})
    trust = ("qos", "mapping", ALL, "trust")
    found[trust] = "both" if intent.needs_map or _get(before, ("qos", "mapping", ALL)) else None
    queues = dict.fromkeys(range(8), 0)
    queues.update({intent.priority: state.ROCE_CLASS, intent.cnp_priority: state.CNP_CLASS})
    for priority, queue in queues.items():
        path = ("qos", "egress-queue-mapping", ALL, "switch-priority", str(priority))
        same = queue == state.PRESET_QUEUES[priority]
        found.update({path: None} if same else {(*path, "traffic-class"): queue})
    found[("qos", "link-pause", ALL)] = None
    found.update(_flow_control(before, intent, exact))
    found.update(
        _marking(intent.ecn.default if intent.ecn.enabled else None, ALL, intent.ecn.default == Intent().ecn.default)
    )
    shares = ("qos", "egress-scheduler", ALL, "traffic-class")
    usual = intent.bandwidth_percent == 50
    for queue, percent in ((0, 100 - intent.bandwidth_percent), (state.ROCE_CLASS, intent.bandwidth_percent)):
        one = (*shares, str(queue))
        found.update({one: None} if usual else {(*one, "mode"): "dwrr", (*one, "bw-percent"): percent})
    strict = (*shares, str(state.CNP_CLASS))
    found.update({strict: None} if usual else {(*strict, "mode"): "strict"})
    return found


def _flow_control(before: Tree, intent: Intent, exact: bool) -> dict[Path, Value | None]:
    profile = ("qos", "pfc", ALL)
    there = set(text.numbers(_get(before, (*profile, "switch-priority")) or {}))
    kept = set() if exact else there - {intent.priority}
    if intent.mode == "lossy" and not kept or (intent.mode == "lossless" and intent.priority == 3 and not kept):
        return {profile: None}
    found: dict[Path, Value | None] = {
        (*profile, "switch-priority", str(one)): None for one in there - kept - set(intent.lossless)
    }
    found.update({(*profile, "switch-priority", str(one)): {} for one in {*intent.lossless, *kept}})
    found[(*profile, "tx")] = "enable" if intent.sends_pauses or kept else "disable"
    found[(*profile, "rx")] = "enable"
    if intent.cable_length_m is not None:
        found[(*profile, "cable-length")] = intent.cable_length_m
    return found


def _marking(limits: Thresholds | None, profile: str, usual: bool = False) -> dict[Path, Value | None]:
    one = ("qos", "congestion-control", profile, "traffic-class", str(state.ROCE_CLASS))
    if limits is None:
        return {(*one, "ecn"): "disable"}
    if usual:
        return {one: None}
    values = {"min-threshold": limits.min_kb * 1000, "max-threshold": limits.max_kb * 1000}
    return {
        **{(*one, key): value for key, value in values.items()},
        (*one, "probability"): limits.probability,
        (*one, "ecn"): "enable",
    }


def _detached(before: Tree, name: str, keys: Set[str]) -> list[Path]:
    """Return the profiles of a port that differ from the switch; they stay, without this port."""
    kinds = {kind for kind, means in state.PROFILE_KEYS.items() if keys & means}
    paths = [("interface", name, "qos", kind) for kind in sorted(kinds)]
    return [path for path in paths if _get(before, path) is not None]


def _port_settings(
    words: tuple[str, str], name: str, want: Effect, keys: Set[str], intent: Intent
) -> dict[Path, Value]:
    given: dict[Path, Value]
    given, base = {}, ("interface", name)
    if "mtu" in keys:
        given[(*base, "link", "mtu")] = want["mtu"]
    if keys & {"watchdog", "watchdog_detection_ms"}:
        given[(*base, "qos", "pfc-watchdog", "state")] = "enable" if want["watchdog"] else "disable"
    if "watchdog_detection_ms" in keys:
        polls = next((one for one in (POLLS, 2, 4, 5) if want["watchdog_detection_ms"] % one == 0), 1)
        given["qos", "pfc-watchdog", "polling-interval"] = want["watchdog_detection_ms"] // polls
        given["qos", "pfc-watchdog", "robustness"] = polls
    if "dcbx" in keys:
        word = words[want["dcbx"] == "ieee"]
        for kind in state.DCBX:
            given[(*base, "lldp", kind)] = word
    limits = intent.ecn.default
    usual = {"min_kb": limits.min_kb, "max_kb": limits.max_kb, "probability": limits.probability}
    marking = want.get("ecn")
    if "ecn" in keys and marking and marking != usual:
        profile = f"{OWN}-{marking['min_kb']}-{marking['max_kb']}-{marking['probability']}"
        limits = type(limits)(**marking)
        given.update(cast("dict[Path, Value]", _marking(limits, profile)))
        given[(*base, "qos", "congestion-control", "profile")] = profile
    return given


def _words(switch: Switch) -> tuple[str, str]:
    """Return off and on in the words of this release."""
    return ("off", "on") if _release(switch) < RENAMED else ("disabled", "enabled")


def _stale(before: Tree, given: Mapping[Path, Value], unset: Collection[Path]) -> list[Path]:
    """Return own profiles that no port uses any more."""
    gone = {path[1] for path in unset if path[:1] == ("interface",) and path[-1] == "congestion-control"}
    used = {value for path, value in given.items() if path[-1] == "profile"}
    moved = gone | {path[1] for path in given if path[-1] == "profile"}
    for name, settings in (before.get("interface") or {}).items():
        if name not in moved:
            used.add(_get(settings, ("qos", "congestion-control", "profile")))
    profiles = _get(before, ("qos", "congestion-control")) or {}
    return [("qos", "congestion-control", name) for name in profiles if name.startswith(OWN) and name not in used]


def _removal(before: Tree, wanted: Iterable[str]) -> list[Path]:
    """Return all settings of RoCE QoS, without the MTU."""
    paths = [("qos", "roce"), *(("qos", kind, ALL) for kind in state.PROFILE_KEYS), ("qos", "pfc-watchdog")]
    paths += [("interface", name, "qos", "pfc-watchdog") for name in before.get("interface") or {}]
    for name in wanted:
        paths += [("interface", name, "qos", kind) for kind in state.PROFILE_KEYS]
        paths += [("interface", name, "lldp", kind) for kind in state.DCBX]
    found = [path for path in paths if _get(before, path) is not None]
    return found + _stale(before, {}, found)


def _commands(before: Tree, unset: Iterable[Path], given: Mapping[Path, Value]) -> list[str]:
    """Return nv commands: settings that carry RoCE first, removals last; ports with the same setting share a line."""
    lines: list[str]
    ports: dict[tuple[Path, Value], list[str]]
    lines, ports = [], {}
    for path, value in given.items():
        if _get(before, path) is not None and str(_get(before, path)) == str(value):
            continue
        if path[0] == "interface":
            ports.setdefault((path[2:], value), []).append(path[1])
        else:
            lines.append(_line("set", path, value))
    lines += [_line("set", ("interface", text.short(n), *p), value) for (p, value), n in ports.items()]
    bare: dict[Path, list[str]] = {}
    for path in unset:
        if _get(before, path) is None:
            continue
        if path[0] == "interface":
            bare.setdefault(path[2:], []).append(path[1])
        else:
            lines.append(_line("unset", path))
    return lines + [_line("unset", ("interface", text.short(names), *path)) for path, names in bare.items()]


def _line(verb: str, path: Path, value: Value | None = None) -> str:
    shown = "" if value is None or isinstance(value, dict) else f" {value}"
    return f"nv {verb} {' '.join(str(part) for part in path)}{shown}"


def _get(tree: object, path: Path) -> Any:
    for key in path:
        if not isinstance(tree, dict) or key not in tree:
            return None
        tree = tree[key]
    return tree


def _relevant(settings: Tree) -> dict[Path, Value | None]:
    """Return {path: value} of all settings that an edit may change."""
    ports = {}
    for name, one in (settings.get("interface") or {}).items():
        kept = {key: one[key] for key in ("qos", "lldp") if isinstance(one, dict) and key in one}
        mtu = _get(one, ("link", "mtu"))
        ports[name] = dict(kept, link={"mtu": mtu}) if mtu is not None else kept
    kept = {"qos": settings["qos"]} if "qos" in settings else {}
    found = {path: value for path, value in text.flat(dict(kept, interface=ports)).items() if len(path) != 2 or kept}
    return {path: value for path, value in found.items() if path[0] != "interface" or len(path) > 2}


def _tops(new: Collection[Path], old: Collection[Path]) -> list[Path]:
    """Return the shortest prefixes of new paths that no old path has, because an empty object is still an object."""
    known = {path[:length] for path in old for length in range(1, len(path) + 1)}
    known |= {("qos",), ("interface",), *(path[:2] for path in new if path[0] == "interface")}
    tops = (next((path[:at] for at in range(1, len(path) + 1) if path[:at] not in known), None) for path in new)
    return list(dict.fromkeys(top for top in tops if top is not None))
