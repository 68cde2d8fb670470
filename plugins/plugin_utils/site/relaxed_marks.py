# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Thresholds of a site that are looser than the defaults of the validation. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import suite, thresholds
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import mapping, number, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.thresholds import Mark

LIMITS = ("low", "high", "warn_low", "warn_high")
TRAINING = "cluster.training"
RULES = "A result may be further from the others or from the baseline before it is a warning."
MARKS = "A result that the default threshold does not accept passes."
BASES = {"line": " of the line", "rdma": " of RDMA", "": ""}


def looser(site: Mapping[str, Any], many: int) -> list[tuple[str, str, str, str, list[str]]]:
    """[(name, value, strict, means, checks)]; many is the number of guests."""
    given = site["validation"]["thresholds"]
    cpu = site["training"] is not None and site["training"]["gpus"] == "none"
    found: list[tuple[str, str, str, str, list[str]]] = []
    for name, value in given.items():
        check = name.partition(":")[0]
        if name in thresholds.RULES:
            found += _rules(name, name, value, given, cpu, list(_judged(name)))
        elif check in suite.CHECKS:
            if value is None or any(key in mapping(value) for key in LIMITS):
                found += _marks(name, mapping(value), site, many, cpu)
            # Rules of a single variant have no effect alone.
            for kind in [one for one in thresholds.RULES if one in mapping(value) and name in _judged(one)]:
                found += _rules(f"{name}.{kind}", kind, value[kind], given, cpu, [name])
    return found


def _judged(kind: str) -> list[str]:
    """The checks of a rule."""
    if kind == "spread":
        return [TRAINING]
    if kind == "baseline":
        return list(dict.fromkeys(spec.check for spec in suite.SUITE if spec.kept))
    alike = ("pair", "guest", "training")
    return list(dict.fromkeys(spec.check for spec in suite.SUITE if spec.better and spec.of in alike))


def _rules(
    name: str, kind: str, value: Any, given: Mapping[str, Any], cpu: bool, checks: Sequence[str]
) -> Iterator[tuple[str, Any, str, str, list[str]]]:
    for key in mapping(value):
        if (
            key not in cast("Mapping[str, Mapping[str, Any]]", thresholds.RULES)[kind]
            or key == "source"
            or (kind == "spread" and key.startswith("cpu_") != cpu)
        ):
            continue
        strict: dict[float | None, list[str]] = {}
        for check in checks:
            of_cpu = cpu and check == TRAINING
            usual = thresholds.rule(kind, key, check, {}, of_cpu)
            if _above(thresholds.rule(kind, key, check, given, of_cpu), usual):
                strict.setdefault(usual, []).append(check)
        for usual, some in strict.items():
            yield (f"{name}.{key}", value[key], short(usual), RULES, some)


def _above(value: Any, usual: float | None) -> bool:
    return usual is not None and (value is None or number(value) is None or value > usual)


def _marks(
    name: str, requested: Mapping[str, Any], site: Mapping[str, Any], many: int, cpu: bool
) -> Iterator[tuple[str, str, str, str, list[str]]]:
    """The default thresholds of a check that the site's own do not cover."""
    mine = [
        (requested.get(f"{prefix}low"), requested.get(f"{prefix}high"), not prefix, requested.get("share") or "")
        for prefix in ("", "warn_")
    ]
    speed = number(site["validation"]["speed_gb"])
    left = [
        mark
        for mark in thresholds.MARKS
        if mark.check == name.partition(":")[0]
        and _applies(mark, site, many, cpu)
        and not any(_covers(one, mark, speed) for one in mine)
    ]
    if left:
        shown = (
            ", ".join(f"{key} {requested[key]}" for key in (*LIMITS, "share") if requested.get(key) is not None)
            or "no threshold"
        )
        yield (name, shown, "; ".join(map(_reported, left)), MARKS, [name])


def _applies(mark: Mark, site: Mapping[str, Any], many: int, cpu: bool) -> bool:
    network = site["network"]
    direct = network["path"] in suite.DIRECT_PATHS and network["gpudirect"] != "disabled"
    kinds = {"gpu": not cpu, "gpudirect": direct, "staged": not direct, "local": many == 1}
    return (not mark.paths or network["path"] in mark.paths) and all(kinds[one] for one in mark.variants)


def _covers(limit: tuple[Any, Any, bool, str], mark: Mark, speed: float | None) -> bool:
    """Whether a limit of the site is at least as strict; a limit in other units cannot be compared and is not."""
    low, high, fails, share = limit
    if mark.fails and not fails:
        return False
    factor = 1.0
    if share != mark.share:
        if {share, mark.share} != {"", "line"} or speed is None:
            return False
        factor = speed if share == "line" else 1 / speed
    return (mark.low is None or (number(low) is not None and low * factor >= mark.low)) and (
        mark.high is None or (number(high) is not None and high * factor <= mark.high)
    )


def _reported(mark: Mark) -> str:
    bound = f"at least {short(mark.low)}" if mark.low is not None else f"at most {short(mark.high)}"
    return f"{bound}{BASES[mark.share]}, else a {'failure' if mark.fails else 'warning'}"
