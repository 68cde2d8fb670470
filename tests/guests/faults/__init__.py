"""Settings that can be wrong, one table for each layer: how to plant each, the playbook that finds it, what it reports.

The rehearsal plants each after a good run and removes it again (rehearse/faults.py). `Fault.plant(twin)` returns a
context manager. A fault of the job is not in the model: it is in the site (`lab`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import mounted  # noqa: F401  (the modules of this package import the collection)

FAIL, WARN = "fail", "warn"
# What has to be measured for a fault to be seen, from quick to slow. RUNS starts one process on each guest and no more.
GUESTS, PAIRS, RUNS, MPI, NCCL, TRAINING = "guests", "pairs", "runs", "mpi", "nccl", "training"
# The playbook that finds a fault, unless another one is named.
VALIDATE = "validate"
# Playbooks that work inside the guests.
INSIDE = (VALIDATE, "guests", "runtime", "training")
FIRST, SECOND = "job-01", "job-02"
ONE, OTHER = "esx-01.lab.example", "esx-02.lab.example"


@dataclass(frozen=True)
class Seen:
    """A row of the ladder that is not right: its id, its verdict, and words that its cause or its reason has."""

    row: str
    verdict: str
    cause: tuple = ()
    why: tuple = ()


@dataclass(frozen=True)
class Named:
    """One statement of another playbook than `validate`, by words that it contains: object, value, code.

    Statements are the findings of `preflight`, the lines of `fabric_check`, and failures and changes of a stage;
    running.statements shows how each begins.
    """

    words: tuple

    def __str__(self) -> str:
        return " ".join(self.words)


def named(*words: str) -> Named:
    return Named(words)


def ways(check, verdict, *cause):
    """The rows of a test of pairs, in both directions."""
    return tuple(Seen(f"{check} {one} > {other}", verdict, cause) for one, other in ((FIRST, SECOND), (SECOND, FIRST)))


def loss(*words):
    """What packets that are lost under load do to the bandwidth."""
    found = (
        ways(check, WARN, "packets are lost under load", *words) for check in ("pair.write_bw", "pair.write_bw_both")
    )
    return tuple(row for some in found for row in some)


def loss_from(sender, receiver, *words):
    """What it does where packets are lost on one of the two ways."""
    cause = ("packets are lost under load", *words)
    return (Seen(f"pair.write_bw {sender} > {receiver}", WARN, cause), *ways("pair.write_bw_both", WARN, *cause))


def settings(*words, verdict=FAIL):
    """The row of the settings of the fabric."""
    return (Seen("fabric.settings", verdict, words),)


# Ports of switches at which packets were dropped.
DROPS = ("fabric.counters *",)


@dataclass(frozen=True)
class Fault:
    """One wrong setting."""

    layer: str
    plant: Callable[[Any], contextlib.AbstractContextManager]  # of a twin
    seen: tuple  # of Seen for a validation, else of Named
    scope: str = PAIRS
    fabric: bool = False  # whether switches are looked at
    also: tuple = ()  # patterns of rows, or of statements, that may be wrong with it
    lab: dict = field(default_factory=dict)  # what it changes of the lab's variables: {name: value}, tables are merged
    silent: bool = False  # one of those that nobody sees without measuring
    by: str = VALIDATE  # the playbook that finds it
    status: int = 2  # how that playbook ends, where it is not `validate`
    arguments: tuple = ()  # more words for ansible-playbook
    inside: bool = False  # planted in a guest, whoever finds it

    @property
    def needs_guests(self) -> bool:
        return self.inside or self.by in INSIDE


def nothing(twin):
    """What is wrong is the job alone."""
    return contextlib.nullcontext()


def host(twin, name):
    return next(one for one in twin.world.of_kind("HostSystem") if one.name == name)


def vm(twin, name):
    return next(one for one in twin.world.of_kind("VirtualMachine") if one.name == name)


@contextlib.contextmanager
def changed(twin, change, undo):
    """`change(world)` happens, and at the end `undo(world)`; both under the lock, and everybody hears of it."""
    _report(twin, change)
    try:
        yield
    finally:
        _report(twin, undo)


@contextlib.contextmanager
def attribute(twin, thing, name, value):
    """An attribute of a thing of the model is another one for a while."""
    before = getattr(thing, name)
    with changed(twin, lambda _world: setattr(thing, name, value), lambda _world: setattr(thing, name, before)):
        yield


@contextlib.contextmanager
def entry(twin, table, key, value):
    """An entry of a table of the model is another one, or None for no entry at all."""
    before = table.get(key)

    def put(now):
        return table.pop(key, None) if now is None else table.update({key: now})

    with changed(twin, lambda _world: put(value), lambda _world: put(before)):
        yield


@contextlib.contextmanager
def lines(twin, switch, wrong, right):
    """Lines at the command line of a switch, and those that take them back."""
    device = twin.world.fabric.switches[switch].device
    with changed(twin, lambda _world: device.load(list(wrong)), lambda _world: device.load(list(right))):
        yield


@contextlib.contextmanager
def shell(twin, guest, wrong, right):
    """A script in a guest, and the one that takes it back."""
    _run(twin, guest, wrong)
    try:
        yield
    finally:
        _run(twin, guest, right)


def _run(twin, guest, script):
    status, out, err = twin.guest(guest).run(["sh", "-ec", script])
    if status:
        raise RuntimeError(f"{guest}: {script!r} ended with {status}: {(out + err).strip()[-500:]}")


def _report(twin, change):
    world = twin.world
    with world.lock:
        change(world)
        world.touch(*world.of_kind("HostSystem"), *world.of_kind("VirtualMachine"))
