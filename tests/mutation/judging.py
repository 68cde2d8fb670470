"""Run tests against one mutant and report the failed ones."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from mutation.mutant import Mutant
from mutation.selection import Calls, Stage, stages
from mutation.tree import Tree

PASSED, WRONG_ARGUMENTS, NO_TESTS = 0, 4, 5
# A test that a mutant makes wait for ever ends the run after this time, with a failure.
HANGS_S = 240


@dataclass(frozen=True)
class Verdict:
    """Result of a mutant: killed or not, and by which test."""

    killed: bool
    by: str
    seconds: float
    # Stages that did not end in time, and tests that fail without the mutant as well.
    doubts: tuple[str, ...] = ()


def judge(mutant: Mutant, tree: Tree, calls: Calls, of: Callable[..., Iterator[Stage]] = stages) -> Verdict:
    """Run stage after stage until a test fails that passes without the mutant."""
    begin = time.monotonic()
    doubts: list[str] = []
    for stage in of(mutant, tree.root, calls):
        if not stage.tests:
            continue
        with tree.having(mutant):
            failed, in_time = run(tree, stage)
        if not in_time:
            doubts.append(f"{stage.name}: did not end within {stage.limit_s} s")
        suspect = (failed,) if failed.startswith("tests/") else stage.tests
        again = replace(stage, tests=suspect, keyword="" if suspect == (failed,) else stage.keyword)
        if failed and run(tree, again)[0]:
            doubts.append(f"{failed} fails without the mutant as well")
        elif failed:
            return Verdict(True, f"{stage.name}: {failed}", round(time.monotonic() - begin, 1), tuple(doubts))
    return Verdict(False, "", round(time.monotonic() - begin, 1), tuple(doubts))


def run(tree: Tree, stage: Stage) -> tuple[str, bool]:
    """The first test that fails, or an empty text; and whether the tests ended in time."""
    status, output = _pytest(tree, stage)
    if status == WRONG_ARGUMENTS:
        # A recorded test that no longer exists, or a file that cannot be imported: the files name it.
        files = tuple(dict.fromkeys(test.partition("::")[0] for test in stage.tests))
        there = tuple(file for file in files if (tree.root / file).exists())
        status, output = _pytest(tree, replace(stage, tests=there))
    if status in (PASSED, NO_TESTS):
        return "", True
    if status is None:
        return "", False
    if status == WRONG_ARGUMENTS and "while loading conftest" not in output:
        raise RuntimeError(f"pytest did not understand its arguments: {output[-500:]}")
    named = re.search(r"(?m)^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$", output)
    return (named[1] if named else f"pytest ended with status {status}"), True


def _pytest(tree: Tree, stage: Stage) -> tuple[int | None, str]:
    listed = tree.root / ".build" / "tests.txt"
    listed.write_text("\n".join(stage.tests) + "\n")
    output = tree.root / ".build" / "pytest.log"
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=line"]
    command += ["-o", f"faulthandler_timeout={HANGS_S}", f"@{listed}"]
    command += ["-k", stage.keyword] if stage.keyword else []
    with output.open("w") as log:
        process = subprocess.Popen(
            command, cwd=tree.root, env=tree.environment(), stdout=log, stderr=log, start_new_session=True
        )
        try:
            status = process.wait(stage.limit_s)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait()
    return status, output.read_text(errors="replace")
