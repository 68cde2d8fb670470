"""Calls of programs in a guest, their answers, and the table of programs."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import PurePosixPath

PROGRAMS: dict = {}  # name: f(world, vm, call) -> Answer
NOT_FOUND = 127


@dataclass
class Guest:
    """Data that the guest reports about itself."""

    boot: str = ""
    time: float = 0.0
    kernel: str = "6.1.0-18-amd64"
    uid: int = 0
    pid: int = 1
    cpus: int = 2
    installed: dict = field(default_factory=dict)  # data of the lab's packages: {name: its data}
    loaded: list = field(default_factory=list)  # kernel modules of this boot
    modprobe: list = field(default_factory=list)  # the lines of all modprobe.d files
    modules_load: list = field(default_factory=list)  # modules in modules-load.d, loaded at boot
    headers: bool = False  # of the kernel that runs
    udev_rdma_names: bool = False  # rdma-core's rule that renames RDMA devices is installed
    interfaces: list = field(default_factory=list)
    gridd_conf: str = ""
    tokens: list = field(default_factory=list)
    cwd: str = "/"
    hostname: str = ""  # of the container, where it is asked in one
    locked: list = field(default_factory=list)  # memlock in limits.d
    classes: dict = field(default_factory=dict)  # {RDMA device: the class of packets that rdma_cm gives, as a text}

    def blacklisted(self, module):
        """Return whether a module is blacklisted from automatic loading."""
        words = [line.split() for line in self.modprobe]
        return any(one[:1] == ["blacklist"] and _plain(one[-1]) == _plain(module) for one in words)

    def interface(self, mac):
        """The interface with this address, or None."""
        return next((one for one in self.interfaces if one["mac"].lower() == mac.lower()), None)


@dataclass
class Call:
    """One call of a program."""

    argv: list
    stdin: str = ""
    env: dict = field(default_factory=dict)
    again: str | None = None  # data that the last answer asked to return
    met: dict | None = None  # result of the meeting that the last answer requested: {said, peer} or {problem, peer}
    guest: Guest = field(default_factory=Guest)

    @property
    def name(self):
        return PurePosixPath(self.argv[0]).name

    @property
    def words(self):
        return list(self.argv[1:])


@dataclass
class Answer:
    """Output of a program, its files, and its exit status."""

    stdout: str = ""
    stderr: str = ""
    status: int = 0
    head: str = ""  # output before the delay
    files: dict = field(default_factory=dict)  # path: text, {"link"|"node"|"initial"|"own": ...}, or None
    trees: dict = field(default_factory=dict)  # folder: {path below it: as above}; nothing else stays there
    delay_s: float = 0
    again_s: float | None = None  # a daemon: ask again after so long
    again: str | None = None
    wants_stdin: bool = False
    meet: dict | None = (
        None  # {"listen": port} or {"connect": [host, port]} or {} for the one that is open; "say": a line
    )
    pass_on: bool = False  # let the real program answer


def program(*names):
    """Register a function as the programs of these names."""

    def register(function):
        PROGRAMS.update(dict.fromkeys(names, function))
        return function

    return register


def answer(world, vm, request):
    """The answer to one request of the client, as data."""
    _load()
    call = Call(
        argv=list(request["argv"]),
        stdin=request.get("stdin") or "",
        env=dict(request.get("env") or {}),
        again=request.get("again"),
        met=request.get("met"),
        guest=Guest(**(request.get("guest") or {})),
    )
    function = PROGRAMS.get(call.name)
    if function is None:
        return asdict(Answer(stderr=f"{call.name}: the lab has no such program\n", status=NOT_FOUND))
    with world.lock:
        return asdict(function(world, vm, call))


@cache
def _load():
    package = importlib.import_module(__package__)
    for one in pkgutil.walk_packages(package.__path__, f"{__package__}."):
        importlib.import_module(one.name)


def _plain(name):
    return name.replace("-", "_")
