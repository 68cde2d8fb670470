"""Rehearse a site from factory-state hosts and switches to a training across VMs, on a simulated data centre."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from guests.faults.running import prepare
from supervise.keeper import self_supervised
from vsphere_twin.launch import launch

from . import captured, center, faults, guests, kubernetes, plan, playbook, restored, sites
from .failure import RehearsalFailed

SITE = playbook.ROOT / "playbooks" / "site.yml"
MACHINES = playbook.ROOT / "playbooks" / "machines.yml"

# Output of the runs, and their recordings, as operators would configure them.
CALLBACKS = {
    "ANSIBLE_STDOUT_CALLBACK": "aiready.vsphere.stages",
    "ANSIBLE_CALLBACKS_ENABLED": "aiready.vsphere.record",
}
# Runs that are killed get no further than this.
LONGEST_S = 150
FOLDER = "AIREADY_RUN_FOLDER"
FIRST = "REHEARSAL_FIRST"
FACES = ("ssh", "redfish", "switches")
# auto: everything if guests can be started, else a report on the missing parts, and the infrastructure.
# kubernetes: only VMs and a cluster, see rehearse.kubernetes.
STAGES = ("auto", "all", "infrastructure", "kubernetes")
PODS = ("containers", "simulated")
CHECKS = ("", "all", "restore")
# Stages of which nothing can be known before there are VMs.
INSIDE = ("guests", "runtime", "training", "validation")


@dataclass
class Report:
    """Steps done, for the summary at the end."""

    began: float = field(default_factory=time.monotonic)
    lines: list[str] = field(default_factory=list)
    # Verdict of the validation, and the path of its report.
    verdict: str = ""

    @contextmanager
    def step(self, title: str):
        """Announce a step, and report its result and its duration."""
        say(f"\n=== {title}")
        start = time.monotonic()
        outcome: list[str] = []
        try:
            yield outcome.append
        except RehearsalFailed:
            self.lines.append(f"  FAILED  {time.monotonic() - start:5.1f} s  {title}")
            raise
        self.lines.append(f"  ok      {time.monotonic() - start:5.1f} s  {title}: {'; '.join(outcome)}")

    def summary(self, verdict: str) -> str:
        ends = [self.verdict] if self.verdict else []
        return "\n".join(["", f"{verdict} after {time.monotonic() - self.began:.1f} s", *self.lines, *ends])


def say(line: str) -> None:
    print(line, flush=True)


def rehearse(
    report: Report,
    work: Path,
    results: Path,
    stages: str = "infrastructure",
    kills: Sequence = (),
    wrong: str = "",
    checks: str = "",
    site: str = "",
) -> None:
    """Run the steps on a twin that is removed afterwards; the output of the runs stays in the folder of results.

    kills are the seconds after which runs are killed before the one that runs to its end; wrong selects the faults to
    plant after it. checks: with all, the changes match those of check mode, happen once, and a damage is repaired; with
    restore, the state before the run is restored.
    """
    thorough = checks == "all"
    inside, of = _with_guests(report, stages), sites.of(site)
    names = faults.selected(wrong, inside, site) if wrong else []
    if wrong and not names:
        raise RehearsalFailed(f"FAULTS={wrong} selects no fault to plant here. Faults inside guests need STAGES=all.")
    if names:
        say(faults.announced(wrong, names, site))
    with ExitStack() as running:
        title = "Start a simulated data centre: two hosts and six switches in factory state, a template"
        with report.step(title) as note:
            faces = FACES + guests.FACES if inside else FACES
            twin = running.enter_context(launch(seed=of.seed, faces=faces))
            playbook.write_endpoint(twin, work)
            note(f"at {twin.host}:{twin.port}; {center.lossy(twin)}")
            if names:
                prepare(twin)
        before = restored.state(twin) if checks == "restore" else {}
        env = playbook.environment(work, **CALLBACKS)
        # A run that continues after killed ones does the rest of the announced changes.
        announced = thorough and not kills
        if announced:
            title = "Run playbooks/site.yml --check --diff: it reports the changes and makes none"
            with report.step(title) as note, playbook.forked():
                note(_planned(twin, env, results / "plan", inside, of.arguments))
        title = f"Run playbooks/site.yml: hosts and switches become ready, each host gets a VM with {of.gpu}"
        with report.step(f"{title}, they train, and all of it is validated" if inside else title) as note:
            _kill_runs(env, kills, note, of.arguments)
            # Operators start a new process. Gates do so for one of the sites.
            with playbook.forked() if os.environ.get(FIRST) == "forked" else nullcontext():
                first = _play({**env, FOLDER: str(results / "run")}, "--diff", *of.arguments)
            if not first.changed:
                raise RehearsalFailed("The run changed nothing, so it proves nothing.")
            note(f"changed={first.changed}; {center.restarts(twin)}")
            if announced:
                note(plan.kept(results / "plan", results / "run"))
        with report.step("Check the state of the simulated data centre without the playbook") as note:
            note(f"{of.ready(twin)}; {of.proof(twin)}; {of.lossless(twin)}")
            if inside:
                note(guests.ready(twin, center.VMS, of.licence))
                note(guests.trained(results / "run", twin, center.VMS))
                note(guests.validated(results / "run"))
                report.verdict = guests.verdict(results / "run")
        if inside:
            with report.step("Check the report in a browser") as note:
                note(guests.looked_at(results / "run", say))
        os.environ[playbook.WARM] = "1"
        if names:
            with report.step("Plant faults, one at a time: a playbook must report each") as note:
                note(faults.planted(twin, env, results / "faults", names, inside, say, site))
        if checks == "restore":
            _restored(report, twin, env, results, before, of)
        if not thorough:
            return
        with report.step("Restart every switch: the saved configuration must equal the running one") as note:
            center.reload(twin)
            note(of.lossless(twin))
        with report.step(
            "Run playbooks/site.yml again: it must change nothing" + inside * ", and they train again"
        ) as note:
            counted = guests.counters(twin, center.VMS) if inside else {}
            # Every validation repeats its measurements, and one is enough here.
            stop = ("--extra-vars", "site_stop_after=training")
            again = _play({**env, FOLDER: str(results / "again")}, *stop, *of.arguments)
            # A training runs every time, so it counts as a change.
            if again.changed != int(inside) + of.again:
                raise RehearsalFailed(f"The second run changed something: changed={again.changed}.")
            note(f"changed={again.changed}")
            if inside:
                note(guests.trained(results / "again", twin, center.VMS, counted))
        with report.step(
            "Remove the adapter of one VM, and the other VM: playbooks/machines.yml must restore both"
        ) as note:
            of.damage(twin)
            repaired = _play({**env, FOLDER: str(results / "repair")}, *of.arguments, of=MACHINES)
            note(f"changed={repaired.changed}; {of.proof(twin)}")


def _restored(report: Report, twin, env: dict[str, str], results: Path, before: restored.State, of: sites.Site) -> None:
    """Plan a restore, restore, and compare the state with the one before the run."""
    made = restored.state(twin)
    restored.changed(before, made)
    deletes = ("--extra-vars", "restore_delete_vms=true")
    with report.step("Run playbooks/restore.yml --check --diff: it reports the changes and makes none") as note:
        words = ("--check", "--diff", *deletes, *of.arguments)
        _play({**env, FOLDER: str(results / "restore-plan")}, *words, of=restored.RESTORE)
        restored.unchanged(made, restored.state(twin))
        note("nothing changed")
    with report.step("Run playbooks/restore.yml: the state before the run is restored") as note:
        done = _play({**env, FOLDER: str(results / "restore")}, *deletes, *of.arguments, of=restored.RESTORE)
        restored.undisturbed(done.output)
        note(f"changed={done.changed}; {restored.same(before, restored.state(twin), of.lasting)}")


def _planned(twin, env: dict[str, str], folder: Path, inside: bool, arguments: Sequence[str]) -> str:
    """Plan the whole run and leave its record in the folder."""
    before = center.whole(twin)
    reported = _play({**env, FOLDER: str(folder)}, "--check", "--diff", *arguments)
    if not reported.changed:
        raise RehearsalFailed("The plan announced nothing, so it proves nothing.")
    if center.whole(twin) != before:
        raise RehearsalFailed("Check mode changed the data centre.")
    later = plan.decided_after(folder, "machines")
    if inside and later != [*INSIDE]:
        raise RehearsalFailed(
            f"The plan must leave {', '.join(INSIDE)} open until the stage machines. It does so for {later}."
        )
    return f"{reported.changed} tasks report a change, none made one"


def _with_guests(report: Report, stages: str) -> bool:
    """Return whether the VMs get real guests; their requirements are built first."""
    if stages == "infrastructure":
        return False
    guests.report_progress(say)
    with report.step("Prepare guests: a container engine, and cached images") as note:
        problem = guests.missing(lambda line: say(f"  : {line}"))
        if problem and stages == "all":
            raise RehearsalFailed(f"Cannot start guests. {problem}")
        if problem:
            say(f"Cannot start guests. {problem}\nThe rehearsal continues without guests, up to running VMs.")
        note("cannot start guests, see above; continuing without them" if problem else "ready")
    return not problem


def _kill_runs(env: dict[str, str], kills: Sequence[float], note, arguments: Sequence[str]) -> None:
    """Start the same run repeatedly and kill it."""
    for number, seconds in enumerate(kills, 1):
        say(f"\n--- run {number} of {len(kills)}, killed after {seconds:.1f} s")
        run = playbook.run(SITE, *arguments, env=env, echo=lambda line: say(f"  | {line}"), kill_after_s=seconds)
        if run.status not in (0, -signal.SIGKILL):
            raise RehearsalFailed(f"The run after {number - 1} kills ended with status {run.status}; see above.")
    if kills:
        note(f"after {len(kills)} killed runs")


def _play(env: dict[str, str], *arguments: str, of: Path = SITE) -> playbook.Run:
    run = playbook.run(of, *arguments, env=env, echo=lambda line: say(f"  | {line}"))
    if run.status != 0:
        raise RehearsalFailed(f"The playbook ended with status {run.status}; its output is above.")
    return run


def _consistent(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with an error if options do not belong together."""
    if options.stages == "kubernetes" and (options.capture or options.site or options.faults or options.kills):
        parser.error("STAGES=kubernetes has a site of its own. Remove CAPTURE, SITE, FAULTS and KILLS.")
    if options.checks == "restore" and (options.stages == "kubernetes" or options.faults or options.kills):
        parser.error("CHECKS=restore needs one whole run of a site. Remove STAGES=kubernetes, FAULTS and KILLS.")
    if not options.capture and options.site not in sites.NAMES:
        parser.error(f"SITE={options.site} needs CAPTURE=my.zip. Without a capture, SITE is empty or directpath.")
    if not options.capture:
        return
    if options.site in sites.NAMES:
        parser.error("CAPTURE needs SITE=my/site.yml, the path of your own site file or inventory folder.")
    if options.faults or options.kills or options.checks:
        parser.error("CAPTURE runs once, without CHECKS, FAULTS and KILLS. Remove these options.")


