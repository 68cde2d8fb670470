"""One description of RoCE makes a fabric of six makes lossless from end to end, and changes it safely."""

from __future__ import annotations

from .fabric import (
    SWITCHES,
    configurations,
    switch,
    ways,
    why,
)

GOOD = {(True, True, True, True)}


def test_mixed_fabric_becomes_lossless_from_end_to_end_as_predicted_and_the_second_run_changes_nothing(fabric_lab):
    lab = fabric_lab()
    assert {way[0] for way in ways(lab)} == {False}
    before = configurations(lab)
    look = lab.fabric("--check", "--diff")
    assert look.status == 0, look.output
    assert look.changed == len(SWITCHES)
    assert configurations(lab) == before
    for name in SWITCHES:
        assert f"--- before: {name}" in look.output
    first = lab.fabric("--diff")
    assert first.status == 0, first.output
    assert ways(lab) == GOOD, why(lab)
    assert first.changed == len(SWITCHES)
    assert diffs(look) == diffs(first)
    # What runs is what a restart comes back with.
    for name in SWITCHES:
        switch(lab, name).device.reload()
    assert ways(lab) == GOOD, why(lab)
    settled = configurations(lab)
    again = lab.fabric("--diff")
    assert (again.status, again.changed) == (0, 0), again.output
    assert configurations(lab) == settled


def diffs(run):
    """What a run showed as its changes, by switch: {switch: lines}."""
    found, name = {}, None
    for line in run.output.splitlines():
        if line.startswith("--- before: "):
            name = line.removeprefix("--- before: ")
            found[name] = []
        elif line.startswith(("changed:", "ok:", "TASK", "PLAY", "[WARNING]")):
            name = None
        elif name:
            found[name].append(line)
    return found
