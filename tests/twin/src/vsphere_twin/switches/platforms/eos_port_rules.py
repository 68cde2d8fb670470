"""Arista EOS: the lines of a port, of a profile, and of their queues."""

from __future__ import annotations

from .. import port_lines
from .eos_rules import QUEUES, Refusal, on

UNITS = "kbytes|bytes|mbytes|segments|milliseconds|microseconds"

# Settings of a port, its own or by a profile.


@on("profile if", f"kind={'|'.join(QUEUES)} <number:0-7>")
def queue(cli, kind, number):
    cli.known_queue(kind)
    sections = [one.section((kind, number), f"{kind} {number}") for one in cli.targets]
    cli.enter(f"{cli.mode}-queue", sections, f"txq-{number}")


@on("profile if", f"no=no|default kind={'|'.join(QUEUES)} <number:0-7>")
def no_queue(cli, no, kind, number):
    cli.known_queue(kind)
    for one in cli.targets:
        one.remove((kind, number))


@on("if profile", "qos trust mode=dscp|cos")
def trust(cli, mode):
    for one in cli.targets:
        one.set("trust", f"qos trust {mode}", mode)


@on("if profile", "no qos trust [ mode=dscp|cos ]")
def no_trust(cli, mode=None):
    for one in cli.targets:
        one.set("trust", "no qos trust", "none")


@on("if profile", "default qos trust")
def default_trust(cli):
    for one in cli.targets:
        one.drop("trust")


@on("if profile", "qos kind=cos|dscp <number:0-63>", "no=no|default qos kind=cos|dscp [ <number:0-63> ]")
def port_default(cli, kind, number=None, no=None):
    for one in cli.targets:
        one.drop(f"qos {kind}") if no else one.set(f"qos {kind}", f"qos {kind} {number}", number)


@on("if profile", "priority-flow-control on")
def pfc(cli):
    for one in cli.targets:
        one.set("pfc", "priority-flow-control on")


@on("if profile", "priority-flow-control mode on", "no=no priority-flow-control mode [ on ]")
def old_pfc(cli, no=None):
    """The keyword of old trains (MSCN)."""
    if cli.release >= (4, 20):
        raise Refusal("% Invalid input")
    for one in cli.targets:
        one.drop("pfc") if no else one.set("pfc", "priority-flow-control mode on")


@on("if profile", "no=no|default priority-flow-control [ on ]")
def no_pfc(cli, no):
    for one in cli.targets:
        one.drop("pfc")


@on("if profile", "priority-flow-control priority <number:0-7> how=no-drop|drop")
def pfc_priority(cli, number, how):
    for one in cli.targets:
        one.set(("pfc", number), f"priority-flow-control priority {number} {how}", how)


@on("if profile", "no=no|default priority-flow-control priority <number:0-7> [ how=no-drop|drop ]")
def no_pfc_priority(cli, no, number, how=None):
    for one in cli.targets:
        one.drop(("pfc", number))


@on("if profile", "?no priority-flow-control pause watchdog", "default priority-flow-control pause watchdog")
def watchdog(cli, no=None):
    for one in cli.targets:
        one.set("watchdog", "no priority-flow-control pause watchdog", False) if no else one.drop("watchdog")


@on(
    "if profile",
    "priority-flow-control pause watchdog port action action=drop|errdisable|no-drop|notify-only",
    "no=no|default priority-flow-control pause watchdog port action [ action=drop|errdisable|no-drop|notify-only ]",
)
def watchdog_port_action(cli, action=None, no=None):
    line = f"priority-flow-control pause watchdog port action {action}"
    for one in cli.targets:
        one.drop("watchdog action") if no else one.set("watchdog action", line, action)


@on(
    "if profile",
    "priority-flow-control pause watchdog port timer timeout <time:seconds> polling-interval <poll:WORD> "
    "recovery-time <recovery:seconds> [ forced=forced ]",
    "no=no|default priority-flow-control pause watchdog port timer [ <rest:LINE> ]",
)
def watchdog_port_timer(cli, no=None, time=None, poll=None, recovery=None, forced=None, rest=None):
    words = f"timeout {time} polling-interval {poll} recovery-time {recovery}{' forced' if forced else ''}"
    for one in cli.targets:
        if no:
            one.drop("watchdog timer")
        else:
            one.set("watchdog timer", f"priority-flow-control pause watchdog port timer {words}", float(time))


@on("profile-queue if-queue", "priority strict", "no=no priority [ strict ]", "default=default priority")
def strict(cli, no=None, default=None):
    for one in cli.targets:
        if default:
            one.drop("priority")
        else:
            one.set("priority", "no priority" if no else "priority strict", no is None)


@on(
    "profile-queue if-queue",
    "bandwidth [ how=guaranteed ] percent <number:1-100>",
    "no=no|default bandwidth [ how=guaranteed ] percent [ <number:1-100> ]",
)
def bandwidth(cli, number=None, how=None, no=None):
    key = "guaranteed" if how else "bandwidth"
    words = f"bandwidth{' guaranteed' if how else ''} percent {number}"
    for one in cli.targets:
        one.drop(key) if no else one.set(key, words, number)


