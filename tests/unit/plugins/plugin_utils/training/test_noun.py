# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A training as a module runs it: look, plan, run and result, on guests that answer as configured."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.module_utils.core import runner
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.training import look
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.interruption import Interrupted
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training import hold, watch
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training import noun as training_noun
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training.reach import Guest, Guests

from unit.answers import Ended, Module
from unit.plugins.module_utils.training.runs import guests as guests_of
from unit.plugins.module_utils.training.runs import planned, request

from . import world
from .test_watch import BEGUN, ENDED
from .world import Clock

RUN = "20260301-081530-6ed2"
LEFT = look.Leftover("c1", "run-1", True, 5)


class Steps(world.Steps):
    """The same with what an earlier run left behind; it is heard for so many looks."""

    left, looks = (), 9

    def look(self, guest):
        self.done.append(("look", guest.name))
        seen = guests_of(3)[guest.name]
        many = self.done.count(("look", guest.name))
        return replace(seen, leftovers=self.left if many <= self.looks else ())

    def start(self, guest, argv, files):
        super().start(guest, argv, files)
        self.files = files


class Run:
    """One task; its guests print this by the second, and end then."""

    def __init__(self, tmp_path, monkeypatch, check=False, left=(), looks=9, refuse=None, states=None, **given):
        self.clock, self.reported, self.warned = Clock(), [], []
        self.steps = Steps(self.clock, {1: BEGUN, 30: ENDED}, (31, 0), states)
        self.steps.left, self.steps.looks, self.steps.refuse = left, looks, refuse
        monkeypatch.setattr(training_noun, "Steps", lambda _request, _run: self.steps)
        monkeypatch.setattr(training_noun, "_now", lambda: f"at {self.clock.time:g}")
        trainings = tmp_path / "trainings"
        trainings.mkdir()
        (trainings / "small.py").write_text("import shared\n")
        (trainings / "shared.py").write_text("\n")
        (trainings / "README.md").write_text("\n")
        self.request = request(result_dir=str(tmp_path / "results"), **{"pull": "missing", **given})
        guests = Guests([Guest(host.name, None) for host in self.request.hosts])
        noun = training_noun.TrainingRun(
            self.request, guests, self.reported.append, self.warned.append, self.clock, trainings
        )
        with pytest.raises(Ended) as ended:
            runner.run(Module(check), noun, [Item(RUN, self.request, {"name": RUN})], "training", single=True)
        self.answer = ended.value.args[0]


