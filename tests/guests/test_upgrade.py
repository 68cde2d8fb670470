"""Hosts and guests go from vGPU 18 to 20 in two upgrades, and one training goes on after each of them."""

from __future__ import annotations

import contextlib
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from .fleet import FACES, HOSTS, RELEASES, Fleet, started
from .lab import until
from .trainings import PAIR, TRAININGS, WORK

EACH, ALL = 10, 30
# After each ten iterations, it waits until it is held. The last ones are not held.
STEPS = f"""
import sys, time
sys.path.insert(0, "/steps")
import engines, small
save, restore = small.Checkpoint.save, small.Checkpoint.restore

def restore_and_count(self):
    begin, first = restore(self)
    self.last = begin + {EACH} - 1
    return begin, first

def save_and_wait(self, iteration, first):
    save(self, iteration, first)
    while iteration == self.last < {ALL} - 1:
        time.sleep(0.2)

small.Checkpoint.save, small.Checkpoint.restore = save_and_wait, restore_and_count
engines.run(small.train, small.parser().parse_args())
"""


class Trained(Fleet):
    """The same with a training, which the upgrades hold."""

    def prepare(self):
        """Both guests have the oldest driver, a container engine and the training."""
        for name in PAIR:
            for file in ("engines.py", "small.py"):
                text = (TRAININGS / file).read_text(encoding="utf-8")
                self.twin.guest(name).put(f"/srv/steps/{file}", text)
            self.twin.guest(name).put("/srv/steps/steps.py", STEPS)
        for stage in ("guests", "runtime"):
            made = self.run(stage, 0)
            assert made.status == 0, made.output

    def result(self):
        """That of the training, from its file."""
        (file,) = self.results.glob("training-*.json")
        return json.loads(file.read_text())

    def run(self, name, number, **variables):
        training = {
            "engine": "torchrun",
            "command": ["python3", "/steps/steps.py", "--engine", "torchrun"],
            "arguments": ["--threads", "1", "--iterations", str(ALL), "--checkpoint", "/steps/kept"]
            + ["--checkpoint-every", str(EACH)],
            "mounts": [{"source": "/srv/steps", "target": "/steps", "writable": True}],
            "limits": {"wall_s": 7200, "stall_s": 7200},
            "image": "{{ lab_endpoint.registry.address }}/aiready/horovod:0.28.1-cpu",
            "result_dir": str(self.results),
            "gpus": "none",
        }
        runtime = {
            "engine": "docker",
            "memlock": "ignore",
            "toolkit_repository": {
                "url": "{{ lab_endpoint.depot.url }}/toolkit/stable",
                "key_url": "{{ lab_endpoint.depot.url }}/toolkit/gpgkey",
                "key_fingerprints": "{{ lab_endpoint.depot.key_fingerprints }}",
            },
            "registries": [
                {
                    "address": "{{ lab_endpoint.registry.address }}",
                    "username": "{{ lab_endpoint.registry.username }}",
                    "ca_file": "{{ lab_endpoint.ca_file }}",
                }
            ],
        }
        return super().run(name, number, site={"training": training}, lab_runtime=runtime, **variables)

    @contextlib.contextmanager
    def training(self):
        """The playbook training, which runs meanwhile and can be held. If the test fails, the training is ended."""
        with ThreadPoolExecutor(max_workers=1) as pool:
            running = pool.submit(self.run, "training", 0, horovod_hold_file=str(self.hold))
            try:
                yield running
                running.result()
            finally:
                self.hold.unlink(missing_ok=True)
                until(lambda: running.done() or self.ends())

    def ends(self):
        """Whatever trains ends. A training that is about to start is not there yet."""
        for name in PAIR:
            self.sh(name, "docker kill $(docker ps -q --filter label=aiready.training)")

    def waits_after(self, iteration):
        """Whether the rank of the first guest has reported this iteration."""
        return f'"iteration": {iteration},' in self.sh(PAIR[0], f"cat {WORK}/*/out/output 2>/dev/null")


@pytest.fixture
def fleet(guests, tmp_path, capfd):
    # The lab of other tests installs the engine where tests do.
    with started(Trained, tmp_path, capfd, (*FACES, "registry")) as made:
        yield made


# Two upgrades with two guests take many minutes. Commits of their turn run neither guests on the oldest core, nor the
# image of the execution environment or the newest modules of other collections.
@pytest.mark.turn(1, of=6)
def test_a_training_goes_on_after_each_of_two_upgrades(fleet):
    fleet.prepare()
    guests = [fleet.twin.guest(name) for name in PAIR]
    boots = [guest.boots for guest in guests]
    with fleet.training() as training:
        for number in (1, 2):
            until(lambda number=number: training.done() or fleet.waits_after(EACH * number - 1))
            assert not training.done(), training.result().output
            options = {
                "upgrade_waves": "50%",
                "upgrade_training_hold": str(fleet.hold),
                "upgrade_licence_server": "3.5",
            }
            made = fleet.run("upgrade", number, **options)
            assert made.status == 0, made.output
            host, guest = RELEASES[number]
            wave = ", ".join(f"{one.name} runs {host}" for one in fleet.hosts()[HOSTS // 2 :])
            assert f"Wave 2 of 2 is complete: {wave}." in made.text
            assert {fleet.driver(name) for name in PAIR} == {guest}
            # Each host restarts once, and each guest once with its host and once for its own driver.
            assert [(one.driver.version, one.boots) for one in fleet.hosts()] == [(host, number)] * HOSTS
            assert [guest.boots for guest in guests] == [count + 2 * number for count in boots]
        trained = training.result()
    assert trained.status == 0, trained.output
    assert not fleet.hold.exists()
    each_step_is_done_once(fleet.result())


def each_step_is_done_once(reported):
    assert reported["verdict"]["code"] == "trained"
    assert reported["weights"]["equal"]
    assert [
        (one["code"], one["first_iteration"], one["last_iteration"]) for one in reported["restarts"]["attempts"]
    ] == [
        ("held", 0, EACH - 1),
        ("held", EACH, 2 * EACH - 1),
        ("trained", 2 * EACH, ALL - 1),
    ]
    assert (reported["restarts"]["used"], reported["restarts"]["lost_steps"]) == (0, 0)
    assert [(rank["host"], rank["ended"]) for rank in reported["ranks"]] == [(name, True) for name in PAIR]
    steps = sorted((one["rank"], one["iteration"]) for one in reported["iterations"])
    assert steps == [(rank, step) for rank in (0, 1) for step in range(2 * EACH, ALL)]