@on(
    "profile-queue if-queue",
    f"random-detect ecn minimum-threshold <low:0-100000000> unit={UNITS}"
    f" maximum-threshold <high:1-100000000> top={UNITS}"
    " [ max-mark-probability <mark:1-100> ] [ weight <weight:0-15> ]",
    f"random-detect drop [ drop-precedence <precedence:0-2> ] minimum-threshold <low:0-100000000> unit={UNITS}"
    f" maximum-threshold <high:1-100000000> top={UNITS} drop-probability <drop:1-100> [ weight <weight:0-15> ]",
)
def random_detect(cli, low, unit, high, top, mark=None, drop=None, weight=None, precedence=None):
    if unit != top or low > high:
        raise Refusal("% Invalid input")
    key = "ecn" if drop is None else "drop"
    words = [f"random-detect {key}", f"drop-precedence {precedence}" if precedence is not None else ""]
    words += [f"minimum-threshold {low} {unit}", f"maximum-threshold {high} {top}"]
    words += [f"max-mark-probability {mark}" if mark else "", f"drop-probability {drop}" if drop else ""]
    words += [f"weight {weight}" if weight is not None else ""]
    for one in cli.targets:
        one.set(key, " ".join(filter(None, words)), (low, high, unit, mark or drop or 100))


@on("profile-queue if-queue", "no=no|default random-detect kind=ecn|drop [ <rest:LINE> ]")
def no_random_detect(cli, no, kind, rest=None):
    for one in cli.targets:
        one.drop("count" if rest == "count" else kind)


@on("profile-queue if-queue", "random-detect ecn count")
def ecn_count(cli):
    for one in cli.targets:
        one.set("count", "random-detect ecn count")


@on("profile if profile-queue if-queue", "?no shape rate <rest:LINE>", "no=no|default shape rate")
def shape(cli, rest="", no=None):
    for one in cli.targets:
        one.drop("shape") if no else one.set("shape", f"shape rate {rest}")


@on("if profile", "?no service-policy type qos input <name:WORD>")
def service_policy(cli, name, no=None):
    """Accept policies by access list; RoCE needs none, and their settings are not evaluated."""
    for one in cli.targets:
        one.drop("service-policy") if no else one.set("service-policy", f"service-policy type qos input {name}", name)


# Settings of a port alone.


@on("if", "service-profile <name:WORD>", "no=no|default service-profile [ <name:WORD> ]")
def service_profile(cli, name=None, no=None):
    for one in cli.targets:
        if not no:
            one.set("service-profile", f"service-profile {name}", name)
        elif name in (None, one.get("service-profile")):
            one.drop("service-profile")


@on("if", "mtu <number:68-9214>", "no=no|default mtu [ <number:68-9214> ]")
def mtu(cli, number=None, no=None):
    for one in cli.targets:
        one.drop("mtu") if no else one.set("mtu", f"mtu {number}", number)


@on("if", "dcbx mode mode=ieee|cee", "no=no|default dcbx mode [ mode=ieee|cee ]")
def dcbx(cli, mode=None, no=None):
    for one in cli.targets:
        one.drop("dcbx") if no else one.set("dcbx", f"dcbx mode {mode}", mode)


@on(
    "if", "flowcontrol way=send|receive how=on|off|desired", "no=no|default flowcontrol way=send|receive [ how=on|off ]"
)
def flowcontrol(cli, way, how=None, no=None):
    for one in cli.targets:
        if no or how == "off":
            one.drop(("flowcontrol", way))
        else:
            one.set(("flowcontrol", way), f"flowcontrol {way} {how}", how)


on("if", "description <text:LINE>", "no=no|default description [ <text:LINE> ]")(port_lines.description)
on("if", "?no shutdown", "default shutdown")(port_lines.shutdown)
on("if", "?no switchport")(port_lines.switchport)
on(
    "if",
    "switchport mode mode=access|trunk",
    "switchport access vlan <number:1-4094>",
    "switchport trunk allowed vlan how=add|remove|except <vlans:vlans>",
    "switchport trunk allowed vlan <vlans:vlans>",
    "switchport trunk native vlan <native:1-4094>",
)(port_lines.switching)
on(
    "if",
    "no switchport what=mode",
    "no switchport what=access vlan",
    "no switchport trunk what=allowed vlan",
    "no switchport trunk what=native vlan",
)(port_lines.not_switching)


@on("if", "ip address <address:WORD>", "spanning-tree portfast [ kind=edge|network ]", "?no lldp way=transmit|receive")
def port_line(cli, address=None, kind=None, way=None, no=None):
    for one in cli.targets:
        if address:
            one.set("ip address", f"ip address {address}")
        elif way:
            one.set(("lldp", way), f"no lldp {way}", False) if no else one.drop(("lldp", way))
        else:
            one.set("portfast", f"spanning-tree portfast{' ' + kind if kind else ''}")
