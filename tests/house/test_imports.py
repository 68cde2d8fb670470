"""Each file of the plugins can be the first that Python imports."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
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


# Filters of a restore start modules and clients on the controller, once for each run.
WITH_CLIENTS = ("plugin_utils.restore.plan", "plugin_utils.restore.clusters")
CLIENTS = ("pyVmomi", "requests", "kubernetes")


def test_filters_import_no_client():
    """Each task of Ansible is a new process, which imports the filters of its conditions; pyVmomi alone takes 0.4 s."""
    source = (ROOT / "plugins" / "filter" / "filters.py").read_text()
    modules = sorted(set(re.findall(r'deferred\("([\w.]+)"', source)) - set(WITH_CLIENTS))
    assert "plugin_utils.stages.host_plan" in modules
    lines = "".join(f"import {PREFIX}plugins.{name}\n" for name in modules)
    before = f"import sys\nsys.path.insert(0, {str(ROOT / '.build' / 'collections')!r})\n"
    seen = f"{before}{lines}print(*[name for name in {CLIENTS!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True).stdout.split() == []
