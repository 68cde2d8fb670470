"""`want` and `compare` of nouns only compute: no requests, no warnings, and no change of the noun or the item."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from house.collection import ROOT

# The members of nouns that read or change something outside the process, or print.
CLIENTS = {
    f"self.{name}"
    for name in (
        *("vcenter", "_vcenter", "_service", "_esxcli", "esxcli", "_reach", "_session", "_remote", "_smi", "_bmc"),
        *("_commands", "_files", "_manager", "_look", "_clock", "_guests", "_progress", "_module", "_warn", "warn"),
        *("_toolkit", "_docker", "_kubernetes", "_api", "_maker", "_fleet", "_reader", "_evidence", "_keep_backup"),
    )
}
MUTATORS = {"add", "append", "clear", "discard", "extend", "insert", "pop", "remove", "setdefault", "sort", "update"}


def classes() -> dict[str, ast.ClassDef]:
    """{name: class} of plugins/ that is a noun."""
    every = {one.name: one for tree in TREES for one in ast.walk(tree) if isinstance(one, ast.ClassDef)}
    return {name: one for name, one in every.items() if "Noun" in lookup_order(name, every)}


def lookup_order(name: str, every: dict[str, ast.ClassDef]) -> list[str]:
    """The names of a class and of its bases, in the order in which a method is looked up."""
    found = [name]
    for base in every[name].bases if name in every else ():
        bare = ast.unparse(base).partition("[")[0].rpartition(".")[2]
        found += [one for one in lookup_order(bare, every) if one not in found]
    return found


def steps(name: str) -> Iterator[ast.FunctionDef]:
    """The methods that `want` and `compare` of a noun run, themselves included."""
    methods: dict[str, ast.FunctionDef] = {}
    for base in reversed(lookup_order(name, NOUNS)):
        body = NOUNS[base].body if base in NOUNS else []
        methods.update({one.name: one for one in body if isinstance(one, ast.FunctionDef)})
    waiting, seen = ["want", "compare"], set()
    while waiting:
        one = methods.get(waiting.pop())
        if one is not None and one.name not in seen:
            seen.add(one.name)
            yield one
            waiting += [node.attr for node in ast.walk(one) if isinstance(node, ast.Attribute) and root(node) == "self"]


def root(node: ast.AST) -> str | None:
    """The name with which a chain of attributes and keys begins."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def effects(method: ast.FunctionDef) -> Iterator[str]:
    """What a method does besides computing its result."""
    given = {one.arg for one in (*method.args.args, *method.args.kwonlyargs)}
    for node in ast.walk(method):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                given.update(other_names(target, node.value, given))
        elif isinstance(node, (ast.For, ast.comprehension)):
            given.update(other_names(node.target, node.iter, given))
    for node in ast.walk(method):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            if root(node) in given:
                yield f"{method.name} changes {ast.unparse(node)}"
        elif isinstance(node, ast.Call):
            yield from (f"{method.name} {what}" for what in effects_of_call(node, given))


def other_names(target: ast.expr, value: ast.expr, given: set[str]) -> Iterator[str]:
    """Names that an assignment gives to a part of what the method was given."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, part in zip(target.elts, value.elts, strict=False):
            yield from other_names(one, part, given)
    elif isinstance(target, ast.Name) and root(value) in given:
        yield target.id


def effects_of_call(call: ast.Call, given: set[str]) -> Iterator[str]:
    called = call.func
    if isinstance(called, ast.Attribute):
        if called.attr in MUTATORS and root(called) in given:
            yield f"changes {ast.unparse(called.value)}"
        if {ast.unparse(called), ast.unparse(called.value)} & CLIENTS:
            yield f"calls {ast.unparse(called)}"
    for one in (*call.args, *(key.value for key in call.keywords)):
        if ast.unparse(one) in CLIENTS:
            yield f"passes {ast.unparse(one)}"


TREES = [ast.parse(path.read_text()) for path in sorted((ROOT / "plugins").rglob("*.py"))]
NOUNS = classes()


@pytest.mark.parametrize("name", sorted(NOUNS))
def test_want_and_compare_only_compute(name: str) -> None:
    assert [effect for method in steps(name) for effect in effects(method)] == []


def test_no_noun_reads_check_mode() -> None:
    readers = [
        name
        for name, noun in NOUNS.items()
        for node in ast.walk(noun)
        if isinstance(node, ast.Attribute) and node.attr == "check_mode"
    ]
    assert len(NOUNS) > 30
    assert readers == []


IMPURE = """
def want(self, item):
    now, (self._plan, other) = item.now, (1, 2)
    now.waits = True
    item.ids.update(host="esx-01")
    self._warn("The host is slow.")
    return make(self._session, local := [])
"""


def test_every_kind_of_effect_is_found() -> None:
    (method,) = ast.parse(IMPURE).body
    assert isinstance(method, ast.FunctionDef)
    found = ["changes self._plan", "changes now.waits", "changes item.ids", "calls self._warn", "passes self._session"]
    assert sorted(effects(method)) == sorted(f"want {what}" for what in found)
