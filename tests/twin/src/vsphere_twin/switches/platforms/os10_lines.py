"""Lines of OS10 in its configuration modes."""

from __future__ import annotations

import re

from ..grammar import Grammar
from ..phrases import number_set, spelled, vlan_list
from ..sections import Refusal
from .os10_config import CLASSES, INTERFACE, POLICIES, QOS_MAP, SYSTEM, TRUSTS, VLAN, WRED

_PORT = re.compile(r"(?:ethernet|eth)?(\d+/\d+/\d+)(?:-(?:(\d+/\d+)/)?(\d+))?$", re.IGNORECASE)


def _ports(tokens, at):
    """`ethernet1/1/1`, `ethernet 1/1/1-1/1/4,1/1/6` and the like: names of ports."""
    taken = 1
    text = tokens[at]
    if text.lower() in ("ethernet", "eth") and at + 1 < len(tokens):
        text, taken = tokens[at + 1], 2
    names = []
    for part in text.split(","):
        found = _PORT.match(part)
        if found is None:
            return None
        stem, first = found[1].rsplit("/", 1)
        last = found[3] or first
        if found[2] and found[2] != stem:
            return None
        names += [f"ethernet{stem}/{index}" for index in range(int(first), int(last) + 1)]
    return names, taken


GRAMMAR = Grammar(ports=_ports, dscps=number_set(63), eights=number_set(7), vlans=vlan_list)
on = GRAMMAR.on


# The switch as a whole. `config` is known inside every section, too.


@on("config", "hostname <name:WORD>")
def _hostname(session, name):
    session.config.hostname = name


@on("config", "?no dcbx enable")
def _dcbx(session, no=None):
    session.config.switch.drop("dcbx")
    if not no:
        session.config.switch.set("dcbx", "dcbx enable")


@on("config", "?no lldp enable")
def _lldp(session, no=None):
    session.config.switch.drop("lldp")
    if no:
        session.config.switch.set("lldp", "no lldp enable", False)


@on("config", "wred <name:WORD>")
def _wred(session, name):
    session.enter("wred", [(WRED, name)])


@on("config", "class-map type kind=network-qos|queuing <name:WORD> [ match-any ]")
def _class_map(session, kind, name):
    session.enter(f"class-{kind}", [(CLASSES[kind], name)])


@on("config", "policy-map type kind=network-qos|queuing <name:WORD>")
def _policy_map(session, kind, name):
    session.enter(f"policy-{kind}", [(POLICIES[kind], name)])


@on("config", "trust kind=dscp-map|dot1p-map <name:WORD>")
def _trust_map(session, kind, name):
    session.enter(kind, [(TRUSTS[kind.removesuffix("-map")], name)])


@on("config", "qos-map traffic-class <name:WORD>")
def _qos_map(session, name):
    session.enter("qos-map", [(QOS_MAP, name)])


@on("config", "system qos")
def _system(session):
    session.enter("system", [(SYSTEM, "")])


@on("config", "interface <ports:ports>", "interface range <ports:ports>")
def _interface(session, ports):
    session.enter("interface", [(INTERFACE, port) for port in session.known(ports)])


@on("config", "interface vlan <number:1-4093>")
def _interface_vlan(session, number):
    session.enter("vlan", [(VLAN, number)])


@on("config", "no interface vlan <number:1-4093>")
def _no_interface_vlan(session, number):
    session.config.objects.pop((VLAN, number), None)


@on("vlan", "?no shutdown", "description <text:LINE>")
def _in_vlan(session, text=None, no=None):
    if text is not None:
        session.set("description", f"description {text}", text)
    else:
        session.set("shutdown", "no shutdown" if no else "shutdown", not no)


@on("config", "no wred <name:WORD>")
def _no_wred(session, name):
    _remove(session, WRED, name)


@on("config", "no class-map [ type kind=network-qos|queuing ] <name:WORD>")
def _no_class_map(session, name, kind=None):
    _remove(session, _one_of(session, CLASSES, kind, name), name)


@on("config", "no policy-map [ type kind=network-qos|queuing ] <name:WORD>")
def _no_policy_map(session, name, kind=None):
    _remove(session, _one_of(session, POLICIES, kind, name), name)


@on("config", "no trust kind=dscp-map|dot1p-map <name:WORD>")
def _no_trust_map(session, kind, name):
    _remove(session, TRUSTS[kind.removesuffix("-map")], name)


@on("config", "no qos-map traffic-class <name:WORD>")
def _no_qos_map(session, name):
    _remove(session, QOS_MAP, name)


def _one_of(session, kinds, kind, name):
    if kind is not None:
        return kinds[kind]
    return next((one for one in kinds.values() if session.config.find(one, name) is not None), kinds["queuing"])


def _remove(session, kind, name):
    if session.config.find(kind, name) is None:
        raise Refusal(f"{kind} {name} does not exist")
    users = session.config.users(kind, name)
    if users:
        raise Refusal(f"{kind} {name} is in use by {users[0]}")
    del session.config.objects[(kind, name)]


# Objects.


