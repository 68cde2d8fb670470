"""Calibration: what a capture of a real site says about the rules of the twin."""

from __future__ import annotations

from vsphere_twin import __version__, rules
from vsphere_twin.capture.assumptions import STRANGE

from . import bmcs, clusters, fabric, gpus, hosts, machines  # noqa: F401  they register their checkers
from .evidence import CaptureError, load
from .registry import CHECKERS
from .verdict import CONFIRMED, REFUTED, UNDETERMINED, judged, lacks

__all__ = ["CONFIRMED", "REFUTED", "UNDETERMINED", "CaptureError", "as_data", "as_text", "calibrate", "load"]

FORMAT = 1


def calibrate(evidence):
    """The verdict of each rule that a capture can confirm or refute, in the order of their numbers."""
    return [judged(rule, _findings(CHECKERS[rule["id"]], evidence)) for rule in rules.checks()]


def _findings(checker, evidence):
    """What a checker finds, until data has another form than in a capture, which is no evidence."""
    try:
        yield from checker(evidence)
    except STRANGE as problem:
        yield lacks(f"data in the form of a capture ({type(problem).__name__}: {problem})")


def counts(verdicts):
    return {result: sum(one.result == result for one in verdicts) for result in (CONFIRMED, REFUTED, UNDETERMINED)}


def as_data(evidence, verdicts):
    """The file that a user can send: no text beyond the capture, and no objects of a capture with names."""
    anonymised = evidence.manifest.get("anonymised") is True
    return {
        "format": FORMAT,
        "twin": __version__,
        "vcenter": evidence.manifest.get("vcenter") or {},
        "anonymised": anonymised,
        "counts": counts(verdicts),
        "rules": [one.as_data(with_objects=anonymised) for one in verdicts],
    }


def as_text(verdicts):
    """A table for a person: refuted rules first, each with its objects."""
    order = {REFUTED: 0, CONFIRMED: 1, UNDETERMINED: 2}
    width = max(len(one.rule) for one in verdicts)
    lines = []
    for one in sorted(verdicts, key=lambda verdict: (order[verdict.result], verdict.number)):
        first = one.objects[0] if one.objects else None
        more = f" (and {len(one.objects) - 1} more)" if len(one.objects) > 1 else ""
        why = f"{first.object}: {first.values}{more}" if first else f"missing: {'; '.join(one.missing)}"
        lines.append(f"{one.result:12} {one.rule:{width}}  {why}")
        if one.result == REFUTED:
            lines.append(f"  rule: {one.sentence.replace('`', '')}")
            lines.append(f"  evidence: {one.evidence}")
            lines.append(f"  rows of docs/rules.md: {'; '.join(one.sources) or 'none'}")
    found = counts(verdicts)
    summary = ", ".join(f"{number} {result}" for result, number in found.items())
    return "\n".join([*lines, "", f"{summary}."])
