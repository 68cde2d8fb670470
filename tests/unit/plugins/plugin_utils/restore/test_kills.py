"""A restore that is killed at any moment and run again ends in the state before the runs.

The objects are dictionaries here, and a module writes a journal as the modules of the collection do.
"""

from __future__ import annotations

import contextlib
import copy

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core import journal
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore import judge
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.plan import plan

UUID = "52b6"
NEW = {"exists": True}
BEFORE = {"vm": {"cpus": 4, "profiles": [], "power": "off"}, "gpu": {"automation.vm": "cluster"}, "new": {}}
AFTER = {"vm": {"cpus": 16, "profiles": ["a100"], "power": "on"}, "gpu": {"automation.vm": "manual"}, "new": NEW}
RUNS = (
    ("vm_clone", "new", {"exists": True}),
    ("vm_config", "vm", {"cpus": 16}),
    ("vm_config", "vm", {"profiles": ["a100"]}),
    ("drs_placement", "gpu", {"automation.vm": "manual"}),
    ("vm_power", "vm", {"power": "on"}),
)
# Four of each step that changes something.
MOMENTS = 16


class Killed(Exception):
    """The power of the controller failed."""


class Site:
    """Objects, their journal, and the number of moments until a kill."""

    def __init__(self, folder):
        self.folder = folder
        self.now = copy.deepcopy(BEFORE)
        self.moments = None
        self.tasks = 0

    def change(self, run, module, name, values):
        """What a module does: a line, the change, a line; the power fails at one of four moments."""
        changes = [
            {"path": path, "before": self.now[name].get(path), "after": value, "needs": None}
            for path, value in values.items()
            if self.now[name].get(path) != value
        ]
        if module == "vm_clone":
            changes = [{**one, "before": bool(one["before"]), "after": bool(one["after"])} for one in changes]
        if not changes:
            return
        self.tasks += 1
        common = {"v": 1, "task": f"{run}{self.tasks}", "when": f"2026-01-01T00:00:{self.tasks:02}"}
        ids = (
            {"moid": f"moid-{name}"} if name == "gpu" else {"instance_uuid": f"{UUID}-{name}", "path": f"/dc/vm/{name}"}
        )
        head = {"run": run, "stage": "machines", "module": module, "host": "localhost", "request": {"cluster": "gpu"}}
        planned = {"item": 0, "label": name, "ids": ids, "changes": changes}
        self._moment()
        rows = [{**common, "kind": "task", **head}, {**common, "kind": "planned", **planned}]
        journal.append(str(self.folder / f"{run}.jsonl"), rows)
        self._moment()
        self.now[name].update(values)
        if values.get("exists") is False:
            self.now[name] = {}
        self._moment()
        journal.append(str(self.folder / f"{run}.jsonl"), [{**common, "kind": "done", "item": 0, "changes": changes}])
        self._moment()

    def restore(self, run):
        """What the playbook does with each step: compare, and change the settings that are due."""
        found = []
        for step in plan(str(self.folder), "", "machines", "", True)["steps"]:
            name = step["object"]
            current = {path: self.now[name].get(path) for path in step["back"]}
            if step["whole"]:
                current = {path: bool(value) if path == "exists" else value for path, value in current.items()}
                if not self.now[name]:
                    continue
            would = [
                {"path": path, "before": current[path], "after": back}
                for path, back in step["back"].items()
                if current[path] != back
            ]
            rows = judge.judge(step, would)
            found += rows
            due = {row.setting: row.back for row in rows if row.state == judge.DUE}
            self.change(run, step["module"], name, due)
        return found

    def _moment(self):
        if self.moments is not None:
            self.moments -= 1
            if self.moments < 0:
                raise Killed


def run_of(folder):
    site = Site(folder)
    for module, name, values in RUNS:
        site.change("first", module, name, values)
    assert site.now == AFTER
    return site


@pytest.mark.parametrize("moment", range(MOMENTS + 1))
def test_a_kill_at_any_moment_ends_in_the_same_state(tmp_path, moment):
    site = run_of(tmp_path)
    site.moments = moment
    with pytest.raises(Killed) if moment < MOMENTS else contextlib.nullcontext():
        site.restore("second")
    site.moments = None
    site.restore("third")
    assert site.now["vm"] == BEFORE["vm"]
    assert (site.now["gpu"], site.now["new"]) == (BEFORE["gpu"], {})
    assert judge.KEPT not in [row.state for row in site.restore("fourth")]


def test_ten_kills_in_a_row_end_in_the_same_state(tmp_path):
    site = run_of(tmp_path)
    for number in range(10):
        site.moments = number % 4
        try:
            site.restore(f"kill-{number}")
        except Killed:
            continue
    site.moments = None
    site.restore("last")
    assert (site.now["vm"], site.now["new"]) == (BEFORE["vm"], {})
