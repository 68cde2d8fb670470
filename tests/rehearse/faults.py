"""Plant wrong settings, one at a time after a good run: a playbook must report each."""

from __future__ import annotations

from pathlib import Path

from guests.faults import VALIDATE, running
from guests.faults.table import HANDFUL, SITES, chosen
from turns import number_of_commit

from . import rule, sites
from .failure import RehearsalFailed


def selected(words: str, inside: bool, site: str = "") -> list[str]:
    """Return the names of selected faults of a site that can be planted here."""
    faults = SITES[site]
    try:
        names = chosen(words, faults)
    except ValueError as problem:
        raise RehearsalFailed(str(problem)) from None
    return [name for name in names if inside or not faults[name].needs_guests]


def announced(words: str, names: list[str], site: str = "") -> str:
    """Announce the planted faults, and the command to plant the same again."""
    again = f"{HANDFUL}:{number_of_commit()}" if words == HANDFUL else words
    again = f"SITE={site} FAULTS={again}" if site else f"FAULTS={again}"
    return f"Faults of this run: {', '.join(names)}. Repeat them with: make rehearse {again}"


def planted(twin, env: dict[str, str], results: Path, names: list[str], inside: bool, say, site: str = "") -> str:
    """Plant the faults and check the result; one more validation follows, of a repaired lab."""
    missed, faults = [], SITES[site]
    inventories = sites.of(site).inventories

    def find(fault, name: str) -> running.Ran:
        return running.find(fault, results / name, env, lambda line: say(f"  | {line}"), inventories)

    for name in names:
        fault = faults[name]
        try:
            with fault.plant(twin):
                ran = find(fault, name)
            # A report of a bad run claims no more than that of a good one.
            wrong = running.complaints(fault, ran) + (rule.violations(ran.made, ran.folder) if ran.made else [])
        except (AssertionError, RuntimeError) as problem:
            wrong = [f"The fault was not planted or removed, or the playbook left no result: {problem}"]
        if wrong:
            missed.append(f"{fault.by} with the fault {name}: {' '.join(wrong)}")
            say(f"--- {missed[-1]}")
        else:
            rows = "; ".join(f"{one.row} {one.verdict}" if hasattr(one, "row") else str(one) for one in fault.seen)
            say(f"--- {fault.by} reported {name}: {rows}")
    # A missed fault does not stop the others: each takes a minute, and one run reports all missed ones.
    if missed:
        raise RehearsalFailed("\n".join(missed))
    if inside:
        good = find(running.GOOD, "good")
        wrong = [*running.not_right(good.made), *rule.violations(good.made, good.folder)]
        if wrong:
            raise RehearsalFailed(f"The lab is not repaired after the faults: {wrong}")
    reports = sum(faults[name].by == VALIDATE for name in names)
    kept = f", and every pass in {reports} reports is based on a measurement" if reports else ""
    return f"{len(names)} reported{kept}{inside * '; the lab passes again'}"
