"""A good lab is validated without a warning; each wrong setting, planted alone, shows on its rung with its cause.

All of them take half an hour, so that only those are planted which nobody sees without measuring, and one of each other
layer. AIREADY_FAULTS=all plants all: `AIREADY_FAULTS=all python -m pytest tests/guests/test_faults.py -k guest-mtu`.
"""

from __future__ import annotations

import os

import pytest

from rehearse import playbook
from twin.guests import engine
from twin.launch import launch

from .faults import FIRST, ONE, OTHER, PAIRS, SECOND, TRAINING, Fault, host, nothing, running
from .faults.table import FAULTS

FACES = ("ssh", "redfish", "switches", "guests", "depot", "registry")
CHOSEN = ("guest-no-module", "job-no-engine", "fabric-dead-pfc")
ALL = os.environ.get("AIREADY_FAULTS") == "all"
PLANTED = {name: fault for name, fault in FAULTS.items() if ALL or fault.silent or name in CHOSEN}
# Both measure nothing twice, and together all that is measured for faults.
GOOD = Fault("none", nothing, (), PAIRS, fabric=True)
GOOD_RUNS = Fault("none", nothing, (), TRAINING)


class Trained:
    """A lab that was made by playbook site, and validations of it."""

    def __init__(self, twin, folder):
        self.twin, self.folder = twin, folder
        playbook.write_endpoint(twin, folder)
        self.env = playbook.environment(folder)
        self._runs = 0

    def make(self):
        """From bare hosts to a training."""
        run = playbook.run(playbook.ROOT / "playbooks" / "site.yml", env=self.env)
        assert run.status == 0, run.output[-5000:]
        # What the site leaves as it is, and an operator of the other make has set: else latency is that of sleepers.
        one = host(self.twin, OTHER)
        with self.twin.world.lock:
            one.bmc.active["MinProcIdlePower"] = "NoCStates"
            self.twin.world.touch(one)

    def validate(self, fault):
        """(the run, what was written down)."""
        self._runs += 1
        folder = self.folder / "validations" / str(self._runs)
        words = running.arguments(fault, folder)
        run = playbook.run(playbook.ROOT / "playbooks" / "validate.yml", *words, env=self.env)
        assert (folder / "validation.json").exists(), run.output[-5000:]
        return run, running.result(folder)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A lab of two guests that train, and that was found good."""
    try:
        world = launch("factory", faces=FACES)
        twin = world.__enter__()
    except engine.EngineProblem as problem:
        if os.environ.get("AIREADY_ENGINE") == "required":
            raise
        pytest.skip(f"no guests: {' '.join(str(problem).split())}")
    try:
        lab = Trained(twin, tmp_path_factory.mktemp("faults"))
        lab.make()
        for name in (FIRST, SECOND):
            twin.guest(name).wait()
        for fault in (GOOD, GOOD_RUNS):
            _good(lab, fault)
        yield lab
    finally:
        world.__exit__(None, None, None)


def _good(lab, fault):
    run, made = lab.validate(fault)
    assert (made["verdict"]["state"], running.not_right(made)) == ("pass", {}), run.output[-3000:]


@pytest.mark.parametrize("fault", PLANTED.values(), ids=PLANTED)
def test_a_wrong_setting_shows_on_its_rung_with_its_cause(trained, fault):
    with fault.plant(trained.twin):
        run, made = trained.validate(fault)
    assert running.complaints(fault, made) == []
    failed = any(one.verdict == "fail" for one in fault.seen)
    assert (run.status != 0) == failed or made["verdict"]["state"] == "incomplete", run.output[-3000:]


def test_afterwards_everything_is_good_again(trained):
    _good(trained, GOOD)


def test_all_layers_and_all_silent_failures_are_planted():
    assert {fault.layer for fault in FAULTS.values()} == {"host", "fabric", "vm", "guest", "job"}
    assert sum(fault.silent for fault in FAULTS.values()) == 7
    assert len(FAULTS) >= 27
    assert ONE != OTHER
