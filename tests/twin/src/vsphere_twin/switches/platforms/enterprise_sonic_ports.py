"""The lines of Enterprise SONiC inside interfaces."""

from __future__ import annotations

from ..lans import allowed_after
from ..phrases import spelled
from ..sections import Refusal
from .enterprise_sonic_config import DEFAULT_MTU, INTERFACE, MAPS, SCHEDULER, VLAN, WRED
from .enterprise_sonic_lines import GRAMMAR, MOST_PRIORITIES

CABLES = "5m|40m|300m"
on = GRAMMAR.on


@on("config", "interface <ports:ports>", "interface range <ports:ports>")
def _interface(session, ports):
    session.enter("interface", [(INTERFACE, port) for port in session.known(ports)])


@on("config", "interface Vlan <number:1-4094>")
def _interface_vlan(session, number):
    session.enter("vlan", [(VLAN, number)])


@on("config", "no interface Vlan <number:1-4094>")
def _no_interface_vlan(session, number):
    session.config.objects.pop((VLAN, number), None)


@on("interface", "mtu <mtu:1312-9216>")
def _mtu(session, mtu):
    session.set("mtu", f"mtu {mtu}", mtu)


@on("interface", "no mtu")
def _no_mtu(session):
    _mtu(session, DEFAULT_MTU)


@on("interface", "?no shutdown")
def _shutdown(session, no=None):
    session.set("shutdown", "no shutdown" if no else "shutdown", not no)


@on("interface", "switchport access Vlan <vlan:1-4094>")
def _access(session, vlan):
    session.set("access", f"switchport access Vlan {vlan}", vlan)


@on("interface", "no switchport access Vlan")
def _no_access(session):
    session.drop("access")


@on("interface", "?no switchport trunk allowed Vlan <vlans:vlans>")
@on("interface", "switchport trunk allowed Vlan how=add|remove|except <vlans:vlans>")
def _allowed(session, vlans, how="add", no=None):
    for lines in session.targets():
        allowed = allowed_after(lines.get("allowed", frozenset()), "remove" if no else how, vlans)
        lines.drop("allowed")
        if allowed:
            lines.set("allowed", f"switchport trunk allowed Vlan {spelled(allowed)}", allowed)


@on("interface", "description <text:LINE>")
def _description(session, text):
    session.set("description", f"description {text}", text)


@on("interface", "speed <speed:1000-800000>")
def _speed(session, speed):
    session.set("speed", f"speed {speed}", speed)


@on("interface", "fec mode=RS|FC|none")
def _fec(session, mode):
    session.set("fec", f"fec {mode}")


@on("interface", "unreliable-los mode=auto|on|off")
def _los(session, mode):
    session.set("los", f"unreliable-los {mode}")


@on("interface", "queue <queue:0-7> wred-policy <name:WORD>")
def _marked(session, queue, name):
    _bind(session, WRED, name, ("queue", queue), f"queue {queue} wred-policy {name}")


@on("interface", "no queue <queue:0-7> [ wred-policy ]", "no queue <queue:0-7> wred-policy <name:WORD>")
def _not_marked(session, queue, name=None):
    session.drop(("queue", queue), name)


@on("interface", "scheduler-policy <name:WORD>")
def _scheduled(session, name):
    _bind(session, SCHEDULER, name, "scheduler", f"scheduler-policy {name}")


@on("interface", "no scheduler-policy [ <name:WORD> ]")
def _not_scheduled(session, name=None):
    session.drop("scheduler", name)


@on("interface", f"cable-length length={CABLES}")
def _cable(session, length):
    session.set("cable", f"cable-length {length}", length)


@on("interface", "no cable-length")
def _no_cable(session):
    session.drop("cable")


@on("interface", f"qos-map kind={'|'.join(MAPS)} <name:WORD>")
def _mapped(session, kind, name):
    _bind(session, f"qos map {kind}", name, ("map", kind), f"qos-map {kind} {name}")


@on("interface", f"no qos-map kind={'|'.join(MAPS)} [ <name:WORD> ]")
def _not_mapped(session, kind, name=None):
    session.drop(("map", kind), name)


def _bind(session, kind, name, key, line):
    if session.config.find(kind, name) is None:
        raise Refusal(f"{kind} {name} does not exist")
    session.set(key, line, name)


@on("interface", "priority-flow-control priority <priority:0-7>")
def _pfc(session, priority):
    for lines in session.targets():
        if len({*lines.keyed("pfc"), priority}) > MOST_PRIORITIES:
            raise Refusal(f"A maximum of {MOST_PRIORITIES} PFC priorities is supported on an interface")
    session.set(("pfc", priority), f"priority-flow-control priority {priority}")


@on("interface", "no priority-flow-control priority <priority:0-7>")
def _no_pfc(session, priority):
    session.drop(("pfc", priority))


@on("interface", "?no priority-flow-control asymmetric")
def _asymmetric(session, no=None):
    session.drop("asymmetric")
    if not no:
        session.set("asymmetric", "priority-flow-control asymmetric")


@on("interface", "priority-flow-control watchdog action action=alert|drop|forward")
def _action(session, action):
    session.set("wd-action", f"priority-flow-control watchdog action {action}", action)


@on("interface", "priority-flow-control watchdog on detect-time <time:100-5000>")
def _detect(session, time):
    session.set("wd-on", f"priority-flow-control watchdog on detect-time {time}", time)


@on("interface", "priority-flow-control watchdog restore-time <time:100-60000>")
def _restore(session, time):
    session.set("wd-restore", f"priority-flow-control watchdog restore-time {time}", time)


@on("interface", "no priority-flow-control watchdog what=on|action|restore-time")
def _no_watchdog(session, what):
    session.drop({"on": "wd-on", "action": "wd-action", "restore-time": "wd-restore"}[what])


@on("interface", "priority-flow-control watchdog off")
def _watchdog_off(session):
    session.drop("wd-on")


@on("interface", "?no lldp way=transmit|receive|enable")
def _lldp_port(session, way, no=None):
    session.drop(("lldp", way))
    if no:
        session.set(("lldp", way), f"no lldp {way}", False)


@on("interface", "?no dcbx enable")
def _dcbx_port(session, no=None):
    session.drop("dcbx")
    if no:
        session.set("dcbx", "no dcbx enable", False)


@on("interface", "?no dcbx tlv-select tlv=pfc|ets-conf|ets-reco")
def _tlv(session, tlv, no=None):
    session.drop(("tlv", tlv))
    if no:
        session.set(("tlv", tlv), f"no dcbx tlv-select {tlv}", False)
