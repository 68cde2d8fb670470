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


def test_lossy_to_lossless_to_another_priority_and_back_and_removed(fabric_lab):
    lab = fabric_lab()

    def become(*arguments, **roce):
        # The twin tells what the ways do; the stage's own comparison is looked at elsewhere.
        run = lab.fabric(*arguments, site={"roce": roce, "fabric": {"serial": "100%", "agreement": "skip"}})
        assert run.status == 0, run.output
        return run

    become(mode="lossy")
    assert lossless_for(lab) == dict.fromkeys(SWITCHES)
    # Packets are marked already, and notifications go first.
    assert {way[1:] for way in ways(lab)} == {(True, True, True)}, why(lab)
    become(mode="lossless")
    assert (lossless_for(lab), ways(lab)) == (dict.fromkeys(SWITCHES, (3,)), GOOD), why(lab)
    mark(lab, **OTHER)
    become(mode="lossless", **OTHER)
    assert (lossless_for(lab), ways(lab)) == (dict.fromkeys(SWITCHES, (OTHER["priority"],)), GOOD), why(lab)
    become(mode="lossy", **OTHER)
    assert lossless_for(lab) == dict.fromkeys(SWITCHES)
    become("--extra-vars", "switch_state=absent", **OTHER)
    # Nothing of ours is left, whatever a make has by itself.
    assert lossless_for(lab) == dict.fromkeys(SWITCHES)
    assert [name for name, texts in configurations(lab).items() if "aiready" in "".join(texts).lower()] == []
    assert become("--extra-vars", "switch_state=absent", **OTHER).changed == 0


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
