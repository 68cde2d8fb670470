"""The lines of Onyx that set something: flat ones with the whole path, and the same behind a prefix."""

from __future__ import annotations

from ..sections import Refusal
from .onyx_config import PRESETS, RESERVED_POOLS
from .onyx_lines import GRAMMAR

MTU = (1500, 9612)
ETH = "interface ethernet <ports:ports>"
on = GRAMMAR.on


# The switch as a whole.


@on("config", "hostname <name:WORD>")
def _hostname(session, name):
    session.device.hostname = name


@on("config", "?no lldp")
def _lldp(session, no=None):
    session.config.switch.set("lldp", "no lldp" if no else "lldp", not no)


@on("preset-config", "roce [ mode=lossless|semi-lossless|lossy ]")
def _roce(session, mode=PRESETS[0]):
    session.config.switch.set("roce", f"roce {mode}", mode)


@on("preset-config", "no roce")
def _no_roce(session):
    session.config.switch.drop("roce")


@on("config", "dcb priority-flow-control enable [ force ]")
def _pfc(session):
    session.config.switch.set("pfc-global", "dcb priority-flow-control enable force", True)


@on("config", "no dcb priority-flow-control enable [ force ]")
def _no_pfc(session):
    if session.config.roce:
        session.config.switch.set("pfc-global", "no dcb priority-flow-control enable force", False)
    else:
        session.config.switch.drop("pfc-global")


@on("config", "dcb priority-flow-control priority <priority:0-7> state=enable|disable")
def _pfc_priority(session, priority, state):
    line = f"dcb priority-flow-control priority {priority} {state}"
    session.config.switch.drop(("pfc-priority", priority))
    if (priority in session.config.pfc_priorities) != (state == "enable"):
        session.config.switch.set(("pfc-priority", priority), line, state == "enable")


@on("config", "no dcb priority-flow-control priority <priority:0-7> enable")
def _no_pfc_priority(session, priority):
    _pfc_priority(session, priority, "disable")


@on("config", "traffic pool <name:WORD> type kind=lossless|lossy")
def _pool_type(session, name, kind):
    if name in RESERVED_POOLS:
        raise Refusal(f"Traffic pool {name} belongs to the system")
    pool = session.config.pools.setdefault(name, {"type": kind, "percent": None, "priorities": set()})
    pool["type"] = kind


@on("config", "traffic pool <name:WORD> memory percent <percent:percent>")
def _pool_memory(session, name, percent):
    pool = _pool(session, name)
    others = sum(one["percent"] or 0 for one in session.config.pools.values() if one is not pool)
    if not 0 < percent <= 100 - others:
        raise Refusal(f"Memory percent {percent:.2f} exceeds what other traffic pools leave")
    pool["percent"] = percent


@on("config", "traffic pool <name:WORD> memory auto")
def _pool_auto(session, name):
    _pool(session, name)["percent"] = None


@on("config", "traffic pool <name:WORD> map switch-priority <priorities:priorities>")
def _pool_map(session, name, priorities):
    pool = _pool(session, name)
    for other, one in session.config.pools.items():
        if one is not pool and one["priorities"] & priorities:
            raise Refusal(f"switch-priority {min(one['priorities'] & priorities)} is mapped to traffic pool {other}")
    pool["priorities"] |= priorities


@on("config", "no traffic pool <name:WORD> map switch-priority <priorities:priorities>")
def _no_pool_map(session, name, priorities):
    _pool(session, name)["priorities"] -= priorities


@on("config", "no traffic pool <name:WORD>")
def _no_pool(session, name):
    _pool(session, name)
    del session.config.pools[name]


def _pool(session, name):
    if name not in session.config.pools:
        raise Refusal(f"Traffic pool {name} does not exist")
    return session.config.pools[name]


@on("config", "qos map dscp <dscp:0-63> to switch-priority <priority:0-7>")
def _dscp_everywhere(session, dscp, priority):
    put(session, None, ("dscp", dscp), f"qos map dscp {dscp} to switch-priority {priority}", priority)


# Ports.


@on("config", ETH)
def _interface(session, ports):
    session.ports(ports)
    if session.prefix_modes:
        session.prefix = ports


@on("config", f"{ETH} qos trust trust=port|L2|L3|both")
def _trust(session, ports, trust):
    put(session, ports, "trust", f"qos trust {trust}", trust)


@on("config", f"{ETH} no qos trust")
def _no_trust(session, ports):
    drop(session, ports, "trust")


@on("config", f"{ETH} qos map dscp <dscp:0-63> to switch-priority <priority:0-7>")
def _dscp(session, ports, dscp, priority):
    put(session, ports, ("dscp", dscp), f"qos map dscp {dscp} to switch-priority {priority}", priority)


@on("config", f"{ETH} no qos map dscp [ <dscp:0-63> ]")
def _no_dscp(session, ports, dscp=None):
    for one in range(64) if dscp is None else [dscp]:
        drop(session, ports, ("dscp", one))


@on(
    "config",
    f"{ETH} traffic-class <tc:0-7> congestion-control mode=red|ecn|both minimum-absolute <low:1-1000000> "
    "maximum-absolute <high:1-1000000>",
)
def _absolute(session, ports, tc, mode, low, high):
    _congestion(session, ports, tc, mode, "absolute", low, high)


