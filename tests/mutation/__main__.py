"""python -m mutation: tries random mutants and writes a line of JSON for each. docs/contributing.md describes it."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from mutation.choice import drawn
from mutation.judging import judge
from mutation.mutant import Mutant
from mutation.selection import Calls
from mutation.tree import FOLDER, ROOT, Tree

RECORDED = ["tests/unit/plugins", "tests/unit/roles", "tests/unit/playbooks", "tests/house"]


def main() -> int:
    options = _options()
    # A shell starts background jobs with this signal ignored, and tests of interrupts would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if options.record:
        return _record(options.calls, options.tests or RECORDED)
    mutants = drawn(ROOT, options.seed, options.count, options.only)
    if options.list:
        for mutant in mutants:
            print(json.dumps(_line(mutant)))
        return 0
    part, parts = map(int, options.part.split("/"))
    results = options.results or FOLDER / f"seed-{options.seed}.jsonl"
    results.parent.mkdir(parents=True, exist_ok=True)
    known = {json.loads(line)["id"] for line in results.read_text().splitlines()} if results.exists() else set()
    own = [mutant for mutant in mutants[part - 1 :: parts] if mutant.name not in known]
    calls = Calls(options.calls)
    tree = Tree.copied(f"tree-{options.seed}-{part}")
    for mutant in own:
        verdict = judge(mutant, tree, calls)
        with results.open("a") as stream:
            stream.write(json.dumps({**_line(mutant), **asdict(verdict)}) + "\n")
        word = "killed  " if verdict.killed else "SURVIVED"
        print(f"{word} {mutant.file}:{mutant.line} {mutant.kind} {verdict.by}", flush=True)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m mutation", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="the same seed draws the same mutants from the same tree")
    parser.add_argument("--count", type=int, default=60, help="number of mutants")
    parser.add_argument("--part", default="1/1", help="such as 1/2: every second mutant, for two commands side by side")
    parser.add_argument("--only", default="", help="only files whose path contains this text")
    parser.add_argument("--results", type=Path, help="file of results; mutants in it are not tried again")
    parser.add_argument("--calls", type=Path, default=FOLDER / "calls", help="folder of the recorded calls")
    parser.add_argument("--record", action="store_true", help="record which functions each test calls, and end")
    parser.add_argument("--list", action="store_true", help="print the mutants and try none")
    parser.add_argument("tests", nargs="*", help="with --record: the tests to record")
    return parser.parse_args()


def _record(folder: Path, tests: list[str]) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "mutation.recording", "-n", str(os.cpu_count() or 2), *tests]
    return subprocess.run(command, check=False, cwd=ROOT, env={**os.environ, "AIREADY_CALLS": str(folder)}).returncode


def _line(mutant: Mutant) -> dict[str, object]:
    content = (ROOT / mutant.file).read_bytes()
    before = content[mutant.begin : mutant.end].decode()
    return {
        "id": mutant.name,
        "file": mutant.file,
        "line": mutant.line,
        "kind": mutant.kind,
        "function": mutant.function,
        "before": before,
        "after": mutant.after,
    }


if __name__ == "__main__":
    sys.exit(main())
