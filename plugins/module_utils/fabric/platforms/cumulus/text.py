# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read the output of NVUE and its files into trees of settings and rows of tables. Pure."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import LARGEST_RANGE, MOST_PORTS, part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Dict

    Tree = Dict[str, Any]  # settings, or the values of a view: {key: value or Tree}

UNITS = {"b": 1, "bytes": 1, "kb": 1024, "mb": 1024**2, "gb": 1024**3, "tb": 1024**4}
UNITS.update(kib=1024, mib=1024**2, gib=1024**3)
BARE = ("", "m", "ms", "meters")  # units without conversion
ON = ("on", "enable", "enabled", "yes", "true", "1")
OFF = ("off", "disable", "disabled", "no", "false", "0")
# NVUE writes several of these keys as one: 0-2,4.
NUMBERED = ("switch-priority", "traffic-class", "dscp", "pcp")
TRIED = 50  # brackets without valid JSON, after which the search stops
_RULE = re.compile(r"\s*-+(?:\s+-+)*\s*$")
_PROMPT = re.compile(r"\S*@\S*?[#$]\s*(?:sudo\s+)?(nv .*\S)\s*$")


def is_on(value: object) -> bool:
    """Return whether a keyword of any release means on."""
    return str(value).strip().lower() in ON


def switched(value: object) -> bool | None:
    """Return True or False for a keyword that means on or off; None for other words."""
    return True if is_on(value) else False if str(value).strip().lower() in OFF else None


def number(value: object) -> int | None:
    """Return the number in 150000, '150000', '146.48 KB' or '40000 B'; None for other values or an unknown unit."""
    if isinstance(value, bool) or value is None:
        return None
    found = re.match(r"\s*(\d[\d,]{0,29}(?:\.\d*)?|\.\d+)\s*([a-zA-Z]*)\s*$", str(value))
    if not found:
        return None
    unit = 1 if found.group(2) in BARE else UNITS.get(found.group(2).lower())
    return None if unit is None else round(float(found.group(1).replace(",", "")) * unit)


def gigabits(value: object) -> int | None:
    """Return 100 for '100G'; None if the value is not a speed in whole gigabits."""
    found = re.fullmatch(r"(\d+)G", str(value or "").strip())
    return int(found.group(1)) if found else None


def numbers(value: object) -> list[int]:
    """Return [0, 1, 2, 5] for '0-2,5', a list, or a dict with such keys."""
    found: set[int] = set()
    for one in value if isinstance(value, (dict, list, tuple)) else [value]:
        for first, last in re.findall(r"(\d+)(?:\s*-\s*(\d+))?", str(one)):
            found.update(range(int(first), min(int(last or first), int(first) + LARGEST_RANGE) + 1))
    return sorted(found)


def listed(value: object) -> list[int] | None:
    """Return the same for a cell or a branch with only numbers; None if it contains a word."""
    if isinstance(value, str) and not re.fullmatch(r"[\d\s,-]*\d[\d\s,-]*", value):
        return None
    return numbers(value)


def port_names(key: object) -> list[str]:
    """Return ['swp1', 'swp2', 'swp5'] for 'swp1-2,5'."""
    names: list[str]
    names, stem = [], ""
    for piece in str(key).replace(" ", "").split(","):
        whole = stem + piece if piece[:1].isdecimal() else piece
        names.extend(_expanded(whole))
        stem = cast("re.Match[str]", re.match(r"\D*", whole)).group(0)
    return names


def short(names: Iterable[str]) -> str:
    """Return 'swp1-2,swp5', the form in which NVUE accepts several ports."""
    return ",".join(_runs(names))


def config_of(text: str) -> tuple[Tree, Tree]:
    """Return ({header}, {settings}) of `nv config show -o json`, with ranges expanded to single keys."""
    header: Tree
    settings: Tree
    header, settings = {}, {}
    for reported in documents(text):
        # Brackets may belong to other text of the capture.
        for entry in filter(None, map(part, reported if isinstance(reported, list) else [reported])):
            header.update(part(entry, "header"))
            settings = _merged(settings, part(entry, "set"))
            if "set" not in entry and ("interface" in entry or "qos" in entry):
                settings = _merged(settings, {key: value for key, value in entry.items() if key != "header"})
    return header, _unrolled(settings)


def documents(text: str) -> list[Any]:
    """Return the JSON values in an output, with any text around them."""
    found: list[Any]
    decoder, found, place, failed = json.JSONDecoder(), [], 0, 0
    while True:
        starts = [at for at in (text.find("{", place), text.find("[", place)) if at >= 0]
        if not starts or failed == TRIED:
            return [value for value in found if isinstance(value, (dict, list))]
        try:
            value, place = decoder.raw_decode(text, min(starts))
            found.append(value)
        except (ValueError, RecursionError):
            place, failed = min(starts) + 1, failed + 1


