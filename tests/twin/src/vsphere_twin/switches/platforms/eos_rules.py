"""Arista EOS: configuration lines, and their settings."""

from __future__ import annotations

import re

from ..grammar import Grammar
from ..phrases import vlan_list

_PORTS = re.compile(r"(?i)(e(?:t(?:h(?:e(?:r(?:n(?:et?)?)?)?)?)?)?|ma(?:nagement)?)(\d[\d/,\-]*)?$")
QUEUES = ("tx-queue", "uc-tx-queue", "mc-tx-queue")
SECONDS_TEXT = re.compile(r"\d+(\.\d+)?$")


class Refusal(Exception):
    """Message for a known line that the switch does not execute."""


def port_list(tokens, at):
    """Names of ports, written as Ethernet1, et1, ethernet 1, or Ethernet1-4,7."""
    found = _PORTS.match(tokens[at])
    if found is None:
        return None
    text, count = found[2], 1
    if text is None:
        if at + 1 >= len(tokens) or not re.match(r"\d[\d/,\-]*$", tokens[at + 1]):
            return None
        text, count = tokens[at + 1], 2
    family = "Ethernet" if found[1].lower().startswith("e") else "Management"
    return [f"{family}{one}" for one in _numbers(text)], count


def _numbers(text):
    for part in text.split(","):
        first, _dash, last = part.partition("-")
        stem, _slash, number = first.rpartition("/")
        end = last.rpartition("/")[2] or number
        for one in range(int(number), int(end) + 1):
            yield f"{stem}/{one}" if stem else str(one)


def number_list(most):
    """A place for numbers: 26, 26-28 or 26,48."""

    def read(tokens, at):
        if not re.match(r"\d+(-\d+)?(,\d+(-\d+)?)*$", tokens[at]):
            return None
        found = []
        for part in tokens[at].split(","):
            first, _dash, last = part.partition("-")
            found += range(int(first), int(last or first) + 1)
        return (found, 1) if max(found, default=most + 1) <= most else None

    return read


def _seconds(tokens, at):
    return (tokens[at], 1) if SECONDS_TEXT.match(tokens[at]) else None


GRAMMAR = Grammar(ports=port_list, dscps=number_list(63), numbers=number_list(7), seconds=_seconds, vlans=vlan_list)
on = GRAMMAR.on


def flat(lists):
    """Return one list of the numbers that several words named."""
    return [number for one in lists for number in one]


# Global lines.


@on("config", "hostname <name:WORD>")
def hostname(cli, name):
    cli.config.set("hostname", f"hostname {name}", name)


@on("config", "?no lldp run", "default=default lldp run")
def lldp_run(cli, no=None, default=None):
    cli.config.drop("lldp") if no is None else cli.config.set("lldp", "no lldp run", False)


@on("config", "?no ip routing", "?no spanning-tree mode <mode:WORD>", "?no ntp server <name:WORD>")
def common(cli, no=None, mode=None, name=None):
    what = "spanning-tree mode" if mode else "ntp server" if name else "ip routing"
    if no:
        cli.config.drop(what)
    else:
        cli.config.set(what, " ".join(filter(None, (what, mode or name))))


@on("config", "?no vlan <number:1-4094>")
def vlan(cli, number, no=None):
    if no:
        cli.config.remove(("vlan", number))
        return
    cli.enter("vlan", [cli.config.section(("vlan", number), f"vlan {number}")], f"vlan-{number}")


@on("vlan", "?no name <name:WORD>", "no=no name")
def vlan_name(cli, name=None, no=None):
    for one in cli.targets:
        one.drop("name") if no else one.set("name", f"name {name}")


@on("config", "qos map dscp <dscps:dscps>+ to traffic-class <tc:0-7> [ drop-precedence <drop:0-2> ]")
def map_dscp(cli, dscps, tc, drop=None):
    for dscp in flat(dscps):
        cli.config.set(("dscp", dscp), "", (tc, drop))


@on("config", "no=no|default qos map dscp <dscps:dscps>+ [ to traffic-class <tc:0-7> ]")
def unmap_dscp(cli, no, dscps, tc=None):
    for dscp in flat(dscps):
        cli.config.drop(("dscp", dscp))


