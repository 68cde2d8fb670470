# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Thresholds of figures: defaults with sources by data path, speed and GPU, and those of a site.

A published threshold fails. A threshold that this collection proposes only warns, and its source states that.
Without a published threshold, the first run records a baseline, and later runs are compared with it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import line, suite
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import (
    FAIL,
    WARN,
    mapping,
    number,
    short,
)

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import About

PROPOSAL = "a proposal of this collection, not confirmed for VMs; it only warns"
# The base of a share, and the fix if it is unknown.
LACKING = {
    "line": "the line speed, which is unknown: set site.validation.speed_gb",
    "rdma": "the RDMA bandwidth between the same guests, which is unknown: run pair.write_bw, or remove share",
}
AZURE, OCI = "Azure's public node health checks v0.4.5", "Oracle's public checks of GPU clusters v3.1.0"


class Mark(NamedTuple):
    """One limit. If share is set, low and high are shares of the base: the line, or an earlier measurement."""

    check: str
    low: float | None
    high: float | None
    source: str
    fails: bool = False
    share: str = ""  # line, rdma: the bandwidth of RDMA between the same guests, in GB/s
    paths: tuple[str, ...] = ()
    speeds: tuple[int, ...] = ()  # of the adapters in Gb/s; empty for all
    variants: tuple[str, ...] = ()
    gpus: tuple[str, ...] = ()  # words in the name of the board
    ranks: int = 0


MARKS = (
    Mark(
        *("pair.write_bw", 0.78, None),
        f"78 of 100 Gb/s is the lowest threshold of a public check with host memory ({AZURE}, NDv2)",
        fails=True,
        share="line",
        paths=suite.DIRECT_PATHS,
    ),
    Mark(
        *("pair.write_bw", 0.90, None),
        f"public checks require 90 to 98 % of the line ({AZURE}, {OCI}); 90 % is {PROPOSAL}",
        share="line",
        paths=suite.DIRECT_PATHS,
    ),
    Mark(
        *("pair.write_bw", 0.80, None),
        f"nothing is published for PVRDMA; 80 % of the line is {PROPOSAL}",
        share="line",
        paths=("pvrdma",),
    ),
    Mark(
        *("pair.write_bw_both", 1.60, None),
        f"nothing is published for both directions at once; 80 % of the line in each is {PROPOSAL}",
        share="line",
        paths=suite.RDMA_PATHS,
    ),
    Mark(
        *("pair.write_bw_gpu", 0.90, None),
        f"180 of 200 Gb/s with GPU memory ({AZURE}); the NVIDIA GPU Operator guide expects 92 of 100",
        fails=True,
        share="line",
        paths=suite.DIRECT_PATHS,
        speeds=(25, 40, 50, 100, 200),
    ),
    Mark(
        *("pair.write_bw_gpu", 0.95, None),
        f"380 of 400 Gb/s with GPU memory ({AZURE}, H100)",
        fails=True,
        share="line",
        paths=suite.DIRECT_PATHS,
        speeds=(400, 800),
    ),
    Mark(
        *("pair.write_lat", None, 9.0),
        f"9 us is the highest threshold of a public check ({OCI}, GB200)",
        fails=True,
        paths=suite.DIRECT_PATHS,
    ),
    Mark(
        *("pair.write_lat", None, 5.0),
        f"5 us is the usual threshold of {OCI} on bare metal; for VMs it is {PROPOSAL}",
        paths=suite.DIRECT_PATHS,
    ),
    Mark(
        *("pair.write_lat", None, 15.0),
        f"nothing is published for PVRDMA; more than 15 us is the latency of TCP: {PROPOSAL}",
        paths=("pvrdma",),
    ),
    Mark(
        *("cluster.nccl", 0.85, None),
        f"85 % of the RDMA bandwidth between the same guests, with GPUDirect: {PROPOSAL}",
        share="rdma",
        variants=("gpudirect",),
    ),
    Mark(
        *("cluster.nccl", 0.40, None),
        f"a public pair of 100 Gb/s without GPUDirect reached 51 % of RDMA; 40 % is {PROPOSAL}",
        share="rdma",
        variants=("staged",),
    ),
    *(
        Mark(
            *("cluster.nccl", gbs, None),
            f"{short(gbs)} GB/s within one machine of eight {gpu} ({AZURE})",
            fails=True,
            variants=("local",),
            gpus=(gpu,),
            ranks=8,
        )
        for gpu, gbs in (("V100", 110.0), ("A100", 228.0), ("H100", 460.0), ("H200", 480.0))
    ),
    Mark(
        *("cluster.efficiency", 90.0, None),
        f"Horovod's own figure is 90 % for models of this kind; for VMs it is {PROPOSAL}",
        variants=("gpu",),
    ),
    Mark(
        *("cluster.rdma_gain", 0.0, None),
        f"RDMA should not be slower than TCP; a public pair gained 7 to 8 % (DeepOps); no less is {PROPOSAL}",
        variants=("gpu",),
    ),
    Mark("guest.clock", None, 100.0, f"licences and logs need synchronised clocks; 100 ms is {PROPOSAL}"),
)
# Boards without NVSwitch, of which no source states a figure.
_OTHER_BOARDS = ("PCIE", "NVL")
# Rules besides thresholds. Shares are in percent.
RULES: dict[str, dict[str, Any]] = {
    "baseline": {"worse_percent": 5.0, "source": "SuperBench flags a node that is 5 % worse than its baseline"},
    "spread": {
        "half_percent": 5.0,
        "range_percent": 10.0,
        # Several guests that train on one CPU disturb each other, so ranks without GPUs never warn.
        "cpu_half_percent": None,
        "cpu_range_percent": None,
        "source": f"half of the 95 % range, and the whole range, against the mean: {PROPOSAL}",
    },
    "outliers": {
        "deviations": 5.0,
        "percent": 5.0,
        "source": f"worse than the median of the others by this many median deviations and percent: {PROPOSAL}",
    },
}
# Checks with a larger dispersion. TCP depends on the current CPU load.
OVER_TCP = {"outliers": {"percent": 50.0}, "baseline": {"worse_percent": 20.0}}
CHECK_RULES: dict[str, dict[str, dict[str, float]]] = {
    "pair.iperf3": OVER_TCP,
    "pair.write_lat": {"outliers": {"percent": 30.0}, "baseline": {"worse_percent": 20.0}},
    "pair.mpi_lat": OVER_TCP,
    "pair.mpi_bw": OVER_TCP,
    "cluster.mpi_allreduce": {"baseline": OVER_TCP["baseline"]},
}
# Ranks without GPUs.
CPU_RULES = {"outliers": {"percent": 50.0}, "baseline": {"worse_percent": 30.0}}
# Checks whose thresholds may have `reference`, a figure of the site instead of the one in reference.py.
REFERRED = ("cluster.training", "cluster.nccl")


