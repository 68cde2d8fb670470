"""rping: whether rdma_cm finds a route to another guest, with RDMA in both directions."""

from __future__ import annotations

import getopt
import ipaddress
import json

from vsphere_twin.model import ends, rates, traffic

from . import rdma_ends
from .calls import Answer, program

RPING_PORT = 7174
NOT_CONNECTED = "wait for CONNECTED state 4\nconnect error -1\n"
NO_CHANNEL = "rdma_create_event_channel: No such device\n"
USAGE = (
    "rping -s [-vVd] [-S size] [-C count] [-a addr] [-p port]\n"
    "rping -c [-vVd] [-S size] [-C count] [-I addr] -a addr [-p port]\n"
)
FIRST, LAST = ord("A"), ord("z")


@program("rping")
def rping(world, vm, call):
    try:
        given, rest = getopt.gnu_getopt(call.words, "sca:p:vVC:S:dPqI:t")
        found = dict(given)
        count, size = int(found.get("-C", 0)), int(found.get("-S", 64))
        port = int(found.get("-p", RPING_PORT))
    except (getopt.GetoptError, ValueError):
        return Answer(stderr=USAGE, status=22)
    if rest or ("-s" in found) == ("-c" in found) or ("-c" in found and "-a" not in found) or size < 16:
        return Answer(stderr=USAGE, status=22)
    if "rdma_ucm" not in call.guest.loaded:
        return Answer(stderr=NO_CHANNEL, status=19)
    state, server = json.loads(call.again) if call.again else None, "-s" in found
    if state is None:
        return _rping_start(world, vm, call, found.get("-a"), port, server, (count, size))
    if state["pings"] < 0 and "problem" in call.met:
        return _not_met(call, server)
    if state["pings"] < 0 or (not state["count"] and "problem" not in call.met):
        return _rping_met(world, found, port, state, call.met)
    return _rping_end(found, port, state) if server else Answer()


def _rping_start(world, vm, call, address, port, server, how):
    one = _device_for(world, vm, call.guest, address, server)
    if one is None:
        text = "cma event RDMA_CM_EVENT_ADDR_ERROR, error -19\nwaiting for addr/route resolution state 1\n"
        return Answer(stderr="rdma_bind_addr: No such device\n" if server else text, status=255)
    index = rdma_ends.best_index(one)
    found = rdma_ends.gid(one, index)
    said = call.guest.classes.get(one.name, "")
    mine = {
        "vm": vm.moid,
        "key": one.function.key,
        "version": found[1] if found else one.function.versions[-1],
        "dscp": (int(said) if said.isdigit() else 0) >> 2,
        "mtu": one.active_mtu,
        "there": found is not None and one.active,
        "how": list(how),
    }
    meet = {"listen": port} if server else {"connect": [address, port]}
    return Answer(meet={**meet, "say": json.dumps(mine)}, again=json.dumps({"pings": -1, "mine": mine}))


def _rping_met(world, found, port, state, met):
    """Send the pings; without a count, one a second until the program is stopped."""
    server, mine = "-s" in found, state["mine"]
    theirs = json.loads(met["said"])
    client, served = (rdma_ends.end_of(world, one) for one in ((theirs, mine) if server else (mine, theirs)))
    ways = [ends.between(world, client, served), ends.between(world, served, client)]
    if not (mine["there"] and theirs["there"] and all(way.reached for way in ways)):
        if server:  # lost packets are not visible here
            return _listening(port, state)
        text = f"cma event RDMA_CM_EVENT_UNREACHABLE, error -110\n{NOT_CONNECTED}"
        return Answer(stderr=text, status=255, delay_s=3.0)
    count, size = (theirs if server else mine)["how"]
    if not all(way.passes(min(size, mine["mtu"], theirs["mtu"])) for way in ways):
        if server:
            return _rping_end(found, port, state)
        text = "cq completion failed status 12\nwait for RDMA_WRITE_ADV state 10\n"
        return Answer(stderr=text, status=255, delay_s=0.6)
    first = max(state["pings"], 0)
    after = first + (count or 1)
    word = "server ping data" if server else "ping data"
    lines = "".join(f"{word}: {ping(number, size)}\n" for number in range(first, after)) if "-v" in found else ""
    if not server:
        load = rates.Load(size, mtu=min(mine["mtu"], theirs["mtu"]))
        traffic.count(world, client, served, ways[0], load, size * (after - first))
        traffic.count(world, served, client, ways[1], load, size * (after - first))
    again = json.dumps({"pings": after, "mine": mine, "count": count})
    return Answer(head=lines, delay_s=0 if count else 1.0, meet={"say": json.dumps(mine)}, again=again)


def _rping_end(found, port, state):
    """Handle the disconnect of the client on the server, as its options request."""
    text = "server DISCONNECT EVENT...\nwait for RDMA_READ_ADV state 10\n"
    if "-P" in found:
        again = _listening(port, state)
        again.head = text
        return again
    return Answer(stderr=text)


def _listening(port, state):
    said = json.dumps(state["mine"])
    return Answer(meet={"listen": port, "say": said}, again=json.dumps({**state, "pings": -1}))


def _not_met(call, server):
    if server:
        return Answer(stderr=f"rdma_bind_addr: {call.met['text']}\n", status=255)
    kinds = {"name": "", "refused": "cma event RDMA_CM_EVENT_REJECTED, error -104\n"}
    text = kinds.get(call.met["problem"], "cma event RDMA_CM_EVENT_UNREACHABLE, error -110\n")
    return Answer(stderr=f"{text}{NOT_CONNECTED}" if text else f"{call.met['text']}\n", status=255)


def ping(number, size):
    """The text of one ping: letters that begin one further each time."""
    text = f"rdma-ping-{number}: "
    span = LAST - FIRST + 1
    return text + "".join(chr(FIRST + (number + at) % span) for at in range(size - 1 - len(text)))


def _device_for(world, vm, guest, address, server):
    """The device whose interface has an address, or leads to it."""
    try:
        wanted = ipaddress.ip_address(address) if address else None
    except ValueError:
        wanted = None
    found = rdma_ends.every(world, vm, guest)
    if wanted is None or (server and wanted.is_unspecified):
        return found[0] if found else None
    return next((one for one in found if any(wanted in network for network in rdma_ends.networks(one))), None)
