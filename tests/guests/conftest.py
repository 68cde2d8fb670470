"""One twin with two guests for all tests of this level, and guests for one test that may be spoilt."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from rehearse import playbook
from vsphere_twin.guests import engine
from vsphere_twin.guests.registry import Registry, RegistryOfEngines
from vsphere_twin.launch import launch

os.environ[playbook.WARM] = "1"
# What it finds is shown as in tests.
pytest.register_assert_rewrite(f"{__package__}.contract", f"{__package__}.trainings")

from .lab import Fresh, Lab  # noqa: E402

SEED = Path(__file__).parent / "seed.yml"
FACES = ("guests", "depot")
REQUIRED = "AIREADY_ENGINE"  # required: an engine is installed where it can be, and tests without one fail
PAIR = ("job-01", "job-02")


@pytest.fixture(scope="session")
def guests(tmp_path_factory, pytestconfig):
    """The lab: .twin, .guest(name), .play(tasks, hosts=[name])."""
    required = os.environ.get(REQUIRED) == "required"
    running = launch(SEED, faces=FACES)
    try:
        # Where an image has to be made first, people see how that goes.
        with pytestconfig.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            if required:
                engine.have(print, install=True)
            twin = running.__enter__()
    except engine.EngineProblem as problem:
        if required:
            raise
        pytest.skip(f"no guests: {' '.join(str(problem).split())}")
    try:
        lab = Lab(twin, tmp_path_factory.mktemp("guests"))
        for name in PAIR:
            twin.guest(name).wait()
        yield lab
        lab.close()
    finally:
        running.__exit__(None, None, None)


@pytest.fixture(scope="session")
def lab_registry(guests):
    """The lab's registry with the training image in it, which is made first where it is not there yet."""
    with _started(guests, Registry) as made:
        yield made


@pytest.fixture(scope="session")
def engines_registry(guests):
    """A second one, whose training image has DeepSpeed and Ray. Only their tests ask for it: the image is large."""
    with _started(guests, RegistryOfEngines) as made:
        yield made


@contextlib.contextmanager
def _started(guests, kind):
    lab = guests.twin.guests
    directory = Path(guests.twin.ca_file).parent
    made = kind(lab.client, lab.lab, lab.networks.name(lab.management), directory, print)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def registry(lab_registry):
    """Where it answers, and who may come in."""
    return lab_registry.endpoint()


@pytest.fixture
def play(guests):
    """play(tasks, hosts=[name], check=False, ...): results of the tasks, see lab.Played."""
    return guests.play


@pytest.fixture
def fresh_guest(guests):
    """fresh_guest(**vm): a guest from an entry of a seed's vms, a lab.Fresh; it is gone after the test."""
    made = []

    def make(**vm):
        made.append(guests.fresh(**vm))
        return Fresh(guests, made[-1])

    yield make
    for vm in made:
        guests.remove(vm)
