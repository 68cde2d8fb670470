"""One line makes a world: twin(seed=...) starts a data centre that is gone after the test."""

from __future__ import annotations

import contextlib

import pytest

from twin.launch import launch

from .drive import Driver, connection


@pytest.fixture
def twin():
    with contextlib.ExitStack() as running:
        yield lambda seed="small", **options: running.enter_context(launch(seed=seed, **options))


@pytest.fixture
def drive(tmp_path):
    return lambda running: Driver(connection(running, tmp_path / "sessions"))
