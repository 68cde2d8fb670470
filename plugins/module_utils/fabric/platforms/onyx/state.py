# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compute the state of ports from the output of NVIDIA Onyx. Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import vlans
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import number
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.onyx import settings as lines
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Oper, Port

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.onyx.preset import Preset
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.onyx.text import Reading

TRUSTED = {"L3": "dscp", "L2": "pcp", "both": "both", "port": "none"}
_STATES = {"up": True, "down": False}


def ports(found: Reading) -> set[str]:
    shown = (found.interfaces, found.pfc_ports, found.qos, found.ecn, found.ets, found.counters, found.neighbours)
    names = {name for table in shown for name in table}
    return names | {key[1] for key in found.settings or {} if key[0] in lines.PER_PORT or key[0] in ("mtu", "flow")}


def port_of(found: Reading, name: str, preset: Preset | None) -> Port:
    set_here = _settings_of(found, name)
    preset = preset if preset is not None and preset.mode != "off" else None
    trust, table, queues = found.qos.get(name, (None, None, None))
    known = found.settings is not None
    # Unchanged values have factory defaults. Without a configuration, they are unknown.
    mapped = table or ({dscp: dscp >> 3 for dscp in range(64)} if known or preset else {})
    mapped = {**mapped, **{key[2]: what for key, what in set_here.items() if key[:2] == ("map", name)}}
    bound = {priority: priority for priority in range(8)} if (known or preset) and not queues else {}
    bound.update(sorted((queues or (preset.queues if preset else {})).items()))
    bound.update((key[2], what) for key, what in set_here.items() if key[:2] == ("bind", name))
    interface = found.interfaces.get(name, {})
    port = Port(dscp_map=mapped or None, queues=bound or None, speed=number(interface.get("Actual speed")))
    default = preset.trust if preset else ("L2" if known else trust)
    port.trust = TRUSTED.get(set_here.get(("trust", name), default) or "")
    _flow_control_of(port, found, name, preset)
    marked = {key[2]: lines.marking(what) for key, what in set_here.items() if key[:2] == ("ecn", name)}
    if known or preset:
        port.ecn = {**(preset.ecn if preset else {}), **marked}
    else:
        port.ecn = found.ecn.get(name)
    _scheduling(port, {key[2]: what for key, what in set_here.items() if key[:2] == ("ets", name)}, found, name, preset)
    mtu = set_here.get(("mtu", name), 1500 if known else number(interface.get("MTU")))
    port.mtu, port.watchdog = mtu, (("watchdog", name) in set_here if known else None)
    flow = interface.get("Flow-control", "")
    on = [key for key, what in set_here.items() if key[:2] == ("flow", name) and what == "on"]
    port.pause = bool(on) if known else ("on" in flow.split() if flow else None)
    return port


def _settings_of(found: Reading, name: str | None) -> lines.Settings:
    """Return the settings of a port and of the switch, sorted once because there can be thousands of ports."""
    if found.by_port is None:
        found.by_port = {}
        for key, what in (found.settings or {}).items():
            owner = key[1] if key[0] in (*lines.PER_PORT, "mtu", "flow") else None
            found.by_port.setdefault(owner, {})[key] = what
    return {**found.by_port.get(None, {}), **found.by_port.get(name, {})}


def _flow_control_of(port: Port, found: Reading, name: str, preset: Preset | None) -> None:
    set_here = _settings_of(found, name)
    admin = found.pfc_ports.get(name, (None, None))[0]
    mode = set_here.get(("pfc", name))
    listed: list[int] | None
    listed = sorted(key[1] for key in set_here if key[0] == "pfc_priority")
    if preset is not None:
        enabled = None if preset.pfc is None else bool(preset.pfc)
        listed = sorted({*(preset.pfc or ()), *listed}) or preset.pfc
        mode = mode or ("off" if admin == "off" else "on")
    else:
        enabled = ("pfc_enabled",) in set_here if found.settings is not None else found.pfc_enabled
        listed = listed if found.settings is not None else found.pfc_priorities
        mode = mode or admin or ("auto" if found.settings is not None else None)
    # If PFC is off for the switch or the port, no priority of the port has PFC.
    port.pfc_mode = "off" if enabled is False else mode
    port.pfc = [] if port.pfc_mode == "off" else listed
    if port.pfc_mode in ("on", "auto"):
        port.pfc_sends = preset is None or preset.mode != "semi_lossless"
    pools = _pools(found, preset)
    if preset is not None and preset.mode == "semi_lossless":
        # This mode sends no pauses, so it has no headroom.
        port.lossless = port.pfc
    elif pools is not None and port.pfc is not None:
        held = {one for kind, priorities in pools.values() if kind == "lossless" for one in priorities}
        port.lossless = sorted(held & {*port.pfc})


