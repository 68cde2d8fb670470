"""Cisco NX-OS: the lines of the system's policies and of ports."""

from __future__ import annotations

from .. import port_lines
from .nxos_rules import DEFAULTS, Refusal, on


@on("config", "system qos")
def system_qos(cli):
    cli.enter("sys-qos", [cli.config.section("system qos", "system qos")], "sys-qos")


@on(
    "sys-qos",
    "?no service-policy type kind=network-qos <name:WORD>",
    "?no service-policy type kind=queuing way=input|output <name:WORD>",
    "?no service-policy type kind=qos way=input <name:WORD>",
)
def system_policy(cli, kind, name, way=None, no=None):
    key, words = ("policy", kind, way), " ".join(filter(None, ("service-policy type", kind, way, name)))
    for one in cli.targets:
        if no:
            if one.get(key) != name:
                raise Refusal(f"ERROR: Policy-map {name} is not attached")
            one.drop(key)
        elif name == DEFAULTS.get(kind):
            one.drop(key)
        else:
            cli.need_policy(kind, name)
            one.set(key, words, name)


@on("config", "interface <ports:ports>")
def interface(cli, ports):
    sections = [cli.port(name) for name in ports]
    cli.enter("if", sections, "if-range" if sections[1:] else "if")


@on("config", "default interface <ports:ports>")
def default_interface(cli, ports):
    for name in ports:
        section = cli.port(name)
        section.lines.clear()


@on(
    "if",
    "?no service-policy type kind=qos way=input <name:WORD> [ no-stats ]",
    "?no service-policy type kind=queuing way=output <name:WORD>",
)
def port_policy(cli, kind, way, name, no=None):
    for one in cli.targets:
        key = ("policy", kind, way)
        if no:
            if one.get(key) != name:
                raise Refusal(f"ERROR: Policy-map {name} is not attached to the interface")
            one.drop(key)
        else:
            cli.need_policy(kind, name)
            one.set(key, f"service-policy type {kind} {way} {name}", name)


@on(
    "if",
    "priority-flow-control mode mode=on|off|auto [ tlv=send-tlv ]",
    "no=no priority-flow-control mode [ mode=on|off|auto ] [ tlv=send-tlv ]",
)
def pfc_mode(cli, mode=None, tlv=None, no=None):
    if tlv and (cli.release < (10, 0) or mode != "on"):
        raise Refusal(None)
    for one in cli.targets:
        if no or mode == "auto":
            one.drop("pfc")
            continue
        if mode == "on" and (one.get(("flow", "receive")) or one.get(("flow", "send"))):
            raise Refusal("ERROR: Priority flow control cannot be enabled while flowcontrol is on")
        one.set("pfc", f"priority-flow-control mode {mode}{' send-tlv' if tlv else ''}", f"{mode} {tlv or ''}".strip())


@on(
    "if",
    "priority-flow-control watch-dog-interval how=on|off",
    "no=no priority-flow-control watch-dog-interval [ how=on|off ]",
)
def port_watchdog(cli, how=None, no=None):
    for one in cli.targets:
        if no or how == "off":
            one.drop("watchdog")
        else:
            one.set("watchdog", "priority-flow-control watch-dog-interval on")


@on("if", "flowcontrol way=receive|send how=on|off", "no=no flowcontrol way=receive|send [ how=on|off ]")
def flowcontrol(cli, way, how=None, no=None):
    for one in cli.targets:
        if no or how == "off":
            one.drop(("flow", way))
            continue
        if (one.get("pfc") or "").startswith("on"):
            raise Refusal("ERROR: flowcontrol cannot be enabled while priority flow control is on")
        one.set(("flow", way), f"flowcontrol {way} on", "on")


@on("if", "mtu <number:576-9216>", "no=no mtu [ <number:576-9216> ]")
def mtu(cli, number=None, no=None):
    for one in cli.targets:
        if no or number == 1500:
            one.drop("mtu")
        elif number != 9216 and number > 1500 and one.get("switchport") is not False and cli.release < (9, 0):
            raise Refusal("ERROR: Layer 2 ports take 1500 or the system jumbo MTU")
        else:
            one.set("mtu", f"mtu {number}", number)


on("if", "description <text:LINE>", "no=no description [ <text:LINE> ]")(port_lines.description)
on("if", "?no shutdown")(port_lines.shutdown)
on("if", "?no switchport")(port_lines.switchport)
on(
    "if",
    "switchport mode mode=access|trunk",
    "switchport access vlan <number:1-3967>",
    "switchport trunk allowed vlan how=add|remove|except <vlans:vlans>",
    "switchport trunk allowed vlan <vlans:vlans>",
    "switchport trunk native vlan <native:1-3967>",
)(port_lines.switching)
on(
    "if",
    "no switchport what=mode",
    "no switchport what=access vlan",
    "no switchport trunk what=allowed vlan",
    "no switchport trunk what=native vlan",
)(port_lines.not_switching)


@on(
    "if",
    "?no lldp way=transmit|receive",
    "lldp dcbx version version=auto|cee|ieee",
    "no=no lldp dcbx version [ version=auto|cee|ieee ]",
)
def lldp(cli, way=None, version=None, no=None):
    if ("feature", "lldp") not in cli.config.lines:
        raise Refusal(None)
    for one in cli.targets:
        if way:
            one.set(("lldp", way), f"no lldp {way}", False) if no else one.drop(("lldp", way))
        elif no or version == "auto":
            one.drop("dcbx")
        else:
            one.set("dcbx", f"lldp dcbx version {version}", version)


@on(
    "if",
    "ip address <address:WORD>",
    "?no spanning-tree port type <kind:LINE>",
    "?no logging event port link-status",
    "?no speed <speed:WORD>",
)
def port_line(cli, address=None, kind=None, speed=None, no=None):
    for one in cli.targets:
        if address:
            one.set("ip address", f"ip address {address}")
        elif kind:
            one.drop("spanning-tree") if no else one.set("spanning-tree", f"spanning-tree port type {kind}")
        elif speed:
            one.drop("speed") if no else one.set("speed", f"speed {speed}")
        else:
            one.set("logging", "no logging event port link-status") if no else one.drop("logging")
