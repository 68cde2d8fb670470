"""The playbook that finds a fault: what of the site is left out so that it is short, how it is run, what came of it."""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.hosts import overlaid

from rehearse import plan, playbook

from . import GUESTS, MPI, NCCL, OTHER, PAIRS, RUNS, TRAINING, VALIDATE, Fault, host, nothing

OF_SWITCHES = ("fabric.settings", "fabric.counters")
OF_PAIRS = ("pair.ping_mtu", "pair.rping", "pair.write_lat", "pair.write_bw", "pair.write_bw_both", "pair.iperf3")
OF_MPI = ("pair.mpi_lat", "pair.mpi_bw", "cluster.mpi_allreduce")
OF_NCCL = ("cluster.nccl",)
OF_TRAINING = ("cluster.check_build", "cluster.training", "cluster.efficiency")
OF_RUNS = ("cluster.hostname",)
WHY = "It has nothing to do with what is planted"
# A statement of failure on the screen: Ansible writes some over many lines, up to an empty one.
FAILURE = re.compile(r"^(?:fatal|failed): \[(?s:.*?)(?=\n\n|\Z)", re.MULTILINE)
# How statements begin that a playbook does not make of a good lab. Failures of a stage end with a summary of their own.
NOT_GOOD = {"preflight": ("blocks: ",), "fabric_check": ("error ",)}
# No fault at all.
GOOD = Fault("none", nothing, (), PAIRS, fabric=True)


@dataclass(frozen=True)
class Ran:
    """A playbook that ran for a fault: the run, and for a validation what it wrote down."""

    run: playbook.Run
    folder: Path
    made: dict


def prepare(twin):
    """What the site leaves as it is, and an operator of the other make has set: else latency is that of sleepers."""
    one = host(twin, OTHER)
    with twin.world.lock:
        one.bmc.active["MinProcIdlePower"] = "NoCStates"
        twin.world.touch(one)


def find(
    fault: Fault, folder: Path, env: dict[str, str], echo=lambda line: None, inventories: Sequence[Path] = ()
) -> Ran:
    """Run the playbook that finds the fault; inventories are those of the site after that of the lab."""
    file = playbook.ROOT / "playbooks" / f"{fault.by}.yml"
    env = {**env, **plan.environment(folder)}
    run = playbook.run(file, *arguments(fault, folder, inventories), env=env, echo=echo)
    written = folder / "validation.json"
    if fault.by != VALIDATE:
        return Ran(run, folder, {})
    assert written.exists(), run.output[-5000:]
    return Ran(run, folder, json.loads(written.read_text()))


def left_out(fault):
    """The checks that a fault does not need."""
    found = [] if fault.fabric else list(OF_SWITCHES)
    found += OF_PAIRS if fault.scope in (GUESTS, RUNS, MPI, TRAINING) else ()
    found += OF_MPI if fault.scope != MPI else ()
    # NCCL goes where RDMA does.
    found += ("pair.write_lat", "pair.write_bw_both", "pair.iperf3") if fault.scope == NCCL else ()
    found += OF_NCCL if fault.scope != NCCL else ()
    found += OF_TRAINING if fault.scope != TRAINING else ()
    found += OF_RUNS if fault.scope in (GUESTS, PAIRS) else ()
    expected = {one.row.split()[0] for one in fault.seen}
    return [check for check in found if check not in expected]


def variables(fault, folder, inventories: Sequence[Path] = ()):
    """Variables for ansible-playbook that make of the lab's site the one for this fault."""
    lab = {}
    for one in (playbook.LAB, *inventories):
        lab.update(yaml.safe_load((one / "group_vars" / "all" / "site.yml").read_text()))
    changed = dict(fault.lab)
    if fault.by == VALIDATE:
        short = {"skip": dict.fromkeys(left_out(fault), WHY), **({"nodes": [1]} if fault.scope == TRAINING else {})}
        changed["lab_validation"] = overlaid(short, changed.get("lab_validation", {}))
    return {
        **{name: overlaid(lab.get(name, {}), change) for name, change in changed.items()},
        "aiready_run_folder": str(folder),
    }


def arguments(fault, folder, inventories: Sequence[Path] = ()):
    """The words for ansible-playbook."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "variables.json"
    file.write_text(json.dumps(variables(fault, folder, inventories)))
    limited = fault.by == VALIDATE and not fault.fabric
    named = [word for one in inventories for word in ("--inventory", str(one))]
    return [*named, "-e", f"@{file}", *(["--limit", "all:!switches"] if limited else []), *fault.arguments]


def statements(by: str, run: playbook.Run, folder: Path) -> list[str]:
    """What a playbook other than `validate` says, one text each.

    preflight: `blocks: HOST, WHAT: ...` (or `open:`, `ok:`, `will be changed:`). fabric_check: its lines (`error ...`).
    A stage: `fatal: [HOST] ...` as on the screen, and `changed OBJECT WHAT BEFORE -> AFTER`.
    """
    if by == "preflight":
        written = folder / "preflight.json"
        reported = json.loads(written.read_text())["findings"] if written.exists() else []
        parts = ("found", "wanted", "todo")
        return [
            " ".join([f"{one['state']}: {one['where']}, {one['what']}:", *(one[p] for p in parts)]) for one in reported
        ]
    if by == "fabric_check":
        return [line for line in run.text.split('"') if line.startswith(("error ", "warning ", "unknown "))]
    written = folder / "stages.json"
    stages = json.loads(written.read_text())["stages"] if written.exists() else []
    changes = [change for stage in stages for change in stage["changes"]]
    return [" ".join(said.split()) for said in FAILURE.findall(run.output)] + [
        f"changed {one['object']} {one['what']} {one.get('before')} -> {one.get('after')}" for one in changes
    ]


def not_right(made):
    """{id: row} of all that failed or warned."""
    return {row["id"]: row for row in made["checks"] if row["verdict"] in ("fail", "warn")}


def complaints(fault: Fault, ran: Ran) -> list[str]:
    """What the playbook does not say of the fault, or says and should not, as sentences."""
    if fault.by != VALIDATE:
        return _complaints_of_others(fault, ran)
    run, made = ran.run, ran.made
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


def _complaints_of_others(fault: Fault, ran: Ran) -> list[str]:
    said, found = statements(fault.by, ran.run, ran.folder), []
    if ran.run.status != fault.status:
        found.append(f"The playbook ended with status {ran.run.status} instead of {fault.status}.")
    naming = {one: [text for text in said if all(word in text for word in one.words)] for one in fault.seen}
    for one, texts in naming.items():
        if not texts:
            found.append(f"No statement contains all of {list(one.words)}.")
    known = [text for texts in naming.values() for text in texts]
    found += [
        f"It also says: {text}"
        for text in said
        if text.startswith(NOT_GOOD.get(fault.by, ()))
        and text not in known
        and not any(fnmatch.fnmatchcase(text, pattern) for pattern in fault.also)
    ]
    return found
