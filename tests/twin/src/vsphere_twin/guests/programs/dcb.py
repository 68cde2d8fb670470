"""dcb and ethtool -a for a port that the guest has in whole: DSCP map, flow control and owner, until the next boot.

Every other interface is the real program's. Objects that this model does not have are reported as iproute2 does
for a driver without them. mlx5 writes flow control of priorities and of the link to one register, so each of them
turns the other off (mlx5_set_port_pfc and mlx5_set_port_pause of the kernel).
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
    state = _state(vm, name)
    if verb == "show":
        return _show(what, state, as_json)
    rest = words[words.index("dev") + 2 :]
    if what == "pfc" and verb == "set":
        return _pauses(state, rest)
    if what == "app" and verb in ("add", "replace"):
        return _maps(state, rest)
    return Answer(stderr="Attribute write: Operation not supported\n", status=1)


def link_pause(world, vm, call):
    """`ethtool -a NAME` and `ethtool -A NAME rx on|off tx on|off`."""
    words = call.words
    name = words[1] if len(words) > 1 else ""
    if name not in _whole(world, vm, call):
        return Answer(pass_on=True)
    state = _state(vm, name)
    if words[0] in ("-a", "--show-pause"):
        rx, tx = ("on" if state["pause"][way] else "off" for way in ("rx", "tx"))
        return Answer(f"Pause parameters for {name}:\nAutonegotiate:\toff\nRX:\t\t{rx}\nTX:\t\t{tx}\n\n")
    if call.guest.uid != 0:
        return Answer(stderr="netlink error: Operation not permitted\n", status=1)
    wanted = dict(zip(words[2::2], words[3::2], strict=False))
    if wanted.get("autoneg") == "on":
        return Answer(stderr="netlink error: Invalid argument\n", status=1)
    state["pause"].update({way: wanted[way] == "on" for way in ("rx", "tx") if way in wanted})
    state["pfc"].clear()
    return Answer()


def _state(vm, name):
    """A port after the boot has flow control of the link, and none of priorities [unsure]."""
    return memory.of(vm).dcb.setdefault(name, {"pfc": set(), "map": {}, "pause": {"rx": True, "tx": True}})


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
        reported = {"host": True, "lld_managed": False, "cee": False, "ieee": True, "static": False}
        return Answer(json.dumps(reported) + "\n" if as_json else "host ieee\n")
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
    state["pause"].update(rx=False, tx=False)
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