def _of_capture(report: Report, work: Path, results: Path, options: argparse.Namespace) -> int:
    """Rehearse the user's own site, write the report, and return the exit status of the verdict."""
    outcome = captured.rehearse(report, work, results, options.capture, options.site, say, options.stages)
    ends = {captured.PASSED: "passed", captured.FAILED: "FAILED", captured.INCOMPLETE: "is incomplete"}
    title = f"The rehearsal {ends[outcome.verdict]}: {outcome.title}"
    text = "\n".join([report.summary(title), *outcome.lines()])
    (results / "rehearsal.txt").write_text(f"{text.strip()}\n")
    say(text)
    say(f"\nThe report is {results / 'rehearsal.txt'}.")
    return outcome.status


def _kubernetes(report: Report, work: Path, results: Path, options: argparse.Namespace) -> None:
    """Rehearse the stage kubernetes with a container engine, or with pods that the twin simulates."""
    real = options.pods == "containers"
    if real:
        with report.step("Prepare pods: a container engine, and the image for trainings") as note:
            problem = guests.missing(lambda line: say(f"  : {line}"))
            if problem:
                raise RehearsalFailed(
                    f"Cannot run pods as containers. {problem} Or simulate them, with PODS=simulated."
                )
            note("ready")
    kubernetes.rehearse(report, work, results, options.checks == "all", real, say)


