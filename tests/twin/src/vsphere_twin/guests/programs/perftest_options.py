"""Options of perftest: their meaning, and which of them both sides must share."""

from __future__ import annotations

import getopt
from dataclasses import dataclass

PORT = 18515
SIZES = tuple(1 << power for power in range(1, 24))  # -a
SHORT = "p:d:i:m:c:s:an:x:VhFRS:u:T:D:bq:t:r:Q:I:ezCHUNl:o:f:"
LONG = {  # of getopt, and the short one of the same meaning
    "port=": "-p",
    "ib-dev=": "-d",
    "ib-port=": "-i",
    "mtu=": "-m",
    "connection=": "-c",
    "size=": "-s",
    "all": "-a",
    "iters=": "-n",
    "gid-index=": "-x",
    "version": "-V",
    "help": "-h",
    "CPU-freq": "-F",
    "rdma_cm": "-R",
    "sl=": "-S",
    "qp-timeout=": "-u",
    "tos=": "-T",
    "duration=": "-D",
    "bidirectional": "-b",
    "qp=": "-q",
    "tx-depth=": "-t",
    "rx-depth=": "-r",
    "cq-mod=": "-Q",
    "inline_size=": "-I",
    "events": "-e",
    "comm_rdma_cm": "-z",
    "no-peak": "-N",
    "outs=": "-o",
    "margin=": "-f",
    "report_gbits": "",
    "tclass=": "",
    "out_json": "",
    "out_json_file=": "",
    "retry_count=": "",
    "perform_warm_up": "",
    "ipv6": "",
}
CUDA = {"use_cuda=": "", "use_cuda_dmabuf": ""}  # only where it was built with CUDA
ALIKE = ("verb", "latency", "connection", "sizes", "cm", "pairs", "both", "duration", "iterations")
NUMBERS = {"-i", "-m", "-s", "-n", "-x", "-S", "-u", "-T", "-D", "-q", "-t", "-r", "-Q", "-I", "-o", "-p", "-f"}


class Wrong(Exception):
    """Message on an invalid command line."""


@dataclass
class Options:
    """One parsed command line."""

    verb: str
    latency: bool
    server: str = ""  # nothing: this side is the server
    port: int = PORT
    device: str = ""
    mtu: int = 0
    connection: str = "RC"
    sizes: tuple = ()
    iterations: int = 0
    index: int | None = None
    quiet_cpu: bool = False
    cm: bool = False
    tos: int | None = None
    tclass: int | None = None
    duration: int = 0
    both: bool = False
    pairs: int = 1
    depth: int = 128
    moderation: int = 100
    inline: int = 0
    outstanding: int = 16
    peakless: bool = False
    gbits: bool = False
    json: bool = False
    json_file: str = ""
    cuda: int | None = None
    dmabuf: bool = False
    version: bool = False
    help: bool = False
    unit: str = "MB/sec"  # until March 2024; MiB/sec since

    @property
    def alike(self):
        """Return the options that must be the same on both sides."""
        return {name: getattr(self, name) for name in ALIKE}

    @property
    def no_peak(self):
        return not self.latency and (self.peakless or bool(self.duration) or self.iterations > 20000)

    @property
    def locked_kb(self):
        """Return how much memory it locks."""
        return 2 * max(self.sizes) * self.pairs // 1024 + 64


def parse(name, words, with_cuda):
    """The Options of a call, or Wrong."""
    _ib, verb, kind = name.split("_")
    long = {**LONG, **(CUDA if with_cuda else {})}
    try:
        given, rest = getopt.gnu_getopt(words, SHORT, list(long))
    except getopt.GetoptError as problem:
        long_one = len(problem.opt) > 1
        what = f"unrecognized option '--{problem.opt}'" if long_one else f"invalid option -- '{problem.opt}'"
        if "requires argument" in problem.msg:
            what = f"option '{'--' if long_one else '-'}{problem.opt}' requires an argument"
        raise Wrong(f"{name}: {what}\n Parser function exited with Error\n") from problem
    found = {}
    for option, value in given:
        plain = option.removeprefix("--")
        short = long.get(plain, long.get(f"{plain}=", "")) if option.startswith("--") else option
        key = short or plain
        try:
            found[key] = int(value) if key in NUMBERS or key in ("tclass", "use_cuda", "retry_count") else value
        except ValueError:
            raise Wrong(f" Invalid value for option {option}: {value}\n Parser function exited with Error\n") from None
    if len(rest) > 1:
        raise Wrong(" Invalid Command line. Please check command rerun\n Parser function exited with Error\n")
    return _options(verb, kind == "lat", found, rest)


def _options(verb, latency, found, rest):
    smallest = 2 if latency else 65536
    options = Options(
        verb=verb,
        latency=latency,
        server=rest[0] if rest else "",
        port=found.get("-p", PORT),
        device=found.get("-d", ""),
        mtu=found.get("-m", 0),
        connection=found.get("-c", "RC"),
        sizes=SIZES if "-a" in found else (found.get("-s", smallest),),
        iterations=found.get("-n", 1000 if latency or verb in ("send", "read") else 5000),
        index=found.get("-x"),
        quiet_cpu="-F" in found,
        cm="-R" in found,
        tos=found.get("-T"),
        tclass=found.get("tclass"),
        duration=found.get("-D", 0),
        both="-b" in found,
        pairs=found.get("-q", 1),
        depth=found.get("-t", 1 if latency else 128),
        moderation=found.get("-Q", 1 if verb == "send" else 100),
        inline=found.get("-I", 220 if latency and verb == "write" else 0),
        outstanding=found.get("-o", 16),
        peakless="-N" in found,
        gbits="report_gbits" in found,
        json="out_json" in found,
        json_file=found.get("out_json_file", ""),
        cuda=found.get("use_cuda"),
        dmabuf="use_cuda_dmabuf" in found,
        version="-V" in found,
        help="-h" in found,
    )
    for wrong, text in (
        (options.both and latency, " Bidirectional mode is only for bandwidth tests\n"),
        (options.duration and "-a" in found, " Duration mode runs with one size of messages\n"),
        (options.duration and "-n" in found, " Duration mode and a number of iterations exclude each other\n"),
        (options.connection not in ("RC", "UC", "UD"), " Invalid Connection type . please choose from {RC,UC,UD}\n"),
        (options.pairs < 1 or latency and options.pairs != 1, " Illegal number of QPs\n"),
        (options.mtu not in (0, 256, 512, 1024, 2048, 4096), " Invalid MTU\n"),
        (min(options.sizes) < 1 or options.iterations < 5, " Illegal number of iterations or size of messages\n"),
        (options.dmabuf and options.cuda is None, " --use_cuda_dmabuf needs --use_cuda\n"),
    ):
        if wrong:
            raise Wrong(f"{text} Parser function exited with Error\n")
    return options
