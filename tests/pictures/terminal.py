"""Captured output of a terminal as an SVG. Nothing is added but the command line; left out lines are marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from xml.sax.saxutils import escape

LEFT_OUT = "⋮"
CUT = "…"
# Colours of the terminal by their SGR code, readable on BACKGROUND (WCAG 2, at least 4.5:1).
INK, BACKGROUND = "#e6e9ee", "#14181f"
COLOURS = {
    "31": "#ff8aa5",
    "32": "#7fd8a6",
    "33": "#f0c060",
    "34": "#7cc0f0",
    "35": "#d9a8f0",
    "36": "#6fd3d8",
    "90": "#a3aebd",
}
_SGR = re.compile(r"\x1b\[([0-9;]*)m")
_OTHER = re.compile(r"\x1b\[[0-9;?]*[A-Za-ln-z]|\r")
CHAR, LINE, MARGIN, SIZE = 7.9, 19, 18, 13


def spans(line: str) -> list[tuple[str, str]]:
    """[(colour, text)] of one line of output."""
    found: list[tuple[str, str]] = []
    colour, at = INK, 0
    for code in _SGR.finditer(line):
        found.append((colour, line[at : code.start()]))
        known = [COLOURS[one] for one in code[1].split(";") if one in COLOURS]
        colour, at = known[-1] if known else INK, code.end()
    found.append((colour, line[at:]))
    return [(colour, _OTHER.sub("", text).expandtabs()) for colour, text in found if text]


def plain(line: str) -> str:
    """One line of output without colours and movements of the cursor."""
    return "".join(text for _colour, text in spans(line))


def excerpt(lines: Sequence[str], keep: Iterable[int]) -> list[str]:
    """These lines in their order. One mark is in place of each gap, empty lines aside."""
    found: list[str] = []
    last = -1
    for at in sorted(set(keep)):
        if any(plain(line).strip() for line in lines[last + 1 : at]):
            found.append(LEFT_OUT)
        found.append(lines[at])
        last = at
    return found


def svg(command: str, lines: Sequence[str], columns: int, title: str) -> str:
    """The command line and its output in a window; longer lines are cut and marked."""
    rows = [[("#7cc0f0", "$ "), (INK, command)], *([*_cut(spans(line), columns)] for line in lines)]
    width, height = round(columns * CHAR + 2 * MARGIN), len(rows) * LINE + 2 * MARGIN
    font = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
    texts = "\n".join(_text(number, row) for number, row in enumerate(rows) if row)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img">\n<title>{escape(title)}</title>\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="{BACKGROUND}"/>\n'
        f'<g font-family="{font}" font-size="{SIZE}">\n{texts}\n</g>\n</svg>\n'
    )


def _cut(parts: Sequence[tuple[str, str]], columns: int) -> Iterator[tuple[str, str]]:
    left = columns
    for colour, text in parts:
        if len(text) > left:
            yield colour, text[: left - 1] + CUT
            return
        left -= len(text)
        yield colour, text


def _text(number: int, row: Sequence[tuple[str, str]]) -> str:
    """Each word group has its own place, so that columns stay aligned in any font."""
    found, at = [], 0
    for colour, text in row:
        for group in re.finditer(r"\S+(?: \S+)*", text):
            x, length = MARGIN + (at + group.start()) * CHAR, len(group[0]) * CHAR
            found.append(f'<tspan x="{x:.1f}" textLength="{length:.1f}" fill="{colour}">{escape(group[0])}</tspan>')
        at += len(text)
    return f'<text y="{MARGIN + number * LINE + SIZE}">{"".join(found)}</text>'
