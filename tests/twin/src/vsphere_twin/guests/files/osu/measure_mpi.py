"""Measure MPI between ranks and print the header and the columns of version 7.4 of the OSU micro-benchmarks.

The program calls the real Open MPI, so the figures are those of the guests. Latency is a ping-pong, bandwidth a window
of messages that is confirmed as a whole, and an all-reduce is timed on all ranks.
"""

from __future__ import annotations

import ctypes
import getopt
import sys
import time

VERSION = "7.4"
LARGEST, LARGEST_REDUCED, SMALL = 1 << 22, 1 << 20, 8192
WINDOW = 64
HEADS = {"osu_latency": "Latency Test", "osu_bw": "Bandwidth Test", "osu_allreduce": "Allreduce Latency Test"}
COLUMNS = {"osu_latency": "Avg Latency(us)", "osu_bw": "Bandwidth (MB/s)", "osu_allreduce": "Avg Latency(us)"}
# (iterations, rounds before them that do not count) of small and of large messages.
COUNTS = {
    "osu_latency": ((10000, 200), (1000, 10)),
    "osu_bw": ((100, 10), (20, 2)),
    "osu_allreduce": ((1000, 200), (100, 10)),
}
USAGE = """Usage: {} [options]
Options:
  -m, --message-size        [MIN:]MAX
  -x, --warmup              ITER
  -i, --iterations          ITER
  -c, --validation
  -f, --full"""


class Mpi:
    """Open MPI of the image. Its handles are addresses of variables."""

    def __init__(self):
        self._library = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
        self.call("Init", None, None)
        self.world, self.char = self._handle("ompi_mpi_comm_world"), self._handle("ompi_mpi_char")
        self.double, self.sum = self._handle("ompi_mpi_double"), self._handle("ompi_mpi_op_sum")
        self.least, self.most = self._handle("ompi_mpi_op_min"), self._handle("ompi_mpi_op_max")
        self.rank, self.size = self._number("Comm_rank"), self._number("Comm_size")

    def call(self, name, *words):
        status = getattr(self._library, f"MPI_{name}")(*words)
        if status:
            raise SystemExit(f"MPI_{name} answered {status}")

    def send(self, buffer, size, to):
        self.call("Send", buffer, size, self.char, to, 1, self.world)

    def receive(self, buffer, size, sender):
        self.call("Recv", buffer, size, self.char, sender, 1, self.world, None)

    def window(self, verb, buffer, size, other):
        """Send a window of messages, all in flight at once."""
        requests = (ctypes.c_void_p * WINDOW)()
        for place in range(WINDOW):
            request = ctypes.byref(requests, place * ctypes.sizeof(ctypes.c_void_p))
            self.call(verb, buffer, size, self.char, other, 100, self.world, request)
        self.call("Waitall", WINDOW, requests, None)

    def reduced(self, value, operation):
        given, found = ctypes.c_double(value), ctypes.c_double()
        self.call("Allreduce", ctypes.byref(given), ctypes.byref(found), 1, self.double, operation, self.world)
        return found.value

    def _handle(self, name):
        return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(self._library, name)))

    def _number(self, name):
        found = ctypes.c_int()
        self.call(name, self.world, ctypes.byref(found))
        return found.value


def refused(mpi, reason, program=""):
    """Print a refusal on the first rank only; all of them end."""
    if mpi.rank == 0:
        print(reason, file=sys.stderr)
        if program:
            print("\n" + USAGE.format(program), flush=True)
    mpi.call("Finalize")
    raise SystemExit(1)


def options(mpi, program, words):
    """Return (smallest size, largest, iterations, warm-up rounds, validate contents, print all)."""
    try:
        given = dict(getopt.getopt(words, "m:x:i:cf")[0])
    except getopt.GetoptError as error:
        refused(mpi, f"Invalid option [-{error.opt}]", program)
    low, colon, high = given.get("-m", "").rpartition(":")
    smallest = int(low) if low else 1
    largest = int(high) if high else LARGEST_REDUCED if program == "osu_allreduce" else LARGEST
    counts = [int(given[name]) if name in given else None for name in ("-i", "-x")]
    return smallest, largest, *counts, "-c" in given, "-f" in given


