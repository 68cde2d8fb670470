"""Try a fixed list of mutations: `python -m bench.mutations`. docs/contributing.md describes it.

The list is data, so that two states of the tests can be compared: mutations.json beside this file. A mutation is found
by the text of its line and by its function, not by the number of the line.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import functools
import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from mutation.choice import drawn
from mutation.judging import judge
from mutation.mutant import Mutant
from mutation.python_mutants import python_mutants
from mutation.selection import CONTRACT, Calls, Stage, imported_by, importing, mirrored, nearest, of_modules
from mutation.tree import FOLDER, ROOT, Tree
from mutation.yaml_mutants import yaml_mutants

LIST = Path(__file__).with_suffix(".json")
SEED, OF_PYTHON, OF_YAML = 19, 115, 35
RESULTS = FOLDER / "fixed.jsonl"
# Tests that read the tasks of roles and playbooks without running them.
OF_TASKS = ("tests/unit/roles", "tests/unit/playbooks", "tests/house/test_guest_tasks.py", "tests/house/test_role*.py")
OF_PLAYBOOKS = ("tests/house/test_playbooks.py", "tests/house/test_preflight.py", "tests/house/test_parts_of_vms.py")
LIMIT_S = 900
MOST_AROUND = 25


@dataclass(frozen=True)
class Entry:
    """One mutation of the list."""

    id: int
    file: str
    function: str
    kind: str
    # The line without its indentation, and which of the same changes of such lines in this function it is.
    line: str
    nth: int
    before: str
    after: str

    @property
    def same(self) -> tuple[str, ...]:
        """Return what it is found by, besides its place among others of the same kind."""
        return self.function, self.kind, self.line, self.before, self.after


def mutants(file: str, text: str) -> Iterator[tuple[Entry, Mutant]]:
    """Yield all mutations of a file as they are in a list, each with its present place."""
    lines, content = text.splitlines(), text.encode()
    counted: collections.Counter[tuple[str, ...]] = collections.Counter()
    for mutant in (python_mutants if file.endswith(".py") else yaml_mutants)(file, text):
        before = content[mutant.begin : mutant.end].decode()
        line = lines[mutant.line - 1].strip()
        entry = Entry(0, file, mutant.function, mutant.kind, line, 0, before, mutant.after)
        yield Entry(**{**asdict(entry), "nth": counted[entry.same]}), mutant
        counted[entry.same] += 1


def find(entry: Entry, root: Path) -> Mutant | None:
    """Return the mutation in this tree, or None if its line is no longer there."""
    path = root / entry.file
    if path.is_file():
        for one, mutant in mutants(entry.file, path.read_text()):
            if one.same == entry.same and one.nth == entry.nth:
                return mutant
    return None


def draw(root: Path) -> list[Entry]:
    """Draw the list anew: a seed decides, and each line that can be changed is equally likely."""
    found = []
    # Of YAML, the kinds that the seed does not remove: a task, a condition, what decides about a change or a failure.
    chosen = [*drawn(root, SEED, OF_PYTHON, ".py"), *drawn(root, SEED, OF_YAML, ".yml")]
    for number, mutant in enumerate(chosen, start=1):
        for entry, one in mutants(mutant.file, (root / mutant.file).read_text()):
            if one == mutant:
                found.append(Entry(**{**asdict(entry), "id": number}))
                break
    return found


def listed() -> list[Entry]:
    """Return the list."""
    return [Entry(**one) for one in json.loads(LIST.read_text())]


def stages(mutant: Mutant, root: Path, _calls: Calls, wire: bool = False) -> Iterator[Stage]:
    """The tests for one mutation: unit tests near its file, and on request the contract of the nearest modules."""
    if not mutant.file.endswith(".py"):
        tests = [path for pattern in (*OF_TASKS, *OF_PLAYBOOKS) for path in sorted(root.glob(pattern))]
        yield Stage("tasks", tuple(path.relative_to(root).as_posix() for path in tests), LIMIT_S)
        return
    near = mirrored(mutant.file, root, folder=True) or _package(mutant.file, root)
    yield Stage("near", near, LIMIT_S)
    others = dict.fromkeys((*importing(mutant.file, root), *of_modules(mutant.file, root)))
    yield Stage("imported", tuple(test for test in others if test not in near), LIMIT_S)
    around = dict.fromkeys(_around(mutant.file, root))
    further = [test for test in around if test not in near and test not in others]
    yield Stage("around", tuple(further[:MOST_AROUND]), LIMIT_S)
    modules = nearest(mutant.file, root) if wire else ()
    yield Stage("contract", (CONTRACT,) if modules else (), LIMIT_S, " or ".join(modules))


def _package(file: str, root: Path) -> tuple[str, ...]:
    """Return the folder of unit tests of the package around a file that has none of its own."""
    # Not as far up as all of module_utils.
    for folder in list(Path(file).parents)[:-3]:
        place = Path("tests/unit") / folder
        if list((root / place).glob("test_*.py")):
            return (place.as_posix(),)
    return ()


def _around(file: str, root: Path) -> Iterator[str]:
    """Yield tests of what imports the file, the nearest first: of code, and of filters by the names that they have."""
    users, level, seen = imported_by(root), [file], {file}
    filters = re.findall(r'"(\w+)": deferred\(\s*"([\w.]+)"', (root / "plugins/filter/filters.py").read_text())
    while level:
        for one in level:
            yield from importing(one, root)
            module = one.removeprefix("plugins/").removesuffix(".py").replace("/", ".")
            for name in (name for name, place in filters if place == module):
                yield from _naming(name, root)
        level = [user for one in level for user in sorted(users.get(one, ())) if user not in seen]
        seen.update(level)


@functools.cache
def _naming(name: str, root: Path) -> tuple[str, ...]:
    tests = sorted((root / "tests" / "unit" / "plugins" / "filter").glob("test_*.py"))
    return tuple(path.relative_to(root).as_posix() for path in tests if re.search(rf"\b{name}\b", path.read_text()))


def summary(entries: Iterable[Entry], results: dict[int, dict]) -> Iterator[str]:
    """Yield the survivors, and how many of those that were tried are killed."""
    verdicts: collections.Counter[str] = collections.Counter()
    for entry in entries:
        verdict = results.get(entry.id, {}).get("verdict", "not tried")
        verdicts[verdict] += 1
        if verdict in ("survived", "missing"):
            yield f"{verdict:8} {entry.id:3} {entry.file} {entry.function}: {entry.kind}: {entry.line}"
    tried = verdicts["killed"] + verdicts["survived"]
    share = f", {verdicts['killed'] / tried:.0%} of those tried" if tried else ""
    counts = ", ".join(f"{verdicts[name]} {name}" for name in ("killed", "survived", "missing", "not tried"))
    yield f"{counts}{share}."


def known() -> dict[int, dict]:
    """Return the results so far, by the number of the mutation."""
    results = {}
    for line in RESULTS.read_text().splitlines() if RESULTS.exists() else ():
        # A line is cut if the command was killed: its mutation is tried again.
        with contextlib.suppress(ValueError):
            one = json.loads(line)
            results[one["id"]] = one
    return results


def main() -> int:
    """Try what has no result yet, and print the summary."""
    options = _options()
    if options.draw:
        lines = ",\n".join(json.dumps(asdict(entry), ensure_ascii=False) for entry in draw(ROOT))
        LIST.write_text(f"[\n{lines}\n]\n")
        return 0
    entries = [entry for entry in listed() if options.only in entry.file]
    results = {} if options.again else known()
    if options.survived:
        results = {number: one for number, one in results.items() if one["verdict"] != "survived"}
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    if options.again:
        RESULTS.unlink(missing_ok=True)
    left = [] if options.summary else [entry for entry in entries if entry.id not in results]
    for line in _tried(left, options.wire) if left else ():
        with RESULTS.open("a") as stream:
            stream.write(json.dumps(line) + "\n")
        results[line["id"]] = line
    print(*summary(entries, results), sep="\n")
    return 0


def _tried(entries: list[Entry], wire: bool) -> Iterator[dict]:
    tree, calls = Tree.copied("tree-fixed"), Calls(FOLDER / "calls")
    for entry in entries:
        mutant = find(entry, tree.root)
        line = {"id": entry.id, "verdict": "missing", "by": ""}
        if mutant is not None:
            verdict = judge(mutant, tree, calls, functools.partial(stages, wire=wire))
            line["verdict"], line["by"] = "killed" if verdict.killed else "survived", verdict.by
        print(f"{line['verdict']:8} {entry.id:3} {entry.file} {line['by']}", flush=True)
        yield line


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.mutations", description=__doc__)
    parser.add_argument("--wire", action="store_true", help="also the contract over the wire, for what survives")
    parser.add_argument("--only", default="", help="only files whose path contains this text")
    parser.add_argument("--summary", action="store_true", help="print the results so far and try none")
    parser.add_argument("--survived", action="store_true", help="also try again what survived")
    parser.add_argument("--again", action="store_true", help="forget earlier results")
    parser.add_argument("--draw", action="store_true", help="write the list anew, and end")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
