# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Dispersion of figures, outliers, and the location that bad pairs have in common. Pure."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence, cast

if TYPE_CHECKING:
    Pair = tuple[str, str]
    Places = Mapping[str, Mapping[str, Any]]

# A figure is an outlier if it is worse than the median of the others by this many median deviations and this share.
DEVIATIONS, SHARE = 5.0, 0.05
# Factor from the median deviation to the standard deviation of a normal distribution.
NORMAL = 1.4826
# A location is the cause if at least this share of its tests is bad.
BLAMED = 0.75
MANY = 40


def dispersion(values: Iterable[Any]) -> dict[str, Any] | None:
    """{count, mean, sigma, half, band, range, half_share, range_share}; None for fewer than two figures.

    half is the value that benchmarks print after +-: 1.96 population standard deviations. band is twice that.
    """
    values = [value for value in values if isinstance(value, (int, float)) and math.isfinite(value)]
    if len(values) < 2:
        return None
    mean = sum(values) / len(values)
    sigma = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    half, width = 1.96 * sigma, max(values) - min(values)
    return {
        "count": len(values),
        "mean": round(mean, 6),
        "sigma": round(sigma, 6),
        "half": round(half, 6),
        "band": round(2 * half, 6),
        "range": round(width, 6),
        "half_share": round(half / mean, 6) if mean else None,
        "range_share": round(width / mean, 6) if mean else None,
    }


def median(values: Iterable[float]) -> float | None:
    ordered = sorted(values)
    if not ordered:
        return None
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def outliers(
    figures: Mapping[str, Any],
    better: str = "high",
    deviations: float | None = None,
    share: float | None = None,
    of_two: bool = False,
) -> list[dict[str, Any]]:
    """The figures that are worse than the others: [{key, value, median, worse_by}], the worst first.

    figures is {key: value}. Each is compared with the median of all others, whose spread is the median of their
    deviations. Of two figures, it is unknown which one is bad, unless of_two states that only the worse one can be.
    """
    deviations = DEVIATIONS if deviations is None else deviations
    share = SHARE if share is None else share
    reported = {
        key: value for key, value in figures.items() if isinstance(value, (int, float)) and math.isfinite(value)
    }
    if len(reported) < (2 if of_two else 3):
        return []
    # One of many figures does not move the median.
    whole = _middle(list(reported.values())) if len(reported) > MANY else None
    found = []
    for key, value in reported.items():
        middle, spread = whole or _middle([other for name, other in reported.items() if name != key])
        worse = middle - value if better == "high" else value - middle
        if middle > 0 and worse > max(deviations * spread, share * middle):
            found.append({"key": key, "value": value, "median": middle, "worse_by": round(worse / middle, 4)})
    return sorted(found, key=lambda one: -one["worse_by"])


def _middle(values: Sequence[float]) -> tuple[float, float]:
    """(median, spread by the median of deviations)."""
    middle = cast("float", median(values))
    return middle, NORMAL * cast("float", median([abs(value - middle) for value in values]))


def common(bad: Iterable[Pair], tested: Iterable[Pair], places: Places | None = None) -> dict[str, Any] | None:
    """The narrowest location that all bad pairs have in common: {level, name, text, sure}; None without one.

    bad and tested are [(from, to)]. places is {guest: {host, nic, switch, port}}, as far as they are known. A location
    is the cause if all bad pairs use it, and most of the pairs that use it are bad. The narrowest one counts: a guest
    before its port, a port before its host, then the cables between two switches, and then a switch. sure is false
    if other locations explain the bad pairs equally well.
    """
    bad = list(dict.fromkeys(cast("Pair", tuple(pair)) for pair in bad))
    tested = list(dict.fromkeys([*(cast("Pair", tuple(pair)) for pair in tested), *bad]))
    places = places or {}
    if not bad:
        return None
    guests = {guest for pair in tested for guest in pair}
    if len(guests) == 2 or len({frozenset(pair) for pair in tested}) == 1:
        return _one_pair(bad, places, sure=False)
    for level in ("guest", "port", "host", "link", "switch"):
        fits = _fitting(level, bad, tested, places)
        if fits:
            return _reported(level, fits[0], places, bad, sure=len(fits) == 1)
    if len({frozenset(pair) for pair in bad}) == 1:
        return _one_pair(bad, places, sure=True)
    if len(bad) >= BLAMED * len(tested):
        text = "all pairs, so the cause is shared by all guests and not in a single guest"
        return {"level": "all", "name": "all", "text": text, "sure": True}
    several = _several(bad, tested)
    if several:
        text = " and ".join(_where(guest, places) for guest in several)
        return {"level": "guests", "name": ", ".join(several), "text": text, "sure": True}
    return None