def test_a_run_is_planned_in_check_mode_and_then_does_just_that(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    preview = Run(tmp_path / "a", monkeypatch, check=True)
    assert {entry[0] for entry in preview.steps.done} == {"look"}
    assert preview.answer["training"]["after"]["result"] is None
    made = Run(tmp_path / "b", monkeypatch)
    reported = made.answer["training"]
    assert (made.answer["changed"], made.answer.get("failed", False)) == (True, False)
    assert [entry["path"] for entry in reported["changes"]] == [
        entry["path"] for entry in preview.answer["training"]["changes"]
    ]
    assert {name: text for name, (_mode, text) in made.steps.files.items() if name.endswith((".py", ".md"))} == {
        "trainings/small.py": "import shared\n",
        "trainings/shared.py": "\n",
    }
    assert [entry for entry in made.steps.done if entry[0] in ("launch", "stop")] == [
        ("launch", "job-01"),
        ("stop", "job-01"),
        ("stop", "job-02"),
    ]
    assert all(text.startswith(f"{RUN}: ") for text in made.reported)
    result = reported["after"]["result"]
    assert result["began"] == "at 0"
    # Asking guests takes a little time of its own.
    assert 31 <= result["seconds"] == round(float(result["ended"].removeprefix("at ")), 1) < 33
    assert result["build"] == {
        "version": "1",
        "frameworks": ["pytorch"],
        "controllers": ["mpi"],
        "operations": ["mpi"],
    }
    assert result["verdict"]["state"] == "passed"
    assert made.warned == result["remarks"]
    saved = json.loads((tmp_path / "b" / "results" / f"training-{RUN}.json").read_text())
    assert saved["run"] == RUN


def test_a_run_waits_until_it_is_sure_that_nobody_watches_an_earlier_one(tmp_path, monkeypatch):
    done = Run(tmp_path, monkeypatch, left=(LEFT,), looks=1)
    assert done.reported[0] == "an earlier run still exists; checking whether a controller watches it."
    assert done.answer["training"]["after"]["result"]["began"] == f"at {watch.BEATS_S}"
    assert done.answer["training"]["after"]["result"]["verdict"]["state"] == "passed"


@pytest.mark.parametrize(
    "left",
    [
        replace(LEFT, running=False),
        replace(LEFT, silent_s=None),
        replace(LEFT, silent_s=watch.BEATS_S),
    ],
    ids=["ended", "never heard", "silent for long"],
)
def test_an_earlier_run_that_nobody_watches_is_removed_at_once(tmp_path, monkeypatch, left):
    done = Run(tmp_path, monkeypatch, left=(left,))
    assert done.answer["training"]["after"]["removes"] == ["run-1"]
    assert done.answer["training"]["after"]["result"]["began"] == "at 0"
    assert ("remove", "job-02", "run-1") in done.steps.done


@pytest.mark.parametrize("check", [True, False])
def test_a_run_that_somebody_watches_is_left_alone(tmp_path, monkeypatch, check):
    refused = Run(tmp_path, monkeypatch, check=check, left=(replace(LEFT, silent_s=watch.BEATS_S - 1),))
    assert refused.answer["failure"] == documented("busy", subject="job-01", host="job-01", run="run-1")
    assert "The run run-1 is in progress there" in refused.answer["msg"]
    assert {entry[0] for entry in refused.steps.done} == {"look"}


def test_a_run_that_fails_is_recorded_with_what_is_known(tmp_path, monkeypatch):
    failed = Run(tmp_path, monkeypatch, states={"job-02": (9, {"running": False, "gone": True})})
    assert (failed.answer["failed"], failed.answer["failure"]["code"]) == (True, "container_gone")
    assert failed.answer["failure"]["host"] == "job-02"
    verdict = failed.answer["training"]["after"]["result"]["verdict"]
    assert (verdict["state"], verdict["code"], verdict["host"]) == ("failed", "container_gone", "job-02")
    saved = json.loads((tmp_path / "results" / f"training-{RUN}.json").read_text())
    assert saved["verdict"]["code"] == "container_gone"


def test_a_run_that_does_not_start_is_recorded_and_fails_with_its_own_error(tmp_path, monkeypatch):
    failed = Run(tmp_path, monkeypatch, refuse="job-02")
    assert failed.answer["failure"]["code"] == "not_started"
    assert failed.answer["training"]["after"]["result"]["verdict"] == {
        **dict.fromkeys(("rank", "status", "signal", "known", "log", "host")),
        "lines": [],
        "also": [],
        "state": "failed",
        "code": "not_started",
        "reason": "It does not",
        "todo": "Look",
    }


def test_an_interrupted_run_is_tidied_up_and_recorded(tmp_path, monkeypatch):
    with pytest.raises(Interrupted):
        Run(tmp_path, monkeypatch, states={"job-01": (9, "interrupt")})
    saved = json.loads((tmp_path / "results" / f"training-{RUN}.json").read_text())
    assert saved["ended"] != saved["began"]
    assert saved["verdict"]["state"] != "passed"


class Later:
    """The time since an attempt began."""

    def __init__(self, clock):
        self.clock, self.began = clock, 0.0

    @property
    def time(self):
        return self.clock.time - self.began


def iterations(first, last):
    """What two ranks print."""
    rows = [{"rank": rank, "iteration": number} for number in range(first, last + 1) for rank in (0, 1)]
    return "".join(f"AIREADY {json.dumps({'event': 'iteration', **row})}\n" for row in rows)


TORCHRUN = {"engine": "torchrun", "builtin": None, "command": ["train"]}
GONE = {"job-02": (8, {"running": False, "gone": True})}


def attempts(monkeypatch, *planned_attempts, unready=0):
    """Steps of a run whose attempts print this, and end well or lose a container; so many looks in between fail."""
    left, start, look_at = list(planned_attempts), Steps.start, Steps.look

    def starting(self, guest, argv, files):
        if guest.name == "job-01":
            real = getattr(self.clock, "clock", self.clock)
            self.clock = Later(real)
            self.clock.began = real.time
            said, lost = left.pop(0)
            self.output, self.states, self.status = {1: BEGUN, 5: said}, GONE if lost else {}, None if lost else (9, 0)
        start(self, guest, argv, files)

    def looking(self, guest):
        many = [entry for entry in self.done if entry == ("look", "job-02")]
        seen = look_at(self, guest)
        down = guest.name == "job-02" and 0 < len(many) <= unready
        return replace(seen, interfaces={**seen.interfaces, "ens224": (9000, False)}) if down else seen

    monkeypatch.setattr(Steps, "start", starting)
    monkeypatch.setattr(Steps, "look", looking)


def test_a_run_starts_again_after_a_loss_and_reports_its_cost(tmp_path, monkeypatch):
    attempts(monkeypatch, (iterations(0, 18), True), (iterations(14, 39) + ENDED, False), unready=3)
    done = Run(tmp_path, monkeypatch, restarts=2, **TORCHRUN)
    assert done.answer["training"]["failed"] is False
    result = done.answer["training"]["after"]["result"]
    assert result["verdict"]["state"] == "passed"
    reported = result["restarts"]
    assert (reported["allowed"], reported["used"], reported["lost_steps"]) == (2, 1, 5)
    assert [(one["code"], one["host"]) for one in reported["attempts"]] == [
        ("container_gone", "job-02"),
        ("trained", None),
    ]
    assert "Waiting for all guests, then restart 1 of at most 2." in " ".join(done.reported)
    assert [entry for entry in done.steps.done if entry[0] == "stop"].count(("stop", "job-02")) == 2


def test_a_held_run_stops_its_ranks_and_continues_after_the_hold(tmp_path, monkeypatch):
    attempts(monkeypatch, (iterations(0, 18), False), (iterations(14, 39) + ENDED, False))
    file, stopped, sleep = str(tmp_path / "hold"), {}, Clock.sleep
    seen = iter([False] * 8 + [True] * 100)
    monkeypatch.setattr(hold, "held", lambda _file: next(seen, False))

    def sleeping(clock, seconds):
        stopped.setdefault(seconds, set()).add(hold.stopped(file))
        sleep(clock, seconds)

    monkeypatch.setattr(Clock, "sleep", sleeping)
    done = Run(tmp_path, monkeypatch, hold_file=file, limits={"wall_s": 60, "stall_s": 15}, **TORCHRUN)
    assert done.answer["training"]["failed"] is False
    reported = done.answer["training"]["after"]["result"]["restarts"]
    assert (reported["allowed"], reported["used"], reported["lost_steps"]) == (0, 0, 5)
    assert [one["code"] for one in reported["attempts"]] == ["held", "trained"]
    assert f"{file} holds it. All ranks are stopped until this file is removed." in " ".join(done.reported)
    assert "Waiting for all guests, then it continues." in " ".join(done.reported)
    # An upgrade sees when the ranks run and when they are stopped.
    assert stopped == {watch.POLL_S: {False}, training_noun.AGAIN_S: {True}}
    # The containers stop before the wait, so the GPUs are free.
    stops = [place for place, entry in enumerate(done.steps.done) if entry == ("stop", "job-02")]
    starts = [place for place, entry in enumerate(done.steps.done) if entry == ("start", "job-02")]
    assert starts[0] < stops[0] < starts[1] < stops[1]


def test_a_training_that_is_held_before_its_first_rank_starts_none(tmp_path, monkeypatch):
    attempts(monkeypatch, (iterations(0, 39) + ENDED, False))
    seen = iter([True] * 9)
    monkeypatch.setattr(hold, "held", lambda _file: next(seen, False))
    done = Run(tmp_path, monkeypatch, hold_file=str(tmp_path / "hold"), limits={"wall_s": 60}, **TORCHRUN)
    reported = done.answer["training"]["after"]["result"]["restarts"]
    assert [one["code"] for one in reported["attempts"]] == ["trained"]
    assert "No rank starts until this file is removed." in " ".join(done.reported)
    # The guests are read again, because an upgrade changed them.
    assert done.steps.done.count(("look", "job-02")) == 2
    assert [entry for entry in done.steps.done if entry[0] == "start"] == [("start", "job-01"), ("start", "job-02")]


def test_a_hold_that_begins_while_the_guests_are_read_starts_no_rank(tmp_path, monkeypatch):
    attempts(monkeypatch, (iterations(0, 39) + ENDED, False))
    seen, locked, start = iter([True, False, True]), [], Steps.start
    monkeypatch.setattr(hold, "held", lambda _file: next(seen, False))

    def starting(steps, guest, argv, files):
        locked.append(not hold.stopped(str(tmp_path / "hold")))
        start(steps, guest, argv, files)

    monkeypatch.setattr(Steps, "start", starting)
    done = Run(tmp_path, monkeypatch, hold_file=str(tmp_path / "hold"), limits={"wall_s": 60}, **TORCHRUN)
    assert done.answer["training"]["failed"] is False
    assert (locked, done.steps.done.count(("look", "job-02"))) == ([True, True], 3)


@pytest.mark.parametrize("before, starts", [(1, 1), (2, 2)], ids=["while it pulls", "while containers start"])
def test_a_hold_that_begins_before_the_first_rank_launches_none(tmp_path, monkeypatch, before, starts):
    attempts(monkeypatch, *[(iterations(0, 39) + ENDED, False)] * starts)
    seen = iter([False] * before + [True])
    monkeypatch.setattr(hold, "held", lambda _file: next(seen, False))
    done = Run(tmp_path, monkeypatch, hold_file=str(tmp_path / "hold"), limits={"wall_s": 60}, **TORCHRUN)
    reported = done.answer["training"]["after"]["result"]["restarts"]
    assert [one["code"] for one in reported["attempts"]] == ["held", "trained"]
    counts = [done.steps.done.count((step, "job-02")) for step in ("start", "launch", "stop")]
    assert counts == [starts, 1, starts]


def test_a_training_that_waits_for_a_lost_guest_also_waits_for_the_end_of_a_hold(tmp_path, monkeypatch):
    """An upgrade begins while a guest is lost: its time does not count for the return of the guest."""
    attempts(monkeypatch, (iterations(0, 18), True), (iterations(14, 39) + ENDED, False), unready=3)
    waits, real = [], hold.Running.allowed

    def allowed(running):
        waits.append(running)
        return real(running) and not 3 < len(waits) < 40

    monkeypatch.setattr(hold.Running, "allowed", allowed)
    limits = {"wall_s": 60, "return_s": 20}
    done = Run(tmp_path, monkeypatch, restarts=1, hold_file=str(tmp_path / "hold"), limits=limits, **TORCHRUN)
    assert done.answer["training"]["failed"] is False


def test_a_training_has_stopped_when_its_lock_is_free(tmp_path):
    file = tmp_path / "made" / "hold"
    one, other = hold.Running(str(file)), hold.Running(str(file))
    assert hold.stopped(str(file))
    assert one.allowed()
    assert other.allowed()
    one.over()
    assert not hold.stopped(str(file))
    file.touch()
    # Only the training itself knows when its ranks have stopped.
    assert not hold.stopped(str(file))
    other.over()
    assert hold.stopped(str(file))
    assert not one.allowed()
    assert hold.stopped(str(file))
    file.unlink()
    assert one.allowed()
    one.over()


def test_a_training_without_a_hold_file_takes_no_lock():
    running = hold.Running(None)
    assert running.allowed()
    assert not hold.held(None)
    running.over()


def test_a_lock_that_cannot_be_taken_is_an_error_with_its_fix(tmp_path):
    (tmp_path / "file").touch()
    path = str(tmp_path / "file" / "hold")
    with pytest.raises(OperatorError, match="The lock .*hold.lock cannot be taken"):
        hold.Running(path).allowed()
    with pytest.raises(AnsibleFilterError, match="Run the upgrade as the user who runs the training"):
        hold.stopped(path)


def test_a_run_that_is_lost_again_and_again_ends_with_a_verdict(tmp_path, monkeypatch):
    attempts(monkeypatch, *[(iterations(14, 18), True)] * 3)
    failed = Run(tmp_path, monkeypatch, restarts=2, **TORCHRUN)
    assert (failed.answer["failure"]["code"], failed.answer["failure"]["host"]) == ("restarts_exhausted", "job-02")
    assert "It was restarted 2 times and failed again." in failed.answer["msg"]
    assert failed.answer["training"]["after"]["result"]["restarts"]["used"] == 2


def test_a_guest_that_does_not_return_ends_the_run(tmp_path, monkeypatch):
    attempts(monkeypatch, (iterations(0, 18), True), unready=1000)
    failed = Run(tmp_path, monkeypatch, restarts=2, limits={"return_s": 60}, **TORCHRUN)
    assert (failed.answer["failure"]["code"], failed.answer["failure"]["host"]) == ("container_gone", "job-02")
    assert "The guests were not ready for a restart in time: job-02: It is down" in failed.answer["msg"]


def test_restarts_share_the_time_of_the_run(tmp_path, monkeypatch):
    attempts(monkeypatch, *[(iterations(14, 18), True)] * 9)
    failed = Run(tmp_path, monkeypatch, restarts=9, limits={"wall_s": 20, "stall_s": 15}, **TORCHRUN)
    assert failed.answer["failure"]["code"] == "too_long"


@pytest.mark.parametrize("given, count", [(training_noun.MANY_ITERATIONS, 200), (201, 200), (3, 3)])
def test_of_many_iterations_the_task_shows_the_last(given, count):
    shown = training_noun._shown(replace(planned(), result={"iterations": list(range(given))}))
    assert shown["result"]["iterations"] == list(range(given - count, given))


def test_the_name_of_a_run_reports_when_and_is_its_own():
    names = {training_noun.new_run() for _time in range(20)}
    assert len(names) == 20
    assert all(look.RUN.fullmatch(name) and len(name) == 20 for name in names)
