"""No mutant of a site ends in a traceback, runs away, or shows what it must not show."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager

import pytest
from ansible.errors import AnsibleError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import questions
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import (
    guests,
    hosts,
    machines,
    relaxed,
    runtime,
    specification,
    switches,
    training,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.checks import problems

from unit.plugins.filter import mutants

# AIREADY_MUTANTS=10000 tries that many, and AIREADY_MUTANTS_FROM=20000 others than the first ones.
EACH = 25
FIRST = int(os.environ.get("AIREADY_MUTANTS_FROM", "0")) // EACH
SEEDS = range(FIRST, FIRST + int(os.environ.get("AIREADY_MUTANTS", "300")) // EACH)
# Seconds of this process alone, far beyond what any site takes: a guard against one that never ends.
LIMIT_S = 60


class RunAway(Exception):
    """A mutant did not end."""


@contextmanager
def guarded():
    def stop(_signal, _frame):
        raise RunAway

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def everything(made):
    """What a run works out of a site: its problems, and without any all that follows from it."""
    found = problems(made)
    assert all(isinstance(one, str) and one for one in found)
    assert len("".join(found)) < 200_000
    specification.connection(made)
    hosts.bmc_connection(made)
    questions.questions(made)
    if found:
        return found
    hosts.hosts(made)
    machines.machines(made)
    switches.switches(made, ["leaf-01"])
    guests.guests(made)
    relaxed.relaxed(specification.validate(made)[0])
    for name, work in {"runtime": runtime.runtime, "training": training.training}.items():
        if name in guests.stages(made):
            work(made)
    return found


def run(seed):
    made = mutants.mutant(seed)
    with guarded():
        return everything(made)


@pytest.mark.parametrize("part", SEEDS)
def test_no_mutant_of_a_site_ends_in_a_traceback_or_runs_away(part):
    refused = 0
    for seed in range(part * EACH, (part + 1) * EACH):
        try:
            refused += bool(run(seed))
        except AnsibleError:
            refused += 1
    assert refused > EACH // 2


def loop():
    made = mutants.sites()[0]
    made["machine"]["metadata"] = {"a": made}
    return made


def deep(levels):
    below = {}
    for _level in range(levels):
        below = {"x": below}
    return below


def bomb():
    """Nine levels of nine anchors: nearly four hundred million parts in ninety lines."""
    below = ["lol"] * 9
    for _level in range(9):
        below = [below] * 9
    return below


def changed(path, value):
    made = mutants.sites()[0]
    part, (*above, last) = made, path.split(".")
    for step in above:
        part = part[int(step)] if isinstance(part, list) else part.setdefault(step, {})
    part[last] = value
    return made


NAMED = {
    "a key that is a number": (
        changed("gpu.5", 1) | {"gpu": {"mode": "vgpu", 5: 1}},
        "site.gpu: the key 5 is not a text.",
    ),
    "no word as a key": (
        changed("training.environment", {None: "x"}),
        "site.training.environment: the key None is not a text.",
    ),
    "no as a key": (
        changed("training.environment", {False: "x"}),
        "site.training.environment: the key False is not a text. YAML reads yes, no, on and off as true and false.",
    ),
    ".inf": (changed("gpu.per_vm", float("inf")), "site.gpu.per_vm: inf is not a whole number."),
    ".nan": (changed("machine.cpus", float("nan")), "site.machine.cpus: nan is not a whole number."),
    "a loop of anchors": (loop(), "site.machine.metadata.a: it contains itself through a YAML anchor"),
    "2,000 levels": (changed("machine.metadata", deep(2000)), "it has more than 40 nested levels."),
    "a bomb of anchors": (changed("machine.metadata", {"a": bomb()}), "the site has more than 100000 entries."),
    "30,000 VMs": (changed("vms.0.count", 30000), "site.vms[0].count: the number is too large, and 1000 is the limit."),
    "30,000 VMs as a text": (
        changed("vms.0.count", "30000"),
        "site.vms[0].count: the number is too large, and 1000 is the limit.",
    ),
    "VMs as a power of ten": (
        changed("vms.0.count", "1e9"),
        "site.vms[0].count: the number is too large, and 1000 is the limit.",
    ),
    "names of 300 MB": (
        changed("vms.0.digits", 300000000),
        "site.vms[0].digits: the number is too large, and 40 is the limit.",
    ),
    "a list of GPUs without an end": (changed("gpu.per_vm", 10**9), "site.gpu.per_vm: the number is too large"),
    "400 digits": (changed("machine.memory_gb", 10**400), "site.machine.memory_gb: the number is too large"),
    "a control character in a key": (
        changed("training.environment", {"A\x1b[2J": "x"}),
        "site.training.environment: the key 'A\\\\x1b[2J' is too long or has control characters.",
    ),
}


@pytest.mark.parametrize("made, reported", NAMED.values(), ids=NAMED)
def test_a_part_that_runs_away_is_refused_by_its_key(made, reported):
    with guarded():
        found = problems(made)
    assert [one for one in found if reported in one] != []
    assert len(found) <= 3
