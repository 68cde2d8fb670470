"""A good lab is validated without a warning; each wrong setting, planted alone, shows on its rung with its cause.

It takes long, and is done where AIREADY_FAULTS says which: some (those that nobody sees without measuring), or all:
`AIREADY_FAULTS=all python -m pytest tests/guests/test_faults.py -k guest-mtu`.
"""

from __future__ import annotations

import os

import pytest

from rehearse import playbook
from twin.guests import engine
from twin.launch import launch

from .faults import FIRST, SECOND, running
from .faults.table import FAULTS, chosen

FACES = ("ssh", "redfish", "switches", "guests", "depot", "registry")
WHICH = os.environ.get("AIREADY_FAULTS")
PLANTED = chosen(WHICH)


class Trained:
    """A lab that was made by playbook site, and validations of it."""

    def __init__(self, twin, folder):
        self.twin, self.folder = twin, folder
        playbook.write_endpoint(twin, folder)
        self.env = playbook.environment(folder)
        self._runs = 0

    def make(self):
        """From bare hosts to a training."""
        # Beforehand, since what the run measures is what later ones are compared with.
        running.prepare(self.twin)
        run = playbook.run(playbook.ROOT / "playbooks" / "site.yml", env=self.env)
        assert run.status == 0, run.output[-5000:]

    def validate(self, fault):
        """(the run, what was written down)."""
        self._runs += 1
        return running.validate(fault, self.folder / "validations" / str(self._runs), self.env)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A lab of two guests that train, and that was found good."""
    if not WHICH:
        pytest.skip("AIREADY_FAULTS does not say which faults are planted")
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
        for fault in (running.GOOD, running.GOOD_RUNS):
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
    assert running.complaints(fault, run, made) == [], run.output[-3000:]


def test_afterwards_everything_is_good_again(trained):
    _good(trained, running.GOOD)


def test_all_layers_are_planted():
    assert {fault.layer for fault in FAULTS.values()} == {"host", "fabric", "vm", "guest", "job"}
    assert sum(fault.silent for fault in FAULTS.values()) == 7
    assert len(FAULTS) >= 7 + 20
