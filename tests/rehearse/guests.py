"""Part of the rehearsal inside guests: its requirements, and the proof that a training really ran."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import simulated

from browser import chromium, seen

from . import rule
from .failure import RehearsalFailed

FACES = ("guests", "depot", "registry")
# Names of the training adapters in the guests of the lab: the second one of each VM.
DATA, MANAGEMENT = "ens224", "ens192"
LEAST_BYTES = 100_000
BROWSER = "AIREADY_BROWSER"  # required: one is installed where it can be
# Settings of the lab that no real site should have, all of which the validation has to list.
RELAXED = {
    *("site.guests.limits.memlock", "site.guests.limits.nofile", "site.runtime.memlock"),
    *("site.hosts.serial", "site.fabric.serial", "site.validation.seconds", "host keys of switches"),
    *(
        f"site.validation.thresholds.{name}"
        for name in (
            "pair.iperf3.baseline.worse_percent",
            "pair.mpi_lat.baseline.worse_percent",
            "pair.mpi_bw.baseline.worse_percent",
            "cluster.mpi_allreduce.baseline.worse_percent",
            "cluster.training.baseline.worse_percent",
            "cluster.training.outliers.percent",
        )
    ),
}
NOT_GOOD = ("warn", "fail", "not_run")
# Measured and not required in a lab: limits that containers cannot raise, counters that PVRDMA lacks, figures without a
# threshold in the run that records them, ports whose path another one took, and rates of shared processors.
NOT_REQUIRED = (
    *("guest.memlock", "guest.counters", "fabric.counters", "pair.iperf3", "pair.mpi_lat", "pair.mpi_bw"),
    *("cluster.mpi_allreduce", "cluster.efficiency"),
)


def missing(say) -> str:
    """Return why there can be no guests here, or an empty text; a container engine is installed and started where that
    is allowed."""
    try:
        from vsphere_twin.guests import engine, image, training_image
    except ImportError as problem:
        return f"The library {problem.name} is missing. Run `make setup`."
    try:
        client = engine.have(say, install=os.geteuid() == 0)
        try:
            image.ensure(client, say)
            training_image.ensure(client, say)
        finally:
            client.close()
    except engine.EngineProblem as problem:
        return str(problem)
    return ""


def report_progress(say) -> None:
    """Show the lab's report on its guests, so that a wait is not silent."""

    class Teller(logging.Handler):
        def emit(self, record):
            say(f"  : {record.getMessage()}")

    log = logging.getLogger("vsphere_twin.guests")
    log.setLevel(logging.INFO)
    log.handlers = [Teller()]


def ready(twin, names, licence: bool = True) -> str:
    """Return the state of the guests themselves, without any playbook: driver, licence, engine."""
    for name in names:
        guest = twin.guest(name)
        _expect(guest, name, ["nvidia-smi", "-L"], "GPU 0:", "its driver shows no GPU")
        if licence:
            _expect(guest, name, ["nvidia-smi", "-q"], "Licensed (", "its GPU has no licence")
        _expect(
            guest,
            name,
            ["docker", "info", "--format", "{{json .Runtimes}}"],
            "nvidia",
            "its Docker has no NVIDIA runtime",
        )
    return f"{' and '.join(names)} have a {'licensed ' * licence}GPU and Docker with the NVIDIA runtime"


def counters(twin, names) -> dict:
    """Return the traffic counters of each guest's adapters."""
    return {name: twin.guest(name).counters() for name in names}


def validated(folder: Path) -> str:
    """Return the result of the validation: no failure, no warning, and no simulated part called real."""
    reported = json.loads((folder / "validation.json").read_text())
    bad = [f"{row['id']} ({row['verdict']}): {row['why']}" for row in reported["checks"] if row["verdict"] in NOT_GOOD]
    if reported["verdict"]["state"] != "pass" or bad:
        raise RehearsalFailed(f"The validation of a correct lab must pass without a warning: {'; '.join(bad)}")
    broken = rule.violations(reported, folder)
    if broken:
        raise RehearsalFailed(f"The report claims more than was measured: {'; '.join(broken)}")
    labels(reported)
    free = {
        row["id"] for row in reported["checks"] if row["verdict"] == "not_required" and row["check"] not in NOT_REQUIRED
    }
    if free:
        raise RehearsalFailed(f"The validation does not require these checks of the lab: {', '.join(sorted(free))}.")
    page = folder / "report.html"
    if "<svg" not in page.read_text() and "data:image" not in page.read_text():
        raise RehearsalFailed(f"The report {page} has no plot.")
    return f"{reported['verdict']['counts']['pass']} checks passed"


