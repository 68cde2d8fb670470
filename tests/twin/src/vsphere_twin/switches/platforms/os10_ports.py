"""The lines of OS10 inside interfaces and under system qos."""

from __future__ import annotations

from ..lans import allowed_after
from ..phrases import spelled
from ..sections import Refusal
from .os10_config import POLICIES, QOS_MAP, TRUSTS
from .os10_lines import GRAMMAR

on = GRAMMAR.on


@on("interface", "mtu <mtu:1280-9216>")
def _mtu(session, mtu):
    session.set("mtu", f"mtu {mtu}", mtu)


@on("interface", "no mtu")
def _no_mtu(session):
    session.drop("mtu")


@on("interface", "?no shutdown")
def _shutdown(session, no=None):
    session.set("shutdown", "no shutdown" if no else "shutdown", not no)


@on("interface", "description <text:LINE>")
def _description(session, text):
    session.set("description", f"description {text}", text)


@on("interface", "no description")
def _no_description(session):
    session.drop("description")


@on("interface", "switchport access vlan <vlan:1-4093>")
def _vlan(session, vlan):
    session.set("switchport", f"switchport access vlan {vlan}", vlan)


@on("interface", "switchport mode mode=access|trunk")
def _mode(session, mode):
    session.set("mode", f"switchport mode {mode}", mode)
    if mode == "access":
        session.drop("allowed")


@on("interface", "no switchport mode")
def _no_mode(session):
    session.drop("mode")
    session.drop("allowed")


@on("interface", "no switchport access vlan")
def _no_vlan(session):
    _vlan(session, 1)


@on("interface", "?no switchport trunk allowed vlan <vlans:vlans>")
def _allowed(session, vlans, no=None):
    """Add the named VLANs to the allowed ones, or remove them."""
    for lines in session.targets():
        if lines.get("mode") != "trunk":
            raise Refusal("Port is not in trunk mode")
        allowed = allowed_after(lines.get("allowed", frozenset()), "remove" if no else "add", vlans)
        lines.drop("allowed")
        if allowed:
            lines.set("allowed", f"switchport trunk allowed vlan {spelled(allowed)}", allowed)


@on("interface", "no switchport")
def _routed(session):
    session.set("switchport", "no switchport", False)


@on("interface", "flowcontrol way=receive|transmit state=on|off")
def _flow(session, way, state):
    if state == "on" and any(lines.get("pfc") for lines in session.targets()):
        raise Refusal("Link-level flow control cannot be enabled while priority flow control is on")
    session.set(("flow", way), f"flowcontrol {way} {state}", state)


@on("interface", "no flowcontrol way=receive|transmit")
def _no_flow(session, way):
    session.drop(("flow", way))


@on("interface", "priority-flow-control mode state=on|off")
def _pfc(session, state):
    for lines in session.targets():
        if state == "on" and "on" in lines.keyed("flow").values():
            raise Refusal("Priority flow control cannot be enabled while link-level flow control is on")
    if state == "on":
        session.set("pfc", "priority-flow-control mode on")
    else:
        session.drop("pfc")


@on("interface", "no priority-flow-control [ mode ]")
def _no_pfc(session):
    session.drop("pfc")


@on("interface system", "ets mode state=on|off")
def _ets(session, state):
    if state == "on":
        session.set("ets", "ets mode on")
    else:
        session.drop("ets")


@on("interface system", "no ets [ mode ]")
def _no_ets(session):
    session.drop("ets")


@on("interface system", "service-policy input type network-qos <name:WORD>")
def _network_qos(session, name):
    _apply(session, "network-qos", "input", name)


@on("interface system", "service-policy output type queuing <name:WORD>")
def _queuing(session, name):
    _apply(session, "queuing", "output", name)


@on("interface system", "no service-policy input type network-qos [ <name:WORD> ]")
def _no_network_qos(session, name=None):
    session.drop(("policy", "network-qos"), name)


@on("interface system", "no service-policy output type queuing [ <name:WORD> ]")
def _no_queuing(session, name=None):
    session.drop(("policy", "queuing"), name)


def _apply(session, kind, way, name):
    """A name of another kind is no policy, whatever it names."""
    if session.config.find(POLICIES[kind], name) is None:
        raise Refusal(f"Policy-map {name} of type {kind} does not exist")
    session.set(("policy", kind), f"service-policy {way} type {kind} {name}", name)


@on("interface system", "trust-map kind=dscp|dot1p <name:WORD>")
def _trust(session, kind, name):
    if session.config.find(TRUSTS[kind], name) is None:
        raise Refusal(f"Trust {kind}-map {name} does not exist")
    session.set(("trust", kind), f"trust-map {kind} {name}", name)


@on("interface system", "no trust-map [ kind=dscp|dot1p ] [ <name:WORD> ]")
def _no_trust(session, kind=None, name=None):
    for one in TRUSTS if kind is None else [kind]:
        session.drop(("trust", one), name)


@on("interface system", "qos-map traffic-class <name:WORD>")
def _qos_map(session, name):
    if session.config.find(QOS_MAP, name) is None:
        raise Refusal(f"Qos-map traffic-class {name} does not exist")
    session.set("qos-map", f"qos-map traffic-class {name}", name)


@on("interface system", "no qos-map traffic-class [ <name:WORD> ]")
def _no_qos_map(session, name=None):
    session.drop("qos-map", name)


@on("interface", "dcbx version version=auto|cee|ieee")
def _dcbx(session, version):
    session.set("dcbx", f"dcbx version {version}", version)


@on("interface", "no dcbx version")
def _no_dcbx(session):
    session.drop("dcbx")


@on("interface", "?no lldp way=transmit|receive")
def _lldp(session, way, no=None):
    session.drop(("lldp", way))
    if no:
        session.set(("lldp", way), f"no lldp {way}", False)


@on("system", "pfc-max-buffer-size <size:0-100000>")
def _max_buffer(session, size):
    session.set(("buffer", 1), f"pfc-max-buffer-size {size}", size)


@on("system", "pfc-shared-buffer-size <size:0-100000>")
def _shared_buffer(session, size):
    session.set(("buffer", 2), f"pfc-shared-buffer-size {size}", size)


@on("system", "no pfc-max-buffer-size")
def _no_max_buffer(session):
    session.drop(("buffer", 1))


@on("system", "no pfc-shared-buffer-size")
def _no_shared_buffer(session):
    session.drop(("buffer", 2))


@on("system", "?no buffer-statistics-tracking")
def _tracking(session, no=None):
    if no:
        session.drop(("buffer", 0))
    else:
        session.set(("buffer", 0), "buffer-statistics-tracking")