def _fitting(level: str, bad: Sequence[Pair], tested: Sequence[Pair], places: Places) -> list[tuple[str, ...]]:
    """The locations of one level that explain all bad pairs, with the fewest good pairs."""
    touching: Counter[tuple[str, ...]]
    wrong: Counter[tuple[str, ...]]
    touching, wrong = Counter(), Counter()
    faulty = set(bad)
    for pair in tested:
        for place in _touched(level, pair, places):
            touching[place] += 1
            wrong[place] += pair in faulty
    found = {}
    for place, count in wrong.items():
        # A location of all tested pairs cannot be distinguished from the whole.
        rest = len(tested) > touching[place] or level == "guest"
        if count == len(faulty) and count >= BLAMED * touching[place] and touching[place] > 1 and rest:
            found[place] = count / touching[place]
    best = max(found.values(), default=None)
    return sorted(place for place, rate in found.items() if rate == best)


def _touched(level: str, pair: Pair, places: Places) -> set[tuple[str, ...]]:
    """The locations of a pair's traffic at this level."""
    ends = [places.get(guest) or {} for guest in pair]
    if level == "guest":
        # Also by direction: problems of a guest only when it sends, or only when it receives.
        return {(pair[0], "any"), (pair[1], "any"), (pair[0], "from"), (pair[1], "to")}
    if level == "port":
        return {(end["switch"], end["port"]) for end in ends if end.get("switch") and end.get("port")}
    if level == "host":
        return {(end["host"],) for end in ends if end.get("host")}
    switches = sorted({end["switch"] for end in ends if end.get("switch")})
    if level == "link":
        return {tuple(switches)} if len(switches) == 2 else set()
    return {(name,) for name in switches}


def _reported(level: str, place: tuple[str, ...], places: Places, bad: Sequence[Pair], sure: bool) -> dict[str, Any]:
    if level == "guest":
        guest, direction = place
        word = {"any": "", "from": ", only when it sends", "to": ", only when it receives"}[direction]
        return {"level": "guest", "name": guest, "text": _where(guest, places) + word, "sure": sure}
    if level == "port":
        behind = sorted(guest for guest, one in places.items() if (one.get("switch"), one.get("port")) == place)
        text = f"the switch port {place[0]} {place[1]} of {', '.join(behind)}"
        return {"level": "port", "name": f"{place[0]} {place[1]}", "text": text, "sure": sure}
    if level == "host":
        behind = sorted(guest for guest, one in places.items() if one.get("host") == place[0])
        text = f"the host {place[0]}, which runs {', '.join(behind)}"
        return {"level": "host", "name": place[0], "text": text, "sure": sure}
    if level == "link":
        text = f"the links between the switches {place[0]} and {place[1]}"
        return {"level": "link", "name": f"{place[0]} - {place[1]}", "text": text, "sure": sure}
    return {"level": "switch", "name": place[0], "text": f"the switch {place[0]}", "sure": sure}


def _one_pair(bad: Sequence[Pair], places: Places, sure: bool) -> dict[str, Any]:
    first, second = bad[0] if len(set(bad)) == 1 else sorted(bad[0])
    arrow = ">" if len(set(bad)) == 1 else "-"
    alone = "" if sure else "; two guests are not enough to identify the faulty end"
    text = f"between {_where(first, places)} and {_where(second, places)}{alone}"
    return {"level": "pair", "name": f"{first} {arrow} {second}", "text": text, "sure": sure}


def _several(bad: Sequence[Pair], tested: Sequence[Pair]) -> list[str]:
    """The smallest set of guests, at most three, that covers all bad pairs and is mostly bad itself."""
    chosen: list[str]
    left, chosen = list(bad), []
    while left and len(chosen) < 3:
        counts: dict[str, int] = {}
        for pair in left:
            for guest in pair:
                counts[guest] = counts.get(guest, 0) + 1
        guest = min(counts, key=lambda name: (-counts[name], name))
        mine = [pair for pair in tested if guest in pair]
        if sum(guest in pair for pair in bad) < BLAMED * len(mine):
            return []
        chosen.append(guest)
        left = [pair for pair in left if guest not in pair]
    return sorted(chosen) if not left else []


def _where(guest: str, places: Places) -> str:
    """A guest with its known placement: job-02 (esx-02 vmnic2, leaf-01 Ethernet2)."""
    place = places.get(guest) or {}
    words = [
        " ".join(str(place[name]) for name in names if place.get(name))
        for names in (("host", "nic"), ("switch", "port"))
    ]
    words = [word for word in words if word]
    return f"{guest} ({', '.join(words)})" if words else guest


where = _where