@on(
    "wred",
    "random-detect color green minimum-threshold <low:1-12480> maximum-threshold <high:1-12480> "
    "drop-probability <probability:0-100>",
)
def _thresholds(session, low, high, probability):
    if low > high:
        raise Refusal("Minimum threshold is greater than maximum threshold")
    line = f"random-detect color green minimum-threshold {low} maximum-threshold {high} drop-probability {probability}"
    session.set("thresholds", line, (low, high, probability))


@on("wred", "no random-detect color green")
def _no_thresholds(session):
    session.drop("thresholds")


@on("wred", "?no random-detect ecn")
def _ecn(session, no=None):
    if no:
        session.drop("ecn")
    else:
        session.set("ecn", "random-detect ecn")


@on("class-network-qos", "match qos-group <values:eights>")
def _match_group(session, values):
    session.set("match", f"match qos-group {spelled(values)}", values)


@on("class-queuing", "match queue <values:eights>")
def _match_queue(session, values):
    session.set("match", f"match queue {spelled(values)}", values)


@on("class-network-qos", "no match qos-group <values:eights>")
@on("class-queuing", "no match queue <values:eights>")
def _no_match(session, values):
    session.drop("match")


@on("dscp-map", "qos-group <target:0-7> dscp <values:dscps>")
def _dscp_group(session, target, values):
    _map(session, "group", "qos-group", "dscp", target, values)


@on("dot1p-map", "qos-group <target:0-7> dot1p <values:eights>")
def _dot1p_group(session, target, values):
    _map(session, "group", "qos-group", "dot1p", target, values)


@on("qos-map", "queue <target:0-7> qos-group <values:eights> [ type kind=ucast|mcast ]")
def _queue(session, target, values, kind=None):
    if kind != "mcast":
        _map(session, "queue", "queue", "qos-group", target, values)


@on("dscp-map", "no qos-group <target:0-7> [ dscp <values:dscps> ]")
@on("dot1p-map", "no qos-group <target:0-7> [ dot1p <values:eights> ]")
def _no_group(session, target, values=None):
    session.drop(("group", target))


@on("qos-map", "no queue <target:0-7> [ qos-group <values:eights> ]")
def _no_queue(session, target, values=None):
    session.drop(("queue", target))


def _map(session, place, head, word, target, values):
    """Map a value in one line: the last one that was typed."""
    for lines in session.targets():
        for other, there in lines.keyed(place).items():
            left = there - values
            if other != target and left != there:
                lines.drop((place, other))
                if left:
                    lines.set((place, other), f"{head} {other} {word} {spelled(left)}", left)
        both = lines.get((place, target), frozenset()) | values
        lines.set((place, target), f"{head} {target} {word} {spelled(both)}", both)


# Policies.


@on("policy-network-qos policy-queuing", "class <name:WORD>")
def _class(session, name):
    kind = session.inside[0][0].split()[-1]
    if session.config.find(CLASSES[kind], name) is None:
        raise Refusal(f"Class-map {name} of type {kind} does not exist")
    session.enter_part(f"in-{kind}", ("class", name), f"class {name}")


@on("policy-network-qos policy-queuing", "no class <name:WORD>")
def _no_class(session, name):
    if session.part is not None:
        session.up()
    for lines in session.sections():
        if not lines.remove(("class", name)):
            raise Refusal(f"Class {name} is not in this policy-map")


@on("in-network-qos", "?no pause")
def _pause(session, no=None):
    if no:
        session.drop("pause")
    else:
        session.set("pause", "pause")


@on("in-network-qos", "pfc-cos <values:eights>")
def _pfc_cos(session, values):
    session.set("pfc-cos", f"pfc-cos {spelled(values)}", values)


@on("in-network-qos", "no pfc-cos [ <values:eights> ]")
def _no_pfc_cos(session, values=None):
    session.drop("pfc-cos")


@on("in-queuing", "bandwidth percent <percent:1-100>")
def _bandwidth(session, percent):
    if any(lines.get("priority") for lines in session.targets()):
        raise Refusal("Bandwidth cannot be configured with strict priority")
    if percent + session.other_bandwidth() > 100:
        raise Refusal("Total bandwidth of the policy-map exceeds 100 percent")
    session.set("bandwidth", f"bandwidth percent {percent}", percent)


@on("in-queuing", "no bandwidth [ percent ]", "no bandwidth percent <percent:1-100>")
def _no_bandwidth(session, percent=None):
    session.drop("bandwidth")


@on("in-queuing", "?no priority")
def _priority(session, no=None):
    if no:
        session.drop("priority")
    elif any(lines.get("bandwidth") for lines in session.targets()):
        raise Refusal("Strict priority cannot be configured with bandwidth")
    else:
        session.set("priority", "priority")


@on("in-queuing", "random-detect <name:WORD>")
def _random_detect(session, name):
    if session.config.find(WRED, name) is None:
        raise Refusal(f"WRED profile {name} does not exist")
    session.set("random-detect", f"random-detect {name}", name)


@on("in-queuing", "no random-detect [ <name:WORD> ]")
def _no_random_detect(session, name=None):
    session.drop("random-detect")
