"""Why there are no guests is said in words, with what to do; nothing is installed that nobody asked for."""

from __future__ import annotations

import contextlib
import tempfile

import docker.errors
import pytest

from vsphere_twin.guests import building, engine, image


@pytest.fixture(autouse=True)
def own_turn(monkeypatch, tmp_path):
    """The lock of this machine may be held for minutes, by labs that really are made beside these tests."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(engine, "turn", lambda _say: contextlib.nullcontext())


@pytest.fixture
def machine(monkeypatch):
    """machine(programs, root, ...): a machine without an engine; what is started on it stands in the list."""
    started = []

    def be(programs=(), root=True, like="debian", problem="FileNotFoundError: no such file"):
        monkeypatch.setattr(engine, "_connected", lambda: (None, engine._why_not(problem)))
        monkeypatch.setattr(engine.shutil, "which", lambda name: name if name in programs else None)
        monkeypatch.setattr(engine.os, "geteuid", lambda: 0 if root else 1000)
        monkeypatch.setattr(engine, "_distribution", lambda: {like})
        monkeypatch.setattr(engine, "_install", lambda: started.append("install"))
        monkeypatch.setattr(engine, "_start", lambda say: started.append("start"))
        monkeypatch.setattr(engine, "_awaited", lambda: "client")
        monkeypatch.delenv("DOCKER_HOST", raising=False)
        return started

    return be


@pytest.mark.parametrize(
    "what, install, words",
    [
        ({}, False, ["No Docker answers at unix:///var/run/docker.sock.", "python -m vsphere_twin.guests setup"]),
        ({"root": False}, True, ["No Docker answers", "because this is not root"]),
        ({"like": "fedora"}, True, ["No Docker answers", "only on Debian and Ubuntu"]),
        ({"programs": ("dockerd",), "root": False}, True, ["No Docker answers"]),
        (
            {"programs": ("dockerd",), "root": False, "problem": "PermissionError(13, 'Permission denied')"},
            False,
            ["this user may not use it", "group docker"],
        ),
    ],
    ids=["nothing asked", "not root", "another distribution", "not started", "not allowed"],
)
def test_the_engine_that_is_not_there(machine, what, install, words):
    started = machine(**what)
    with pytest.raises(engine.EngineProblem) as problem:
        engine.have(print, install)
    assert [word for word in words if word not in str(problem.value)] == []
    assert started == []


def test_no_engine_is_started_in_place_of_the_one_that_was_meant(machine, monkeypatch):
    started = machine(programs=("dockerd", "apt-get"))
    monkeypatch.setenv("DOCKER_HOST", "tcp://engine.example:2376")
    with pytest.raises(engine.EngineProblem, match=r"No Docker answers at unix|No Docker answers at tcp"):
        engine.have(print, install=True)
    assert started == []


@pytest.mark.parametrize(
    "programs, install, wanted",
    [(("apt-get",), True, ["install", "start"]), (("dockerd",), False, ["start"])],
    ids=["installed", "started"],
)
def test_what_can_be_done_is_done_after_saying_so(machine, programs, install, wanted):
    started, said = machine(programs=programs), []
    assert engine.have(said.append, install) == "client"
    assert started == wanted
    assert len(said) == len(wanted)


class Images:
    """An engine that has no image and whose build fails."""

    def __init__(self):
        self.images = self.api = self

    def get(self, name):
        raise building.docker.errors.ImageNotFound(name)

    def build(self, **_options):
        yield {"stream": "Step 1/4 : FROM debian\n"}
        yield {"error": "manifest unknown"}


def test_an_image_that_cannot_be_made_shows_the_last_lines(monkeypatch):
    monkeypatch.setattr(building, "can_bootstrap", lambda: False)
    said = []
    with pytest.raises(engine.EngineProblem, match=r"docker build failed(?s:.*)manifest unknown(?s:.*)Debian mirror"):
        image.ensure(Images(), said.append)
    assert "  1/4 : FROM debian" in said


def test_a_disk_without_room_is_said_before_anything_is_made(monkeypatch):
    monkeypatch.setattr(building.shutil, "disk_usage", lambda place: type("Usage", (), {"free": 5 * 1024**2}))
    with pytest.raises(engine.EngineProblem, match=r"has 5 MB left, and 2048 MB are needed"):
        image.ensure(Images(), print)


def test_a_program_that_fails_shows_its_last_lines():
    script = ["sh", "-c", "for n in $(seq 40); do echo line $n; done; exit 3"]
    with pytest.raises(engine.EngineProblem) as problem:
        building.followed(script, print, "Try again.")
    assert "line 40" in str(problem.value)
    assert "line 25\n" not in str(problem.value)


def test_the_recipe_names_the_image(monkeypatch):
    before = image.tag()
    monkeypatch.setattr(image, "PACKAGES", (*image.PACKAGES, "more"))
    assert image.tag() != before


class Busy:
    """A container whose runtime gives up some times."""

    def __init__(self, times, words):
        self.left, self.words, self.paused = times, words, False

    def pause(self):
        if self.left:
            self.left -= 1
            raise docker.errors.APIError(self.words)
        self.paused = True


def test_busy_container_is_frozen_after_some_attempts():
    container = Busy(2, "OCI runtime pause failed: unable to freeze: unknown")
    engine.freeze(container)
    assert container.paused


def test_other_refusals_are_reported_at_once():
    container = Busy(2, "Container is not running")
    with pytest.raises(docker.errors.APIError, match="not running"):
        engine.freeze(container)
    assert container.left == 1


def test_container_that_never_freezes_is_reported(monkeypatch):
    monkeypatch.setattr(engine, "FREEZE_S", 0.1)
    with pytest.raises(docker.errors.APIError, match="unable to freeze"):
        engine.freeze(Busy(10_000, "unable to freeze"))