def labels(reported: dict) -> None:
    """Check that no part of a lab is labelled as real, and no omitted check as strict."""
    if set(reported["simulated_parts"]) != set(simulated.WORDS):
        raise RehearsalFailed(
            f"The validation does not declare all simulated parts, only: {reported['simulated_parts']}."
        )
    device = {"cluster.training": "CPU"}
    for row in reported["checks"]:
        parts = simulated.of(row["check"], simulated.WORDS, row["variant"], device.get(row["check"], ""))
        # Results of trainings have simulated parts; results that were not measured have none.
        if row["verdict"] not in ("not_run", "skipped") and not set(parts) <= set(row["simulated_parts"]):
            raise RehearsalFailed(f"{row['id']} depends on {parts}, but declares {row['simulated_parts']}.")
    lacking = RELAXED - {one["setting"] for one in reported["relaxed"]}
    if lacking:
        raise RehearsalFailed(f"The validation does not list as relaxed: {', '.join(sorted(lacking))}.")
    silent = [
        row["id"]
        for row in reported["checks"]
        if row["check"] == "guest.memlock" and not (row["relaxed"] and row["notes"])
    ]
    if silent:
        raise RehearsalFailed(f"Rows do not report their relaxed limits: {', '.join(silent)}.")


def looked_at(folder: Path, say) -> str:
    """Return what a browser shows of the report; without one it is skipped, unless AIREADY_BROWSER=required."""
    required = os.environ.get(BROWSER) == "required"
    try:
        wrong = seen.problems(folder, say, install=required)
    except chromium.NoBrowser as problem:
        if required:
            raise RehearsalFailed(f"Cannot check the report in a browser. {problem}") from None
        return f"skipped, no browser: {' '.join(str(problem).split())}"
    if wrong:
        raise RehearsalFailed(f"The report is wrong: {'; '.join(wrong[:10])}")
    return "its plots are drawn, its numbers match the data, and it loads nothing from outside"


def verdict(folder: Path) -> str:
    """Return the final lines of a rehearsal."""
    reported = json.loads((folder / "validation.json").read_text())["verdict"]
    return f"Verdict: {reported['state']}. {reported['sentence']}\nReport: {folder / 'report.html'}"


def trained(folder: Path, twin, names, before: dict | None = None) -> str:
    """Return the newest result; before: earlier counters, to compare it with the adapters of the guests."""
    result = _newest(folder)
    loss, weights = result["loss"], result["weights"]
    wrong = []
    if result["verdict"]["state"] != "passed":
        wrong.append(f"its verdict is {result['verdict']}")
    if not (loss["first"] and loss["last"] is not None and loss["last"] < loss["first"]):
        wrong.append(f"its loss did not fall: {loss}")
    if not weights["equal"]:
        wrong.append(f"the weights of its ranks differ: {weights}")
    carried = {}
    for name, was in (before or {}).items():
        now = twin.guest(name).counters()
        grown = {one: sum(now[one]) - sum(was.get(one, (0, 0))) for one in (DATA, MANAGEMENT) if one in now}
        carried[name] = grown.get(DATA, 0)
        if grown.get(DATA, 0) < max(LEAST_BYTES, grown.get(MANAGEMENT, 0) // 10):
            wrong.append(f"{name} carried {grown}, so its training did not use {DATA}")
    reported = {one["name"]: one["carried_by"] for one in result["hosts"]}
    if set(reported.values()) != {DATA}:
        wrong.append(f"the result reports traffic on {reported}")
    left = {name: twin.guest(name).run(["docker", "ps", "--quiet"])[1].split() for name in names}
    if any(left.values()):
        wrong.append(f"containers remain: {left}")
    if wrong:
        raise RehearsalFailed(f"The training is not as expected: {'; '.join(wrong)}.")
    traffic = f"{min(carried.values()) // 1024} kB and more" if carried else "traffic"
    return (
        f"loss {loss['first']:.3f} to {loss['last']:.3f}, weights of {len(result['ranks'])} ranks equal, "
        f"{traffic} on {DATA} of each guest"
    )


def _newest(folder: Path) -> dict:
    files = sorted(folder.glob("training-*.json"), key=lambda path: path.stat().st_mtime)
    if not files:
        raise RehearsalFailed(f"The training left no result in {folder}.")
    return json.loads(files[-1].read_text())


def _expect(guest, name, argv, text, trouble) -> None:
    status, out, err = guest.run(argv)
    if status != 0 or text not in out:
        raise RehearsalFailed(f"{name}: {trouble}. `{' '.join(argv)}` printed: {(out + err).strip()[-500:]}")
