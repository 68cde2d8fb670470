"""A twin that loads a capture is the captured data centre: a capture of it equals the first one."""

from __future__ import annotations

import difflib
import re

from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture

from vsphere_twin.capture import seed as captures

# What differs between any two captures: versions of a configuration, times, and the session that read it.
DECLARED = re.compile(r"<(?:changeVersion|uptime|sessionId)>")
MOMENTS = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)?")
# Properties that have no content of the data centre, and answers that are events.
LEFT_OUT = {"methods/EventManager-EventManager/QueryEvents.xml"}


def differences(one, other):
    """The lines in which the objects and answers of two captures differ, by file."""
    found = {}
    first, second = (
        {re.sub(r"/\d+-", "/", name): text.decode() for name, text in capture.files.items() if name not in LEFT_OUT}
        for capture in (one, other)
    )
    for name in sorted({*first, *second}):
        lines = [_lines(side.get(name, "")) for side in (first, second)]
        changed = [line for line in difflib.unified_diff(*lines, lineterm="", n=0) if re.match(r"[+-](?![+-])", line)]
        if changed:
            found[name] = changed
    return found


def _lines(text):
    return [MOMENTS.sub("TIME", line) for line in text.splitlines() if not DECLARED.search(line)]


def test_a_twin_of_a_capture_has_the_same_capture(twin, drive, tmp_path):
    captured = []
    for number, seed in enumerate(("small", None)):
        running = twin(seed or captures.of(captured[0]))
        module = drive(running)
        answer = module("site_capture_info", dest=str(tmp_path / f"{number}.zip"), keep=["names"])
        assert not answer["failed"], answer["msg"]
        captured.append(answer["dest"])
    found = differences(*map(Capture, captured))
    assert "\n".join([f"{name}: {line}" for name, lines in found.items() for line in lines]) == ""
