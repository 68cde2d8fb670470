"""Whatever a rank prints, the run comes to a verdict in time, and its result is JSON of a sensible size."""

from __future__ import annotations

import json
import time
from dataclasses import asdict

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.training import result, trouble
from ansible_collections.aiready.vsphere.plugins.module_utils.training.progress import Progress

from unit.plugins.module_utils.training.runs import planned

from .world import Clock, Last, Steps, watched

# As they stand in a line of JSON, which knows more than Python's writer.
JUNK = (
    *('"x"', '""', "[1]", "[]", '{"a": 1}', "true", "null", "-1", "1.5", "1e999", "NaN", "Infinity", "-Infinity"),
    *("1" + "0" * 400, "1" + "0" * 4000, "1" + "0" * 9000, '"\\ud800"', '"\\u001b[2J"', '[[{"a": NaN}]]'),
    *("[" * 500 + "]" * 500, json.dumps("x" * 60000), json.dumps(dict.fromkeys(map(str, range(5000)), 1))),
)
KEYS = ("event", "rank", "iteration", "loss", "samples_per_s", "unit", "weights", "loss_first", "loss_last", "engine")
MORE = ("framework", "device", "reason", "host", "other")
KINDS = {
    "rank": {},
    "iteration": {"iteration": "1", "loss": "0.5", "samples_per_s": "5"},
    "end": {"weights": '"a"', "loss_first": "2", "loss_last": "1"},
    "failed": {"reason": '"because"'},
}
# Far beyond what any of it takes: a guard against one that never ends.
LIMIT_S, LARGEST = 20, 2_000_000
CHUNK = 1 << 16


def said(**keys):
    return "AIREADY {" + ", ".join(f'"{key}": {value}' for key, value in keys.items()) + "}\n"


TIMES = {"began": "", "ended": "", "seconds": 3}


def outcome(text):
    """The result of a run of two ranks that print this, as the watch of a run comes to it."""
    clock = Clock()
    _course, judged = watched(Steps(clock, {1: text + said(event='"end"', rank="1", weights='"a"')}, (3, 1)), clock)
    assert judged["state"] == "failed"
    return result.record(Last.made, Last.watch.course.seen, {}, {}, TIMES, judged, {})


def reading(text):
    """The same of the output alone, in the pieces in which a guest hands it over."""
    seen = Progress(["job-01", "job-02"])
    for at in range(0, len(text), CHUNK):
        seen.feed("job-01", 0, text[at : at + CHUNK])
        seen.reported()
    seen.end()
    lines = seen.last_lines()
    first = trouble.first_failure(lines, seen.failures)
    judged = {"lines": lines, "first": asdict(first), "known": str(trouble.known_error(lines))}
    return result.record(planned(), seen, {}, {}, TIMES, judged, {})


def is_fine(reported):
    assert len(json.dumps(reported, allow_nan=False)) < LARGEST


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", [*KEYS, *MORE])
def test_any_value_in_an_event(kind, key):
    for junk in JUNK:
        is_fine(outcome(said(**{"event": f'"{kind}"', "rank": "0", **KINDS[kind], key: junk})))


LINES = {
    "an event without a rank": said(event='"rank"') + said(event='"end"') + said(event='"rank"', rank="0"),
    "a key twice": 'AIREADY {"event": "end", "event": "iteration", "rank": 0, "rank": 99, "iteration": 1}\n',
    "nested lists": "AIREADY " + "[" * 60000 + "\n",
    "nested dictionaries": "AIREADY " + '{"event":' * 7000 + "\n",
    "ranks without an end": "".join(said(event='"rank"', rank=str(number)) for number in range(30000)),
    "failures without an end": said(event='"failed"', rank="0", reason=json.dumps("y" * 900)) * 20000,
    "names of networks without an end": "".join(f"NCCL INFO Using network n{one}\n" for one in range(20000)),
    "devices without an end": "".join(
        f"NCCL INFO NET/IB : GPU Direct RDMA Enabled for HCA 0 'd{one}'\n" for one in range(20000)
    ),
    "half a line of NCCL many times": "NCCL INFO Channel 0 : " * 20000 + "\n",
    "spaces behind a network": "NCCL INFO Using network x" + " " * 200_000 + "\n",
    "brackets": "[1[1" * 50000 + "\n",
    "pieces of mpirun": "[1,0]<stdout>:" * 50000 + "\n",
    "streams of mpirun that never end": "".join(f"[1,{one}]<stdout>:x" for one in range(30000)),
    "digits of a rank": "[1,"
    + "9" * 5000
    + "]<stdout>:x\n["
    + "9" * 5000
    + "]<stdout>:x\n[default"
    + "9" * 5000
    + "]: x\n",
    "digits of a rate": "Total img/sec on 1 GPU(s): " + "9" * 5000 + " +-nan\nImg/sec per GPU: 1e999 +-nan\n",
    "digits of an iteration": "Iter #" + "1" * 5000 + ": nan img/sec per GPU\nIter #1: nan img/sec per GPU\n",
    "steps that are none": "7\timages/sec: inf +/- nan (jitter = nan) nan\ntotal images/sec: nan\n",
    "digits of a launcher": "Process " + "9" * 5000 + " exit with status code " + "9" * 5000 + "\n",
    "one line of 20 MB": "x" * 20_000_000,
    "a line of marks": "\u202e\x1b]8;;http://example.org\x07click\x1b]8;;\x07\x00\x9b2J\n" * 2000,
}


@pytest.mark.parametrize("text", LINES.values(), ids=LINES.keys())
def test_any_line(text):
    began = time.monotonic()
    is_fine(reading(text))
    assert time.monotonic() - began < LIMIT_S


def test_a_loss_that_is_none_is_reported_and_does_not_end_the_watch():
    seen = Progress(["job-01"])
    seen.feed("job-01", 0, said(event='"iteration"', rank="0", iteration="3", loss="NaN", samples_per_s="5"))
    assert seen.reported() == "iteration 3, 5.0 samples/s"
    assert result.throughput(seen, 1)["how"] == "sum over the ranks of each iteration"


def test_what_is_kept_of_an_endless_line_has_an_end():
    seen = Progress(["job-01"])
    for _turn in range(50):
        seen.feed("job-01", 0, "[1,0]<stdout>:" + "x" * 100_000)
    seen.end()
    assert sum(map(len, seen.last_lines())) < 10_000
    assert len(repr(vars(seen))) < 300_000
