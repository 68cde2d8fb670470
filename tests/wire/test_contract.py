"""Every module of the collection is held to the contract; test rows are in rows/, a file for each module."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from . import rows
from .contract import hold
from .drive import MODULES

ROWS = [
    row
    for found in pkgutil.iter_modules(rows.__path__)
    for row in importlib.import_module(f"{rows.__name__}.{found.name}").ROWS
]


def test_every_module_has_rows():
    assert {row.module for row in ROWS} == set(MODULES)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_create_modify_delete_each_twice_and_predicted(row, twin, drive):
    running = twin(seed=row.seed)
    hold(row, running, drive(running))
