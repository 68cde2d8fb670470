"""Every module that runs on a guest is held to the contract; test rows are in rows/, a file for each module."""

from __future__ import annotations

import contextlib
import importlib
import json
import pkgutil

import pytest

from . import rows
from .contract import hold, hold_look
from .lab import Fresh

FILES = {
    found.name: importlib.import_module(f"{rows.__name__}.{found.name}")
    for found in pkgutil.iter_modules(rows.__path__)
}
ROWS = [row for file in FILES.values() for row in getattr(file, "ROWS", [])]
LOOKS = [look for file in FILES.values() for look in getattr(file, "LOOKS", [])]


@pytest.fixture(scope="module")
def guest_for(guests):
    """with guest_for(row) as guest: rows end as they began, so that those for the same VM share one while all is well.

    A driver leaves more in the kernel than its row can take back: VMs with GPUs are for one row.
    """
    kept = {}

    @contextlib.contextmanager
    def guest_for(row):
        key = json.dumps(row.vm, sort_keys=True)
        guest = kept.pop(key, None) or Fresh(guests, guests.fresh(**row.vm))
        try:
            yield guest
            if not row.vm.get("vgpus"):
                kept[key] = guest
        finally:
            if kept.get(key) is not guest:
                guests.remove(guest.vm)

    yield guest_for
    for guest in kept.values():
        guests.remove(guest.vm)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_create_modify_delete_each_twice_and_predicted(row, guest_for, play):
    with guest_for(row) as guest:
        hold(row, guest, lambda tasks, look: play(tasks, hosts=[guest.name], look=look))


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_a_look_reports_what_is_there_and_changes_nothing(look, guest_for, play):
    with guest_for(look) as guest:
        hold_look(look, guest, lambda tasks: play(tasks, hosts=[guest.name]))
