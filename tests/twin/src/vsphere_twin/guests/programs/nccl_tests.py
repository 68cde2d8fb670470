"""nccl-tests: all_reduce_perf and its sisters. Each rank is a process under mpirun; the first one reports."""

from __future__ import annotations

import getopt
import json
from dataclasses import dataclass

from vsphere_twin.model import gpu_errors, rates, traffic

from . import drivers, nccl_job, nvidia_view
from . import nccl_log as log
from .calls import Answer, program

TESTS = tuple(f"{name}_perf{suffix}" for name in log.FACTORS for suffix in ("", "_mpi"))
LONG = {
    "minbytes=": "-b",
    "maxbytes=": "-e",
    "stepbytes=": "-i",
    "stepfactor=": "-f",
    "nthreads=": "-t",
    "ngpus=": "-g",
    "iters=": "-n",
    "warmup_iters=": "-w",
    "check=": "-c",
    "op=": "-o",
    "datatype=": "-d",
    "root=": "-r",
    "json=": "-J",
    "average=": "-a",
    "blocking=": "-z",
    "cudagraph=": "-G",
    "help": "-h",
}
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
WAIT_S, AGAIN_S = 600.0, 0.3
LONGEST_S = 20.0
# A GPU that computes wrong gets one of this many elements wrong.
ONE_WRONG_OF = 1 << 20
NO_GPU, FAILED, WRONG = 2, 3, 1
RANKS = (("RANK", 0), ("SIZE", 1), ("LOCAL_RANK", 0))
LEVELS = ("VERSION", "WARN", "INFO", "TRACE")


@dataclass
class Options:
    """One parsed command line."""

    test: str
    least: int = 32 << 20
    most: int = 32 << 20
    step: int = 1 << 20
    factor: int = 1
    gpus: int = 1
    times: int = 20
    warmup: int = 5
    check: bool = True
    operation: str = "sum"
    root: int = -1
    file: str = ""

    @property
    def sizes(self):
        size = self.least
        while size <= self.most:
            yield size
            size = size * self.factor if self.factor > 1 else size + self.step


@program(*TESTS)
def nccl_test(world, vm, call):
    try:
        options = _parse(call)
    except (getopt.GetoptError, ValueError):
        return Answer(
            f"USAGE: {call.name} \n\t[-t,--nthreads <num threads>] \n\t[-g,--ngpus <gpus per thread>] \n", status=WRONG
        )
    number, size, local = (int(call.env.get(f"OMPI_COMM_WORLD_{one}", usual)) for one, usual in RANKS)
    job = call.env.get("PMIX_NAMESPACE") or f"{vm.moid} {call.guest.pid}"
    cards = _visible(vm, call)
    if not cards:
        text = f"{vm.host_name}: Test CUDA failure common.cu:892 'no CUDA-capable device is detected'\n"
        return Answer(f"{text} .. {vm.host_name} pid {call.guest.pid}: Test failure common.cu:891\n", status=NO_GPU)
    own = cards[local * options.gpus : (local + 1) * options.gpus]
    if len(own) < options.gpus:
        return Answer(
            f"Invalid number of GPUs: {(local + 1) * options.gpus} requested but only {len(cards)} were found.\n"
            "Please check the number of processes and GPUs per process.\n",
            status=WRONG,
        )
    state = json.loads(call.again) if call.again else {"since": call.guest.time}
    rank = nccl_job.rank_of(vm, call, number, local, own)
    ranks = nccl_job.join(world, job, rank, size)
    if ranks is None:
        if call.guest.time - state["since"] > WAIT_S:
            return Answer(stderr="MPI_Init: ranks are missing\n", status=FAILED)
        return Answer(again_s=AGAIN_S, again=json.dumps(state))
    return _run(world, call, options, ranks[number], ranks)


def _run(world, call, options, rank, ranks):
    first = rank.number == 0
    rank.over = True
    level = LEVELS.index(rank.chosen("DEBUG", "NONE")) if rank.chosen("DEBUG") in LEVELS else -1
    text, reported = log.devices(ranks, options) if first else "", ""
    if first and 0 <= level < LEVELS.index("INFO"):
        reported += log.version()
    try:
        # A failing rank ends all others, so each one checks the choices of all of them.
        for one in ranks:
            nccl_job.choose(world, one)
        if level >= LEVELS.index("INFO"):
            reported += log.opening(rank)
        nccl_job.check(world, rank)
        nccl_job.check_others(world, rank, ranks)
        rate = nccl_job.ring_gbs(world, ranks)
        if level >= LEVELS.index("INFO"):
            reported += log.connecting(rank, ranks)
    except nccl_job.Failed as problem:
        reported += log.warning(rank, problem.warning) if level >= LEVELS.index("WARN") else ""
        said = (
            f"{rank.name}: Test NCCL failure common.cu:961 '{problem.kind} (run with NCCL_DEBUG=INFO for details) / '\n"
        )
        said += f" .. {rank.name} pid {rank.pid}: Test failure common.cu:844\n"
        return _with_log(call, rank, Answer(said, status=FAILED, delay_s=problem.delay_s), text, reported)
    rows, figures, seconds = [], [], 0.0
    total = sum(len(one.cards) for one in ranks)
    for size in options.sizes:
        halves = [_measure(options, ranks, total, rate, size, half) for half in ("out", "in")]
        seconds += sum(half[0] for half in halves) * 1e-6 * (options.times + options.warmup)
        figures.append((size, halves))
        rows.append(log.row(size, options, halves, _wrong(options, ranks, size)))
    # A rank sees a wrong sum of any rank, counts each comparison, and they add that up (nccl-tests, common.cu).
    failed = len(ranks) * 2 * sum(_wrong(options, ranks, size) > 0 for size in options.sizes)
    status = WRONG if failed else 0
    if not first:
        return _with_log(call, rank, Answer(delay_s=min(seconds, LONGEST_S), status=status), "", reported)
    _count(world, ranks, options)
    average = sum(half[2] for _size, halves in figures for half in halves) / (2 * len(figures))
    answer = Answer(log.HEAD + "".join(rows) + log.footer(average, options, failed), delay_s=min(seconds, LONGEST_S))
    answer.status = status
    floor = rank.chosen("TESTS_MIN_BW")
    if floor and average < 0.9 * float(floor):
        answer.status = WRONG
    if options.file:
        path = options.file if options.file.startswith("/") else f"{call.guest.cwd.rstrip('/')}/{options.file}"
        reported_wrong = {size: _wrong(options, ranks, size) for size, _halves in figures}
        answer.files[path] = json.dumps(_as_json(call, options, figures, average, reported_wrong, failed)) + "\n"
    return _with_log(call, rank, answer, text, reported)


