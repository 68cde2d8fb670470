# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Restarts of a training that continues from its checkpoint: when one is due, and what they cost. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Sequence

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import TrainingRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.progress import Progress
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.verdict import Verdict

# The guest is at fault, whatever the training reported until then.
OF_GUESTS = ("container_gone", "guest_unreachable")
# Somebody holds the training, which is no failure and no restart.
HELD = "held"
# The training is at fault, if it fails again at the same place. Without an iteration, a restart repeats the failure.
OF_RANKS = ("launcher_failed", "out_of_memory", "rank_failed", "stalled")


@dataclass(frozen=True)
class Attempt:
    """One start of the ranks until their end."""

    code: str
    host: str | None
    reason: str
    first_iteration: int | None
    last_iteration: int | None

    def as_result(self) -> dict[str, Any]:
        return dict(vars(self))


def attempt(judged: Verdict, seen: Progress) -> Attempt:
    """Return the record of an attempt that has ended."""
    numbers = [entry["iteration"] for entry in seen.iterations]
    return Attempt(
        judged["code"], judged["host"], judged["reason"], min(numbers, default=None), max(numbers, default=None)
    )


def due(request: TrainingRequest, attempts: Sequence[Attempt], seen: Progress) -> bool:
    """Return whether the training starts again after the last of these attempts."""
    last = attempts[-1]
    if last.code == HELD:
        return True
    if used(attempts) + 1 > request.restarts:
        return False
    trained = any(one.last_iteration is not None for one in attempts)
    if last.code in OF_GUESTS:
        return trained or seen.lines > 0
    return last.code in OF_RANKS and last.last_iteration is not None


def used(attempts: Sequence[Attempt]) -> int:
    """Return the number of restarts so far, without those after a hold."""
    return sum(one.code != HELD for one in attempts[:-1])


def lost_steps(attempts: Sequence[Attempt]) -> int:
    """Return the number of iterations that a later attempt repeated."""
    lost, last = 0, None
    for one in attempts:
        if one.first_iteration is None or one.last_iteration is None:
            continue
        if last is not None:
            lost += max(0, last + 1 - one.first_iteration)
        last = one.last_iteration
    return lost


def reported(request: TrainingRequest, attempts: Sequence[Attempt]) -> dict[str, Any]:
    """Return the part of the result about restarts."""
    return {
        "allowed": request.restarts,
        "used": used(attempts),
        "lost_steps": lost_steps(attempts),
        "attempts": [one.as_result() for one in attempts],
    }


def final(request: TrainingRequest, attempts: Sequence[Attempt], judged: Verdict, waited: str = "") -> Verdict:
    """Return the verdict on the whole run. waited is the reason for which the last restart did not begin."""
    again = used(attempts)
    if waited:
        reason = f"{judged['reason']}. The guests were not ready for a restart in time: {waited.rstrip('.')}"
        return {**judged, "reason": reason}
    if not again or judged["state"] == "passed" or judged["code"] not in (*OF_GUESTS, *OF_RANKS):
        return judged
    times = "once" if again == 1 else f"{again} times"
    return {
        **judged,
        "code": "restarts_exhausted",
        "reason": f"It was restarted {times} and failed again. {judged['reason']}",
    }
