"""Which mutants a campaign tries: drawn by a seed, each line of code equally likely."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from mutation.mutant import Mutant
from mutation.python_mutants import differs, python_mutants
from mutation.yaml_mutants import yaml_mutants

PYTHON = ("plugins/**/*.py",)
YAML = ("roles/*/tasks/*.yml", "playbooks/*.yml")


def every(root: Path, only: str = "") -> Iterator[Mutant]:
    """Yield all mutants of the product, or of the files whose path contains `only`."""
    for patterns, mutants in ((PYTHON, python_mutants), (YAML, yaml_mutants)):
        for path in sorted(path for pattern in patterns for path in root.glob(pattern)):
            name = path.relative_to(root).as_posix()
            if only in name:
                yield from mutants(name, path.read_text())


def drawn(root: Path, seed: int, count: int, only: str = "") -> list[Mutant]:
    """Draw the requested number of mutants, no line twice: first a line, then a kind of change, then a change."""
    lines: dict[tuple[str, int], list[Mutant]] = {}
    for mutant in every(root, only):
        lines.setdefault((mutant.file, mutant.line), []).append(mutant)
    dice = random.Random(seed)
    order = sorted(lines)
    dice.shuffle(order)
    found: list[Mutant] = []
    for file, line in order:
        if len(found) == count:
            break
        chosen = _of_line(lines[file, line], (root / file).read_text(), dice)
        if chosen:
            found.append(chosen)
    return found


def _of_line(mutants: list[Mutant], text: str, dice: random.Random) -> Mutant | None:
    kinds = sorted({mutant.kind for mutant in mutants})
    dice.shuffle(kinds)
    for kind in kinds:
        same = [mutant for mutant in mutants if mutant.kind == kind]
        dice.shuffle(same)
        for mutant in same:
            if not mutant.file.endswith(".py") or differs(mutant, text):
                return mutant
    return None
