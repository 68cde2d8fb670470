"""Log of an NCCL rank with NCCL_DEBUG=INFO, and the tables of nccl-tests."""

from __future__ import annotations

import zlib

from . import nccl_job

CHANNELS = 2
MTUS = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}
FACTORS = {  # of nccl-tests: how the bandwidth of the bus follows from that of the algorithm
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "all_gather": lambda n: (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n,
    "alltoall": lambda n: (n - 1) / n,
    "broadcast": lambda n: 1,
    "reduce": lambda n: 1,
    "sendrecv": lambda n: 1,
}
_HALF, _UNITS = "    time   algbw   busbw #wrong", "    (us)  (GB/s)  (GB/s)       "
HEAD = (
    f"#\n#{'out-of-place':>74}{'in-place':>31}          \n"
    f"#{'size':>11}{'count':>14}{'type':>10}{'redop':>8}{'root':>8} {_HALF} {_HALF}\n"
    f"#{'(B)':>11}{'(elements)':>14}{'':>26} {_UNITS} {_UNITS}\n"
)


def info(rank, text):
    """Return one line of the log."""
    return f"{rank.name}:{rank.pid}:{rank.pid + 9} [{rank.local}] NCCL INFO {text}\n"


def warning(rank, text):
    """Return one line of a failure."""
    return f"\n{rank.name}:{rank.pid}:{rank.pid + 9} [{rank.local}] misc/socket.cc NCCL WARN {text}\n"


def opening(rank):
    """Up to the choice of the network."""
    place = f"{rank.bootstrap['name']}:{rank.bootstrap['addresses'][0].partition('/')[0]}<0>"
    lines = []
    for name in ("SOCKET_IFNAME", "IB_DISABLE", "IB_HCA", "IB_TC", "NET_GDR_LEVEL", "IB_GID_INDEX"):
        if rank.chosen(name):
            word = "set to" if name == "IB_HCA" else "set by environment to"
            lines.append(f"NCCL_{name} {word} {rank.chosen(name)}")
    lines += [f"Bootstrap : Using {place}", f"NCCL version {nccl_job.VERSION}"]
    if rank.network == "IB":
        found = " ".join(f"[{number}]{one.name}:1/RoCE" for number, one in enumerate(rank.known))
        lines.append(f"NET/IB : Using {found} [RO]; OOB {place}")
    else:
        if rank.chosen("IB_DISABLE") != "1":
            lines.append("NET/IB : No device found.")
        lines.append(f"NET/Socket : Using [0]{place}")
    lines.append("Using non-device net plugin version 0")
    lines.append(f"Using network {rank.network}")
    return "".join(info(rank, one) for one in lines)


def connecting(rank, ranks):
    """Return the lines on the connections of the ranks."""
    size, number = len(ranks), rank.number
    comm = f"0x{zlib.crc32(f'{rank.name}{number}'.encode()):08x}"
    near = [one for one in ranks if one.vm is rank.vm]
    nodes = len({one.vm for one in ranks})
    bus = rank.cards[0].address.replace("0000:", "").replace(":", "").replace(".", "").lstrip("0") or "0"
    job = f"0x{zlib.crc32(ranks[0].name.encode()):016x}"
    head = f"comm {comm} rank {number} nranks {size} cudaDev {rank.local} nvmlDev {rank.local} busId {bus} commId {job}"
    if rank.network == "IB":
        word = "Enabled" if rank.gpu_direct else "Disabled"
        lines = [f"NET/IB : GPU Direct RDMA {word} for HCA {at} '{one.name}'" for at, one in enumerate(rank.known)]
    else:
        lines = [f"NET/Socket : GPU Direct RDMA Disabled for HCA 0 '{rank.bootstrap['name']}'"]
    lines = [f"{head} - Init START", *lines]
    lines.append(
        f"comm {comm} rank {number} nRanks {size} nNodes {nodes} localRanks {len(near)} "
        f"localRank {near.index(rank)} MNNVL 0"
    )
    before, after = ranks[number - 1], ranks[(number + 1) % size]
    for channel in range(CHANNELS):
        if number == 0:
            order = "".join(f"{one:>4}" for one in range(size))
            lines.append(f"Channel {channel:02}/{CHANNELS:02} :{order}")
    for channel in range(CHANNELS if size > 1 else 0):
        lines.append(f"Channel {channel:02}/0 : {_pair(before, rank)}{_way(before, rank, 'receive')}")
        lines.append(f"Channel {channel:02}/0 : {_pair(rank, after)}{_way(rank, after, 'send')}")
    if rank.network == "IB" and nodes > 1:
        gid = f"GID {rank.index} (0/{rank.nic.guid[:16].upper()})"
        lines += [
            f"NET/IB: NCCL Dev 0 IbDev 0 Port 1 qpn {34 + at} mtu {MTUS[_mtu(ranks)]} {gid}" for at in range(CHANNELS)
        ]
    lines += ["Connected all rings", "Connected all trees"]
    lines.append(f"{CHANNELS} coll channels, 0 collnet channels, 0 nvls channels, {CHANNELS} p2p channels")
    lines.append(f"{head} - Init COMPLETE")
    return "".join(info(rank, one) for one in lines)


def _mtu(ranks):
    """The path MTU that all of them take."""
    return min(one.nic.active_mtu for one in ranks if one.nic is not None)


def _pair(one, other):
    return f"{one.number}[{one.local}] -> {other.number}[{other.local}]"


def _way(one, other, word):
    if one.vm is other.vm:
        return " via SHM/direct/direct"
    end = one if word == "send" else other
    direct = "/GDRDMA" if end.gpu_direct else ""
    return f" [{word}] via NET/{end.network}/0{direct}"


def devices(ranks, options):
    """The list that rank 0 begins with."""
    step = f"{options.factor}(factor)" if options.factor > 1 else f"{options.step}(bytes)"
    lines = [
        f"# nThread 1 nGpus {options.gpus} minBytes {options.least} maxBytes {options.most} step: {step} "
        f"warmup iters: {options.warmup} iters: {options.times} agg iters: 1 validation: {int(options.check)} graph: 0",
        "#",
        "# Using devices",
    ]
    pairs = [(rank, card) for rank in ranks for card in rank.cards]
    for number, (rank, card) in enumerate(pairs):
        bus = int(card.address.split(":")[1], 16)
        lines.append(
            f"#  Rank {number:>2} Group  0 Pid {rank.pid:>6} on {rank.name:>10} device {card.index:>2} "
            f"[0x{bus:02x}] {card.name}"
        )
    return "".join(f"{one}\n" for one in lines)


def version():
    """The line that NCCL prints with less of its log."""
    return f"NCCL version {nccl_job.VERSION}\n"


def row(size, options, halves, wrong=0):
    """Return the row of one size; halves: (microseconds, algorithm, bus) out of place and in place; wrong: wrong
    elements."""
    text = f"{size:>12}  {size // 4:>12}  {'float':>8}  {options.operation:>6}  {options.root:>6}"
    shown_wrong = f"{wrong:g}" if options.check else "N/A"
    for microseconds, algorithm, bus in halves:
        shown = f"{microseconds:.{0 if microseconds >= 10000 else 1 if microseconds >= 100 else 2}f}"
        text += f"  {shown:>7}  {algorithm:>6.2f}  {bus:>6.2f}  {shown_wrong:>5}"
    return f"{text}\n"


def footer(average, options, failed=0):
    """Return the footer of the test; failed: number of a rank's comparisons that found a wrong element."""
    judged = f"{failed} {'FAILED' if failed else 'OK'}"
    return f"# Out of bounds values : {judged}\n# Avg bus bandwidth    : {average:g} \n#\n\n"
