"""Lines of Enterprise SONiC's command line in its configuration modes."""

from __future__ import annotations

import re

from ..grammar import Grammar
from ..phrases import number_set, vlan_list
from ..sections import Refusal
from .enterprise_sonic_config import MAPS, SCHEDULER, WRED, put_entries

MOST_PRIORITIES = 2
_PORT = re.compile(r"(?:Eth)?(\d+)/(\d+)(?:-(?:(\d+)/)?(\d+))?$", re.IGNORECASE)


def _ports(tokens, at):
    """`Eth1/1`, `Eth 1/1`, `Eth1/1-1/4`, `Eth all`: names of ports, or None for all."""
    text, taken = tokens[at], 1
    if text.lower() == "eth" and at + 1 < len(tokens):
        text, taken = tokens[at + 1], 2
    elif not text.lower().startswith("eth"):
        return None
    if text == "all" and taken == 2:
        return None, taken
    names = []
    for part in text.split(","):
        found = _PORT.match(part)
        if found is None or found[3] not in (None, found[1]):
            return None
        names += [f"Eth{found[1]}/{index}" for index in range(int(found[2]), int(found[4] or found[2]) + 1)]
    return names, taken


GRAMMAR = Grammar(ports=_ports, dscps=number_set(63), eights=number_set(7), vlans=vlan_list)
on = GRAMMAR.on


@on("config", "hostname <name:WORD>")
def _hostname(session, name):
    session.config.hostname = name


@on("config", "?no lldp enable")
def _lldp(session, no=None):
    session.config.switch.drop("lldp")
    if no:
        session.config.switch.set("lldp", "no lldp enable", False)


@on("config", "?no dcbx enable")
def _dcbx(session, no=None):
    session.config.switch.drop("dcbx")
    if not no:
        session.config.switch.set("dcbx", "dcbx enable")


# Lines that restart the switch.


@on("config", "roce enable [ pfc-priority <priorities:eights> ] [ ?force-defaults ]")
def _roce(session, priorities=frozenset({3, 4}), **force):
    config = session.config
    if len(priorities) > MOST_PRIORITIES:
        raise Refusal(f"A maximum of {MOST_PRIORITIES} PFC priorities is supported")
    if config.switch.get("buffer"):
        raise Refusal("RoCE cannot be enabled when buffer init is configured")
    if config.switch.get("roce") is not None:
        if config.switch.get("roce") != priorities:
            raise Refusal("RoCE is already enabled")
        return None
    if config.conflicts() and not force:
        raise Refusal(f"Conflicting QoS configuration on {config.conflicts()[0]}; use force-defaults")
    return _asked(session, lambda: config.enable_roce(priorities))


@on("config", "no roce enable")
def _no_roce(session):
    if session.config.switch.get("roce") is None:
        return None
    return _asked(session, session.config.disable_roce)


@on("config", "buffer init lossless")
def _buffer(session):
    if session.config.switch.get("roce") is not None:
        raise Refusal("Buffer init cannot be configured when RoCE is enabled")
    if session.config.switch.get("buffer"):
        return None
    return _asked(session, lambda: session.config.switch.set("buffer", "buffer init lossless"))


@on("config", "no buffer init")
def _no_buffer(session):
    if not session.config.switch.get("buffer"):
        return None
    return _asked(session, lambda: session.config.switch.drop("buffer"))


def _asked(session, act):
    """Done after a yes; the switch saves, and restarts."""

    def confirmed():
        if session.switch.full_flash:
            raise Refusal("Failed to save configuration: No space left on device")
        act()
        session.device.save()
        return session.restart()

    warning = "Configuration will be saved and the system will be rebooted. Continue? [y/N]: "
    return session.question(warning, ("y", "yes"), confirmed)


# Policies.


@on("config", "qos wred-policy <name:WORD>")
def _wred(session, name):
    session.enter("wred", [(WRED, name)])


@on("config", "no qos wred-policy <name:WORD>")
def _no_wred(session, name):
    _remove(session, WRED, name)


@on(
    "wred",
    "green minimum-threshold <low:1-12480> maximum-threshold <high:1-12480> drop-probability <probability:0-100>",
)
def _green(session, low, high, probability):
    if low > high:
        raise Refusal("Minimum threshold must not be greater than maximum threshold")
    line = f"green minimum-threshold {low} maximum-threshold {high} drop-probability {probability}"
    session.set("green", line, (low, high, probability))


@on("wred", "no green")
def _no_green(session):
    session.drop("green")


@on("wred", "ecn colour=none|green|all")
def _ecn(session, colour):
    if colour == "none":
        session.drop("ecn")
    else:
        session.set("ecn", f"ecn {colour}", colour)


@on("wred", "no ecn")
def _no_ecn(session):
    session.drop("ecn")


@on("config", "qos scheduler-policy <name:WORD>")
def _scheduler(session, name):
    session.enter("scheduler", [(SCHEDULER, name)])


@on("config", "no qos scheduler-policy <name:WORD>")
def _no_scheduler(session, name):
    _remove(session, SCHEDULER, name)


@on("scheduler", "queue <queue:0-7>")
def _queue(session, queue):
    session.enter_part("scheduler-queue", ("queue", queue), f"queue {queue}")


@on("scheduler", "no queue <queue:0-7>")
def _no_queue(session, queue):
    if session.part is not None:
        session.up()
    for lines in session.sections():
        lines.remove(("queue", queue))


@on("scheduler-queue", "type kind=strict|dwrr|wrr")
def _type(session, kind):
    session.set("type", f"type {kind}", kind)


@on("scheduler-queue", "weight <weight:1-100>")
def _weight(session, weight):
    session.set("weight", f"weight {weight}", weight)


@on("scheduler-queue", "no what=type|weight")
def _no_scheduling(session, what):
    session.drop(what)


# Maps.


def _register(kind):
    word, most, other, most_of_that = MAPS[kind]
    values = "dscps" if most == 63 else "eights"

    @on("config", f"qos map {kind} <name:WORD>")
    def enter(session, name):
        session.enter(f"map-{kind}", [(f"qos map {kind}", name)])

    @on("config", f"no qos map {kind} <name:WORD>")
    def remove(session, name):
        _remove(session, f"qos map {kind}", name)

    @on(f"map-{kind}", f"{word} <values:{values}> {other} <target:0-{most_of_that}>")
    def add(session, values, target):
        for lines in session.targets():
            _take(lines, kind, values)
            put_entries(lines, kind, {target: values | lines.get(("entry", target), frozenset())})

    @on(f"map-{kind}", f"no {word} <values:{values}>")
    def drop(session, values):
        for lines in session.targets():
            _take(lines, kind, values)


def _take(lines, kind, values):
    """A value is mapped once."""
    for target, there in lines.keyed("entry").items():
        lines.drop(("entry", target))
        if there - values:
            put_entries(lines, kind, {target: there - values})


for _one in MAPS:
    _register(_one)


def _remove(session, kind, name):
    if session.config.find(kind, name) is None:
        raise Refusal(f"{kind} {name} does not exist")
    users = session.config.users(kind, name)
    if users:
        raise Refusal(f"{kind} {name} is in use on {users[0]}")
    del session.config.objects[(kind, name)]
