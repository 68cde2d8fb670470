"""One description of RoCE makes a fabric of six makes lossless from end to end, and changes it safely."""

from __future__ import annotations

from .fabric import (
    OTHER,
    SWITCHES,
    configurations,
    lossless_for,
    mark,
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


def test_lossless_to_lossy_and_back_to_another_priority_and_removed(fabric_lab):
    lab = fabric_lab()
    run = lab.fabric()
    assert (run.status, lossless_for(lab)) == (0, dict.fromkeys(SWITCHES, (3,))), run.output
    run = lab.fabric(site={"roce": {"mode": "lossy"}})
    assert (run.status, lossless_for(lab)) == (0, dict.fromkeys(SWITCHES)), run.output
    # Packets are still marked, and notifications still go first.
    assert {way[1:] for way in ways(lab)} == {(True, True, True)}, why(lab)
    run = lab.fabric()
    assert (run.status, ways(lab)) == (0, GOOD), run.output
    # Hosts change first: the comparison at the end of the stage would tell those that lag behind.
    mark(lab, **OTHER)
    run = lab.fabric(site={"roce": OTHER})
    assert (run.status, lossless_for(lab)) == (0, dict.fromkeys(SWITCHES, (OTHER["priority"],))), run.output
    assert ways(lab) == GOOD, why(lab)
    run = lab.fabric("--extra-vars", "switch_state=absent", site={"roce": OTHER})
    assert run.status == 0, run.output
    # Nothing of ours is left, whatever a make has by itself.
    assert lossless_for(lab) == dict.fromkeys(SWITCHES)
    assert [name for name, texts in configurations(lab).items() if "aiready" in "".join(texts).lower()] == []
    again = lab.fabric("--extra-vars", "switch_state=absent", site={"roce": OTHER})
    assert (again.status, again.changed) == (0, 0), again.output


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
