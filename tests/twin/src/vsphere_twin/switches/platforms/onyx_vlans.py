"""Lines of Onyx for VLANs and the VLANs of ports."""

from __future__ import annotations

from ..lans import EVERY, allowed_after
from ..sections import Refusal
from .onyx_lines import GRAMMAR
from .onyx_set import ETH, drop, put

on = GRAMMAR.on


@on("config", "?no vlan <number:1-4094>")
def _vlan(session, number, no=None):
    if no:
        session.config.switch.drop(("vlan", number))
    else:
        session.config.switch.set(("vlan", number), f"vlan {number}")


@on("config", f"{ETH} switchport mode mode=access|trunk|hybrid|access-dcb")
def _mode(session, ports, mode):
    for port in session.ports(ports):
        session.config.allow(port, EVERY)
        session.config.put(port, "switching", f"switchport mode {mode}", mode)


@on("config", f"{ETH} no switchport [ force ]")
def _routed(session, ports):
    put(session, ports, "switching", "no switchport force", "routed")


@on("config", f"{ETH} switchport access vlan <vlan:1-4094>")
def _access(session, ports, vlan):
    if vlan != 1 and vlan not in session.config.switch.keyed("vlan"):
        raise Refusal(f"VLAN {vlan} does not exist")
    if any(session.config.value(port, "switching") == "trunk" for port in session.ports(ports)):
        raise Refusal("Interface is in trunk mode")
    put(session, ports, "access", f"switchport access vlan {vlan}", vlan)


@on("config", f"{ETH} no switchport access vlan")
def _no_access(session, ports):
    drop(session, ports, "access")


@on(
    "config",
    f"{ETH} switchport mode=trunk|hybrid allowed-vlan <vlans:vlans>",
    f"{ETH} switchport mode=trunk|hybrid allowed-vlan how=add|remove|except <vlans:vlans>",
)
def _allowed(session, ports, mode, vlans, how=None):
    for port in session.ports(ports):
        if session.config.value(port, "switching") != mode:
            raise Refusal(f"Interface is not in {mode} mode")
        session.config.allow(port, allowed_after(session.config.allowed(port), how, vlans))
