# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.report import numbers, values


@pytest.mark.parametrize(
    "value,text",
    [
        (None, "–"),
        (0, "0"),
        (0.0, "0"),
        (9000, "9,000"),
        (1602.4, "1,602"),
        (392.44, "392.4"),
        (2.114, "2.11"),
        (0.01234, "0.012"),
        (-3.25, "-3.25"),
    ],
)
def test_a_figure(value, text):
    assert numbers.figure(value) == text


@pytest.mark.parametrize(
    "value,text", [(None, "–"), (0, "0.0 %"), (0.04, "0.0 %"), (7.72, "+7.7 %"), (-30.6, "−30.6 %")]
)
def test_a_change(value, text):
    assert numbers.percent(value) == text


@pytest.mark.parametrize(
    "seconds,text",
    [
        (None, "–"),
        (0, "0 s"),
        (1.5, "1.5 s"),
        (38.1, "38 s"),
        (60, "1 min 00 s"),
        (968.3, "16 min 08 s"),
        (7260, "2 h 01 min"),
    ],
)
def test_a_duration(seconds, text):
    assert numbers.duration(seconds) == text


@pytest.mark.parametrize(
    "told,text",
    [
        ("2026-03-01T08:15:30Z", "2026-03-01 08:15:30 UTC"),
        ("2026-03-01T08:15:30.123456+00:00", "2026-03-01 08:15:30 UTC"),
        ("2026-03-01T08:15:30+02:00", "2026-03-01 08:15:30 +0200"),
        ("2026-03-01T08:15:30", "2026-03-01 08:15:30"),
        ("yesterday", "yesterday"),
        ("", "–"),
    ],
)
def test_a_moment(told, text):
    assert numbers.moment(told) == text


@pytest.mark.parametrize("text,most", [("esx-01.example.com", 12), ("esx-01.example.com", 5), ("short", 5)])
def test_a_name_is_shortened_in_its_middle_to_the_length_there_is(text, most):
    found = numbers.shortened(text, most)
    assert len(found) == min(most, len(text))
    assert (found[0], found[-1]) == (text[0], text[-1])


def test_names_are_ordered_as_people_count():
    assert values.in_order(["job-10", "job-2", "a", "10", "2", "job-2"]) == ["2", "10", "a", "job-2", "job-10"]


@pytest.mark.parametrize("row,middle", [([], None), ([3], 3), ([1, 3, 2], 2), ([0.1, 0.2], 0.15)])
def test_the_middle_of_a_row(row, middle):
    assert values.median(row) == middle
