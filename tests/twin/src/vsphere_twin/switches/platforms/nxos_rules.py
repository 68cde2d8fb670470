"""Cisco NX-OS: lines of class maps, policy maps and the system, and their refusals."""

from __future__ import annotations

import re

from ..grammar import Grammar
from ..phrases import vlan_list

_PORTS = re.compile(r"(?i)(e(?:t(?:h(?:e(?:r(?:n(?:et?)?)?)?)?)?)?|mgmt)(\d[\d/,\-]*)?$")
NAMES = {"ef": 46, "default": 0, **{f"cs{n}": n * 8 for n in range(1, 8)}}
NAMES.update({f"af{a}{b}": a * 8 + b * 2 for a in range(1, 5) for b in range(1, 4)})
QUEUING = {f"c-out-8q-q{number or '-default'}": number for number in range(8)}
NETWORK = {f"c-8q-nq{number or '-default'}": number for number in range(8)}
PREDEFINED = {"queuing": QUEUING, "network-qos": NETWORK, "qos": {"class-default": 0}}
DEFAULTS = {"network-qos": "default-nq-8q-policy", "queuing": "default-8q-out-policy"}


class Refusal(Exception):
    """Message for a known line that the switch does not execute."""


def port_list(tokens, at):
    """Names of ports, written as Ethernet1/1, eth1/1, ethernet 1/1, or Ethernet1/1-4, ethernet1/7."""
    found = _PORTS.match(tokens[at])
    if found is None:
        return None
    text, count = found[2], 1
    if text is None:
        if at + 1 >= len(tokens) or not re.match(r"\d[\d/,\-]*$", tokens[at + 1]):
            return None
        text, count = tokens[at + 1], 2
    family = "Ethernet" if found[1].lower().startswith("e") else "mgmt"
    names = []
    for part in text.strip(",").split(","):
        first, _dash, last = part.partition("-")
        stem, _slash, number = first.rpartition("/")
        for one in range(int(number), int(last.rpartition("/")[2] or number) + 1):
            names.append(f"{family}{stem}/{one}" if stem else f"{family}{one}")
    if text.endswith(",") or (at + count < len(tokens) and tokens[at + count] == ","):
        at, count = at + count, count + (tokens[at + count : at + count + 1] == [","])
        more = port_list(tokens, at + (tokens[at : at + 1] == [","]))
        if more is None:
            return None
        return names + more[0], count + more[1]
    return names, count


def _numbers(most, names=None):
    def read(tokens, at):
        found = []
        for part in tokens[at].split(","):
            first, _dash, last = part.partition("-")
            first = str((names or {}).get(first.lower(), first))
            if not first.isdigit() or not (last or first).isdigit():
                return None
            found += range(int(first), int(last or first) + 1)
        return (found, 1) if max(found) <= most else None

    return read


GRAMMAR = Grammar(ports=port_list, dscps=_numbers(63, NAMES), numbers=_numbers(7), vlans=vlan_list)
on = GRAMMAR.on


@on("config", "hostname <name:WORD>", "switchname <name:WORD>")
def hostname(cli, name):
    cli.config.set("hostname", f"hostname {name}", name)


@on("config", "?no feature <name:WORD>")
def feature(cli, name, no=None):
    if name not in ("lldp", "lacp", "bgp", "ospf", "interface-vlan", "nxapi", "scp-server", "bfd", "pim"):
        raise Refusal(None)
    if no:
        cli.config.drop(("feature", name))
        return
    cli.config.set(("feature", name), f"feature {name}")


@on("config", "?no vlan <number:1-3967>")
def vlan(cli, number, no=None):
    if no:
        cli.config.remove(("vlan", number))
    else:
        cli.enter("vlan", [cli.config.section(("vlan", number), f"vlan {number}")], "vlan")


@on("vlan", "name <name:WORD>", "no=no name")
def vlan_name(cli, name=None, no=None):
    for one in cli.targets:
        one.drop("name") if no else one.set("name", f"name {name}")


