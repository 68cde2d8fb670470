"""Every module of the collection is held to the contract; test rows are in rows/, a file for each module."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from . import rows
from .contract import hold, hold_look
from .drive import MODULES, Driver, reaches

FILES = {
    found.name: importlib.import_module(f"{rows.__name__}.{found.name}")
    for found in pkgutil.iter_modules(rows.__path__)
}
ROWS = [row for file in FILES.values() for row in getattr(file, "ROWS", [])]
LOOKS = [look for file in FILES.values() for look in getattr(file, "LOOKS", [])]


def test_every_module_has_rows():
    # A module that is no state, such as a restart, says why it has none.
    excused = {name for name, file in FILES.items() if getattr(file, "WHY_NO_ROWS", "")}
    assert {row.module for row in ROWS} | {look.module for look in LOOKS} | excused == set(MODULES)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_create_modify_delete_each_twice_and_predicted(row, twin, drive):
    running = twin(seed=row.seed, faces=row.faces)
    hold(row, running, drive(running))


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_a_look_reports_what_is_there_and_changes_nothing(look, twin, drive):
    running = twin(seed=look.seed, faces=look.faces)
    hold_look(look, running, drive(running))


ONE_OF_EACH = {entry.module: entry for entry in [*LOOKS, *ROWS] if "vcenter" in reaches(entry.module)}


@pytest.mark.parametrize("name", sorted(ONE_OF_EACH))
def test_session_that_cannot_be_kept_ends_with_the_module(name, twin, drive):
    entry = ONE_OF_EACH[name]
    running = twin(seed=entry.seed, faces=entry.faces)
    unkept = Driver({**drive(running).connection, "session_dir": "/dev/null/sessions"}, running)
    place = {"at": entry.at} if entry.at else {}
    answer = unkept(name, check=True, **place, **getattr(entry, "create", None) or entry.params)
    assert not answer["failed"], answer["msg"]
    assert [session.user for session in running.sessions] == []
