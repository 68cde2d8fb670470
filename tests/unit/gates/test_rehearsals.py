"""A rehearsal does less the later it begins, and ends in time."""

from __future__ import annotations

import pytest

from gates import rehearsals


@pytest.mark.parametrize(
    "began, expected",
    [
        (0, "STAGES=all CHECKS=all FAULTS=handful"),
        (3300, "STAGES=all CHECKS=all FAULTS=handful"),
        (3301, "STAGES=all CHECKS=all"),
        (3900, "STAGES=all"),
        (4300, "STAGES=infrastructure"),
        (4301, None),
    ],
)
def test_the_later_it_begins_the_less_it_does(began, expected):
    assert rehearsals.chosen(rehearsals.SITE, began) == expected


class Gate:
    def __init__(self, output=""):
        self.notes, self.closing, self.ran, self.output, self.left_out = [], "", [], output, False

    def call(self, argv, **_options):
        self.ran.append(argv)
        return self.output


def test_the_summary_of_a_rehearsal_is_shown_at_the_end():
    gate = Gate("\n=== Start\n  | TASK\n\nThe rehearsal passed after 3.0 s\n  ok  2.0 s  Start: at 127.0.0.1\n")
    rehearsals.directpath(gate)
    assert gate.ran == [["make", "--no-print-directory", "rehearse", "SITE=directpath", *gate.notes[0].split()[1:]]]
    assert gate.closing == "The rehearsal passed after 3.0 s\n  ok  2.0 s  Start: at 127.0.0.1"


@pytest.mark.parametrize("number, ran", [(1, 0), (2, 1), (3, 0), (5, 1)])
def test_pods_train_with_every_third_commit(monkeypatch, number, ran):
    monkeypatch.setattr("turns.number_of_commit", lambda: number)
    gate = Gate("\nThe rehearsal passed after 3.0 s\n")
    rehearsals.kubernetes(gate)
    assert (len(gate.ran), gate.left_out) == (ran, not ran)


def test_what_would_end_too_late_is_left_out(monkeypatch):
    monkeypatch.setattr(rehearsals, "BEGAN", rehearsals.BEGAN - rehearsals.LIMIT_S)
    gate = Gate()
    rehearsals.site(gate)
    assert (gate.ran, gate.left_out, gate.notes) == ([], True, ["it would end too late"])
