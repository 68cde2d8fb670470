"""The bandwidth of an all-reduce between ranks of torchrun, deepspeed or Ray, in the format of nccl-tests.

all_reduce_perf of nccl-tests needs mpirun between guests. This program measures the same sizes with the PyTorch of the
training image: torch.distributed.all_reduce in place, with NCCL on GPUs. Without a GPU it measures gloo, and says so.
"""

from __future__ import annotations

import argparse
import os
import socket
import time

import engines

FLOAT_BYTES = 4
UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}
# The pattern of values repeats after a prime number, so that parts in a wrong order are found. Sums stay below 2**24,
# where a float is exact.
PERIOD = 251
CHUNK = PERIOD << 14
# NCCL does not run on CPUs. gloo shows that the program works, and larger sizes would take minutes.
CPU_BYTES = 16 * 2**20
HEADER = (
    "#                                                               in-place",
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong            timestamp",
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)",
)


def bytes_of(text):
    """A size as nccl-tests accept it, such as 8M, for argparse."""
    digits, unit = (text[:-1], text[-1].upper()) if text[-1:].upper() in UNITS else (text, "")
    if not digits.isdecimal() or int(digits) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no size such as 8M")
    return int(digits) * UNITS.get(unit, 1)


def sizes_of(least, most, step, factor, on_gpu=True):
    """The sizes of a sweep in bytes; without a GPU, at most CPU_BYTES."""
    if not on_gpu:
        most = max(least, min(most, CPU_BYTES))
    sizes, size = [], least
    while size <= most:
        sizes.append(max(FLOAT_BYTES, size - size % FLOAT_BYTES))
        size = size * factor if factor > 1 else size + step
    return sizes


def bandwidths(size, seconds, ranks):
    """(algbw, busbw) in GB/s: a bus carries 2 (n - 1) / n of the size, whatever the algorithm."""
    rate = size / seconds / 1e9 if seconds > 0 else 0.0
    return rate, rate * 2 * (ranks - 1) / ranks


def fill(part, pattern, rank):
    """Give each value of this rank a number that depends on its place and on the rank."""
    for begin in range(0, len(part), len(pattern)):
        some = part[begin : begin + len(pattern)]
        some.copy_(pattern[: len(some)])
        some.add_(rank + 1)


