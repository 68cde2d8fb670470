"""The failure codes that plugins can return, with the places that name them.

A code is a literal in the place of a parameter, a field or a key `code`. Where an OperatorError gets a computed code,
the codes of the same file's tables count too: words beside a sentence in one tuple.

`PYTHONPATH=tests:.build/collections python -m house.failure_codes` writes rows, order and anchors of
docs/failure_codes.md. The sentences of a row are written by hand, and the generator keeps them.
"""

from __future__ import annotations

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import CODES, explained

from house.collection import ROOT

PLUGINS = ROOT / "plugins"
PAGE = ROOT / CODES
# The section of a new code, by the folder of the first plugin that names it; else the first section of the page.
SECTIONS = {
    "vm": "VMs and their placement",
    "gpu": "VMs and their placement",
    "host": "ESXi hosts, BMCs, drivers and MIG",
    "fabric": "Switches and the RoCE comparison",
    "guest": "Guests, licences and containers",
    "training": "Trainings",
    "validation": "Validation",
}
ROW = re.compile(r"^\| `(?P<code>\w+)` \|(?P<cells>.*)\|$")
ANCHOR = re.compile(r'<a id="[^"]*"></a>')
# Meaning, usual cause and fix.
SENTENCES = 3
# States of a connection in vSphere, from which module_utils/vm makes a code.
STATES = ("disconnected", "inaccessible", "invalid", "orphaned")
CODE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
# Preflight passes codes on; the remarks of the judge stay inside of it, but for those of judge/causes.py.
LEFT_OUT = ("plugin_utils/preflight/", "module_utils/validation/judge/check_")
# Verdicts of runs and settings that are no failures.
OTHERS = frozenset(
    [
        "empty",
        "interface",
        "link",
        "lldp",
        "other_test",
        "perhaps",
        "qos",
        "run",
        "system",
        "trained",
        "unknown",
        "wrong",
    ]
)


def places() -> dict[str, list[str]]:
    """{code: [file:line]} of all plugins."""
    files = [path for path in sorted(PLUGINS.rglob("*.py")) if not any(part in str(path) for part in LEFT_OUT)]
    nodes = {path: _nodes(path) for path in files}
    positions = _positions(node for path in files for node in nodes[path])
    found: dict[str, list[str]] = defaultdict(list)
    for path in files:
        for node in nodes[path]:
            for code in _codes(node, positions):
                found[code].append(_place(path, node))
        if _computes_a_code(nodes[path]):
            for node in nodes[path]:
                for code in _of_table(node):
                    found[code].append(_place(path, node))
    return dict(sorted(found.items()))


def rows(text: str) -> dict[str, list[str]]:
    """{code: its sentences} of a page; a cell without text is ""."""
    found = (ROW.match(line) for line in text.splitlines())
    return {row["code"]: [ANCHOR.sub("", cell).strip() for cell in _cells(row["cells"])] for row in found if row}


def page(text: str | None = None) -> str:
    """The page as it should be: all codes in order, with the sentences that the text has for them."""
    text = PAGE.read_text(encoding="utf-8") if text is None else text
    head, *sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    named, kept = places(), rows(text)
    known = {*named, *(kept.keys() & _words())}
    titles = [section.splitlines()[0][3:] for section in sections]
    mine = [[code for code in rows(section) if code in known] for section in sections]
    for code in sorted(set(named) - set(kept)):
        mine[titles.index(_section(named[code][0], titles))].append(code)
    return head + "".join(
        _renewed(section, [_row(code, kept.get(code, [])) for code in sorted(set(codes))])
        for section, codes in zip(sections, mine, strict=True)
    )


def incomplete(text: str) -> list[str]:
    """The codes of a page whose row lacks its meaning, its cause or its fix."""
    return [code for code, cells in rows(text).items() if len(cells) != SENTENCES or not all(cells)]


def _section(place: str, titles: list[str]) -> str:
    layer = re.match(r"plugins/(?:module|plugin)_utils/(\w+)/", place)
    return SECTIONS.get(layer[1] if layer else "", titles[0])


def _cells(text: str) -> list[str]:
    return re.split(r"(?<!\\)\|", text)


def _row(code: str, cells: list[str]) -> str:
    anchor = explained(code).partition("#")[2]
    meaning, *others = cells or [""] * SENTENCES
    return " | ".join([f"| `{code}`", f'<a id="{anchor}"></a>{meaning}', *others]) + " |"


def _renewed(section: str, made: list[str]) -> str:
    """The section with these rows in place of its own."""
    lines = section.split("\n")
    old = [number for number, line in enumerate(lines) if ROW.match(line)]
    if not old:
        return section
    others = [line for number, line in enumerate(lines) if number not in old]
    return "\n".join(others[: old[0]] + made + others[old[0] :])


@functools.cache
def _nodes(path: Path) -> list[ast.AST]:
    """All parts of a file; to walk a tree again takes as long as to parse it."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@functools.cache
def _words() -> set[str]:
    """The texts of all plugins, and the codes that are made of states."""
    nodes = (node for path in PLUGINS.rglob("*.py") for node in _nodes(path))
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return texts | {f"vm_{state}" for state in STATES}


def _place(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"


def _positions(nodes: Iterable[ast.AST]) -> dict[str, set[int]]:
    """{function or class: positions of its parameters named `code`}, without `self`."""
    found: dict[str, set[int]] = defaultdict(set)
    for node in nodes:
        if isinstance(node, ast.FunctionDef):
            names = [one.arg for one in node.args.args if one.arg not in ("self", "cls")]
        elif isinstance(node, ast.ClassDef):
            inits = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
            fields = [one.target.id for one in node.body if isinstance(one, ast.AnnAssign)]  # type: ignore[union-attr]
            names = [one.arg for one in inits[0].args.args[1:]] if inits else fields
        else:
            continue
        found[node.name] |= {place for place, name in enumerate(names) if name == "code"}
    return found


def _codes(node: ast.AST, positions: dict[str, set[int]]) -> Iterator[str]:
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == "code":
                yield from _literals(value)
    elif isinstance(node, ast.Call):
        for place in positions.get(_name(node), ()):
            if place < len(node.args):
                yield from _literals(node.args[place])
        for keyword in node.keywords:
            if keyword.arg == "code":
                yield from _literals(keyword.value)


def _name(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _literals(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.IfExp):
        yield from _literals(node.body)
        yield from _literals(node.orelse)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
        yield from () if node.value in OTHERS else (node.value,)


def _computes_a_code(nodes: list[ast.AST]) -> bool:
    calls = [node for node in nodes if isinstance(node, ast.Call) and _name(node) == "OperatorError"]
    return any(len(call.args) > 4 and not isinstance(call.args[4], ast.Constant) for call in calls)


def _of_table(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Tuple):
        words = [one for one in node.elts if isinstance(one, (ast.Constant, ast.JoinedStr, ast.IfExp))]
        texts = [one.value for one in words if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if any(" " in text for text in texts) or any(isinstance(one, ast.JoinedStr) for one in words):
            yield from (text for text in texts if "_" in text and CODE.fullmatch(text) and text not in OTHERS)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    for missing in incomplete(page()):
        print(f"{PAGE}: {missing} has no meaning, no cause or no fix. Write them by hand.")