def problems(given: Any) -> list[str]:
    """Problems of the thresholds of a site, as sentences."""
    found = []
    if not isinstance(given, dict):
        return ["thresholds: it must be a dictionary."]
    for name, value in given.items():
        check = name.partition(":")[0]
        if name in RULES:
            found += _rule_problems(name, value, name)
        elif check not in suite.CHECKS:
            found.append(f"thresholds.{name}: there is no such check.")
        elif value is not None and not isinstance(value, dict):
            found.append(f"thresholds.{name}: it must be a dictionary.")
        else:
            keys = ("low", "high", "warn_low", "warn_high", "share", *RULES)
            keys += ("reference",) if check in REFERRED else ()
            found += [
                f"thresholds.{name}.{key}: there is no such setting." for key in mapping(value) if key not in keys
            ]
            limits = [key for key in (*keys[:4], "reference") if key in keys and mapping(value).get(key) is not None]
            found += [
                f"thresholds.{name}.{key}: it must be a number."
                for key in limits
                if number(cast("dict[str, Any]", value)[key]) is None
            ]
            for kind in [one for one in RULES if one in mapping(value)]:
                found += _rule_problems(f"{name}.{kind}", mapping(value)[kind], kind)
            if mapping(value).get("share") not in (None, "line", "rdma"):
                found.append(f"thresholds.{name}.share: it must be line or rdma.")
    return found


def _rule_problems(name: str, value: Any, kind: str) -> list[str]:
    """Problems of the settings of a rule. A setting without a value switches its part of the rule off."""
    if value is not None and not isinstance(value, dict):
        return [f"thresholds.{name}: it must be a dictionary."]
    settings = sorted(mapping(value).items(), key=str)
    found = [f"thresholds.{name}.{key}: there is no such setting." for key, _one in settings if key not in RULES[kind]]
    for key, one in settings:
        if key in RULES[kind] and key != "source" and one is not None and (number(one) is None or one < 0):
            found.append(f"thresholds.{name}.{key}: it must be a number of at least 0.")
    return found


