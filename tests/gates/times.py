"""Durations of gates and tests: a comparison with the last run, and the slowest tests."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator

from gates.running import LOGS, Gate

KEPT = LOGS / "times.json"
SLOWEST = 5


def last() -> dict[str, float]:
    """Seconds of each gate in the last run that it was part of."""
    with contextlib.suppress(OSError, ValueError):
        return json.loads(KEPT.read_text())
    return {}


def keep(seconds: dict[str, float]) -> None:
    """Keep the seconds of these gates for the next run."""
    KEPT.write_text(json.dumps({**last(), **{name: round(value, 1) for name, value in seconds.items()}}))


def profile(gates: Iterable[Gate]) -> Iterator[str]:
    """Yield lines for a reader: the duration of each kind of test, and the slowest tests."""
    costs = [json.loads(line) for gate in gates if gate.costs.exists() for line in gate.costs.read_text().splitlines()]
    if not costs:
        return
    kinds: dict[str, list[dict]] = {}
    for one in costs:
        kinds.setdefault("/".join(one["test"].split("/")[:2]), []).append(one)
    yield "Tests by kind, with seconds of processors:"
    for kind, ones in sorted(kinds.items()):
        yield f"{sum(one['cpu'] for one in ones):8.1f}  {len(ones):6} in {kind}"
    yield "The slowest tests, with seconds of the clock and of processors:"
    for one in sorted(costs, key=lambda cost: -cost["seconds"])[:SLOWEST]:
        yield f"{one['seconds']:8.1f} {one['cpu']:8.1f}  {one['test']}"
