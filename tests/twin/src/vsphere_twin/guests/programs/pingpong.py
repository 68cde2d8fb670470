"""ibv_rc_pingpong: the example of libibverbs, which needs a row of the GID table and no rdma_cm."""

from __future__ import annotations

import getopt
import ipaddress
import json

from vsphere_twin.model import ends, rates

from . import rdma_ends
from .calls import Answer, program

LONG = {"gid-idx": "-g", "ib-dev": "-d", "port": "-p", "size": "-s", "iters": "-n"}
USUAL = {"-g": -1, "-s": 4096, "-n": 1000, "-p": 18515}
NO_VERBS = "Failed to get IB devices list: Function not implemented"
USAGE = "Usage:\n  ibv_rc_pingpong            start a server and wait for connection\n"


@program("ibv_rc_pingpong")
def pingpong(world, vm, call):
    try:
        given, rest = getopt.gnu_getopt(call.words, "p:d:i:s:m:r:n:l:eg:otjcN", [f"{one}=" for one in LONG])
        found = {LONG.get(name.removeprefix("--"), name): value for name, value in given}
        index, size, times, port = (int(found.get(*one)) for one in USUAL.items())
    except (getopt.GetoptError, ValueError):
        return Answer(stderr=USAGE, status=1)
    one, problem = _pingpong_device(world, vm, call, found.get("-d"))
    if problem:
        return Answer(stderr=problem, status=1)
    row = rdma_ends.gid(one, index) if index >= 0 else None
    if index >= 0 and row is None:
        return Answer(stderr=f"can't read sgid of index {index}\n", status=1)
    state = json.loads(call.again) if call.again else None
    if state is None:
        random = rates.chance(vm.name, call.guest.pid, port)
        mine = {"vm": vm.moid, "key": one.function.key, "dscp": 0}
        mine |= {"version": row[1] if row else one.function.versions[-1]}
        mine |= {"gid": row[0] if row else "00" * 16, "mtu": one.active_mtu, "there": row is not None}
        mine |= {"qpn": random.randrange(0x10, 0x4000), "psn": random.randrange(1 << 24)}
        meet = {"connect": [rest[0], port]} if rest else {"listen": port}
        again = json.dumps({"mine": mine})
        return Answer(_pingpong_side("local address:  ", mine), meet={**meet, "say": json.dumps(mine)}, again=again)
    mine = state["mine"]
    if "problem" in call.met:
        where = f"{rest[0]}:{port}" if rest else f"port {port}"
        return Answer(stderr=f"Couldn't {'connect to' if rest else 'listen to'} {where}\n", status=1)
    theirs = json.loads(call.met["said"])
    head = _pingpong_side("remote address: ", theirs)
    here, there = rdma_ends.end_of(world, mine), rdma_ends.end_of(world, theirs)
    if not (mine["there"] and theirs["there"]) or not rdma_ends.near(one, theirs["gid"]):
        return Answer(stderr="Failed to modify QP to RTR\nCouldn't connect to remote QP\n", status=1)
    ways = [ends.between(world, here, there), ends.between(world, there, here)]
    # Its packets have 1024 bytes by default, -m changes that.
    if not all(way.reached and way.passes(min(1024, size)) for way in ways):
        return Answer(head, stderr="Failed status transport retry counter exceeded (12) for wr_id 2\n", status=1)
    spent = times * 2e-6 * rates.noisy(rates.latency_us(ways[0], size, "send"), here.vm.name, there.vm.name, size)
    octets = 2 * size * times
    text = f"{octets} bytes in {spent:.2f} seconds = {octets * 8 / spent / 1e6:.2f} Mbit/sec\n"
    text += f"{times} iters in {spent:.2f} seconds = {spent / times * 1e6:.2f} usec/iter\n"
    return Answer(head + text, delay_s=spent)


def _pingpong_device(world, vm, call, name):
    found = rdma_ends.every(world, vm, call.guest)
    if not found:
        has_verbs = "ib_uverbs" in call.guest.loaded
        return None, "No IB devices found\n" if has_verbs else f"{NO_VERBS}\n"
    one = next((one for one in found if name in (None, one.name)), None)
    return one, None if one else f"IB device {name} not found\n"


def _pingpong_side(word, who):
    gid = ipaddress.IPv6Address(bytes.fromhex(who["gid"]))
    text = f"::ffff:{gid.ipv4_mapped}" if gid.ipv4_mapped else str(gid)
    return f"  {word}LID 0x0000, QPN 0x{who['qpn']:06x}, PSN 0x{who['psn']:06x}, GID {text}\n"
