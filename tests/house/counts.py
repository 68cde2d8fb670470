"""How large and how uniform the collection is, as numbers: `python -m house.counts [FOLDER]`, FOLDER being a checkout.

The numbers are no limits. They show whether a change made the collection simpler.
"""

from __future__ import annotations

import ast
import re
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OURS = "ansible_collections.aiready.vsphere."
# A value that a play or a role passes on under another name, alone on its line.
HANDOVER = re.compile(r"^\s+(\w+): (?:&\w+ )?\"\{\{ (\w+)(?:\[\w+\])?(?:\.(\w+))? \}\}\"$")
VERBS = ("read", "want", "compare", "apply", "prove")
OTHER_VERBS = (
    *("state_of", "want_settings", "setting_changes", "reconfiguration"),
    *("look", "change", "gap"),
    *("details", "card", "against", "doubts"),
)
MODULES = ("pvrdma_nic", "vm_shape", "mig_partition", "roce_qos", "esxi_host_info")


def counts(root: Path) -> dict[str, object]:
    """{what is counted: its number}."""
    utils = sorted((root / "plugins" / "module_utils").rglob("*.py"))
    files = {path: ast.parse(path.read_text()) for path in sorted((root / "plugins").rglob("*.py"))}
    functions = [one for tree in files.values() for one in _functions(tree)]
    needed = {path: _needed(tree, files, root) for path, tree in files.items()}
    closures = {
        path.stem: len(_closure([path, root / "plugins" / "action" / path.name], needed))
        for path in sorted((root / "plugins" / "modules").glob("*.py"))
    }
    roles = {path.name for path in (root / "roles").iterdir()}
    nouns = [
        one for tree in files.values() for one in ast.walk(tree) if isinstance(one, ast.ClassDef) and _is_noun(one)
    ]
    return {
        "lines that pass a value on": sum(1 for path in _yaml(root) for _line in _handed_over(path, roles)),
        "lines of expressions longer than a line, in roles and playbooks": sum(_long(path) for path in _yaml(root)),
        "packages of module_utils": len(
            {path.relative_to(root).parts[2] for path in utils if len(path.relative_to(root).parts) > 3}
        ),
        "files of module_utils": len(utils),
        "lines of plugins": sum(path.read_text().count("\n") for path in files),
        "files of module_utils that a module imports, median": statistics.median(closures.values()),
        **{f"files of module_utils that {name} imports": closures[name] for name in MODULES},
        "functions": len(functions),
        "functions with all types": sum(map(_typed, functions)),
        "classes with the five verbs": sum(1 for one in nouns if set(VERBS) <= {name.name for name in _functions(one)}),
        "methods with other names for them": sum(1 for one in functions if one.name in OTHER_VERBS),
    }


def _yaml(root: Path) -> list[Path]:
    return [
        path
        for top in ("playbooks", "roles")
        for path in sorted((root / top).rglob("*.yml"))
        if "meta" not in path.parts
    ]


def _handed_over(path: Path, roles: set[str]) -> Iterator[str]:
    """Lines such as `training_vm_cpus: "{{ __machines.cpus }}"`, and those that put the values together again."""
    for line in path.read_text().splitlines():
        found = HANDOVER.match(line)
        if found is None:
            continue
        to_role = path.parts[-2] != "vars" and any(found[1].startswith(f"{role}_") for role in roles)
        if to_role if found[3] else path.parts[-2] == "vars" and found[2].endswith(f"_{found[1]}"):
            yield line


def _long(path: Path) -> int:
    """Lines of templates that do not fit in one line."""
    return sum(
        found[0].count("\n") + 1
        for found in re.finditer(r"\{[{%](?:(?!\}\}|%\}).)*\n.*?[}%]\}", path.read_text(), re.S)
    )


def _functions(tree: ast.AST) -> list[ast.FunctionDef]:
    return [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]


def _typed(function: ast.FunctionDef) -> bool:
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
    own = every[1:] if every and every[0].arg in ("self", "cls") else every
    return function.returns is not None and all(one.annotation is not None for one in own)


def _is_noun(one: ast.ClassDef) -> bool:
    return any("Noun" in ast.unparse(base) for base in one.bases)


def _needed(tree: ast.Module, files: dict[Path, ast.Module], root: Path) -> set[Path]:
    """The files of module_utils that a file imports."""
    found: set[Path] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{OURS}plugins.module_utils"):
            base = root / (node.module or "").removeprefix(OURS).replace(".", "/")
            found.update((base.with_suffix(".py"), *(base / f"{alias.name}.py" for alias in node.names)))
    return found & files.keys()


def _closure(starts: list[Path], needed: dict[Path, set[Path]]) -> set[Path]:
    """The files of module_utils that a module and its action plugin need, directly or not."""
    found: set[Path] = set()
    waiting = [path for path in starts if path in needed]
    while waiting:
        more = needed[waiting.pop()] - found
        found |= more
        waiting += more
    return found


if __name__ == "__main__":
    for what, number in counts(Path(sys.argv[1]).resolve() if sys.argv[1:] else ROOT).items():
        print(f"{number:>8}  {what}")