@on(
    "config",
    f"{ETH} traffic-class <tc:0-7> congestion-control mode=red|ecn|both minimum-relative <low:0-100> "
    "maximum-relative <high:1-100>",
)
def _relative(session, ports, tc, mode, low, high):
    _congestion(session, ports, tc, mode, "relative", low, high)


def _congestion(session, ports, tc, mode, measure, low, high):
    if low > high:
        raise Refusal("Minimum threshold must not be greater than maximum threshold")
    line = f"traffic-class {tc} congestion-control {mode} minimum-{measure} {low} maximum-{measure} {high}"
    put(session, ports, ("ecn", tc), line, (mode, measure, low, high))


@on("config", f"{ETH} no traffic-class <tc:0-7> congestion-control")
def _no_congestion(session, ports, tc):
    """Turned off, also where the preset would turn it on."""
    put(session, ports, ("ecn", tc), f"no traffic-class {tc} congestion-control", None)


@on("config", f"{ETH} traffic-class <tc:0-7> dcb ets wrr <weight:1-100>")
def _wrr(session, ports, tc, weight):
    put(session, ports, ("ets", tc), f"traffic-class {tc} dcb ets wrr {weight}", weight)


@on("config", f"{ETH} traffic-class <tc:0-7> dcb ets strict")
def _strict(session, ports, tc):
    put(session, ports, ("ets", tc), f"traffic-class {tc} dcb ets strict", "strict")


@on("config", f"{ETH} no traffic-class <tc:0-7> dcb ets")
def _no_ets(session, ports, tc):
    drop(session, ports, ("ets", tc))


@on("config", f"{ETH} traffic-class <tc:0-7> bind switch-priority <priorities:priorities>")
def _bind(session, ports, tc, priorities):
    for port in session.ports(ports):
        for other, bound in session.config.ports[port].keyed("bind").items():
            left = bound - priorities
            if left:
                session.config.put(port, ("bind", other), _bound(other, left), left)
            else:
                session.config.ports[port].drop(("bind", other))
        session.config.put(port, ("bind", tc), _bound(tc, priorities), priorities)


@on("config", f"{ETH} no traffic-class <tc:0-7> bind switch-priority")
def _no_bind(session, ports, tc):
    drop(session, ports, ("bind", tc))


def _bound(tc, priorities):
    return f"traffic-class {tc} bind switch-priority {' '.join(str(one) for one in sorted(priorities))}"


@on("config", f"{ETH} dcb priority-flow-control mode mode=on|off|auto [ ?force ]")
def _pfc_mode(session, ports, mode, force=None):
    for port in session.ports(ports):
        if mode == "on" and any(session.config.value(port, ("flow", way)) for way in ("send", "receive")):
            raise Refusal(f"Flow control is enabled on {port}; disable it before priority flow control")
    _down_or_forced(session, ports, force)
    put(session, ports, "pfc", f"dcb priority-flow-control mode {mode} force", mode)


@on("config", f"{ETH} no dcb priority-flow-control mode [ ?force ]")
def _no_pfc_mode(session, ports, force=None):
    _down_or_forced(session, ports, force)
    drop(session, ports, "pfc")


@on("config", f"{ETH} ?no pfc-wd")
def _watchdog(session, ports, no=None):
    put(session, ports, "pfc-wd", "pfc-wd", not no)


@on("config", f"{ETH} mtu <mtu:{MTU[0]}-{MTU[1]}> [ ?force ]")
def _mtu(session, ports, mtu, force=None):
    _down_or_forced(session, ports, force)
    put(session, ports, "mtu", f"mtu {mtu} force", mtu)


@on("config", f"{ETH} no mtu [ ?force ]")
def _no_mtu(session, ports, force=None):
    _down_or_forced(session, ports, force)
    drop(session, ports, "mtu")


@on("config", f"{ETH} ?no shutdown")
def _shutdown(session, ports, no=None):
    put(session, ports, "shutdown", "shutdown", not no)


@on("config", f"{ETH} flowcontrol way=send|receive state=on|off [ ?force ]")
def _flow(session, ports, way, state, force=None):
    for port in session.ports(ports):
        if state == "on" and session.config.value(port, "pfc") == "on":
            raise Refusal(f"Priority flow control is enabled on {port}; disable it before flow control")
    _down_or_forced(session, ports, force)
    put(session, ports, ("flow", way), f"flowcontrol {way} {state} force", state == "on")


@on("config", f"{ETH} ?no lldp way=transmit|receive")
def _lldp_port(session, ports, way, no=None):
    put(session, ports, ("lldp-port", way), f"{'no ' if no else ''}lldp {way}", not no)


@on("config", f"{ETH} lldp tlv-select tlv=dcbx|dcbx-cee")
def _tlv(session, ports, tlv):
    put(session, ports, "tlv", f"lldp tlv-select {tlv}", tlv)


@on("config", f"{ETH} no lldp tlv-select")
def _no_tlv(session, ports):
    drop(session, ports, "tlv")


def put(session, ports, key, line, value):
    for port in session.ports(ports):
        session.config.put(port, key, line, value)


def drop(session, ports, key):
    for port in session.ports(ports):
        session.config.ports[port].drop(key)


def _down_or_forced(session, ports, force):
    running = [port for port in session.ports(ports) if not session.config.value(port, "shutdown")]
    if running and not force:
        raise Refusal(f'{running[0]} is enabled; shut it down first, or use "force"')
