"""Which tests are run for a mutant, the likeliest to fail first."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mutation.mutant import Mutant

# Playbook tests by the role or playbook that they run.
PLAYBOOK_TESTS = {
    "switch": ("test_fabric.py", "test_fabric_broken.py"),
    "fabric": ("test_fabric.py", "test_fabric_broken.py"),
    "fabric_check": ("test_fabric_check.py",),
    "esxi_host": ("test_hosts.py", "test_trouble.py"),
    "bios": ("test_hosts.py",),
    "hosts": ("test_hosts.py", "test_trouble.py"),
    "training_vm": ("test_machines.py", "test_machines_broken.py"),
    "machines": ("test_machines.py", "test_machines_broken.py"),
    "preflight": ("test_preflight.py",),
    "site": ("test_site.py", "test_refusals.py", "test_plan.py"),
}
OURS = "ansible_collections.aiready.vsphere"
# Files that tests over the wire name.
ENTRIES = ("plugins/modules/", "plugins/action/", "plugins/terminal/", "plugins/cliconf/")
GUEST_SITES = ("test_guest_sites.py", "test_stages.py")
# Playbook tests of code inside ansible-playbook itself, which the record of calls does not see: by the first word of
# the name of a filter or callback, or by the package of plugin_utils, else by the first word of the file.
CONTROLLER_TESTS = {
    **dict.fromkeys(("run", "stage", "stages", "live", "record"), ("test_stages.py", "test_plan.py")),
    **dict.fromkeys(("preflight", "inventory", "controller", "surroundings"), PLAYBOOK_TESTS["preflight"]),
    **dict.fromkeys(("site", "key", "repository"), ("test_site.py", "test_refusals.py", "test_first_day.py")),
    **dict.fromkeys(("host", "peer", "proof"), PLAYBOOK_TESTS["esxi_host"]),
    **dict.fromkeys(("machine", "decided"), PLAYBOOK_TESTS["training_vm"]),
    **dict.fromkeys(("validation", "training", "guests"), GUEST_SITES),
    "switch": PLAYBOOK_TESTS["switch"],
}
ON_CONTROLLER = ("plugins/callback/", "plugins/filter/", "plugins/plugin_utils/")
MOST_IMPORTS, FILES_OVER_THE_WIRE = 6, 6
# Names no module: its rows do, in a file for each module.
CONTRACT = "tests/wire/test_contract.py"
MODULES_OF_CONTRACT, MODULES_IMPORTING = 3, 8


@dataclass(frozen=True)
class Stage:
    """Tests that run together, and how long they may take."""

    name: str
    tests: tuple[str, ...]
    limit_s: int
    # Restriction of these tests to matching names, in the syntax of pytest's -k.
    keyword: str = ""


class Calls:
    """Recorded calls: the tests that call each function."""

    def __init__(self, folder: Path) -> None:
        self._tests: dict[str, list[tuple[int, float, str]]] = {}
        for path in sorted(folder.rglob("*.jsonl")) if folder.is_dir() else ():
            for line in path.read_text().splitlines():
                entry = json.loads(line)
                for function in entry["calls"]:
                    self._tests.setdefault(function, []).append((len(entry["calls"]), entry["seconds"], entry["test"]))

    def of(self, mutant: Mutant, suites: tuple[str, ...], seconds: float) -> tuple[str, ...]:
        """Return tests of these folders that call the function of the mutant: those that call little else first.

        Code outside functions concerns every test that calls anything in its file.
        """
        functions = [f"{mutant.file}::{mutant.function}"]
        if functions[0] not in self._tests:
            functions = [name for name in self._tests if name.startswith(f"{mutant.file}::")]
        found: dict[str, tuple[int, float]] = {}
        for function in functions:
            for size, took, test in self._tests[function]:
                if test.startswith(suites):
                    found[test] = (size, took)
        chosen: list[str] = []
        total = 0.0
        for test, (_size, took) in sorted(found.items(), key=lambda one: one[1]):
            total += took
            if chosen and total > seconds:
                break
            chosen.append(test)
        return tuple(chosen)


def stages(mutant: Mutant, root: Path, calls: Calls) -> Iterator[Stage]:
    """The stages for one mutant in their order."""
    if mutant.file.endswith(".py"):
        recorded = calls.of(mutant, ("tests/unit", "tests/house"), 120)
        yield Stage("near", mirrored(mutant.file, root, folder=not recorded), 300)
        yield Stage("unit", recorded, 600)
        if not mutant.function:
            # Importing modules see a table or a name of a module; the record of calls does not.
            tests = (*importing(mutant.file, root), *of_modules(mutant.file, root))
            yield Stage("imported", tuple(dict.fromkeys(tests)), 600)
            yield Stage("house", ("tests/house",), 600)
        wire = calls.of(mutant, ("tests/wire",), 120)
        yield Stage("called", wire, 600)
        modules = nearest(mutant.file, root)
        yield Stage("contract", (CONTRACT,) if modules else (), 600, " or ".join(modules))
        yield Stage("wire", over_the_wire(mutant.file, root)[: 2 if wire else None], 900)
        yield Stage("playbooks", on_the_controller(mutant.file), 900)
        return
    yield Stage("house", ("tests/unit/roles", "tests/unit/playbooks", "tests/house"), 600)
    name = mutant.file.split("/")[1].removesuffix(".yml")
    # Only playbook preflight runs the preview of a role.
    preview = mutant.file.endswith("/tasks/preview.yml")
    files = PLAYBOOK_TESTS["preflight"] if preview else PLAYBOOK_TESTS.get(name, GUEST_SITES)
    yield Stage("playbooks", tuple(f"tests/e2e/{file}" for file in files), 1500)


def mirrored(file: str, root: Path, folder: bool) -> tuple[str, ...]:
    """Return the unit tests in the place that mirrors the file: its own, or all of its folder on request."""
    place = Path("tests/unit") / Path(file).parent
    stem = Path(file).stem.lstrip("_")
    own = sorted((root / place).glob(f"test_{stem}*.py"))
    if own:
        return tuple(path.relative_to(root).as_posix() for path in own)
    return (place.as_posix(),) if folder and list((root / place).rglob("test_*.py")) else ()


def importing(file: str, root: Path) -> tuple[str, ...]:
    """The unit tests that import the file."""
    return tests_importing(root).get(file, ())


@cache
def tests_importing(root: Path) -> dict[str, tuple[str, ...]]:
    """The unit tests that import each file of plugins/."""
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted((root / "tests" / "unit").rglob("test_*.py")):
        for imported in dict.fromkeys(_imports(path, root)):
            found[imported] = (*found.get(imported, ()), path.relative_to(root).as_posix())
    return found


def of_modules(file: str, root: Path) -> tuple[str, ...]:
    """The comparison of options with documentation, and unit tests of modules that import the file, nearest first."""
    far = sorted((steps, module) for module, steps in distances(file, root).items())
    names = [*(["documentation"] if far else []), *(module for _steps, module in far)]
    found = [f"tests/unit/plugins/modules/test_{name}.py" for name in names]
    return tuple(path for path in found if (root / path).is_file())[:MODULES_IMPORTING]


def over_the_wire(file: str, root: Path) -> tuple[str, ...]:
    """The tests over the wire of the modules that import the file, the nearest module first."""
    near = distances(file, root)
    ranked = []
    for path in sorted((root / "tests" / "wire").glob("test_*.py")):
        text = path.read_text()
        named = {module: far for module, far in near.items() if re.search(rf"\b{module}\b", text)}
        if named:
            # test_vm_clone_library.py is the nearest to clone/library.py, before the other tests of vm_clone.
            words = {Path(file).stem.strip("_"), *(module for module in named if named[module] == min(named.values()))}
            same = sum(word in path.stem for word in words)
            ranked.append((min(named.values()), -same, len(named), path.relative_to(root).as_posix()))
    if not ranked:
        # A platform is found by its name; no file imports it.
        word = Path(file).parent.name.rpartition("_")[2]
        found = (root / "tests/wire").glob(f"test_*{word}*.py")
        ranked = [(0, 0, 0, path.relative_to(root).as_posix()) for path in found]
    return tuple(path for _far, _same, _named, path in sorted(ranked)[:FILES_OVER_THE_WIRE])


def nearest(file: str, root: Path) -> list[str]:
    """Return the modules that import the file by the fewest steps and have a contract test over the wire."""
    held = {path.stem for path in (root / "tests" / "wire" / "rows").glob("*.py")}
    far = sorted((steps, module) for module, steps in distances(file, root).items() if module in held)
    return [module for _steps, module in far[:MODULES_OF_CONTRACT]]


def on_the_controller(file: str) -> tuple[str, ...]:
    """The playbook tests of a file that Ansible runs on the controller."""
    if not file.startswith(ON_CONTROLLER):
        return ()
    words = (Path(file).parent.name, Path(file).stem.partition("_")[0])
    files = next((CONTROLLER_TESTS[word] for word in words if word in CONTROLLER_TESTS), ())
    return tuple(f"tests/e2e/{name}" for name in files)


def distances(file: str, root: Path) -> dict[str, int]:
    """The modules, actions and terminals that import a file, with the number of imports between."""
    users = imported_by(root)
    found, level, seen = {}, [file], {file}
    for far in range(MOST_IMPORTS):
        found.update({Path(one).stem: far for one in level if one.startswith(ENTRIES) and Path(one).stem not in found})
        level = [user for one in level for user in sorted(users.get(one, ())) if user not in seen]
        seen.update(level)
    return found


@cache
def imported_by(root: Path) -> dict[str, set[str]]:
    """The files that import each file of plugins/."""
    found: dict[str, set[str]] = {}
    for path in sorted((root / "plugins").rglob("*.py")):
        for imported in _imports(path, root):
            found.setdefault(imported, set()).add(path.relative_to(root).as_posix())
    return found


def _imports(path: Path, root: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{OURS}."):
            folder = node.module.removeprefix(f"{OURS}.").replace(".", "/")
            for file in (f"{folder}.py", *(f"{folder}/{alias.name}.py" for alias in node.names)):
                if (root / file).is_file():
                    yield file
