# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report import numbers, values


@pytest.mark.parametrize(
    "value,text",
    [
        (None, "–"),
        (0, "0"),
        (0.0, "0"),
        (9000, "9,000"),
        (1602.4, "1,602"),
        (1000.4, "1,000"),
        (1000.0, "1,000"),
        (999.96, "1000.0"),
        (392.44, "392.4"),
        (10.04, "10.0"),
        (10.0, "10.0"),
        (9.96, "9.96"),
        (2.114, "2.11"),
        (1.0, "1.00"),
        (0.5, "0.50"),
        (0.1, "0.10"),
        (0.0996, "0.1"),
        (0.01234, "0.012"),
        (-1.0, "-1.00"),
        (-3.25, "-3.25"),
    ],
)
def test_a_figure(value, text):
    assert numbers.figure(value) == text


@pytest.mark.parametrize("word,text", [("us", "µs"), ("Gb/s", "Gb/s")])
def test_a_unit(word, text):
    assert numbers.unit(word) == text


@pytest.mark.parametrize("low,high,text", [(2.114, 2.113, "2.11"), (2.11, 2.12, "2.11 to 2.12"), (7, None, "7 to –")])
def test_a_span_of_two_figures_that_look_the_same_is_one_figure(low, high, text):
    assert numbers.span(low, high) == text


@pytest.mark.parametrize(
    "value,text",
    [
        (None, "–"),
        (0, "0.0 %"),
        (0.04, "0.0 %"),
        (0.05, "+0.1 %"),
        (0.9, "+0.9 %"),
        (7.72, "+7.7 %"),
        (-30.6, "−30.6 %"),
    ],
)
def test_a_change(value, text):
    assert numbers.percent(value) == text


@pytest.mark.parametrize(
    "seconds,text",
    [
        (None, "–"),
        (0, "0 s"),
        (1.5, "1.5 s"),
        (9.6, "9.6 s"),
        (10.4, "10 s"),
        (38.1, "38 s"),
        (59.4, "59 s"),
        (60, "1 min 00 s"),
        (968.3, "16 min 08 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h 00 min"),
        (7260, "2 h 01 min"),
    ],
)
def test_a_duration(seconds, text):
    assert numbers.duration(seconds) == text


@pytest.mark.parametrize(
    "reported,text",
    [
        ("2026-03-01T08:15:30Z", "2026-03-01 08:15:30 UTC"),
        ("2026-03-01T08:15:30.123456+00:00", "2026-03-01 08:15:30 UTC"),
        ("2026-03-01T08:15:30+02:00", "2026-03-01 08:15:30 +0200"),
        ("2026-03-01T08:15:30", "2026-03-01 08:15:30"),
        ("yesterday", "yesterday"),
        ("", "–"),
    ],
)
def test_a_moment(reported, text):
    assert numbers.moment(reported) == text


@pytest.mark.parametrize("text,most", [("esx-01.example.com", 12), ("esx-01.example.com", 5), ("short", 5)])
def test_a_name_is_shortened_in_its_middle_to_the_length_there_is(text, most):
    found = numbers.shortened(text, most)
    assert len(found) == min(most, len(text))
    assert (found[0], found[-1]) == (text[0], text[-1])


@pytest.mark.parametrize(
    "text,most,short", [("esx-01", 6, "esx-01"), ("esx-001", 6, "esx…01"), ("esx-01", 5, "es…01"), ("ab", 1, "…")]
)
def test_a_name_keeps_as_much_of_its_head_as_of_its_end(text, most, short):
    assert numbers.shortened(text, most) == short


@pytest.mark.parametrize("text,most,short", [("H100", 4, "H100"), ("H100 PCIe", 6, "H100 …"), ("H100", 3, "H1…")])
def test_a_kind_is_cut_at_its_end(text, most, short):
    assert numbers.cut(text, most) == short


def test_names_are_ordered_as_people_count():
    assert values.in_order(["job-10", "job-2", "a", "10", "2", "job-2"]) == ["2", "10", "a", "job-2", "job-10"]


@pytest.mark.parametrize("row,middle", [([], None), ([3], 3), ([1, 3, 2], 2), ([0.1, 0.2], 0.15)])
def test_the_middle_of_a_row(row, middle):
    assert values.median(row) == middle
