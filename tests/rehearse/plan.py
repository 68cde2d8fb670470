"""Compare the plan of a check mode run with the changes of the real run."""

from __future__ import annotations

import json
from pathlib import Path

from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import plan as run_plan
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import record

from .failure import RehearsalFailed

CALLBACKS = {"ANSIBLE_CALLBACKS_ENABLED": "aiready.vsphere.record"}


def environment(folder: Path) -> dict[str, str]:
    """Return variables that make a run write its record into this folder."""
    return {**CALLBACKS, "AIREADY_RUN_FOLDER": str(folder)}


def decided_after(folder: Path, stage: str) -> list[str]:
    """Return the stages of a plan that announce no change and are planned after this one, for all their objects."""
    stages = json.loads((folder / "stages.json").read_text())["stages"]
    return [
        one["name"]
        for one in stages
        if not one["changes"]
        and one.get("decided_later")
        and all((mark["after"], mark["what"]) == (stage, []) for mark in one["decided_later"])
    ]


def compared(plan: Path, run: Path) -> dict:
    """Compare the records of both folders with run_plan."""
    reported, done = (record.of_folder(str(folder)) for folder in (plan, run))
    missing = [str(folder) for folder, found in ((plan, reported), (run, done)) if found is None]
    if missing:
        raise RehearsalFailed(f"No record in {' and '.join(missing)}.")
    return run_plan.compared(run_plan.planned(reported), run_plan.made(done))


def kept(plan: Path, run: Path) -> str:
    """Return the announced and the open steps, in a few words; RehearsalFailed if the run did otherwise."""
    found = compared(plan, run)
    if found["not_announced"] or found["not_done"]:
        lines = run_plan.lines(found, str(plan))
        raise RehearsalFailed(
            "The changes of the run differ from those that check mode announced.\n" + "\n".join(lines)
        )
    if not found["as_announced"]:
        raise RehearsalFailed("The plan announced nothing, so it proves nothing.")
    became = sum(mark["became"] for mark in found["later"])
    return (
        f"{found['as_announced']} changes as announced, {became} by {len(found['later'])} lines planned later, no other"
    )
