# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Build the capture command: one file that runs with `python3 FILE` on a machine without Ansible and pyVmomi.

It contains the command, the modules of this collection that it imports, and the pyVmomi of the Python that builds it.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
COMMAND = "aiready_capture"
PREFIX = "ansible_collections.aiready.vsphere."
NAME = "aiready-capture.pyz"
_EPOCH = (1980, 1, 1, 0, 0, 0)


def imports(text: str) -> set[str]:
    """The names of the collection that a file imports; a name may be a module or an object in one."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PREFIX):
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def members() -> dict[str, bytes]:
    """The files of the command, and of the collection as far as the command imports them."""
    made = {f"{COMMAND}/{path.name}": path.read_bytes() for path in sorted((HERE / COMMAND).glob("*.py"))}
    left = {name for text in made.values() for name in imports(text.decode("utf-8"))}
    seen = set()
    while left:
        name = left.pop()
        seen.add(name)
        path = ROOT / Path(*name.removeprefix(PREFIX).split(".")).with_suffix(".py")
        if path.is_file():
            text = path.read_bytes()
            made[f"{name.replace('.', '/')}.py"] = text
            left |= imports(text.decode("utf-8")) - seen
    for data in sorted((ROOT / "plugins" / "module_utils" / "capture").glob("*.json")):
        made[f"{PREFIX.replace('.', '/')}{data.relative_to(ROOT).as_posix()}"] = data.read_bytes()
    return made


def library(name: str) -> dict[str, bytes]:
    """The files of an installed package, without its compiled ones."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        sys.exit(f"{name} is not installed for {sys.executable}. Install it, then build again.")
    top = Path(next(iter(spec.submodule_search_locations)))
    return {f"{name}/{path.relative_to(top).as_posix()}": path.read_bytes() for path in sorted(top.rglob("*.py"))}


def build(target: Path) -> None:
    """Write the command to a file."""
    made = {**members(), **library("pyVmomi"), "LICENSE": (ROOT / "LICENSE").read_bytes()}
    made["__main__.py"] = made[f"{COMMAND}/__main__.py"]
    for name in list(made):
        for folder in Path(name).parents:
            if folder.name and name.endswith(".py"):
                made.setdefault(f"{folder.as_posix()}/__init__.py", b"")
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in sorted(made):
                archive.writestr(zipfile.ZipInfo(name, _EPOCH), made[name], zipfile.ZIP_DEFLATED)
    target.chmod(0o755)


if __name__ == "__main__":
    chosen = Path(sys.argv[1] if len(sys.argv) > 1 else NAME)
    try:
        build(chosen)
    except OSError as problem:
        sys.exit(f"{chosen}: cannot write the command. {problem}. Free space, or use another path.")
    print(chosen)