def _with_log(call, rank, answer, text, reported):
    """Put the log of NCCL between the list of devices and the table, or into a file of its own."""
    place = rank.chosen("DEBUG_FILE")
    if place and reported:
        path = place.replace("%h", rank.name).replace("%p", str(rank.pid))
        answer.files[path if path.startswith("/") else f"{call.guest.cwd.rstrip('/')}/{path}"] = reported
        reported = ""
    answer.head = text + reported
    return answer


def _measure(options, ranks, total, rate, size, half):
    """(microseconds, GB/s of the algorithm, GB/s of the bus)."""
    factor = log.FACTORS[options.test](total)
    if factor == 0:
        spent = 4.0 + size / 700e3
        return spent, size / spent / 1e3, 0.0
    spent = nccl_job.start_us(ranks) + size * factor / (rate * 1e3)
    spent = rates.noisy(spent, *(one.name for one in ranks), options.test, size, half)
    return spent, size / spent / 1e3, size / spent / 1e3 * factor


def _wrong(options, ranks, size):
    """Return the number of wrong elements in a result on all ranks together."""
    bad = sum(gpu_errors.is_wrong(one.vm, card.index) for one in ranks for card in one.cards)
    return len(ranks) * max(1, size // 4 // ONE_WRONG_OF) if bad and options.check else 0


def _count(world, ranks, options):
    """Add the ring's traffic to the counters."""
    octets = 2 * sum(options.sizes) * (options.times + options.warmup)
    for rank, peer in zip(ranks, [*ranks[1:], ranks[0]], strict=True):
        if rank.vm is not peer.vm and rank.network == peer.network == "IB":
            sender, receiver = nccl_job.end_of(rank), nccl_job.end_of(peer)
            load = rates.Load(1 << 20, mtu=min(rank.nic.active_mtu, peer.nic.active_mtu))
            state = nccl_job.ends.between(world, sender, receiver)
            traffic.count(world, sender, receiver, state, load, octets)


def _visible(vm, call):
    """The GPUs that CUDA shows this process."""
    if drivers.loaded(vm, call.guest) is None:
        return []
    cards = nvidia_view.of(vm, call).cards
    requested = call.env.get("CUDA_VISIBLE_DEVICES")
    if requested is None:
        return list(cards)
    names = [one.strip() for one in requested.split(",") if one.strip()]
    return [card for name in names for card in cards if name in (str(card.index), card.uuid)]


def _parse(call):
    given, rest = getopt.gnu_getopt(call.words, "t:g:b:e:i:f:n:m:w:N:p:c:o:d:r:z:y:G:C:a:T:R:J:x:D:h", list(LONG))
    if rest:
        raise ValueError(rest[0])
    found = {LONG.get(f"{name.removeprefix('--')}=", name): value for name, value in given}
    test = call.name.removesuffix("_mpi").removesuffix("_perf")
    rooted = test in ("broadcast", "reduce")
    reduces = test in ("all_reduce", "reduce_scatter", "reduce")
    options = Options(
        test=test,
        least=_bytes(found.get("-b", "32M")),
        most=_bytes(found.get("-e", found.get("-b", "32M"))),
        step=_bytes(found.get("-i", "1M")),
        factor=int(found.get("-f", 1)),
        gpus=int(found.get("-g", 1)) * int(found.get("-t", 1)),
        times=int(found.get("-n", 20)),
        warmup=int(found.get("-w", 5)),
        check=found.get("-c", "1") != "0",
        operation=found.get("-o", "sum") if reduces else "none",
        root=int(found.get("-r", 0)) if rooted else -1,
        file=found.get("-J", ""),
    )
    if options.least < 1 or options.most < options.least or options.gpus < 1 or options.factor < 1 or options.step < 1:
        raise ValueError("sizes")
    return options


def _bytes(text):
    unit = UNITS.get(text[-1:].upper())
    return int(float(text[:-1]) * unit) if unit else int(text)


def _as_json(call, options, figures, average, wrong, failed):
    """Return the output of -J."""
    keys = ("time", "alg_bw", "bus_bw")
    return {
        "version": "2.17.6",
        "args": call.argv,
        "nccl_version": nccl_job.VERSION,
        "results": [
            {
                "size": size,
                "count": size // 4,
                "type": "float",
                "redop": options.operation,
                "root": options.root,
                **{
                    name: {**dict(zip(keys, half, strict=True)), "nwrong": wrong[size]}
                    for name, half in zip(("out_of_place", "in_place"), halves, strict=True)
                },
            }
            for size, halves in figures
        ],
        "out_of_bounds": {"count": failed, "okay": not failed},
        "average_bus_bandwidth": {"bandwidth": average, "okay": "unchecked"},
        "errors": [],
    }
