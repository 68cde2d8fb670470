# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report import evidence


@pytest.mark.parametrize(
    "line",
    [
        "NGC_API_KEY=hunter2",
        "vcenter_password: hunter2",
        '  "AWS_SECRET_ACCESS_KEY": "hunter2",',
        "tool --token=hunter2 --size 8",
        "proxy http://user:hunter2@proxy:3128",
        "Authorization: Bearer hunter2",
    ],
)
def test_what_sounds_like_a_secret_is_not_shown(line):
    assert "hunter2" not in evidence.excerpt(line)
    assert evidence.HIDDEN in evidence.excerpt(line)


@pytest.mark.parametrize(
    "line",
    [
        " 65536      5000             61.31              61.20",
        "# Avg bus bandwidth    : 7.8",
        "NET/IB : Using [0]mlx5_0",
    ],
)
def test_a_line_of_an_output_stays_as_it_is(line):
    assert evidence.excerpt(f"first\n{line}") == f"first\n{line}"


def test_a_private_key_is_not_shown_even_when_the_file_was_cut():
    text = "a\n-----BEGIN OPENSSH PRIVATE KEY-----\nabc\ndef"
    assert evidence.excerpt(text) == f"a\n{evidence.HIDDEN}"


def test_of_a_long_output_the_beginning_and_the_end_are_shown():
    lines = evidence.excerpt("\n".join(str(number) for number in range(1000))).splitlines()
    assert (lines[0], lines[5], lines[6], lines[7], lines[-1]) == ("0", "5", "[... 970 lines ...]", "976", "999")


def test_colours_and_controls_of_a_terminal_and_endless_lines_do_not_reach_the_page():
    text = evidence.excerpt("\x1b[31mred\x1b[0m \x07\u202e" + "x" * 5000)
    assert text.startswith("red \N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}xxx")
    assert len(text) < 300


def test_the_evidence_of_what_failed_is_shown_before_that_of_what_warned_and_not_of_what_passed():
    rows = [{"verdict": verdict, "evidence": f"{verdict}.txt"} for verdict in ("pass", "warn", "fail", "not_run")]
    assert evidence.places(rows, 9) == ["fail.txt", "warn.txt"]
    assert evidence.places(rows, 1) == ["fail.txt"]
