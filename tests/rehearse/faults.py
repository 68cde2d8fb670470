"""Settings that are wrong, planted one at a time after a good run: the validation has to name each."""

from __future__ import annotations

from pathlib import Path

from guests.faults import running
from guests.faults.table import chosen

from .failure import RehearsalFailed


def planted(twin, env: dict[str, str], results: Path, which: str, say) -> str:
    """What came of them; in the end there is one more validation, of a lab that is good again."""
    faults, missed = chosen(which), []
    for name, fault in faults.items():
        with fault.plant(twin):
            run, made = running.validate(fault, results / name, env, lambda line: say(f"  | {line}"))
        wrong = running.complaints(fault, run, made)
        if wrong:
            missed.append(f"The validation with the fault {name}: {' '.join(wrong)}")
            say(f"--- {missed[-1]}")
        else:
            rows = ", ".join(f"{one.row} {one.verdict}" for one in fault.seen)
            say(f"--- {name} was seen: {rows}")
    # The others are planted all the same: each takes a minute, and who mends one wants to know of all.
    if missed:
        raise RehearsalFailed("\n".join(missed))
    run, made = running.validate(running.GOOD, results / "good", env, lambda line: say(f"  | {line}"))
    if running.not_right(made):
        raise RehearsalFailed(f"After the faults not everything is good again: {list(running.not_right(made))}")
    return f"{len(faults)} were seen, and everything was good again"
