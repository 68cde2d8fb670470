"""A real training on two real guests: it trains over the data path, and all that happens to it ends in a verdict."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from twin.guests.registry import Registry

OURS = "aiready.vsphere"
PAIR = ("job-01", "job-02")
CANARY = "canary-4711"
FOREVER = ["--iterations", "100000"]


@pytest.fixture(scope="module", name="registry")
def _registry(guests):
    lab = guests.twin.guests
    directory = Path(guests.twin.ca_file).parent
    made = Registry(lab.client, lab.lab, lab.networks.name(lab.management), directory, print)
    made.start()
    yield made.endpoint()
    made.stop()


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

    def run(self, check=False, **wish):
        """The answer of the module; its play has a secret in the environment of its tasks."""
        given = {
            "hosts": [{"name": name, "interface": "ens224"} for name in PAIR],
            "image": f"{self.registry['address']}/aiready/horovod:0.28.1-cpu",
            "gpus": "none",
            "memlock": "ignore",
            # It imports every framework several times, which takes longer than the training.
            "check_build": False,
            "builtin": "small",
            "result_dir": str(self.results),
            **wish,
        }
        given = {name: value for name, value in given.items() if value is not None}
        task = {"name": "Train", f"{OURS}.training_run": given, "environment": {"NGC_API_KEY": CANARY}}
        (answer,) = self.lab.play([{**task, "ignore_errors": True}], hosts=[PAIR[0]], check=check)
        return answer

    def meanwhile(self, strike, **wish):
        """The answer of a run that would go on for ever; strike is called when it trains."""
        told = {}
        runner = threading.Thread(target=lambda: told.update(self.run(arguments=FOREVER, **wish)))
        runner.start()
        while runner.is_alive() and not self.trains():
            time.sleep(0.5)
        strike()
        runner.join()
        return told

    def trains(self):
        return self.sh(PAIR[0], "grep -c '\"iteration\"' /run/aiready-training/*/out/output 2>/dev/null || true") > "0"

    def sh(self, name, text):
        return self.lab.guest(name).run(["sh", "-c", text])[1].strip()

    def left(self):
        """Containers and folders of runs on the guests that answer."""
        asked = "docker ps -aq --filter label=aiready.training; ls /run/aiready-training 2>/dev/null"
        return [self.sh(name, asked) for name in PAIR]


@pytest.fixture(scope="module", name="trainings")
def _trainings(guests, registry):
    return Trainings(guests, registry)


def test_check_mode_says_what_would_run_and_starts_nothing(trainings):
    answer = trainings.run(check=True)
    assert not answer.get("failed"), answer.get("msg")
    assert answer["changed"]
    assert answer["training"]["after"]["launches"][0]["argv"][0] == "mpirun"
    assert trainings.left() == ["", ""]


@pytest.mark.parametrize(
    "wish",
    [{}, {"launcher": "horovodrun", "controller": "gloo"}, {"engine": "torchrun"}],
    ids=["mpirun", "horovodrun with gloo", "torchrun"],
)
def test_two_guests_train_over_the_data_path(trainings, wish):
    answer = trainings.run(**wish)
    assert not answer.get("failed"), answer.get("msg")
    told = answer["training"]["after"]["result"]
    assert told["weights"]["equal"]
    assert told["loss"]["last"] < told["loss"]["first"]
    assert [host["carried_by"] for host in told["hosts"]] == ["ens224", "ens224"]
    assert [rank["host"] for rank in told["ranks"]] == list(PAIR)
    assert json.loads(Path(told["file"]).read_text())["verdict"]["state"] == "passed"
    assert trainings.left() == ["", ""]


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
    answer = trainings.meanwhile(lambda: trainings.sh(PAIR[1], kill))
    assert (answer["failure"]["code"], answer["failure"]["host"]) == ("container_gone", PAIR[1])
    assert trainings.left() == ["", ""]


def test_a_rank_that_is_killed_is_named(trainings):
    answer = trainings.meanwhile(lambda: trainings.sh(PAIR[1], "pkill -9 -f trainings/small.py"))
    failure = answer["failure"]
    assert (failure["code"], failure["host"], failure["rank"], failure["signal"]) == ("rank_failed", PAIR[1], 1, 9)
    assert trainings.left() == ["", ""]