def pinged(mpi, sent, got, size):
    if mpi.rank == 0:
        mpi.send(sent, size, 1)
        mpi.receive(got, size, 1)
    else:
        mpi.receive(got, size, 0)
        mpi.send(sent, size, 0)


def streamed(mpi, sent, got, size):
    if mpi.rank == 0:
        mpi.window("Isend", sent, size, 1)
        mpi.receive(got, 4, 1)
    else:
        mpi.window("Irecv", got, size, 0)
        mpi.send(sent, 4, 0)


def added(mpi, sent, got, size):
    mpi.call("Allreduce", sent, got, size, mpi.char, mpi.sum, mpi.world)


DO = {"osu_latency": pinged, "osu_bw": streamed, "osu_allreduce": added}


def filled(size, byte):
    return ctypes.create_string_buffer(bytes([byte]) * max(size, 4), max(size, 4))


def timed(mpi, program, size, iterations, before):
    """Return (seconds of one iteration, whether the received data equals the sent data)."""
    sent, got = filled(size, 3), filled(size, 0)
    for _round in range(before):
        DO[program](mpi, sent, got, size)
    mpi.call("Barrier", mpi.world)
    began = time.perf_counter()
    for _round in range(iterations):
        DO[program](mpi, sent, got, size)
    each = (time.perf_counter() - began) / iterations
    want = 3 * mpi.size % 256 if program == "osu_allreduce" else 3
    looked = size if program != "osu_bw" or mpi.rank else min(size, 4)
    right = got.raw[:looked] == bytes([want]) * looked
    return each, mpi.reduced(float(right), mpi.least) > 0


def row(mpi, program, size, each, iterations, full):
    if program == "osu_latency":
        return f"{size:<10}{each * 1e6 / 2:>18.2f}"
    if program == "osu_bw":
        return f"{size:<10}{size * WINDOW / each / 1e6:>18.2f}"
    least, most = mpi.reduced(each, mpi.least), mpi.reduced(each, mpi.most)
    text = f"{size:<10}{mpi.reduced(each, mpi.sum) / mpi.size * 1e6:>18.2f}"
    return f"{text}{least * 1e6:>18.2f}{most * 1e6:>18.2f}{iterations:>12}" if full else text


def head(program, full, looks):
    line = f"{'# Size':<10}{COLUMNS[program]:>18}"
    if full and program == "osu_allreduce":
        line += f"{'Min Latency(us)':>18}{'Max Latency(us)':>18}{'Iterations':>12}"
    line += f"{'Validation':>18}" if looks else ""
    print(f"\n# OSU MPI {HEADS[program]} v{VERSION}\n# Datatype: MPI_CHAR.\n{line}", flush=True)


def main(program, words):
    mpi = Mpi()
    smallest, largest, iterations, before, looks, full = options(mpi, program, words)
    if program == "osu_allreduce" and mpi.size < 2:
        refused(mpi, "This test requires at least two processes")
    if program != "osu_allreduce" and mpi.size != 2:
        refused(mpi, "This test requires exactly two processes")
    if mpi.rank == 0:
        head(program, full, looks)
    size, bad = smallest, False
    while size <= largest and not bad:
        usual = COUNTS[program][size > SMALL]
        count = usual[0] if iterations is None else iterations
        each, right = timed(mpi, program, size, count, usual[1] if before is None else before)
        line = row(mpi, program, size, each, count, full)
        bad = looks and not right
        if mpi.rank == 0:
            print(line + (f"{'Fail' if bad else 'Pass':>18}" if looks else ""), flush=True)
        if mpi.rank == 0 and bad:
            print(f"DATA VALIDATION ERROR: {program} exited with status 1 on message size {size}.", flush=True)
        size = size * 2 or 1
    mpi.call("Finalize")
    return int(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
