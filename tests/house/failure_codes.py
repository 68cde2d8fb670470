"""The failure codes that plugins can return, with the places that name them.

A code is a literal in the place of a parameter, a field or a key `code`. Where an OperatorError gets a computed code,
the codes of the same file's tables count too: words beside a sentence in one tuple.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from house.collection import ROOT

PLUGINS = ROOT / "plugins"
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
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}
    positions = _positions(list(trees.values()))
    found: dict[str, list[str]] = defaultdict(list)
    for path, tree in trees.items():
        for node in ast.walk(tree):
            for code in _codes(node, positions):
                found[code].append(_place(path, node))
        if _computes_a_code(tree):
            for node in ast.walk(tree):
                for code in _of_table(node):
                    found[code].append(_place(path, node))
    return dict(sorted(found.items()))


def _place(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"


def _positions(trees: list[ast.Module]) -> dict[str, set[int]]:
    """{function or class: positions of its parameters named `code`}, without `self`."""
    found: dict[str, set[int]] = defaultdict(set)
    for tree in trees:
        for node in ast.walk(tree):
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


def _computes_a_code(tree: ast.Module) -> bool:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _name(node) == "OperatorError"]
    return any(len(call.args) > 4 and not isinstance(call.args[4], ast.Constant) for call in calls)


def _of_table(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Tuple):
        words = [one for one in node.elts if isinstance(one, (ast.Constant, ast.JoinedStr, ast.IfExp))]
        texts = [one.value for one in words if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if any(" " in text for text in texts) or any(isinstance(one, ast.JoinedStr) for one in words):
            yield from (text for text in texts if "_" in text and CODE.fullmatch(text) and text not in OTHERS)
