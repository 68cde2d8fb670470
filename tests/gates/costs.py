"""A plugin of pytest that records what each test costs: seconds of the clock and of processors, with its children.

It appends one line of JSON per test to the file in AIREADY_COSTS. Seconds of processors hardly depend on how busy the
machine is.
"""

from __future__ import annotations

import json
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from warm import client


def _processor_seconds() -> float:
    """Return the time of this process, of its ended children, and of the warm server's work for it."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return client.used[0] + sum(one.ru_utime + one.ru_stime for one in used)


class Costs:
    """Writes a line as each test ends."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        begin, used = time.monotonic(), _processor_seconds()
        try:
            return (yield)
        finally:
            seconds = {"seconds": time.monotonic() - begin, "cpu": _processor_seconds() - used}
            line = {"test": item.nodeid, **{name: round(value, 3) for name, value in seconds.items()}}
            with self._file.open("a") as stream:
                stream.write(json.dumps(line) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    if "AIREADY_COSTS" in os.environ:
        config.pluginmanager.register(Costs(Path(os.environ["AIREADY_COSTS"])), "costs")