@on("config", "?no ntp server <name:WORD>")
def ntp(cli, name, no=None):
    cli.config.drop(("ntp", name)) if no else cli.config.set(("ntp", name), f"ntp server {name}")


@on(
    "config",
    "priority-flow-control watch-dog-interval how=on|off",
    "no=no priority-flow-control watch-dog-interval [ how=on|off ]",
)
def watchdog(cli, how=None, no=None):
    if no or how == "off":
        cli.config.drop("watchdog")
    else:
        cli.config.set("watchdog", "priority-flow-control watch-dog-interval on")


@on(
    "config",
    "?no priority-flow-control watch-dog interval <number:100-1000>",
    "?no priority-flow-control watch-dog shutdown-multiplier <times:1-10>",
    "?no priority-flow-control auto-restore multiplier <restore:0-100>",
    "?no priority-flow-control fixed-restore multiplier <fixed:0-100>",
)
def watchdog_times(cli, no=None, number=None, times=None, restore=None, fixed=None):
    for key, value, words in (
        ("interval", number, "watch-dog interval"),
        ("shutdown", times, "watch-dog shutdown-multiplier"),
        ("auto", restore, "auto-restore multiplier"),
        ("fixed", fixed, "fixed-restore multiplier"),
    ):
        if value is not None:
            where = ("watchdog", key)
            cli.config.drop(where) if no else cli.config.set(where, f"priority-flow-control {words} {value}", value)


# Class maps.


@on(
    "config",
    "class-map type qos [ how=match-any|match-all ] <name:WORD>",
    "class-map [ how=match-any|match-all ] <name:WORD>",
)
def class_map(cli, name, how=None):
    if name == "class-default":
        raise Refusal("ERROR: class-default cannot be modified")
    key = ("class-map", "qos", name)
    section = cli.config.section(key)
    section.set("how", None, how or section.get("how", "match-all"))
    cli.config.sections[key] = (f"class-map type qos {section.get('how')} {name}", section)
    cli.enter("cmap-qos", [section], "cmap-qos")


@on("config", "class-map type network-qos [ how=match-any|match-all ] <name:WORD>")
def network_class_map(cli, name, how="match-any"):
    if name in NETWORK:
        raise Refusal("ERROR: System defined class-map cannot be modified")
    key = ("class-map", "network-qos", name)
    cli.enter("cmap-nqos", [cli.config.section(key, f"class-map type network-qos {how} {name}")], "cmap-nqos")


@on("config", "no class-map [ type kind=qos|network-qos|queuing ] [ how=match-any|match-all ] <name:WORD>")
def no_class_map(cli, name, kind="qos", how=None):
    if name in PREDEFINED[kind]:
        raise Refusal("ERROR: System defined class-map cannot be deleted")
    if ("class-map", kind, name) not in cli.config.sections:
        raise Refusal(f"ERROR: Class-map {name} does not exist")
    for policy, section in cli.policies(kind).items():
        if section.find(("class", name)) is not None:
            raise Refusal(f"ERROR: Class-map {name} is being used by policy-map {policy}")
    cli.config.remove(("class-map", kind, name))


@on(
    "cmap-qos",
    "?no match dscp <dscps:dscps>+",
    "?no match cos <coses:numbers>+",
    "?no match access-group name <acl:WORD>",
)
def match(cli, no=None, dscps=None, coses=None, acl=None):
    kind = "dscp" if dscps else "cos" if coses else "acl"
    numbers = {number for one in dscps or coses or [] for number in one}
    for one in cli.targets:
        if kind == "acl":
            one.drop("acl") if no else one.set("acl", f"match access-group name {acl}", acl)
            continue
        has = one.get(kind, frozenset())
        left = frozenset(has - numbers if no else has | numbers)
        one.set(kind, f"match {kind} {ranges(left)}", left) if left else one.drop(kind)


@on("cmap-nqos", "?no match qos-group <number:0-7>")
def match_group(cli, number, no=None):
    for one in cli.targets:
        one.drop("group") if no else one.set("group", f"match qos-group {number}", number)


def ranges(numbers):
    """24-31,48 as the switch writes it."""
    runs = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
