"""dcb of iproute2 for a port that the guest has in whole: DSCP map, flow control and owner, until the next boot.

Every other interface is the real program's. Objects that this model does not have are reported as iproute2 does
for a driver without them.
"""

from __future__ import annotations

import json

from . import devices, hardware, memory
from .calls import Answer, program

PRIORITIES = range(8)


@program("dcb")
def dcb(world, vm, call):
    """`dcb [-j] OBJECT show|set|add|replace|del dev NAME ...`."""
    words = [word for word in call.words if not word.startswith("-")]
    as_json = any(word in ("-j", "--json") for word in call.words)
    what, verb, name = words[0] if words else "", *_verb_and_device(words[1:])
    if name not in _whole(world, vm, call):
        return Answer(pass_on=True)
    if what not in ("pfc", "app", "dcbx"):
        return Answer(stderr="Attribute not found: Operation not supported\n", status=1)
    state = memory.of(vm).dcb.setdefault(name, {"pfc": set(), "map": {}})
    if verb == "show":
        return _show(what, state, as_json)
    rest = words[words.index("dev") + 2 :]
    if what == "pfc" and verb == "set":
        return _pauses(state, rest)
    if what == "app" and verb in ("add", "replace"):
        return _maps(state, rest)
    return Answer(stderr="Attribute write: Operation not supported\n", status=1)


def _verb_and_device(words):
    verb = words[0] if words else "show"
    name = words[words.index("dev") + 1] if "dev" in words[:-1] else ""
    return verb, name


def _whole(world, vm, call):
    """The interfaces of ports that the guest has in whole."""
    macs = {port.mac.lower() for port in hardware.ports_of(vm)}
    own = devices.devices(world, vm, call.guest)
    return {one.netdev for one in own if one.function.mac.lower() in macs}


def _show(what, state, as_json):
    if what == "dcbx":
        told = {"host": True, "lld_managed": False, "cee": False, "ieee": True, "static": False}
        return Answer(json.dumps(told) + "\n" if as_json else "host ieee\n")
    if what == "app":
        pairs = sorted(state["map"].items())
        if as_json:
            return Answer(json.dumps({"dscp_prio": [[*pair, " "] for pair in pairs]} if pairs else {}) + "\n")
        return Answer("dscp-prio " + " ".join(f"{one}:{priority}" for one, priority in pairs) + "\n" if pairs else "")
    flags = [one in state["pfc"] for one in PRIORITIES]
    if as_json:
        return Answer(json.dumps({"pfc_cap": 8, "macsec_bypass": False, "delay": 0, "prio_pfc": flags}) + "\n")
    text = " ".join(f"{one}:{'on' if flag else 'off'}" for one, flag in enumerate(flags))
    return Answer(f"pfc-cap 8 macsec-bypass off delay 0\nprio-pfc {text}\n")


def _pauses(state, words):
    for word in words[1:]:
        priority, _colon, value = word.partition(":")
        chosen = PRIORITIES if priority == "all" else [int(priority)]
        for one in chosen:
            (state["pfc"].add if value == "on" else state["pfc"].discard)(one)
    return Answer()


def _maps(state, words):
    for word in words[1:]:
        dscp, _colon, priority = word.partition(":")
        state["map"][int(dscp)] = int(priority)
    return Answer()
