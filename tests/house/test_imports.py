"""Each file of the plugins can be the first that Python imports."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PREFIX = "ansible_collections.aiready.vsphere."


def imported(path: Path, known: set[str]) -> set[str]:
    """The modules of the collection that a file imports when it is loaded."""
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PREFIX):
            base = node.module[len(PREFIX) :]
            inner = {f"{base}.{alias.name}" for alias in node.names}
            names |= inner & known or {base} & known
    return names


def test_no_files_of_the_plugins_import_each_other_in_a_circle():
    """The order of imports differs between a playbook and a test, so that a circle fails in some of them alone."""
    files = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in (ROOT / "plugins").rglob("*.py")}
    circle = []
    try:
        TopologicalSorter({name: imported(path, set(files)) for name, path in files.items()}).prepare()
    except CycleError as error:
        circle = error.args[1]
    assert circle == []


LAYERS = ("core", "vcenter", "kubernetes", "capture", "gpu", "host", "vm", "fabric", "guest", "training", "validation")
UTILS = "plugins.module_utils."


def test_a_package_imports_only_packages_of_lower_layers():
    files = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in (ROOT / "plugins").rglob("*.py")}
    shared = {name: path for name, path in files.items() if name.startswith(UTILS)}
    layer = {name: LAYERS.index(name.removeprefix(UTILS).split(".")[0]) for name in shared}
    upwards = [
        (name, used)
        for name, path in shared.items()
        for used in imported(path, set(files))
        if layer.get(used, 99) > layer[name]
    ]
    assert upwards == []
