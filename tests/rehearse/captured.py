"""Rehearsal of the user's own site on a twin that has loaded a capture of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from vsphere_twin.capture import guests as outputs
from vsphere_twin.capture import seed as captures
from vsphere_twin.capture.bundle import Bundle
from vsphere_twin.launch import launch
from vsphere_twin.model.seed_file import SeedError

from . import captured_guests, guests, names, own_guests, own_site, playbook
from .failure import RehearsalFailed

PLAYBOOKS = playbook.ROOT / "playbooks"
FACES = ("ssh", "redfish", "switches")
PASSED, FAILED, INCOMPLETE = "passed", "failed", "incomplete"
# 2 is the status of a wrong option.
STATUSES = {PASSED: 0, FAILED: 1, INCOMPLETE: 3}
OK, CHANGED, BLOCKS = "ok", "will be changed", "blocks"
RECORDS = {
    "ANSIBLE_STDOUT_CALLBACK": "aiready.vsphere.stages",
    "ANSIBLE_CALLBACKS_ENABLED": "aiready.vsphere.record",
}
DISAGREEMENT = re.compile(r'"((?:error|warning) [^"]+)"')
SHOWN = 5
FIX = "Correct each problem in the inventory, or on the site and capture the site again. Then rehearse again."
# Titles whose rows name the assumptions about their own objects.
NAMING = ("Problems:", "Cables whose ends disagree now:", "The run changes:", "Warnings of the captured guests:")
KINDS = ("host", "VM", "switch")
Rows = Sequence[Mapping[str, Any]]


@dataclass
class Outcome:
    """The result of a rehearsal on a captured site."""

    time: str
    assumptions: Rows
    # Sentences on parts of the site that the capture lacks.
    unknown: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    # Errors, each with its cause and its fix.
    problems: list[str] = field(default_factory=list)
    # What the run would change, and where both ends of a cable disagree now.
    changes: list[str] = field(default_factory=list)
    disagreements: list[str] = field(default_factory=list)
    # What the validation would warn about in the captured guests.
    warnings: list[str] = field(default_factory=list)
    # The verdict of the validation, and the path of its report.
    validation: str = ""

    @property
    def verdict(self) -> str:
        if self.problems:
            return FAILED
        return INCOMPLETE if self.unknown else PASSED

    @property
    def status(self) -> int:
        return STATUSES[self.verdict]

    @property
    def title(self) -> str:
        many = len(self.assumptions)
        return f"rehearsed on your site as captured at {self.time}, {many} assumption{'' if many == 1 else 's'}"

    def lines(self) -> list[str]:
        """The last screen: the problems, what is incomplete, and the assumptions that the verdict depends on."""
        found: list[str] = []
        for title, rows in (
            ("Problems:", self.problems),
            ("Cables whose ends disagree now:", self.disagreements),
            ("The run changes:", self.changes),
            ("Warnings of the captured guests:", self.warnings),
            ("Incomplete:", self.unknown),
            ("Not rehearsed, since these stages need guests:", self.left_out),
            ("Assumptions:", grouped(self.assumptions)),
        ):
            if rows:
                own = title in NAMING
                found += ["", title, *(f"  {row}{assumed_in(row, self.assumptions) if own else ''}" for row in rows)]
        if self.validation:
            found += ["", *self.validation.splitlines()]
        if self.problems:
            found += ["", FIX]
        return found


def assumed_in(text: str, rows: Rows) -> str:
    """A sentence with the assumptions about the hosts, ports, VMs and switches that a text names."""
    found = []
    for row in rows:
        kind, _blank, names = row["object"].partition(" ")
        # `host esx-01, vmnic2` and `host esx-01, GPU 0000:39:00.0`: the text must name the host and its part.
        parts = [name.split()[-1] for name in names.split(", ") if name.split()]
        if kind in KINDS and parts and all(_names(text, part) for part in parts):
            found.append(f"{row['fact']} of {row['object']}")
    return f" Assumed here: {'; '.join(found[:SHOWN])}{_more(found)}." if found else ""


def _names(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", text) is not None


def grouped(rows: Rows) -> list[str]:
    """Assumptions as lines: one for each fact and value, with its objects."""
    objects: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        objects.setdefault((row["fact"], str(row["value"]), row["reason"]), []).append(row["object"])
    return [
        f"{fact} is assumed to be {value} ({reason}): {'; '.join(found[:SHOWN])}{_more(found)}"
        for (fact, value, reason), found in objects.items()
    ]


def _more(found: Sequence[str]) -> str:
    return f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""


def changes_of(findings: Rows) -> list[str]:
    """What preflight found that a run will change."""
    return [
        f"{one['where']}: {one['what']}: {one['found']}".rstrip(": ") for one in findings if one["state"] == CHANGED
    ]


def problems_of(findings: Rows) -> list[str]:
    """What preflight found that blocks a run, with its fix."""
    return [
        " ".join(filter(None, [f"{one['where']}: {one['what']}: {one['found']}", one.get("todo", "")]))
        for one in findings
        if one["state"] == BLOCKS
    ]


def load(path: Path) -> dict[str, Any]:
    """The seed of a capture, and under `guests` what its guests show."""
    bundle = Bundle(path)
    return {**captures.of_bundle(bundle), "guests": outputs.of(bundle)}


def seed_of(capture: str, listed: Mapping[str, Any]) -> dict[str, Any]:
    """load() with the names that the site has; RehearsalFailed if the capture lacks hosts of the site."""
    path = Path(capture)
    if not path.exists():
        raise RehearsalFailed(
            f"Cannot load the capture {capture}. The path does not exist. "
            "Set CAPTURE to the zip that playbooks/capture.yml wrote."
        )
    try:
        seed = load(path)
    except SeedError as problem:
        raise RehearsalFailed(
            f"Cannot load the capture {capture}. {problem} Capture the site again, see docs/capture.md."
        ) from problem
    if not own_site.names_missing(listed, seed):
        return seed
    table = Path(f"{capture}.secret.json")
    if table.is_file():
        seed = names.restored(seed, names.originals(json.loads(table.read_text())))
    lacking = own_site.names_missing(listed, seed)
    if not lacking:
        return seed
    there = ", ".join(host["name"] for host in own_site.hosts_of(seed)) or "none"
    fix = (
        "Capture the site again, or remove these hosts from a copy of the inventory."
        if table.is_file()
        else f"If these are pseudonyms, put the table of pseudonyms at {table}. Otherwise capture the site again."
    )
    raise RehearsalFailed(
        f"Cannot rehearse this site on {capture}. The capture lacks the hosts {', '.join(lacking)}; it has {there}. "
        f"{fix}"
    )


def rehearse(
    report, work: Path, results: Path, capture: str, site: str, say, stages: str = "infrastructure"
) -> Outcome:
    """Run preflight, the comparison of cables, the plan and the stages, with the user's inventory.

    stages: infrastructure, or all and auto with guests. Without a container engine, auto is incomplete.
    """
    env = playbook.environment(work, **RECORDS)
    results.mkdir(parents=True, exist_ok=True)
    with ExitStack() as running:
        with report.step("Load the capture, and map the site to the simulated data centre") as note:
            # The inventory of the lab asks for its endpoint, which is not there yet.
            (work / "endpoint.json").write_text("{}")
            listed = own_site.listing(own_site.files(site), work, env)
            seed = seed_of(capture, listed)
            own = own_site.site_of(listed)
            differing = captured_guests.compared(own, seed, seed.pop("guests"))
            inside, why = _with_guests(own, seed, stages, say)
            if inside:
                seed["assumptions"] += own_guests.quiet(seed, own)
            outcome = Outcome(seed["captured"], seed["assumptions"])
            twin = running.enter_context(launch(seed=seed, faces=FACES + guests.FACES if inside else FACES))
            playbook.write_endpoint(twin, work)
            mapped = own_site.mapped(listed, twin.endpoint(), str(work) if inside else "")
            outcome.assumptions = [*seed["assumptions"], *mapped.assumptions, *differing.assumptions]
            say(outcome.title)
            outcome.unknown, outcome.left_out = [*mapped.unknown, *why], mapped.left_out
            inventory = work / "inventory.yml"
            inventory.write_text(yaml.safe_dump(mapped.inventory, sort_keys=False, allow_unicode=True, width=4096))
            (results / "assumptions.json").write_text(json.dumps(outcome.assumptions, indent=1) + "\n")
            note(f"{len(mapped.hosts)} hosts, {len(mapped.switches)} switches, {len(outcome.assumptions)} assumptions")
        _run(report, _Runs(env, inventory, results, say), outcome, bool(mapped.switches), inside)
    # The run goes on, since the validation of a live site reports these only at its end.
    outcome.changes += differing.changes
    outcome.problems += differing.problems
    outcome.warnings = differing.warnings
    return outcome


def _run(report, runs: _Runs, outcome: Outcome, cabled: bool, inside: bool) -> None:
    """Run the playbooks as far as no problem blocks them, and note what they find."""
    with report.step("Run playbooks/preflight.yml") as note:
        found = runs.preflight()
        outcome.changes, outcome.problems = changes_of(found), problems_of(found)
        note(f"{len(outcome.problems)} problems block the run, {len(outcome.changes)} settings will be changed")
    if cabled:
        with report.step("Run playbooks/fabric_check.yml: compare both ends of each cable as they are") as note:
            outcome.disagreements = runs.disagreements()
            note(f"{len(outcome.disagreements)} disagreements")
    with report.step("Run playbooks/site.yml --check --diff: it reports the changes and makes none") as note:
        planned = runs.play("plan", "--check", "--diff")
        if planned.status != 0:
            outcome.problems += failures_of("The plan", planned.status, runs.results / "plan")
        note(f"status {planned.status}, {planned.changed} tasks report a change")
    if outcome.problems:
        runs.say("The run is left out, since the problems above block it.")
        return
    title = (
        "Run playbooks/site.yml: the whole run and its validation" if inside else "Run playbooks/site.yml up to the VMs"
    )
    with report.step(title) as note:
        made = runs.play("run", "--diff")
        if made.status != 0:
            outcome.problems += failures_of("The run", made.status, runs.results / "run")
        note(f"status {made.status}, changed={made.changed}")
    validated = runs.results / "run" / "validation.json"
    if inside and validated.is_file():
        outcome.validation = guests.verdict(runs.results / "run")
        state = json.loads(validated.read_text())["verdict"]["state"]
        if state == "fail" and not outcome.problems:
            outcome.problems.append(f"The validation: {outcome.validation}")


def _with_guests(site: Any, seed: Mapping[str, Any], stages: str, say) -> tuple[bool, list[str]]:
    """Whether VMs get real guests, and a sentence if the site has stages for guests and there are none."""
    wanted = own_guests.stages_of(site)
    if stages == "infrastructure" or not wanted:
        return False, []
    problem = own_guests.impossible(site, seed)
    if not problem:
        guests.report_progress(say)
        problem = guests.missing(lambda line: say(f"  : {line}"))
    if problem and stages == "all":
        raise RehearsalFailed(f"Cannot start guests. {problem}")
    sentence = f"The stages {', '.join(wanted)} are not rehearsed, since guests cannot start. {problem}"
    return not problem, [sentence] if problem else []


def failures_of(what: str, status: int, folder: Path) -> list[str]:
    """The errors in the record of a run; one on the record itself if it has none."""
    record = folder / "stages.json"
    reported = json.loads(record.read_text()) if record.is_file() else {}
    rows = [
        *reported.get("failures", ()),
        *(row for stage in reported.get("stages", ()) for row in stage.get("failures", ())),
    ]
    found = [": ".join(filter(None, (what, row["object"], row["msg"] or _unsaid(row["task"])))) for row in rows]
    usual = f"{what} ended with status {status}. Its output names the error. Correct the site, and rehearse again."
    return list(dict.fromkeys(found)) or [usual]


def _unsaid(task: str) -> str:
    """The failure of a task without a message: the record has only those of own modules, which return no secrets."""
    return f"The task `{task}` failed. Its output above has the message. Correct the site, and rehearse again."


class _Runs:
    """Playbooks with the mapped inventory, and what they leave in the folder of results."""

    def __init__(self, env: Mapping[str, str], inventory: Path, results: Path, say) -> None:
        self._env, self._inventory, self.results, self.say = env, inventory, results, say

    def play(self, name: str, *arguments: str, of: str = "site", **more: str) -> playbook.Run:
        env = {**self._env, "AIREADY_RUN_FOLDER": str(self.results / name), **more}
        return playbook.run(
            PLAYBOOKS / f"{of}.yml",
            *arguments,
            env=env,
            inventory=self._inventory,
            echo=lambda line: self.say(f"  | {line}"),
        )

    def preflight(self) -> Rows:
        run = self.play("preflight", of="preflight", ANSIBLE_STDOUT_CALLBACK="default")
        written = self.results / "preflight" / "preflight.json"
        if not written.is_file():
            raise RehearsalFailed(
                f"The preflight of the site ended with status {run.status} and without a result. Its output is above. "
                "Correct the inventory, and rehearse again."
            )
        return json.loads(written.read_text())["findings"]

    def disagreements(self) -> list[str]:
        run = self.play("fabric_check", of="fabric_check", ANSIBLE_STDOUT_CALLBACK="default")
        return list(dict.fromkeys(DISAGREEMENT.findall(run.text)))
