"""A lab is known by its process: what it leaves is removed only when that is surely gone."""

from __future__ import annotations

import os
import subprocess
import sys

import docker.errors
import pytest

from vsphere_twin.guests import lab as labs


def test_a_process_that_runs_lives():
    assert labs.lives(labs.owner()) is True


def test_a_process_that_has_ended_does_not():
    ended = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    reported = labs.owner(ended.pid)
    assert labs.lives(reported) is True
    ended.communicate()
    assert labs.lives(reported) is False


def test_another_process_with_the_same_number_is_not_the_owner():
    number, started, space = labs.owner().split(":", 2)
    assert labs.lives(f"{number}:{int(started) - 1}:{space}") is False


@pytest.mark.parametrize(
    "reported",
    ["", "1", "x:1:y", f"{os.getpid()}:1:another boot:pid:[1]"],
    ids=["nothing", "a number", "something else", "a process of another boot"],
)
def test_what_cannot_be_seen_from_here_is_not_judged(reported):
    assert labs.lives(reported) is None


IN_USE = docker.errors.APIError("in use")


class Engine:
    """What an engine has of a lab: a container, a network, a volume. Something else holds some of it for a while."""

    def __init__(self, held, refusals, problem=IN_USE):
        self.there = {"container", "network", "volume"}
        self.api = self
        self._held, self._refusals, self._problem = held, refusals, problem

    def containers(self, filters, **_more):
        return self._rows("container", filters)

    def networks(self, filters):
        return self._rows("network", filters)

    def volumes(self, filters):
        return {"Volumes": self._rows("volume", filters) or None}

    def images(self, repository, filters):
        assert repository == labs.IMAGES  # all others are kept, whatever labels they have
        filters["reference"] = repository  # as the library does
        return []

    def remove_container(self, name, **_how):
        self._remove(name)

    remove_network = remove_volume = remove_container

    def _rows(self, kind, filters):
        assert set(filters) == {"label"}
        return [{"Id": kind, "Name": kind}] if kind in self.there else []

    def _remove(self, name):
        if name == self._held and self._refusals > 0:
            self._refusals -= 1
            if isinstance(self._problem, docker.errors.NotFound):
                self.there.discard(name)
            raise self._problem
        self.there.discard(name)


@pytest.mark.parametrize("held", ["container", "network", "volume"])
def test_what_somebody_still_holds_is_removed_once_it_is_free(monkeypatch, held):
    monkeypatch.setattr(labs, "AGAIN_S", 0)
    engine = Engine(held, refusals=3)
    labs.remove(engine, "a lab")
    assert engine.there == set()


def test_what_another_one_removed_meanwhile_is_no_problem():
    engine = Engine("volume", refusals=1, problem=docker.errors.NotFound("gone"))
    labs.remove(engine, "a lab")
    assert engine.there == set()


def test_what_is_never_let_go_of_is_reported_and_all_else_is_gone(monkeypatch):
    monkeypatch.setattr(labs, "REMOVED_S", 0)
    engine = Engine("volume", refusals=9)
    with pytest.raises(docker.errors.APIError, match="in use"):
        labs.remove(engine, "a lab")
    assert engine.there == {"volume"}


class Known:
    """An engine that has one network of each lab."""

    def __init__(self, **labs_by_name):
        self.api = self
        self._rows = [{"Labels": {labs.LABEL: name, **labels}} for name, labels in labs_by_name.items()]

    def containers(self, **_more):
        return []

    def networks(self, **_more):
        return self._rows

    def volumes(self, **_more):
        return {"Volumes": None}

    def images(self, *_names, **_more):
        return []


def test_labs_of_other_folders_are_left_alone(tmp_path, monkeypatch):
    living, other, here = labs.owner(), str(tmp_path), str(tmp_path / "here")
    monkeypatch.setenv("VSPHERE_TWIN_STATE", here)
    engine = Known(
        ours={labs.STATE: here, labs.OWNER: living},
        others={labs.STATE: other, labs.OWNER: ""},
        gone={labs.STATE: f"{other}/gone", labs.OWNER: ""},
        older={labs.OWNER: ""},
        older_that_runs={labs.OWNER: living},
    )
    assert labs.of_folder(engine) == ["ours", "gone", "older"]


def test_a_lab_leaves_a_mark_where_it_is_asked_for(tmp_path, monkeypatch):
    mark = tmp_path / "mark"
    monkeypatch.setenv("VSPHERE_TWIN_LABS", str(mark))
    assert not mark.exists()
    lab = labs.Lab()
    assert mark.exists()
    assert lab.labels[labs.OWNER] == labs.owner()


def test_files_are_kept_in_the_users_cache_unless_another_folder_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("VSPHERE_TWIN_STATE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert labs.Lab().labels[labs.STATE] == str(tmp_path / "vsphere-twin")
    monkeypatch.setenv("VSPHERE_TWIN_STATE", str(tmp_path / "named"))
    assert labs.Lab().labels[labs.STATE] == str(tmp_path / "named")
