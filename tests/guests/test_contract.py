"""Every module that runs on a guest is held to the contract; test rows are in rows/, a file for each module."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from . import rows
from .contract import hold, hold_look

FILES = {
    found.name: importlib.import_module(f"{rows.__name__}.{found.name}")
    for found in pkgutil.iter_modules(rows.__path__)
}
ROWS = [row for file in FILES.values() for row in getattr(file, "ROWS", [])]
LOOKS = [look for file in FILES.values() for look in getattr(file, "LOOKS", [])]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_create_modify_delete_each_twice_and_predicted(row, fresh_guest, play):
    guest = fresh_guest(**row.vm)
    hold(row, guest, lambda tasks: play(tasks, hosts=[guest.name]))


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_a_look_tells_what_is_there_and_changes_nothing(look, fresh_guest, play):
    guest = fresh_guest(**look.vm)
    hold_look(look, guest, lambda tasks: play(tasks, hosts=[guest.name]))
