"""One line makes a world: twin(seed=...) starts a data centre that is gone after the test."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import edit
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.transport import Clock

from vsphere_twin.launch import launch

from .drive import Driver, connection

# What these assert is shown with both sides, as in a test.
pytest.register_assert_rewrite(*(f"{__package__}.{name}" for name in ("contract", "lab", "observe")))


@pytest.fixture
def twin():
    with contextlib.ExitStack() as running:
        yield lambda seed="small", **options: running.enter_context(launch(seed=seed, **options))


@pytest.fixture
def drive(tmp_path):
    with contextlib.ExitStack() as drivers:
        yield lambda running: drivers.enter_context(
            contextlib.closing(Driver(connection(running, tmp_path / "sessions"), running))
        )


@pytest.fixture(scope="module")
def _switches():
    from . import roce_lab  # not before the rewriting of asserts is known

    with contextlib.ExitStack() as running:
        found = {}

        def give(platform, version):
            key = platform, version
            if key not in found:
                found[key] = running.enter_context(roce_lab.bench(platform, version=version))
            return found[key]

        yield Shared(give, lambda lab: [found.pop(key) for key, one in list(found.items()) if one is lab])


@dataclass(frozen=True)
class Shared:
    """Switches that tests of a module share: give one, and forget one that a test left in another state."""

    give: object
    forget: object


@pytest.fixture
def calm(_switches, monkeypatch):
    """calm(platform, version=None): a switch from the factory, for tests that leave it as it was: they share it."""
    monkeypatch.setattr(edit, "PAUSE_S", 0.3)
    given = []

    def give(platform, version=None):
        lab = _switches.give(platform, version)
        given.append((lab, lab.device.running()))
        return lab

    yield give
    left = []
    for lab, before in given:
        lab.control.clear()
        if lab.device.running() != before:
            # The next test gets a new switch, and fails only by itself.
            _switches.forget(lab)
            left.append((before, lab.device.running()))
    assert left == [], "the test left the switch in another state"


@pytest.fixture
def brisk(monkeypatch):
    """Modules pause a tenth as long between two looks at something; time limits are as they were."""
    monkeypatch.setattr(Clock, "sleep", lambda seconds: time.sleep(seconds / 10))
