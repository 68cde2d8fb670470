"""Common port lines of several vendors; each vendor has its own words for them."""

from __future__ import annotations

from . import lans
from .phrases import spelled


def description(cli, text=None, no=None):
    """A text for people."""
    for one in cli.targets:
        one.drop("description") if no else one.set("description", f"description {text}", text)


def shutdown(cli, no=None):
    """Ports are on unless they are shut."""
    for one in cli.targets:
        one.drop("shutdown") if no else one.set("shutdown", "shutdown")


def switchport(cli, no=None):
    """Ports are switched unless they are routed."""
    for one in cli.targets:
        one.set("switchport", "no switchport", False) if no else one.drop("switchport")


def switching(cli, mode=None, number=None, vlans=None, native=None, how=None):
    """The VLANs of a switched port, one of them at a time."""
    for one in cli.targets:
        if mode:
            one.set("switchport mode", f"switchport mode {mode}", mode)
        elif number:
            one.set("switchport access", f"switchport access vlan {number}", number)
        elif vlans:
            allowed = lans.allowed_after(one.get("switchport allowed", lans.EVERY), how, vlans)
            words = "none" if not allowed else spelled(allowed)
            one.set("switchport allowed", f"switchport trunk allowed vlan {words}", allowed)
        else:
            one.set("switchport native", f"switchport trunk native vlan {native}", native)


def not_switching(cli, what):
    """A VLAN setting of a port as the factory made it."""
    for one in cli.targets:
        one.drop(f"switchport {what}")


def lan(port, existing):
    """The VLANs of a port whose lines these are."""
    if port.get("switchport") is False:
        return lans.Lan()
    if port.get("switchport mode") == "trunk":
        allowed = port.get("switchport allowed", lans.EVERY)
        return lans.trunk(port.get("switchport native", 1), allowed, existing)
    return lans.access(port.get("switchport access", 1), existing)


def vlan_word(port):
    """Return the VLAN column of port tables."""
    if port.get("switchport") is False:
        return "routed"
    return "trunk" if port.get("switchport mode") == "trunk" else str(port.get("switchport access", 1))


def base(ports, vlans):
    """Trunks with some VLANs, as an operator types them; in VLAN 1 alone every port is from the factory."""
    if vlans <= {1}:
        return []
    words = spelled(vlans)
    lines = [f"vlan {vlan}" for vlan in sorted(vlans - {1})]
    for port in ports:
        lines += [f"interface {port}", "switchport mode trunk", f"switchport trunk allowed vlan {words}"]
    return lines
