"""Each test asserts something, and one thing: an answer that may be this or that proves neither."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from house.collection import ROOT, tracked

CHECKS = {"raises", "warns", "fail"}
FILES = [name for name in tracked() if name.startswith("tests/") and name.endswith(".py")]
TESTS = [name for name in FILES if name.rpartition("/")[2].startswith("test_")]


@cache
def functions(tree: ast.AST) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


@cache
def assertions(function: ast.FunctionDef) -> list[ast.Assert]:
    return [node for node in ast.walk(function) if isinstance(node, ast.Assert)]


@cache
def calls(function: ast.FunctionDef) -> set[str]:
    """The names, without what is before their last dot, that a function calls."""
    called = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    names = {getattr(one, "attr", "") or getattr(one, "id", "") for one in called}
    # A fixture or a module that checks when it is entered or left.
    return names | {argument.arg for argument in function.args.args}


def asserts(function: ast.FunctionDef, helpers: set[str]) -> bool:
    return bool(assertions(function)) or not calls(function).isdisjoint(CHECKS | helpers)


def helpers() -> set[str]:
    """Functions of the tests that assert, or that call one that does."""
    others = [one for name in FILES for one in functions(tree_of(name)) if not one.name.startswith("test_")]
    found = {one.name for one in others if asserts(one, set())}
    called = [(one.name, calls(one)) for one in others]
    while more := {name for name, names in called if not names.isdisjoint(found)} - found:
        found |= more
    return found


@cache
def tree_of(name: str) -> ast.Module:
    return ast.parse((ROOT / name).read_text())


def silent(tree: ast.Module, known: set[str]) -> list[str]:
    """The tests of a file that assert nothing."""
    return [one.name for one in functions(tree) if one.name.startswith("test_") and not asserts(one, known)]


def either_or(tree: ast.Module) -> list[str]:
    """The assertions of a file's tests that two different answers satisfy."""
    tests = [one for one in functions(tree) if one.name.startswith("test_")]
    asserted = [node.test for one in tests for node in assertions(one)]
    return [ast.unparse(test) for test in asserted if _is_either_or(test)]


def _is_either_or(test: ast.expr) -> bool:
    if isinstance(test, ast.BoolOp):
        return isinstance(test.op, ast.Or)
    # One answer among some that are written down.
    listed = (ast.Tuple, ast.List, ast.Set)
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In) and isinstance(test.comparators[0], listed)


def test_each_test_asserts_something():
    known = helpers()
    found = {name: tests for name in TESTS if (tests := silent(tree_of(name), known))}
    assert found == {}


def test_no_assertion_accepts_two_answers():
    found = {name: asserted for name in TESTS if (asserted := either_or(tree_of(name)))}
    assert found == {}


@pytest.mark.parametrize(
    "text, found",
    [
        ("def test_a():\n    run()", ["test_a"]),
        ("def test_a():\n    reported(run())", []),
        ("def test_a():\n    assert run()", []),
        ("def test_a():\n    with pytest.raises(ValueError):\n        run()", []),
    ],
    ids=["nothing", "a helper", "an assertion", "an exception"],
)
def test_a_test_without_an_assertion_is_found(text, found):
    assert silent(ast.parse(text), {"reported"}) == found


@pytest.mark.parametrize(
    "assertion, found",
    [("a or b", True), ("a in (1, 2)", True), ("a in found", False), ("a and b", False), ("a == 1", False)],
)
def test_an_assertion_that_accepts_two_answers_is_found(assertion, found):
    assert bool(either_or(ast.parse(f"def test_a():\n    assert {assertion}"))) is found
