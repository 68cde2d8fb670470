"""perftest: ib_write_bw and its variants. Server and client really meet; the model provides their measurements."""

from __future__ import annotations

import ipaddress
import json

from vsphere_twin.model import rates, traffic

from . import counted, drivers, rdma_ends
from . import perftest_options as how
from . import perftest_text as text
from .calls import Answer, program
from .perftest_way import Way

NAMES = tuple(f"ib_{verb}_{kind}" for verb in ("write", "read", "send") for kind in ("bw", "lat"))
VERSION = "6.06"
CUDA_PACKAGE = "perftest-cuda"
NO_MR = "Couldn't allocate MR\n failed to create mr\n Failed to create MR\n Couldn't create IB resources\n"
NO_DATA = " Couldn't read remote address\n"
NO_EXCHANGE = f"{NO_DATA} Unable to read to socket/rdma_cm\n Failed to exchange data between server and clients\n"
NO_SOCKET = " Unable to open file descriptor for socket connection\n Unable to init the socket connection\n"
NO_CM = " Unable to perform rdma_client function\n Unable to init the socket connection\n"
LONGEST_S = 30.0


@program(*NAMES)
def perftest(world, vm, call):
    try:
        options = how.parse(call.name, call.words, CUDA_PACKAGE in call.guest.installed)
        if CUDA_PACKAGE in call.guest.installed:
            options.unit = "MiB/sec"
        if options.version or options.help:
            return Answer(f"Version: {VERSION}\n" if options.version else f"Usage: {call.name} [options] [host]\n")
        state = json.loads(call.again) if call.again else None
        if state is None:
            return _start(world, vm, call, options)
        if state["stage"] == "met":
            return _met(world, vm, call, options, state)
        return _done(world, vm, call, options, state)
    except (how.Wrong, rdma_ends.Unusable) as problem:
        return Answer(stderr=str(problem), status=1)


def _start(world, vm, call, options):
    """Check everything that can fail before the connection."""
    guest = call.guest
    one = rdma_ends.device(world, vm, guest, options.device)
    if not one.active:
        raise rdma_ends.Unusable(" Port number 1 state is Down\n Couldn't set the link layer\n")
    largest = one.active_mtu
    if options.mtu > largest:
        raise rdma_ends.Unusable(f" Requested mtu is higher than active mtu \n Changing to active mtu - {largest}\n")
    if options.cm and "rdma_ucm" not in guest.loaded:
        raise rdma_ends.Unusable(" rdma_create_event_channel failed\n Unable to create the rdma event channel\n")
    opening = _cuda(vm, call, options) if options.cuda is not None else ""
    cannot = options.cuda is not None and one.function.pvrdma
    if options.cuda is not None and not options.dmabuf and "nvidia_peermem" not in guest.loaded:
        cannot = True
    if cannot or not rdma_ends.may_lock(guest, options.locked_kb):
        return Answer(opening, stderr=NO_MR, status=1)
    index = options.index if options.index is not None else rdma_ends.best_index(one)
    if options.cm and options.server:
        index = _cm_index(one, options, index)
    mine = _mine(vm, call, options, one, index)
    if options.no_peak:
        opening += text.NO_PEAK
    if options.server:
        meet = {"connect": [options.server, options.port]}
    else:
        opening += text.WAITING
        meet = {"listen": options.port}
    said = json.dumps({**mine, "options": options.alike})
    return Answer(opening, meet={**meet, "say": said}, again=json.dumps({"stage": "met", "mine": mine}))


def _mine(vm, call, options, one, index):
    """Return the data that one side sends to the other."""
    found = rdma_ends.gid(one, index)
    octets, version = found or ("00" * 16, one.function.versions[-1])
    random = rates.chance(vm.name, call.guest.pid, options.port, call.name)
    classes = [options.tclass, options.tos if options.cm else None]
    if options.cm:
        said = call.guest.classes.get(one.name, "")
        classes.append(int(said) if said.isdigit() else None)
    traffic_class = next((value for value in classes if value is not None), 0)
    return {
        "vm": vm.moid,
        "key": one.function.key,
        "device": one.name,
        "pvrdma": one.function.pvrdma,
        "index": index,
        "gid": octets,
        "there": found is not None,
        "version": version,
        "dscp": traffic_class >> 2,
        "mtu": min(options.mtu or one.active_mtu, one.active_mtu),
        "qpn": random.randrange(0x100, 0x4000),
        "psn": random.randrange(1 << 24),
        "rkey": random.randrange(0x1000, 0xFFFFFF),
        "address": 0x7F0000000000 + random.randrange(1 << 20) * 4096,
        "cuda": options.cuda is not None,
    }


def _cm_index(one, options, index):
    """Return the device: rdma_cm finds the route to an address by itself, and with it the device."""
    try:
        wanted = ipaddress.ip_address(options.server)
    except ValueError:
        return index  # a name: the resolver of the guest is asked when it connects
    own = [ipaddress.ip_interface(row) for row in one.interface["addresses"]]
    near = next((row for row in own if wanted in row.network), None)
    if near is None:
        raise rdma_ends.Unusable(f" Received 10 times ADDR_ERROR\n{NO_CM}")
    return index if options.index is not None else rdma_ends.index_for(one, near.ip)


