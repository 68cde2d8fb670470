# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compare figures with thresholds, with the baseline and with each other, and derive figures. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import baseline as baselines
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import (
    check_cluster,
    line,
    spread,
    suite,
    thresholds,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import simulated as simulation
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import (
    FAIL,
    NOT_REQUIRED,
    PASS,
    WARN,
    Found,
    Remark,
    number,
    short,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import counters

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.entry import Entry
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import About

MARK, BASELINE, OUTLIER, SPREAD, UNHELD = "mark", "baseline", "outlier", "spread", "unheld"
# Remarks about the figure itself, not about its test.
OF_FIGURE = (MARK, BASELINE, OUTLIER)


def looks(measurements: Iterable[Mapping[str, Any]], checks: Sequence[str]) -> list[Mapping[str, Any]]:
    """The measurements, with two readings of counters (before, after) merged into one with the difference."""
    first: dict[tuple[str, Any], Mapping[str, Any]]
    made: list[Mapping[str, Any]]
    made, first = [], {}
    for one in measurements:
        values: Any = one.get("readings") if isinstance(one.get("readings"), dict) else {}
        subject = tuple(sorted((key, str(value)) for key, value in (one.get("subject") or {}).items()))
        phase = one.get("variant") or ""
        if one.get("check") not in checks or "counters" not in values or phase not in ("before", "after"):
            # If both readings failed, one row is enough.
            made.append(dict(one, variant="") if one.get("check") in checks and phase in ("before", "after") else one)
        elif phase == "before":
            first.setdefault((one["check"], subject), one)
        else:
            was = first.pop((one["check"], subject), None)
            change = counters.delta(was["readings"]["counters"], values["counters"]) if was else values
            began = (was or one).get("began")
            simulated = bool(one.get("simulated") or (was or {}).get("simulated"))
            made.append(dict(one, variant="", readings=change, began=began, simulated=simulated))
    return made + [dict(one, variant="") for one in first.values()]


def marks(
    entry: Entry,
    about: About,
    values: Mapping[str, Any],
    given: Mapping[str, Any] | None,
    baseline: Mapping[str, Any] | None,
) -> None:
    """Compare one figure with its thresholds and its baseline, and iterations with each other."""
    found, unit = cast("Found", entry.found), entry.row["unit"]
    line.keep(about, values)
    value = number(found.measured)
    cpu = entry.check == "cluster.training" and check_cluster.figures(values)["device"] == "CPU"
    if value is not None and found.compared:
        unmarked = _marks(entry, about, values, given, value, unit)
        _baseline(entry, about, given, baseline, value, unit, cpu, unmarked)
        spec = suite.of(entry.check, entry.variant)
        if spec is not None and spec.better and found.low is None and found.high is None and not found.duty:
            found.free = f"This figure is not required: no threshold applies. {found.note}".strip()
    if entry.check == "cluster.training":
        _dispersion(found, check_cluster.figures(values)["dispersion"], given, cpu)


def others(entries: Sequence[Entry], given: Mapping[str, Any] | None) -> None:
    """Compare the figures of one check with each other."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        reported = entry.found is not None and number(entry.found.measured) is not None and entry.found.compared
        if reported and ("from" in entry.subject or "guest" in entry.subject):
            groups.setdefault((entry.check, entry.variant), []).append(entry)
    for (check, variant), mine in groups.items():
        spec = suite.of(check, variant)
        if spec is not None and spec.better:
            _outliers(check, mine, spec.better, given)


def _outliers(check: str, entries: Sequence[Entry], better: str, given: Mapping[str, Any] | None) -> None:
    cpu = check == "cluster.training" and any(
        check_cluster.figures(entry.values)["device"] == "CPU" for entry in entries
    )
    deviations = thresholds.rule("outliers", "deviations", check, given, cpu)
    percent = thresholds.rule("outliers", "percent", check, given, cpu)
    if deviations is None or percent is None:
        return
    by_id = {entry.row["id"]: entry for entry in entries}
    reported = {key: cast("Found", entry.found).measured for key, entry in by_id.items()}
    # No fault makes a GPU faster: of two equal guests, the slower one is bad.
    for one in spread.outliers(reported, better, deviations, percent / 100, of_two=check == "cluster.training"):
        entry = by_id[one["key"]]
        worse = short(100 * one["worse_by"])
        why = f"The value is {worse} % worse than the median of the others, {short(one['median'])}."
        cast("Found", entry.found).remarks.append(Remark(WARN, why, "", OUTLIER))


def _marks(
    entry: Entry, about: About, values: Mapping[str, Any], given: Mapping[str, Any] | None, value: float, unit: str
) -> str:
    """Compare a figure with its thresholds. Returns the text of the row without a threshold."""
    found, check = cast("Found", entry.found), entry.check
    variants: tuple[str, ...] = ()
    if check == "cluster.nccl":
        variants = check_cluster.kind_of_nccl(values, about)
    elif check in ("cluster.efficiency", "cluster.rdma_gain"):
        variants = () if values.get("device") == "CPU" else ("gpu",)
    ranks = number(values.get("ranks_by_factor"))
    limits = thresholds.marks(check, about, given, variants, ranks, unit)
    lacking, from_site = thresholds.lacking(check, about, given, variants, ranks)
    if lacking and from_site:
        # A threshold of the site that cannot be applied is a warning, because the site relies on it.
        why = f"The threshold of the site was not applied. It is a share of {lacking}."
        found.remarks.append(Remark(WARN, why, "", UNHELD))
    lows = [one["low"] for one in limits if one["low"] is not None]
    highs = [one["high"] for one in limits if one["high"] is not None]
    if limits:
        found.low, found.high = max(lows, default=None), min(highs, default=None)
        found.expected = "; ".join(one["text"] for one in limits)
        found.source = "; ".join(one["source"] for one in limits)
    for one in sorted(limits, key=lambda limit: limit["verdict"] != FAIL):
        below = one["low"] is not None and value < one["low"]
        above = one["high"] is not None and value > one["high"]
        if below or above:
            why = f"{short(value)} {unit} misses the threshold of {one['text'].split(', else')[0]}."
            found.remarks.append(Remark(one["verdict"], why, "", MARK))
            # One threshold is enough; the others are less strict.
            break
    if not lacking:
        return "No threshold is published. This run becomes the baseline"
    # A row that warns does not become a baseline.
    return f"The thresholds are shares of {lacking}" + ("" if from_site else ". This run becomes the baseline")


def _baseline(
    entry: Entry,
    about: About,
    given: Mapping[str, Any] | None,
    baseline: Mapping[str, Any] | None,
    value: float,
    unit: str,
    cpu: bool,
    unmarked: str,
) -> None:
    spec = suite.of(entry.check, entry.variant)
    if spec is None or not spec.kept:
        return
    found = cast("Found", entry.found)
    key = _key(entry, about.intent)
    limit = thresholds.rule("baseline", "worse_percent", entry.check, given, cpu)
    was = baselines.compare(baseline, key, value, about.simulated)
    if was is None:
        if not found.expected:
            found.expected = unmarked
            found.source = "none"
        return
    before = f"{short(was['value'])} {unit} of the run {was['run']}"
    if limit is None:
        found.expected = found.expected or f"for comparison: {before}"
        found.source = found.source or "the baseline"
        return
    least = f"at most {short(limit)} % worse than {before}"
    if not found.expected:
        found.expected, found.source = least, "the baseline"
        sign = -1 if spec.better == "high" else 1
        bound = round(was["value"] * (1 + sign * limit / 100), 6)
        found.low, found.high = (bound, None) if spec.better == "high" else (None, bound)
    if was["worse_percent"] > limit:
        why = f"The value is {short(was['worse_percent'])} % worse than {before}."
        found.remarks.append(Remark(WARN, why, "", BASELINE))


def _key(entry: Entry, intent: Mapping[str, Any]) -> str:
    workload = []
    if entry.check == "cluster.training":
        reported = check_cluster.figures(entry.values)
        workload = [reported.get(key) for key in ("model", "batch", "device")]
    elif entry.check in suite.PROGRAMS:
        # The site selects the message sizes, and more ranks take longer.
        ranks = number(entry.values.get("ranks"))
        workload = [f"{entry.values.get('bytes')} bytes", f"{short(ranks)} ranks" if ranks else ""]
    return baselines.key_of(entry.row["id"], intent["data_path"], workload)


def _dispersion(found: Found, reported: Mapping[str, Any] | None, given: Mapping[str, Any] | None, cpu: bool) -> None:
    """Check the dispersion of iterations: a good mean can hide bad iterations."""
    if not reported or found.measured is None:
        return
    prefix = "cpu_" if cpu else ""
    for key, words in (("half", "+-{} % around their mean"), ("range", "{} % between the best and the worst")):
        limit = thresholds.rule("spread", f"{prefix}{key}_percent", "cluster.training", given)
        share = number(reported.get(f"{key}_share"))
        if limit is not None and share is not None and 100 * share > limit:
            apart = words.format(short(100 * share))
            why = f"The iterations vary by {apart}. The limit is {short(limit)} %."
            found.remarks.append(Remark(WARN, why, "", SPREAD))
            return


def derived(entry: Entry, trainings: Iterable[Entry]) -> dict[str, Any]:
    """A measurement derived from trainings: scaling efficiency, and RDMA speedup over TCP."""
    made: dict[str, Any] = {"status": "done", "readings": {}, "simulated": False, "simulated_parts": []}
    counted = (PASS, NOT_REQUIRED, WARN)
    good = [one for one in trainings if one.row["verdict"] in counted and number(one.row["measured"]) is not None]
    reported: dict[tuple[str, str], list[Entry]] = {}
    for one in good:
        count, _colon, transport = one.variant.partition(":")
        reported.setdefault((count, transport), []).append(one)
    count, _colon, transport = entry.variant.partition(":")
    if entry.check == "cluster.efficiency":
        alone = reported.get(("1", transport)) or [
            one for key, some in reported.items() if key[0] == "1" for one in some
        ]
        parts, lacking = (reported.get((count, transport), []), alone), "on one guest alone"
    else:
        parts, lacking = (reported.get((count, "rdma"), []), reported.get((count, "tcp"), [])), "over both transports"
    if not parts[0] or not parts[1]:
        return dict(
            made,
            found=Found(
                None, note=f"Trainings on {count} guests and {lacking} are required, but not all of them were measured."
            ),
        )
    upper, lower = (cast("float", spread.median([one.row["measured"] for one in some])) for some in parts)
    used = [one for some in parts for one in some]
    if entry.check == "cluster.efficiency":
        value = 100.0 * upper / (int(count) * lower)
        note = f"{short(upper)} img/s on {count} guests, {short(lower)} on one."
    else:
        value = 100.0 * (upper / lower - 1)
        note = f"{short(upper)} img/s over RDMA, {short(lower)} over TCP."
    devices = {check_cluster.figures(one.values)["device"] for one in used}
    made["simulated"] = any(one.row["simulated"] for one in used)
    made["simulated_parts"] = simulation.among(
        {part for one in used for part in one.row["simulated_parts"]}, simulation.WORDS
    )
    made["readings"] = {"device": "CPU" if "CPU" in devices else None}
    return dict(made, found=Found(round(value, 2), note=note, expected="for comparison", source="the trainings"))


def figures(entries: Sequence[Entry], intent: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The figures for the baseline: of rows that passed or are not required."""
    made = []
    for entry in entries:
        spec, row = suite.of(entry.check, entry.variant), entry.row
        if (
            spec is None
            or not spec.kept
            or row["verdict"] not in (PASS, NOT_REQUIRED)
            or number(row["measured"]) is None
        ):
            continue
        made.append(
            {
                "key": _key(entry, intent),
                "value": row["measured"],
                "unit": row["unit"],
                "better": spec.better,
                "simulated": row["simulated"],
                "version": row["version"],
            }
        )
    return made
