"""A run on a switch or its restore that is killed at any moment: a further restore ends in the state before the runs.

The switch is a table of settings here, and each command takes effect on its own. A run and a restore write the journal
as roce_qos does.
"""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core import journal
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import platform_of
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.undo import facts, switch
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.plan import plan

PLATFORMS = ("eos", "nxos")
PORTS = {"eos": ("Ethernet1", "Ethernet2", "Ethernet3"), "nxos": ("Ethernet1/1", "Ethernet1/2", "Ethernet1/3")}
POLICY = {"eos": "qos profile AIREADY", "nxos": "policy-map type queuing AIREADY"}
BODY = {
    "eos": "   priority-flow-control on",
    "nxos": "  class type queuing c-out-8q-q3\n    bandwidth remaining percent 50",
}
USE = {"eos": "service-profile AIREADY", "nxos": "service-policy type queuing output AIREADY"}
# Before and after each of the five changes of a restore or a run, and around the lines of the journal.
MOMENTS = range(9)


class Killed(Exception):
    """The power of the controller failed."""


class Site:
    """A switch, its journal, and the number of moments until a kill."""

    def __init__(self, folder, platform):
        self.folder, self.platform = folder, platform
        self.reader = platform_of(platform, None)
        first, second, third = PORTS[platform]
        self.now = self.facts(
            f"interface {first}\n  mtu 1500\ninterface {second}\n  mtu 1500\ninterface {third}\n  mtu 1500\n"
        )
        self.before = dict(self.now)
        self.moments = None
        self.tasks = 0

    def facts(self, text):
        return self.reader.facts(text)

    def text(self):
        """The configuration as the switch shows it."""
        lines = []
        for path, value in self.now.items():
            if len(path) == 1:
                lines += [path[0], *(f"  {line}" for line in value.split("\n"))]
        for path, value in self.now.items():
            if len(path) > 1:
                lines += [path[0], f"  {value}"]
        return "\n".join(lines) + "\n"

    def stage(self, run):
        """What the stage fabric does: the policy, and the MTU and the policy on two ports, with one range of ports."""
        first, second, _third = PORTS[self.platform]
        ports = [f"interface {first}\n  mtu 9000\n  {USE[self.platform]}\n", f"interface {second}\n  mtu 9000\n"]
        then = {**self.now, **self.facts(f"{POLICY[self.platform]}\n{BODY[self.platform]}\n" + "".join(ports))}
        both = f"interface {first}-{second[-1]}"
        commands = [POLICY[self.platform], *BODY[self.platform].split("\n"), "exit", both, "mtu 9000", "exit"]
        commands += [f"interface {first}", USE[self.platform], "exit"]
        self.change(run, then, [" ".join(command.split()) for command in commands], "owned")

    def restore(self, run):
        """What the playbook restore does on the switch; returns the states of the settings."""
        if not any(self.folder.iterdir()):
            return {}
        reported = plan(str(self.folder), "", "fabric", "", False)
        assert (reported["cannot"], reported["problems"]) == ([], [])
        rows = []
        for step in reported["steps"]:
            args = step["args"]
            request = SimpleNamespace(
                settings=[facts.Setting(tuple(one["path"]), one["before"], one["left"]) for one in args["settings"]],
                killed=[SimpleNamespace(**one) for one in args["killed"]],
            )
            wanted = switch._wanted(request, self.now, self.reader)
            rows += facts.judge(wanted, self.now, self.reader.object_of, self.reader.lacks)
            then = facts.target(self.now, rows)
            if then != self.now:
                self.change(run, then, [], "restored")
        return {row.setting: row.state for row in rows}

    def change(self, run, then, commands, state):
        self.tasks += 1
        common = {"v": 1, "task": f"{run}{self.tasks}", "when": f"2026-01-01T00:00:{self.tasks:02}"}
        head = {"run": run, "stage": "fabric", "module": "roce_qos", "host": "leaf-01", "request": {"state": state}}
        ids = {"name": "leaf-01", "platform": self.platform, "backup": self.text(), "commands": commands}
        changes = [{"path": "Ethernet1.mtu", "before": 1500, "after": 9000, "needs": None}]
        file = str(self.folder / f"{run}.jsonl")
        self._moment()
        planned = {"item": 0, "label": "leaf-01", "ids": ids, "changes": changes}
        journal.append(file, [{**common, "kind": "task", **head}, {**common, "kind": "planned", **planned}])
        self._moment()
        for one in facts.settings(self.now, then):
            self.now.pop(one.path, None)
            if one.left is not None:
                self.now[one.path] = one.left
            self._moment()
        done = {"item": 0, "changes": changes, "ids": {**ids, "left": self.text()}}
        journal.append(file, [{**common, "kind": "done", **done}])
        self._moment()

    def _moment(self):
        if self.moments is not None:
            self.moments -= 1
            if self.moments < 0:
                raise Killed

    def killed(self, moment, work):
        """Run it with a kill at this moment; False if it ended earlier."""
        self.moments = moment
        with contextlib.suppress(Killed):
            work()
            self.moments = None
            return False
        self.moments = None
        return True


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_run_that_is_killed_at_any_moment_is_restored(tmp_path, platform, moment):
    site = Site(tmp_path, platform)
    site.killed(moment, lambda: site.stage("first"))
    site.restore("second")
    assert site.now == site.before
    assert facts.KEPT not in site.restore("third").values()


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_restore_that_is_killed_at_any_moment_ends_in_the_same_state(tmp_path, platform, moment):
    site = Site(tmp_path, platform)
    site.stage("first")
    site.killed(moment, lambda: site.restore("second"))
    site.restore("third")
    assert site.now == site.before
    assert set(site.restore("fourth").values()) <= {facts.ALREADY}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_ten_kills_of_runs_and_restores_end_in_the_same_state(tmp_path, platform):
    site = Site(tmp_path, platform)
    for number in range(10):
        work = (site.stage, site.restore)[number % 2]
        site.killed(number % 7, lambda work=work, number=number: work(f"kill-{number}"))
    site.restore("last")
    assert site.now == site.before


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("moment", range(2, 9))
def test_the_same_line_on_another_port_survives_the_restore_of_a_killed_run(tmp_path, platform, moment):
    site = Site(tmp_path, platform)
    site.killed(moment, lambda: site.stage("first"))
    other = (f"interface {PORTS[platform][2]}", "mtu")
    site.now[other] = "mtu 9000"
    site.restore("second")
    assert site.now == {**site.before, other: "mtu 9000"}