def _cuda(vm, call, options):
    """The lines about the GPU whose memory is used."""
    cards = drivers.usable(vm, call.guest)
    if options.cuda >= len(cards):
        what = "cuInit(0) returned 100\n" if not cards else f"There are only {len(cards)} CUDA devices\n"
        raise rdma_ends.Unusable(f"initializing CUDA\n{what} Couldn't init GPU context\n")
    card = cards[options.cuda]
    if options.dmabuf and not drivers.exports_memory(drivers.loaded(vm, call.guest) or {}):
        raise rdma_ends.Unusable(
            "initializing CUDA\nDMA-BUF is not supported on this GPU\n Couldn't init GPU context\n"
        )
    listed = "".join(
        f"CUDA device {one.index}: PCIe address is {one.address.partition(':')[2].partition('.')[0].upper()}\n"
        for one in cards
    )
    size = 2 * max(options.sizes) * options.pairs
    return (
        f"initializing CUDA\nListing all CUDA devices in system:\n{listed}\nPicking device No. {card.index}\n"
        f"[pid = {call.guest.pid}, dev = {card.index}] device name = [{card.name}]\ncreating CUDA Ctx\n"
        f"making it the current CUDA Ctx\ncuMemAlloc() of a {size} bytes GPU buffer\n"
        f"allocated {size} bytes of GPU buffer at 0x7f2e4a000000\n"
    )


def _met(world, vm, call, options, state):
    """Print the header and the result after both sides exchanged their data."""
    mine, met = state["mine"], call.met
    if "problem" in met:
        return Answer(stderr=_no_meeting(options, met), status=1)
    try:
        theirs = json.loads(met["said"])
        other = theirs.pop("options")
    except (ValueError, KeyError, AttributeError):
        return Answer(stderr=NO_EXCHANGE, status=1)
    if {**other, "sizes": tuple(other["sizes"])} != options.alike:
        # The result of different options is [unsure]: sides that wait for each other, or this.
        return Answer(stderr=NO_EXCHANGE, status=1)
    if options.cm and not (mine["there"] and theirs["there"]):
        return Answer(stderr=f" Unexpected CM event bl blka 8\n{NO_CM}", status=1)
    options.mtu = min(mine["mtu"], theirs["mtu"])
    server = not options.server
    head = text.head(options, mine, theirs, server)
    one = rdma_ends.device(world, vm, call.guest, mine["device"])
    if not (mine["there"] and theirs["there"]) or not rdma_ends.near(one, theirs["gid"]):
        wrong = f"Failed to modify QP {mine['qpn']} to RTR\n Unable to Connect the HCA's through the link\n"
        return Answer(head, stderr=wrong, status=1)
    way = Way(world, options, mine, theirs, server)
    name = f"{min(mine['vm'], theirs['vm'])}/{mine['qpn'] + theirs['qpn']}/{mine['psn'] ^ theirs['psn']}"
    others = traffic.begin(world, name, way.state.ports, way.seconds(0))
    again = {"stage": "done", "mine": mine, "theirs": theirs, "name": name, "others": others}
    return Answer(
        head=head + text.table_head(options, options.latency),
        delay_s=min(way.seconds(others), LONGEST_S),
        meet={"say": "done"},
        again=json.dumps(again),
    )


def _done(world, vm, call, options, state):
    """The run is over on both sides."""
    mine, theirs = state["mine"], state["theirs"]
    options.mtu = min(mine["mtu"], theirs["mtu"])
    server = not options.server
    way = Way(world, options, mine, theirs, server)
    first, number = traffic.end(world, state["name"], (way.sender.vm.name, way.receiver.vm.name))
    if "problem" in call.met:
        return Answer(stderr=NO_EXCHANGE, status=1)
    failed = way.failure()
    if failed:
        if first:
            traffic.gave_up(way.sender)
        return Answer(stderr=_completion(failed, server), status=1)
    rows, results = [], {}
    for size in options.sizes:
        row, results = way.measured(size, state["others"], number, server)
        rows.append(row)
        if first:
            way.count(size, state["others"])
    if not options.quiet_cpu and vm.host.name in way.state.saving:
        rows.insert(0, text.CPU_CHANGES)
    one = rdma_ends.device(world, vm, call.guest, mine["device"])
    answer = Answer("".join(rows) + text.LINE, files=counted.fresh(call, one))
    if options.json:
        file = options.json_file or "perftest_out.json"
        path = file if file.startswith("/") else f"{call.guest.cwd.rstrip('/')}/{file}"
        answer.files[path] = {"own": text.as_json(options, mine, results)}
    return answer


def _no_meeting(options, met):
    if met["problem"] == "name":
        return f"{met['text']} for {options.server}:{options.port}\n{NO_SOCKET}"
    if not options.server:
        return f"{met['text']}\n{NO_SOCKET}"
    if options.cm:
        return f" Unexpected CM event bl blka 8\n{NO_CM}"
    return (
        f"Couldn't connect to {options.server}:{options.port}\n{NO_SOCKET}" if met["problem"] != "gone" else NO_EXCHANGE
    )


def _completion(failed, server):
    if server:
        return f"{NO_DATA} Failed to exchange data between server and clients\n"
    status, syndrome = failed
    return (
        f" Completion with error at client\n Failed status {status}: wr_id 0 syndrom 0x{syndrome:x}\n"
        "scnt=128, ccnt=0\n Failed to complete run_iter_bw function successfully\n"
    )
