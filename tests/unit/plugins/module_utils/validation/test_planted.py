"""Faults that the lab cannot have: each is planted in the measurements of a good run, and the judge names it."""

from __future__ import annotations

import fnmatch

import pytest

from guests.faults.recorded import RECORDED

from .world import World, not_right, row_of


@pytest.mark.parametrize("fault", RECORDED.values(), ids=RECORDED)
def test_the_judge_names_what_a_run_recorded(fault):
    lab = World(2, path=fault.path, **fault.intent)
    assert not_right(lab.judged()) == {}
    assert (fault.check, fault.subject) in {key[:2] for key in lab._made}
    lab.set(fault.check, fault.subject, fault.variant, **fault.values)
    result = lab.judged()
    for one in fault.seen:
        row = row_of(result, one.row)
        assert row["verdict"] == one.verdict
        assert [word for word in one.cause if word not in row["cause"]] == [], row["cause"]
        assert [word for word in one.why if word not in row["why"]] == [], row["why"]
    patterns = [*(one.row for one in fault.seen), *fault.also]
    others = [row for row in not_right(result) if not any(fnmatch.fnmatchcase(row, pattern) for pattern in patterns)]
    assert others == []