def wrong_values(part, pattern, ranks):
    """How many values are not the sum over all ranks."""
    wrong = 0
    for begin in range(0, len(part), len(pattern)):
        some = part[begin : begin + len(pattern)]
        wrong += int((some != pattern[: len(some)] * ranks + ranks * (ranks + 1) // 2).sum())
    return wrong


def measure(engine, options):
    """One row for each size, by rank 0."""
    torch = engine.torch
    show = engines.report if engine.rank == 0 else _hush
    sizes = sizes_of(options.minbytes, options.maxbytes, options.stepbytes, options.stepfactor, engine.on_gpu)
    if not sizes:
        raise engines.RefusedError("The smallest size is larger than the largest one. Lower -b or raise -e.")
    _about(engine, options, show)
    pattern = torch.arange(min(CHUNK, sizes[-1] // FLOAT_BYTES), device=engine.device).remainder_(PERIOD)
    pattern = pattern.to(torch.float32)
    buffer = torch.empty(sizes[-1] // FLOAT_BYTES, dtype=torch.float32, device=engine.device)
    show(*HEADER)
    total, rates = 0, []
    for size in sizes:
        part = buffer[: size // FLOAT_BYTES]
        fill(part, pattern, engine.rank)
        wrong = None
        if options.check:
            torch.distributed.all_reduce(part)
            wrong = round(engine.mean(wrong_values(part, pattern, engine.size)) * engine.size)
            total += wrong
            fill(part, pattern, engine.rank)
        seconds = _timed(engine, part, options.warmup_iters, options.iters)
        algbw, busbw = bandwidths(size, seconds, engine.size)
        rates.append(busbw)
        shown = "N/A" if wrong is None else wrong
        show(
            f"{size:>12} {len(part):>13}     float     sum      -1 {seconds * 1e6:>8.2f} {algbw:>7.2f} {busbw:>7.2f} "
            f"{shown:>7}  {time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime())}"
        )
    show(f"# Out of bounds values : {total} {'FAILED' if total else 'OK'}")
    show(f"# Avg bus bandwidth    : {sum(rates) / len(rates):g}")
    engines.say("end", rank=engine.rank, wrong=total)


def _about(engine, options, show):
    """The list of ranks, as nccl-tests print it."""
    torch = engine.torch
    pci, name = "cpu", "CPU"
    if engine.on_gpu:
        about = torch.cuda.get_device_properties(engine.device)
        # Older PyTorch does not report the address.
        bus, device = (getattr(about, key, None) for key in ("pci_bus_id", "pci_device_id"))
        pci, name = ("gpu" if bus is None else f"{bus:02x}:{device or 0:02x}"), about.name
    place = f"Pid {os.getpid():>6} on {socket.gethostname():>10} device {engine.local_rank:>2} [{pci}] {name}"
    places = [None] * engine.size
    torch.distributed.all_gather_object(places, place)
    show("# Collective test starting: all_reduce_perf, by torch.distributed")
    show(f"# {engine.name}, PyTorch {torch.__version__}")
    show(f"# warmup iters: {options.warmup_iters} iters: {options.iters} agg iters: 1 validation: {options.check}")
    if not engine.on_gpu:
        show(f"# No GPU: these are figures of gloo and not of NCCL, up to {CPU_BYTES} bytes.")
    show("# Using devices", *(f"#  Rank {rank:>2} Group  0 {one}" for rank, one in enumerate(places)))


def _timed(engine, part, warmup, count):
    """Seconds of one all-reduce: the mean of all ranks."""
    for _time in range(warmup):
        engine.torch.distributed.all_reduce(part)
    engine.wait()
    engine.meet()
    begun = time.perf_counter()
    for _time in range(count):
        engine.torch.distributed.all_reduce(part)
    engine.wait()
    return engine.mean((time.perf_counter() - begun) / count)


def _hush(*_lines):
    """Only rank 0 speaks to people."""


def parser():
    """The options of nccl-tests that say what is measured, by the same letters."""
    made = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    made.add_argument("--engine", choices=("torchrun",), default="torchrun", help="who started the ranks")
    made.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="auto: a GPU if there is one")
    made.add_argument("--threads", type=engines.natural, default=0, help="of each rank on CPUs; 0: its share of cores")
    made.add_argument("-b", "--minbytes", type=bytes_of, default="32M", help="the smallest size, such as 8M")
    made.add_argument("-e", "--maxbytes", type=bytes_of, default="32M", help="the largest size, such as 1G")
    made.add_argument("-i", "--stepbytes", type=bytes_of, default="1M", help="from size to size, without a factor")
    made.add_argument("-f", "--stepfactor", type=engines.positive, default=1, help="from size to size")
    made.add_argument("-n", "--iters", type=engines.positive, default=20, help="how often each size is measured")
    made.add_argument("-w", "--warmup_iters", type=engines.natural, default=5, help="before that, unmeasured")
    made.add_argument("-c", "--check", type=engines.natural, default=1, help="0: the results are not compared")
    # One rank of the launcher for each GPU, and floats are summed.
    made.add_argument("-g", "--ngpus", type=int, choices=(1,), default=1, help="GPUs of a rank")
    made.add_argument("-t", "--nthreads", type=int, choices=(1,), default=1, help="GPUs of a rank, by threads")
    made.add_argument("-d", "--datatype", choices=("float",), default="float")
    made.add_argument("-o", "--op", choices=("sum",), default="sum")
    return made


if __name__ == "__main__":
    engines.run(measure, parser().parse_args())
