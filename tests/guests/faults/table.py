"""All faults of all layers, and which of them a rehearsal plants."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Sequence

from turns import number_of_commit

from . import Fault, around, direct, fabric, hosts, inside, jobs, links, places, vms, wrong_results

FAULTS: dict[str, Fault] = {
    **around.FAULTS,
    **hosts.FAULTS,
    **places.FAULTS,
    **fabric.FAULTS,
    **links.FAULTS,
    **vms.FAULTS,
    **inside.FAULTS,
    **jobs.FAULTS,
    **wrong_results.FAULTS,
}
# {site: the faults that are planted on it}.
SITES = {"": FAULTS, "directpath": direct.FAULTS}
# What is planted beside those that nobody sees without measuring.
_BESIDE = ("guest-no-module", "guest-mtu")
SOME, ALL, HANDFUL = "some", "all", "handful"
# Faults of one handful: about three minutes on two cores.
SIZE = 4


def chosen(words: str, faults: dict[str, Fault] | None = None, number: Callable[[], int] | None = None) -> list[str]:
    """The names of the faults that `some`, `all`, `handful`, `handful:NUMBER` or names with wildcards select."""
    faults = FAULTS if faults is None else faults
    if words == ALL:
        return list(faults)
    if words == SOME:
        return some(faults)
    word, _colon, given = words.partition(":")
    if word == HANDFUL and (given.isdigit() or not given):
        return handful(int(given) if given else (number or number_of_commit)(), faults)
    patterns = [pattern.strip() for pattern in words.split(",")]
    found = {pattern: fnmatch.filter(faults, pattern) for pattern in patterns}
    unknown = [pattern for pattern, names in found.items() if not names]
    if unknown:
        raise ValueError(
            f"No fault is named {' or '.join(unknown)}. Use {SOME}, {ALL}, {HANDFUL}, {HANDFUL}:NUMBER, or names of "
            f"{', '.join(faults)}."
        )
    return [name for name in faults if any(name in names for names in found.values())]


def some(faults: dict[str, Fault]) -> list[str]:
    """The faults that nobody sees without measuring, and the first of each layer that has none of them."""
    found = {name for name, fault in faults.items() if fault.silent or name in _BESIDE}
    layers = {faults[name].layer for name in found}
    for name, fault in faults.items():
        if fault.layer not in layers:
            found.add(name)
            layers.add(fault.layer)
    return [name for name in faults if name in found]


def handful(number: int, faults: dict[str, Fault]) -> list[str]:
    """The faults of a number: consecutive numbers walk through all, and each handful mixes layers and kinds."""
    order = spread([*faults], lambda name: (faults[name].layer, faults[name].by, faults[name].scope))
    many = -(-len(order) // SIZE)
    first = number % many * SIZE if many else 0
    return [order[(first + place) % len(order)] for place in range(min(SIZE, len(order)))]


def spread(names: Sequence[str], kinds: Callable[[str], tuple]) -> list[str]:
    """The names in an order in which each kind is spread evenly over the whole, by the first word of its kind first."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(next(iter(kinds(name)), ""), []).append(name)
    if len(groups) > 1 or any(kinds(name) for name in names):
        groups = {kind: spread(some, lambda name: kinds(name)[1:]) for kind, some in groups.items()}
    places = [
        ((2 * place + 1) / (2 * len(some)), kind, name)
        for kind, some in groups.items()
        for place, name in enumerate(some)
    ]
    return [name for _place, _kind, name in sorted(places)] if len(groups) > 1 else next(iter(groups.values()), [])
