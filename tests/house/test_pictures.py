"""The pictures of docs/pictures: those that `make pictures` renders are there, small and shown by the README."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from house.collection import ROOT
from pictures import __main__ as pictures
from pictures import runs, terminal

NAMES = {"report.png", "rehearsal.svg", "preflight.svg"}
LARGEST_BYTES = 150_000
SVG = "{http://www.w3.org/2000/svg}"
ROW = '        "{state:<15}  esx-01.lab.example  clock  The offset is below 30 s.",'


def test_the_pictures_are_those_that_the_command_renders():
    assert {path.name for path in pictures.FOLDER.iterdir()} == NAMES
    source = (ROOT / "tests" / "pictures" / "__main__.py").read_text()
    assert set(re.findall(r'FOLDER / "([^"]+)"', source)) == NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_picture_is_small_and_whole(name):
    content = (pictures.FOLDER / name).read_bytes()
    assert len(content) < LARGEST_BYTES
    if name.endswith(".svg"):
        assert ElementTree.fromstring(content).findall(f"{SVG}g/{SVG}text")
    else:
        assert content.startswith(b"\x89PNG\r\n\x1a\n")


def test_the_readme_shows_the_report_and_the_terminal():
    shown = re.findall(r"!\[[^\]]+\]\(docs/pictures/([^)]+)\)", (ROOT / "README.md").read_text())
    assert {"report.png", "rehearsal.svg"} <= set(shown)


def test_each_picture_has_a_page_that_shows_it():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    shown = {found for page in pages for found in re.findall(r"!\[[^\]]+\]\([^)]*pictures/([^)]+)\)", page.read_text())}
    assert shown == NAMES


def test_output_keeps_its_words_its_colours_and_its_columns():
    line = "\x1b[0;32mok\x1b[0m    a & b\x1b[K"
    assert terminal.plain(line) == "ok    a & b"
    root = ElementTree.fromstring(terminal.svg("make x", [line], 20, "x"))
    _command, output = root.findall(f"{SVG}g/{SVG}text")
    parts = [(one.text, one.get("fill"), float(one.get("x"))) for one in output]
    start = terminal.MARGIN
    assert parts == [
        ("ok", terminal.COLOURS["32"], start),
        ("a & b", terminal.INK, pytest.approx(start + 6 * terminal.CHAR, abs=0.1)),
    ]


def test_a_long_line_is_cut_with_a_mark():
    root = ElementTree.fromstring(terminal.svg("x", ["word" * 10], 20, "x"))
    assert root.findall(f"{SVG}g/{SVG}text")[1][0].text == ("word" * 10)[:19] + terminal.CUT


def test_lines_that_are_left_out_are_marked_and_empty_ones_are_not():
    assert terminal.excerpt(["a", "", "b", "c", "d"], [0, 2, 4]) == ["a", "b", terminal.LEFT_OUT, "d"]


def test_the_table_of_preflight_is_found_in_its_output():
    lines = ["STAGE [preflight]", *[ROW.format(state="ok")] * 9, ROW.format(state="will be changed"), "Verdict: good."]
    assert runs.of_preflight(lines) == [*range(1, 1 + runs.ROWS), 10, 0, 11]


def test_output_without_the_expected_lines_is_no_picture():
    with pytest.raises(runs.NoOutput):
        runs.of_rehearsal(["something else"])
