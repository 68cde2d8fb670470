"""A real training on two real guests: it trains over the data path, and all that happens to it ends in a verdict."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rehearse.playbook import kill

from .lab import until

OURS = "aiready.vsphere"
PAIR = ("job-01", "job-02")
CANARY = "canary-4711"
# The guests share processors, where threads of one rank would wait for those of the other.
FOREVER, LONGER, SHORT = (["--threads", "1", "--iterations", count] for count in ("1000000", "150", "15"))
# The first two are reached only where a run does not notice what became of it, the last one wherever a guest is silent.
LIMITS = {"wall_s": 300, "stall_s": 240, "lost_s": 10}
WORK = "/run/aiready-training"
# What belongs to a run: programs in its containers, and what waits for them. The brackets keep it from finding itself.
NOTHING = ["", ""]
OURS_RUNNING = "ps -eo args | grep -E '[/]aiready/|[m]pirun|[o]rted|[h]orovodrun|[t]orch.distributed' || true"


class Trainings:
    """Trainings on both guests, which have Docker and may fetch from the registry."""

    def __init__(self, lab, registry):
        self.lab, self.registry, self.results = lab, registry, lab.work / "results"
        login = {name: registry[name] for name in ("address", "username", "password", "ca_file")}
        variables = {"gpu": False, "memlock": "ignore", "registries": [login]}
        play = {
            "hosts": ",".join(PAIR),
            "become": True,
            "vars": {f"container_runtime_{name}": value for name, value in variables.items()},
            "roles": [f"{OURS}.container_runtime"],
        }
        prepared = lab.playbook([play])
        assert prepared.status == 0, prepared.output

    def task(self, **wish):
        """The module's call; it has a secret in the environment of the task."""
        given = {
            "hosts": [{"name": name, "interface": "ens224"} for name in PAIR],
            "image": self.registry["training_image"],
            "gpus": "none",
            "memlock": "ignore",
            # It imports every framework several times, which takes longer than the training.
            "check_build": False,
            "builtin": "small",
            "limits": LIMITS,
            "result_dir": str(self.results),
            **wish,
        }
        given = {name: value for name, value in given.items() if value is not None}
        return {"name": "Train", f"{OURS}.training_run": given, "environment": {"NGC_API_KEY": CANARY}}

    def run(self, check=False, **wish):
        """The answer of the module."""
        (answer,) = self.lab.play([{**self.task(**wish), "ignore_errors": True}], hosts=[PAIR[0]], check=check)
        return answer

    def meanwhile(self, strike, arguments=FOREVER, **wish):
        """The answer of a run that would go on for ever; strike is called when it trains."""
        with ThreadPoolExecutor(max_workers=1) as pool:
            running = pool.submit(self.run, arguments=arguments, **wish)
            try:
                until(lambda: running.done() or self.trains())
                assert not running.done(), running.result()
                strike()
            except BaseException:
                self.end()  # else it would go on, and be waited for
                raise
            return running.result()

    @contextlib.contextmanager
    def begun(self):
        """The process of an ansible-playbook that would train for ever, and trains."""
        play = {"hosts": PAIR[0], "gather_facts": False, "become": True, "tasks": [self.task(arguments=FOREVER)]}
        with self.lab.begun([play]) as process:
            until(lambda: process.poll() is not None or self.trains())
            assert process.poll() is None
            yield process

    def end(self):
        """Whatever trains is over."""
        for name in PAIR:
            self.sh(name, "docker kill $(docker ps -q --filter label=aiready.training)")

    def trains(self):
        counted = self.sh(PAIR[0], f"cat {WORK}/*/out/output 2>/dev/null | grep -c '\"iteration\"' || true")
        return int(counted) > 0

    def sh(self, name, text):
        return self.lab.guest(name).run(["sh", "-c", text])[1].strip()

    def do(self, name, text):
        """What has to be possible."""
        status, out, err = self.lab.guest(name).run(["sh", "-c", text])
        assert status == 0, (status, out, err)

    def runs(self):
        """Containers and processes of runs on the guests."""
        return [self.sh(name, f"docker ps -q --filter label=aiready.training; {OURS_RUNNING}") for name in PAIR]

    def left(self):
        """The same, with containers that have ended and folders of runs."""
        asked = f"docker ps -aq --filter label=aiready.training; {OURS_RUNNING}; ls {WORK} 2>/dev/null"
        return [self.sh(name, asked) for name in PAIR]

    def verdict(self):
        """Of the last run, from its file."""
        newest = max(self.results.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        return json.loads(newest.read_text())["verdict"]


@pytest.fixture(scope="module", name="trainings")
def _trainings(guests, lab_registry):
    return Trainings(guests, lab_registry.endpoint())


def test_check_mode_says_what_would_run_and_starts_nothing(trainings):
    answer = trainings.run(check=True)
    assert not answer.get("failed"), answer.get("msg")
    assert answer["changed"]
    assert answer["training"]["after"]["launches"][0]["argv"][0] == "mpirun"
    assert trainings.left() == NOTHING


@pytest.mark.parametrize(
    "wish",
    [{}, {"launcher": "horovodrun", "controller": "gloo"}, {"engine": "torchrun"}],
    ids=["mpirun", "horovodrun with gloo", "torchrun"],
)
def test_two_guests_train_over_the_data_path(trainings, wish):
    answer = trainings.run(arguments=SHORT, **wish)
    assert not answer.get("failed"), answer.get("msg")
    told = answer["training"]["after"]["result"]
    assert told["weights"]["equal"]
    assert told["loss"]["last"] < told["loss"]["first"]
    assert [host["carried_by"] for host in told["hosts"]] == ["ens224", "ens224"]
    assert [rank["host"] for rank in told["ranks"]] == list(PAIR)
    assert json.loads(Path(told["file"]).read_text())["verdict"]["state"] == "passed"
    assert trainings.left() == NOTHING


def test_no_secret_reaches_a_rank_or_a_result(trainings):
    password = trainings.registry["password"]
    answer = trainings.run(builtin=None, command=["env"])
    assert not answer.get("failed"), answer.get("msg")
    written = "".join(path.read_text() for path in trainings.results.iterdir())
    assert "NCCL_SOCKET_IFNAME" in written
    for secret in (CANARY, password, "PRIVATE KEY"):
        assert secret not in written + json.dumps(answer)


def test_a_container_that_is_killed_ends_the_run_with_its_guest_named(trainings):
    kill = "docker kill $(docker ps -q --filter label=aiready.training)"
    answer = trainings.meanwhile(lambda: trainings.do(PAIR[1], kill))
    assert (answer["failure"]["code"], answer["failure"]["host"]) == ("container_gone", PAIR[1]), answer
    assert trainings.left() == NOTHING


def test_a_rank_that_is_killed_is_named(trainings):
    answer = trainings.meanwhile(lambda: trainings.do(PAIR[1], "pkill -9 -f [t]rainings/small.py"))
    failure = answer["failure"]
    assert (failure["code"], failure["host"], failure["rank"], failure["signal"]) == ("rank_failed", PAIR[1], 1, 9)
    assert trainings.left() == NOTHING


def test_a_launcher_that_is_killed_is_named(trainings):
    answer = trainings.meanwhile(lambda: trainings.do(PAIR[0], "pkill -9 -x mpirun"))
    assert (answer["failure"]["code"], answer["failure"]["host"]) == ("launcher_failed", PAIR[0]), answer
    assert trainings.left() == NOTHING


def test_a_guest_that_loses_power_is_named_and_the_next_run_goes_on(guests, trainings):
    guest = guests.guest(PAIR[1])
    try:
        answer = trainings.meanwhile(guest.pull_plug)
        assert (answer["failure"]["code"], answer["failure"]["host"]) == ("guest_unreachable", PAIR[1]), answer
        assert "could not be tidied up" in " ".join(answer["training"]["after"]["result"]["remarks"])
        assert trainings.sh(PAIR[0], f"docker ps -aq; {OURS_RUNNING}") == ""
        guest.wait(up=False)
    finally:
        guests.power_on(PAIR[1])
    assert trainings.runs() == NOTHING
    answer = trainings.run(arguments=SHORT)
    assert not answer.get("failed"), answer.get("msg")
    assert trainings.left() == NOTHING


@pytest.mark.parametrize("number", [0, 1], ids=["where the launcher is", "where a rank is"])
def test_a_guest_that_hangs_is_named_and_tidies_up_when_it_moves_again(guests, trainings, number):
    """It takes connections, since its kernel does, and nothing answers: Ansible takes that for trouble with sudo."""
    guest = guests.guest(PAIR[number])
    try:
        answer = trainings.meanwhile(guest.hang)
        assert (answer["failure"]["code"], answer["failure"]["host"]) == ("guest_unreachable", PAIR[number]), answer
        assert "escalation" not in json.dumps(answer)
        assert trainings.sh(PAIR[1 - number], f"docker ps -aq; {OURS_RUNNING}") == ""
    finally:
        guest.hang(False)
    until(lambda: trainings.runs() == NOTHING)
    answer = trainings.run(arguments=SHORT)
    assert not answer.get("failed"), answer.get("msg")
    assert trainings.left() == NOTHING


def test_an_engine_that_hangs_keeps_nobody_waiting(trainings):
    """The training itself goes on; to remove its containers would wait for ever."""
    engine = "pkill -{} -x dockerd"
    try:
        answer = trainings.meanwhile(lambda: trainings.do(PAIR[1], engine.format("STOP")), arguments=LONGER)
        assert not answer.get("failed"), answer.get("msg")
        assert f"{PAIR[1]} could not be tidied up" in " ".join(answer["training"]["after"]["result"]["remarks"])
        assert trainings.sh(PAIR[0], f"docker ps -aq; {OURS_RUNNING}") == ""
    finally:
        trainings.do(PAIR[1], engine.format("CONT"))
    until(lambda: trainings.runs() == NOTHING)


@pytest.mark.parametrize("number", [0, 1], ids=["where the launcher is", "where a rank is"])
def test_a_disk_that_is_full_in_the_middle_is_told_and_nothing_is_left(trainings, number):
    """The folder of runs is a disk of its own here, since the guest's is that of this machine."""
    name = PAIR[number]
    trainings.sh(name, f"mkdir -p {WORK} && mount -t tmpfs -o size=24m lab {WORK}")
    fill = f"cat /dev/zero >$(echo {WORK}/*/out)/filled 2>/dev/null"
    try:
        answer = trainings.meanwhile(lambda: trainings.sh(name, fill))
        assert (answer["failure"]["code"], answer["failure"]["host"]) == ("no_space", name), answer
        assert trainings.sh(name, f"ls {WORK}") == ""
    finally:
        trainings.sh(name, f"umount {WORK} && rmdir {WORK}")
    assert trainings.left() == NOTHING


def end_as_a_terminal_does(process):
    os.killpg(process.pid, signal.SIGINT)


def end_as_a_service_does(process):
    os.killpg(process.pid, signal.SIGTERM)


def kill_the_parent_alone(process):
    process.kill()


@pytest.mark.parametrize("end", [end_as_a_terminal_does, end_as_a_service_does, kill_the_parent_alone])
def test_an_interrupt_tidies_up(trainings, end):
    with trainings.begun() as process:
        end(process)
        until(lambda: trainings.left() == NOTHING)
        process.wait()
        until(lambda: trainings.verdict()["code"] == "interrupted")


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "after a while"])
def test_a_controller_that_is_killed_leaves_nothing_running_and_the_next_run_goes_on(trainings, at_once):
    with trainings.begun() as process:
        kill(process)
    if not at_once:
        until(lambda: trainings.runs() == NOTHING)
    answer = trainings.run(arguments=SHORT)
    assert not answer.get("failed"), answer.get("msg")
    assert trainings.left() == NOTHING