def marks(
    check: str,
    about: About,
    given: Mapping[str, Any] | None = None,
    variants: Sequence[str] = (),
    ranks: float | None = None,
    unit: str = "",
) -> list[dict[str, Any]]:
    """The limits of one figure: [{low, high, verdict, source, text, from_site}]; none without a published threshold.

    variants describe the kind of figure, such as gpudirect. A share of an unknown base gives no limit; lacking
    reports it.
    """
    found, from_site = _all(check, about, given, variants, ranks)
    return [_limit(mark, about, unit, from_site) for mark in found if _base(mark, about) is not None]


def lacking(
    check: str,
    about: About,
    given: Mapping[str, Any] | None = None,
    variants: Sequence[str] = (),
    ranks: float | None = None,
) -> tuple[str, bool]:
    """(the unknown base of shares or an empty text, whether the thresholds are those of the site)."""
    found, from_site = _all(check, about, given, variants, ranks)
    return next((LACKING[mark.share] for mark in found if _base(mark, about) is None), ""), from_site


def rule(
    kind: str, key: str, check: str = "", given: Mapping[str, Any] | None = None, cpu: bool = False
) -> float | None:
    """The value of a rule: of the site for the check, of the site for all checks, of the check, or the default."""
    given = mapping(given)
    for source in (
        mapping(mapping(given.get(check)).get(kind)),
        mapping(given.get(kind)),
        mapping(CPU_RULES.get(kind)) if cpu else {},
        mapping(mapping(CHECK_RULES.get(check)).get(kind)),
    ):
        if key in source:
            return source[key]
    return RULES[kind][key]


def _all(
    check: str, about: About, given: Mapping[str, Any] | None, variants: Sequence[str], ranks: float | None
) -> tuple[list[Mark], bool]:
    """(the thresholds of one figure, whether they are those of the site)."""
    site = _of_site(check, about, given)
    if site is not None:
        return site, True
    return [mark for mark in MARKS if mark.check == check and _applies(mark, about, variants, ranks)], False


def _of_site(check: str, about: About, given: Mapping[str, Any] | None) -> list[Mark] | None:
    """The thresholds of the site, of the variant before those of the check; None if the defaults apply."""
    given = mapping(given)
    for name in (f"{check}:{about.variant}", check):
        if name not in given:
            continue
        requested = mapping(given[name])
        if given[name] is not None and not any(key in requested for key in ("low", "high", "warn_low", "warn_high")):
            continue
        share = requested.get("share") or ""
        pairs = (
            (requested.get("low"), requested.get("high"), True),
            (requested.get("warn_low"), requested.get("warn_high"), False),
        )
        return [
            Mark(check, low, high, "the site", fails=fails, share=share)
            for low, high, fails in pairs
            if low is not None or high is not None
        ]
    return None


def _applies(mark: Mark, about: About, variants: Sequence[str], ranks: float | None) -> bool:
    intent, speed = about.intent, line.speed(about)
    return (
        (not mark.paths or intent["data_path"] in mark.paths)
        and (not mark.speeds or speed is None or speed in mark.speeds)
        and (not mark.variants or any(one in variants for one in mark.variants))
        and (not mark.gpus or _is_gpu(str(intent["gpu"]), mark.gpus))
        and (not mark.ranks or ranks == mark.ranks)
    )


def _is_gpu(named: str, words: Sequence[str]) -> bool:
    """Return whether a profile is of a board with one of these names; no source has figures of PCIe boards."""
    board = catalogue.board_of(named)
    name = (board.title if board else named).upper()
    if any(word in name for word in _OTHER_BOARDS):
        return False
    return any(re.search(rf"(?<![A-Z0-9]){word}(?![A-Z0-9])", name) for word in words)


def _base(mark: Mark, about: About) -> float | None:
    """The base of a threshold; None if it is unknown."""
    if not mark.share:
        return 1.0
    return line.speed(about) if mark.share == "line" else number(about.below.get("rdma_gbs"))


def _limit(mark: Mark, about: About, unit: str, from_site: bool) -> dict[str, Any]:
    base, of = cast("float", _base(mark, about)), ""
    if mark.share:
        what = (
            f"the line of {short(base)} Gb/s" if mark.share == "line" else f"the RDMA bandwidth of {short(base)} GB/s"
        )
        of = f" ({short(100 * cast('float', mark.low if mark.low is not None else mark.high))} % of {what})"
    low, high = (None if value is None else round(value * base, 6) for value in (mark.low, mark.high))
    limits = [f"at least {short(low)}"] if low is not None else []
    limits += [f"at most {short(high)}"] if high is not None else []
    text = f"{' and '.join(limits)} {unit}".strip() + of
    return {
        "low": low,
        "high": high,
        "verdict": FAIL if mark.fails else WARN,
        "source": mark.source,
        "text": text if mark.fails else f"{text}, else a warning",
        "from_site": from_site,
    }
