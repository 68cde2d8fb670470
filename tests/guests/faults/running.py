"""A validation for one fault: what of the site is left out so that it is short, how it is run, and what came of it."""

from __future__ import annotations

import fnmatch
import json
from pathlib import Path

import yaml

from rehearse import playbook

from . import GUESTS, MPI, NCCL, OTHER, PAIRS, TRAINING, Fault, host, nothing

OF_SWITCHES = ("fabric.settings", "fabric.counters")
OF_PAIRS = ("pair.ping_mtu", "pair.rping", "pair.write_lat", "pair.write_bw", "pair.write_bw_both", "pair.iperf3")
OF_MPI = ("pair.mpi_lat", "pair.mpi_bw", "cluster.mpi_allreduce")
OF_NCCL = ("cluster.nccl",)
OF_TRAINING = ("cluster.check_build", "cluster.training", "cluster.efficiency")
OF_RUNS = ("cluster.hostname",)
WHY = "It has nothing to do with what is planted"
VALIDATE = playbook.ROOT / "playbooks" / "validate.yml"
# No fault at all. Both measure nothing twice, and together all that is measured for faults.
GOOD = Fault("none", nothing, (), PAIRS, fabric=True)
GOOD_RUNS = Fault("none", nothing, (), TRAINING)


def prepare(twin):
    """What the site leaves as it is, and an operator of the other make has set: else latency is that of sleepers."""
    one = host(twin, OTHER)
    with twin.world.lock:
        one.bmc.active["MinProcIdlePower"] = "NoCStates"
        twin.world.touch(one)


def validate(fault, folder, env, echo=lambda line: None):
    """(the run, the validation as it was written down)."""
    run = playbook.run(VALIDATE, *arguments(fault, folder), env=env, echo=echo)
    written = Path(folder) / "validation.json"
    assert written.exists(), run.output[-5000:]
    return run, json.loads(written.read_text())


def left_out(fault):
    """The checks that a fault does not need."""
    found = [] if fault.fabric else list(OF_SWITCHES)
    found += OF_PAIRS if fault.scope in (GUESTS, MPI, TRAINING) else ()
    found += OF_MPI if fault.scope != MPI else ()
    # NCCL goes where RDMA does.
    found += ("pair.write_lat", "pair.write_bw_both", "pair.iperf3") if fault.scope == NCCL else ()
    found += OF_NCCL if fault.scope != NCCL else ()
    found += OF_TRAINING if fault.scope != TRAINING else ()
    found += OF_RUNS if fault.scope in (GUESTS, PAIRS) else ()
    return found


def variables(fault, folder):
    """Variables for ansible-playbook that make of the lab's site the one for this fault."""
    lab = yaml.safe_load((playbook.LAB / "group_vars" / "all" / "site.yml").read_text())
    validation = {**lab["lab_validation"], "skip": dict.fromkeys(left_out(fault), WHY)}
    if fault.scope == TRAINING:
        validation["nodes"] = [1]
    return {
        "lab_validation": validation,
        "lab_training": {**lab["lab_training"], **fault.site},
        "aiready_run_folder": str(folder),
    }


def arguments(fault, folder):
    """The words for ansible-playbook."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    file = Path(folder) / "variables.json"
    file.write_text(json.dumps(variables(fault, folder)))
    return ["-e", f"@{file}", *([] if fault.fabric else ["--limit", "all:!switches"])]


def not_right(made):
    """{id: row} of all that failed or warned."""
    return {row["id"]: row for row in made["rungs"] if row["verdict"] in ("fail", "warn")}


def complaints(fault, run, made):
    """What the validation does not say of the fault, or says and should not, as sentences."""
    wrong, found = not_right(made), []
    if (run.status != 0) != (made["verdict"]["state"] in ("fail", "incomplete")):
        found.append(f"The playbook ended with status {run.status}.")
    for one in fault.seen:
        row = wrong.get(one.row)
        if row is None:
            found.append(f"{one.row} is not among what is not right.")
            continue
        if row["verdict"] != one.verdict:
            found.append(f"{one.row}: {row['verdict']} instead of {one.verdict}.")
        found += [f"{one.row}: its cause does not say {word!r}." for word in one.cause if word not in row["cause"]]
        found += [f"{one.row}: its reason does not say {word!r}." for word in one.why if word not in row["why"]]
    known = [one.row for one in fault.seen] + list(fault.also)
    found += [
        f"{name} is not right either: {row['why']} ({row['cause']})"
        for name, row in wrong.items()
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in known)
    ]
    return found
