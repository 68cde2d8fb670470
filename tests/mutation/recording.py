"""A plugin of pytest that records which functions of plugins/ each test calls.

It writes one line of JSON per test to the folder in AIREADY_CALLS, one file per process. Calls alone are recorded, not
lines: tracing lines makes tests about twenty times slower.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

import pytest

ROOT = Path(__file__).resolve().parents[2]
MARK = "/plugins/"


def function_name(code: CodeType) -> str | None:
    """File and function of a code object, or None outside plugins/; a lambda belongs to the function around it."""
    _before, mark, after = code.co_filename.rpartition(MARK)
    if not mark or not (ROOT / "plugins" / after).is_file():
        return None
    return f"plugins/{after}::{code.co_qualname.split('.<locals>.<')[0]}"


class Recorder:
    """Collects the code objects that are called while a test runs."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / f"calls-{os.getpid()}.jsonl"
        self._names: dict[int, tuple[CodeType, str | None]] = {}
        self._seen: set[int] = set()

    def _called(self, frame: FrameType, _event: str, _argument: object) -> None:
        code = frame.f_code
        key = id(code)
        if key not in self._seen:
            self._seen.add(key)
            if key not in self._names or self._names[key][0] is not code:
                self._names[key] = code, function_name(code)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._seen = set()
        begin = time.process_time()
        threading.settrace(self._called)
        sys.settrace(self._called)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            found = {name for key in list(self._seen) if (name := self._names[key][1])}
            entry = {"test": item.nodeid, "seconds": round(time.process_time() - begin, 2), "calls": sorted(found)}
            with self._file.open("a") as stream:
                stream.write(json.dumps(entry) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    if "AIREADY_CALLS" in os.environ:
        config.pluginmanager.register(Recorder(Path(os.environ["AIREADY_CALLS"])), "recorder-of-calls")
