"""Which registered variables a task of a role needs to be defined: those that it uses without a default."""

from __future__ import annotations

from pathlib import Path

import jinja2
from jinja2 import nodes

from house.collection import parsed

# Parts of a task that hold tasks.
BLOCKS = ("block", "rescue", "always")
# Words of a task whose values are expressions without braces.
BARE = ("when", "until", "changed_when", "failed_when", "that")
GUARDS = ("defined", "undefined")
ENVIRONMENT = jinja2.Environment()


def needs(text: str) -> set[str]:
    """The names that a template or expression fails without."""
    tree = ENVIRONMENT.parse(text)
    found: set[str] = set()
    _walk(tree, False, found)
    return found


def _walk(node: nodes.Node, guarded: bool, found: set[str]) -> None:
    if isinstance(node, nodes.Name):
        if not guarded:
            found.add(node.name)
        return
    if isinstance(node, nodes.And):
        _walk(node.left, guarded, found)
        # `x is defined and x.y`, as `and` ends at the first that is false.
        right: set[str] = set()
        _walk(node.right, guarded, right)
        found.update(right - _asked(node.left))
        return
    if isinstance(node, nodes.CondExpr):
        _walk(node.test, guarded, found)
        inner: set[str] = set()
        for branch in (node.expr1, node.expr2):
            if branch is not None:
                _walk(branch, guarded, inner)
        found.update(inner - _asked(node.test))
        return
    if isinstance(node, nodes.Filter) and node.name in ("default", "d"):
        # A chain of attributes of something undefined is undefined, and not an error.
        _walk_chain(node.node, found)
        for one in node.args:
            _walk(one, guarded, found)
        return
    if isinstance(node, nodes.Test) and node.name in GUARDS:
        return
    for child in node.iter_child_nodes():
        _walk(child, guarded, found)


def _walk_chain(node: nodes.Node | None, found: set[str]) -> None:
    while isinstance(node, (nodes.Getattr, nodes.Getitem)):
        if isinstance(node, nodes.Getitem):
            _walk(node.arg, False, found)
        node = node.node
    if node is not None and not isinstance(node, nodes.Name):
        _walk(node, False, found)


def _asked(node: nodes.Node) -> set[str]:
    """The names that a condition says to be defined, themselves or something in them."""
    tests = [one for one in (node, *node.find_all(nodes.Test)) if isinstance(one, nodes.Test) and one.name == "defined"]
    return {
        name.name
        for one in tests
        for name in ([one.node] if isinstance(one.node, nodes.Name) else one.find_all(nodes.Name))
    }


def texts(value: object, bare: bool = False):
    """Each template below a value of YAML; expressions without braces get some."""
    if isinstance(value, str):
        yield f"{{{{ {value} }}}}" if bare else value
    elif isinstance(value, list):
        for one in value:
            yield from texts(one, bare)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from texts(one, key in BARE)


def tasks(path: Path):
    """The tasks of a file, those in blocks too; what stands beside a block belongs to each of its tasks."""
    yield from _flat(parsed(path.read_text()) or [], {})


def _flat(entries, around):
    for entry in entries:
        inner = [key for key in BLOCKS if key in entry]
        if not inner:
            yield {**around, **entry, "when": [*_list(around.get("when")), *_list(entry.get("when"))]}
            continue
        shared = {key: value for key, value in entry.items() if key not in (*BLOCKS, "name")}
        merged = {**around, **shared, "when": [*_list(around.get("when")), *_list(shared.get("when"))]}
        for key in inner:
            yield from _flat(entry[key], merged)


def _list(value):
    return value if isinstance(value, list) else [] if value is None else [value]


def used(task: dict, variables: dict) -> set[str]:
    """Everything that a task needs to be defined, also by way of the role's and its own variables."""
    own = {**variables, **task.get("vars", {})}
    todo = {
        name for text in texts({key: value for key, value in task.items() if key != "vars"}) for name in needs(text)
    }
    # A condition that asks whether a variable is defined stands for the whole task.
    asked = {name for text in texts({"when": task["when"]}) for name in _asked(ENVIRONMENT.parse(text))}
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        seen.add(name)
        if name in own:
            todo |= {one for text in texts(own[name]) for one in needs(text)} - seen
    return seen - asked