def flat(tree: object, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Return {path: value} of a tree of settings; an empty branch has the value None."""
    if not isinstance(tree, dict) or not tree:
        return {path: None if isinstance(tree, dict) else tree}
    found = {}
    for key, value in tree.items():
        found.update(flat(value, (*path, str(key))))
    return found


def command_in(text: str) -> str | None:
    """Return the command of a capture that begins with the prompt; None without a prompt."""
    found = next((match for match in map(_PROMPT.match, text.splitlines()) if match), None)
    return " ".join(found.group(1).split()) if found else None


def tree_of(text: str, columns: int = 2) -> dict[tuple[str, ...], str]:
    """Return {path: cell} of the table with operational and applied values; an operational value has priority.

    columns: how many of the two columns count; 1 means operational only.
    """
    lines = text.splitlines()
    for place, line in enumerate(lines[1:], 1):
        if _RULE.match(line) and "operational" in lines[place - 1]:
            return _tree(lines[place + 1 :], [match.start() for match in re.finditer("-+", line)], columns)
    return {}


def rows_of(text: str, *columns: str) -> list[dict[str, str]]:
    """Return the rows, as {column: cell}, of the first table with all these columns."""
    lines = text.splitlines()
    for place, line in enumerate(lines[1:], 1):
        header = re.split(r"\s{2,}", lines[place - 1].strip())
        if _RULE.match(line) and set(columns) <= {name.lower() for name in header}:
            spans = [match.span() for match in re.finditer("-+", line)]
            return list(_rows(lines[place + 1 :], [name.lower() for name in header], spans))
    return []


def exceptions_of(text: str) -> list[str]:
    """Return the lines below the heading of exceptions."""
    found = re.search(r"^Exception List *\n=+ *\n((?:.*\S.*(?:\n|$))*)", text.replace("\r", ""), re.M)
    lines = [line.strip() for line in found.group(1).splitlines()] if found else []
    kept = [line for line in lines if not _RULE.match(line) and line.lower() not in ("no data", "description")]
    return [re.sub(r"^\d+\s{2,}", "", line) for line in kept]


def by_interface(text: str) -> dict[str, str]:
    """Return {port: its part} of a view of all ports, where each part begins with the name of its port."""
    parts = re.split(r"^\s*Interface:\s*(\S+)\s*$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def properties(text: str) -> dict[str, str]:
    """Return {key: value} of a file with lines such as pfc.default-global.tx_enable = true."""
    found = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals and not key.lstrip().startswith("#"):
            found[key.strip()] = value.strip()
    return found


def _tree(lines: Iterable[str], starts: Sequence[int], columns: int) -> dict[tuple[str, ...], str]:
    found: dict[tuple[str, ...], str]
    stack: list[tuple[int, str]]
    found, stack = {}, []
    for line in lines:
        if not line.strip():
            continue
        if re.match(r"\s*=+\s*$", line) or line.startswith(("RoCE ", "Exception ", "PFC WD", "ECN ", "SP->")):
            break
        # A label longer than its column shifts the next cells.
        label = line[: starts[1]] if len(starts) > 1 else line
        cells = [line[at:end].strip() for at, end in zip(starts[1:], [*starts[2:], len(line)])]
        indent = len(label) - len(label.lstrip())
        while stack and stack[-1][0] >= indent:
            stack.pop()
        stack.append((indent, label.strip().strip("[]")))
        value = next((cell for cell in cells[:columns] if cell), None)
        if value is not None and value != "-":
            found[tuple(name for _indent, name in stack)] = value
    return found


def _rows(lines: Iterable[str], header: list[str], spans: Sequence[tuple[int, int]]) -> Iterator[dict[str, str]]:
    names, begun = [""] * (len(spans) - len(header)) + header, False
    gaps = [(stop, start) for (_first, stop), (start, _last) in zip(spans, spans[1:])]
    for line in lines:
        if not line.strip() and not begun:
            continue
        cells = re.split(r"\s{2,}", line.strip())
        if len(cells) != len(spans):
            # Only the column positions show empty cells.
            ends = [start for _stop, start in gaps] + [None]
            cells = [line[start:end].strip() for (start, _stop), end in zip(spans, ends)]
            if any(line[stop:start].strip() for stop, start in gaps):
                return
        if not line.strip() or re.match(r"\s*=+\s*$", line):
            return
        begun = True
        yield dict(zip(names, cells))


def _expanded(name: str) -> list[str]:
    found = re.search(r"(\d+)-(\d+)", name)
    if not found:
        return [name]
    whole = []
    for at in range(int(found.group(1)), min(int(found.group(2)), int(found.group(1)) + MOST_PORTS) + 1):
        whole.extend(_expanded(f"{name[: found.start()]}{at}{name[found.end() :]}"))
    return whole


def _runs(names: Iterable[str]) -> list[str]:
    runs: list[list[Any]] = []  # stem, first, last; without a number: stem, None, None
    for name in names:
        stem, digits = cast("re.Match[str]", re.fullmatch(r"(.*?)(\d*)", name)).groups()
        at = int(digits) if digits else None
        if runs and at is not None and runs[-1][0] == stem and runs[-1][2] == at - 1:
            runs[-1][2] = at
        else:
            runs.append([stem, at, at])
    return [stem if first is None else _run(stem, first, last) for stem, first, last in runs]


def _run(stem: str, first: int, last: int) -> str:
    return f"{stem}{first}" if first == last else f"{stem}{first}-{last}"


def _unrolled(tree: object, above: str = "") -> Any:
    """Return the tree with one key for each port, priority and traffic class."""
    if not isinstance(tree, dict):
        return tree
    found: Tree = {}
    for key, value in tree.items():
        names = port_names(key) if above == "interface" else numbers(key) if above in NUMBERED else [key]
        for name in names or [key]:
            found[str(name)] = _merged(found.get(str(name), {}), _unrolled(value, key))
    return found


def _merged(one: object, other: object) -> Any:
    if not isinstance(one, dict) or not isinstance(other, dict):
        return other
    return {**one, **{key: _merged(one.get(key, {}), value) for key, value in other.items()}}