def _terminated(*_) -> None:
    """End the rehearsal on SIGTERM or a closed terminal like on Ctrl-C: all its processes are stopped."""
    raise KeyboardInterrupt


def main() -> int:
    parser = argparse.ArgumentParser(prog="rehearse", description=__doc__)
    parser.add_argument("--stages", choices=STAGES, default="auto", help="all needs a container engine")
    parser.add_argument("--results", type=Path, help="folder of results and the report (default: .build/rehearsal)")
    parser.add_argument("--kills", type=int, default=0, help="number of runs to kill at random moments first")
    parser.add_argument("--random", type=int, default=0, help="random seed of these moments")
    parser.add_argument(
        "--checks", choices=CHECKS, default="", help="all: plan, run twice, repair; restore: undo the run"
    )
    parser.add_argument("--pods", choices=PODS, default="containers", help="with --stages kubernetes")
    parser.add_argument("--site", default="", help="directpath: vSphere 9.1 without a licence; with --capture, a path")
    parser.add_argument("--capture", default="", help="a capture of the site at the path of --site")
    parser.add_argument("--faults", default="", help="planted one at a time: some, all, handful, handful:NUMBER, names")
    options = parser.parse_args()
    _consistent(parser, options)
    signal.signal(signal.SIGTERM, _terminated)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # under nohup it goes on
        signal.signal(signal.SIGHUP, _terminated)
    moments = random.Random(options.random)
    kills = [moments.uniform(2, LONGEST_S) for _number in range(options.kills)]
    report = Report()
    build = playbook.ROOT / ".build"
    build.mkdir(exist_ok=True)
    named = "captured" if options.capture else options.site or ("kubernetes" * (options.stages == "kubernetes"))
    results = options.results or build / "-".join(filter(None, ("rehearsal", named)))
    for folder in ("plan", "run", "again", "repair", "restore-plan", "restore", "faults", "preflight", "fabric_check"):
        shutil.rmtree(results / folder, ignore_errors=True)
    try:
        with tempfile.TemporaryDirectory(prefix="rehearsal-") as work:
            if options.capture:
                return _of_capture(report, Path(work), results, options)
            if options.stages == "kubernetes":
                _kubernetes(report, Path(work), results, options)
                say(report.summary("The rehearsal passed"))
                return 0
            rehearse(report, Path(work), results, options.stages, kills, options.faults, options.checks, options.site)
    except RehearsalFailed as failure:
        say(f"\n{failure}")
        say(report.summary("The rehearsal FAILED"))
        return 1
    except KeyboardInterrupt:
        say(report.summary("The rehearsal was interrupted and stopped all its processes"))
        return 130
    say(report.summary("The rehearsal passed"))
    return 0


if __name__ == "__main__":
    # Tests that start a rehearsal have it for themselves.
    os.environ.pop(playbook.WARM, None)
    status = self_supervised()
    sys.exit(main() if status is None else status)