def _pools(found: Reading, preset: Preset | None) -> dict[str, tuple[str, list[int]]] | None:
    if found.settings is None:
        return found.pools if preset is None else preset.pools
    whole = _settings_of(found, None)
    kinds = {key[1]: what for key, what in whole.items() if key[0] == "pool"}
    members: dict[str, list[int]] = {name: [] for name in kinds}
    for key, pool in whole.items():
        if key[0] == "member":
            members.setdefault(pool, []).append(key[1])
    pools = {name: (kinds.get(name, "lossy"), priorities) for name, priorities in members.items()}
    return {**(preset.pools if preset else {}), **pools}


def _scheduling(port: Port, set_here: Mapping[int, str], found: Reading, name: str, preset: Preset | None) -> None:
    """Set strict queues and shares: weights count as percents, as in guides for Onyx; reported shares have priority."""
    if found.settings is None and preset is None and name not in found.ets:
        return
    weights = {queue: f"wrr {weight}" for queue, weight in lines.FACTORY_WEIGHTS.items()}
    if preset is not None:
        weights = {queue: f"wrr {share}" for queue, share in preset.shares.items()}
        weights.update(dict.fromkeys(preset.strict, "strict"))
    weights = found.ets.get(name) or {**weights, **set_here}
    port.strict = sorted(queue for queue, what in weights.items() if what == "strict")
    port.shares = {queue: cast("int", number(what)) for queue, what in weights.items() if what != "strict"}


def switched(found: Reading, name: str, port: Port) -> None:
    """Set the VLANs of a port; Onyx omits defaults, so a port without lines is in VLAN 1 if lines of others exist."""
    one = found.switching.get(name) or vlans.Switching()
    if one.member:
        one = vlans.Switching(enabled=one.enabled)
    elif one.mode is None and (one.reported or any(other.reported for other in found.switching.values())):
        one = replace(one, mode=vlans.ACCESS)
    untagged = (one.access or vlans.FIRST) if one.mode == "hybrid" else None
    allowed = one.allowed if one.mode != "hybrid" or one.allowed is not None else frozenset()
    if untagged is not None:
        allowed = cast("frozenset[int]", allowed) | {untagged}
    admin = found.interfaces.get(name, {}).get("Admin state", "").lower()
    enabled = {"enabled": True, "disabled": False}.get(admin, one.enabled)
    vlans.settle(port, replace(one, enabled=enabled, native=untagged, allowed=allowed), found.vlans, native=None)


def linked(state: str) -> bool | None:
    """Return whether a port has a link; None for an unknown word. The cause can follow in brackets."""
    return _STATES.get("".join(re.findall(r"^[a-z]+", state)))


def oper_of(found: Reading, name: str, preset: Preset | None) -> Oper:
    interface = found.interfaces.get(name, {})
    state = interface.get("Operational state", "").lower()
    _admin, acts = found.pfc_ports.get(name, (None, None))
    running = Oper(
        up=linked(state),
        trust=TRUSTED.get(found.qos.get(name, ("",))[0]),
        ecn=found.ecn.get(name),
        mtu=number(interface.get("MTU")),
        counters=found.counters.get(name, {}),
    )
    listed = found.pfc_priorities if found.pfc_priorities is not None else (preset.pfc if preset else None)
    if acts is not None:
        running.pfc = [] if not acts or found.pfc_enabled is False else listed
    if preset is not None and preset.mode != "off":
        running.pfc_sends = None if not running.pfc else preset.mode != "semi_lossless"
        running.trust = running.trust or TRUSTED.get(preset.trust or "")
        running.ecn = preset.ecn if running.ecn is None else running.ecn
    elif running.pfc:
        running.pfc_sends = True
    return running