@on("config", "qos map cos <coses:numbers>+ to traffic-class <tc:0-7>")
def map_cos(cli, coses, tc):
    for cos in flat(coses):
        cli.config.set(("cos", cos), "", tc)


@on("config", "no=no|default qos map cos <coses:numbers>+ [ to traffic-class <tc:0-7> ]")
def unmap_cos(cli, no, coses, tc=None):
    for cos in flat(coses):
        cli.config.drop(("cos", cos))


@on("config", f"qos map traffic-class <tcs:numbers>+ to kind={'|'.join((*QUEUES, 'cos', 'dscp'))} <number:0-63>")
def map_class(cli, tcs, kind, number):
    cli.known_queue(kind)
    if number > 7 and kind != "dscp":
        raise Refusal("% Invalid input")
    for tc in flat(tcs):
        cli.config.set((kind if kind in QUEUES else f"to {kind}", tc), "", number)


@on(
    "config",
    f"no=no|default qos map traffic-class <tcs:numbers>+ to kind={'|'.join((*QUEUES, 'cos', 'dscp'))}"
    " [ <number:0-63> ]",
)
def unmap_class(cli, no, tcs, kind, number=None):
    cli.known_queue(kind)
    for tc in flat(tcs):
        cli.config.drop((kind if kind in QUEUES else f"to {kind}", tc))


@on("config", "?no qos rewrite what=dscp|cos")
def rewrite(cli, what, no=None):
    key = f"qos rewrite {what}"
    cli.config.drop(key) if no else cli.config.set(key, key)


@on("config", "?no priority-flow-control all off")
def all_off(cli, no=None):
    cli.config.drop("all off") if no else cli.config.set("all off", "priority-flow-control all off")


@on("config", "priority-flow-control pause watchdog default what=timeout|recovery-time|polling-interval <time:seconds>")
def watchdog_default(cli, what, time):
    line = f"priority-flow-control pause watchdog default {what} {time}"
    cli.config.set(("watchdog", what), line, float(time))


@on(
    "config",
    "no=no|default priority-flow-control pause watchdog default what=timeout|recovery-time|polling-interval"
    " [ <time:seconds> ]",
)
def no_watchdog_default(cli, no, what, time=None):
    cli.config.drop(("watchdog", what))


@on(
    "config",
    "priority-flow-control pause watchdog action action=drop|errdisable|no-drop|notify-only",
    "no=no|default priority-flow-control pause watchdog action [ action=drop|errdisable|no-drop|notify-only ]",
)
def watchdog_action(cli, action=None, no=None):
    if no:
        cli.config.drop(("watchdog", "action"))
    else:
        cli.config.set(("watchdog", "action"), f"priority-flow-control pause watchdog action {action}", action)


@on("config", "?no dcbx ets <rest:LINE>", "?no dcbx application <rest:LINE>")
def dcbx_tlv(cli, rest, no=None):
    kind = "ets" if rest.split()[0] in ("qos", "traffic-class") else "application"
    known = {
        "ets": r"(qos map cos [0-7] traffic-class [0-7]|traffic-class [0-7] bandwidth \d+)$",
        "application": r"(iscsi|ether \S+|(tcp-sctp|tcp-sctp-udp|udp) \d+)( priority [0-7])?$",
    }[kind]
    if not re.match(known, rest):
        raise Refusal("% Invalid input")
    line = f"dcbx {kind} {rest}"
    cli.config.drop(line) if no else cli.config.set(line, line)


# Lines that enter sections.


@on("config", "qos profile <name:WORD>")
def profile(cli, name):
    cli.enter("profile", [cli.config.section(("profile", name), f"qos profile {name}")], f"qos-profile-{name}")


@on("config", "no qos profile <name:WORD>")
def no_profile(cli, name):
    cli.config.remove(("profile", name))


@on("config", "interface <ports:ports>")
def interface(cli, ports):
    sections = [cli.port(name) for name in ports]
    short = ports[0].replace("Ethernet", "Et").replace("Management", "Ma")
    last = f"-{ports[-1].removeprefix('Ethernet')}" if ports[1:] else ""
    cli.enter("if", sections, f"if-{short}{last}")


@on("config", "default interface <ports:ports>")
def default_interface(cli, ports):
    for name in ports:
        section = cli.port(name)
        section.lines.clear()
        section.sections.clear()
