"""What lines of a port do that several makes write alike; which words say it is each make's own."""

from __future__ import annotations


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


def switching(cli, mode=None, number=None, vlans=None, native=None):
    """The VLANs of a switched port, one of them at a time."""
    for one in cli.targets:
        if mode:
            one.set("switchport mode", f"switchport mode {mode}")
        elif number:
            one.set("switchport access", f"switchport access vlan {number}")
        elif vlans:
            one.set("switchport allowed", f"switchport trunk allowed vlan {vlans}")
        else:
            one.set("switchport native", f"switchport trunk native vlan {native}")
