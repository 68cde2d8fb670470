# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Cause of the end of a run: guests and containers first, then ranks, then launchers. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Collection, Mapping, Protocol, Sequence, TypedDict, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.training import launch, result, scripts, trouble

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.plan import Plan
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.progress import Progress

    class Known(TypedDict):
        """A known error in the output of a run."""

        code: str
        means: str
        todo: str

    class Verdict(TypedDict):
        """Outcome of a run, with the same keys whatever happened."""

        host: str | None
        rank: int | None
        status: int | None
        signal: int | None
        known: Known | None
        lines: list[str]
        also: list[str]
        log: str | None
        state: str
        code: str
        reason: str
        todo: str

    class Answer(Protocol):
        """Report of a guest on its part of a run, as far as a verdict needs it."""

        @property
        def running(self) -> bool: ...
        @property
        def gone(self) -> bool: ...
        @property
        def exit_status(self) -> int | None: ...
        @property
        def out_of_memory(self) -> bool: ...
        @property
        def room(self) -> int | None: ...
        @property
        def said(self) -> str: ...

    class Course(Protocol):
        """Course of a run, as far as a verdict needs it."""

        @property
        def seen(self) -> Progress: ...
        @property
        def answers(self) -> Mapping[str, Answer]: ...
        @property
        def lost(self) -> Mapping[str, str]: ...
        @property
        def statuses(self) -> Mapping[str, int]: ...
        @property
        def why(self) -> str: ...


SHOWN_LINES = 12
# With less space, a file of one page can no longer be rewritten.
LEAST_KB = 16
# Exit status of `timeout` at its limit. mpirun reports 137 for a killed rank.
TIMED_OUT = 124
LOG = "Check the log of the run. Its last lines follow"
# Cause of a container's end, by the exit status of its first process.
CONTAINER_ENDS: Mapping[int | None, str] = {
    scripts.UNHEARD: "The controller no longer polled the run, so its container stopped",
    scripts.TOO_LONG: "The run exceeded its time limit, so its container stopped",
    scripts.SSHD_ENDED: "The ssh server of its container ended",
    scripts.NO_STATUS: "The exit status of the launcher could not be written because the folder of the run is full",
}


def judge(made: Plan, course: Course, log: str | None = None) -> Verdict:
    """{state, code, reason, todo, ...}: the same keys whatever happened."""
    found = _found(made, course)
    if found is None:
        return _verdict("passed", "trained", "", "")
    return {**found, "log": log}


def not_begun(error: OperatorError) -> Verdict:
    """Return the verdict on a run that never trained."""
    return _verdict("failed", error.code, error.found, error.todo, host=cast("str | None", error.data.get("host")))


def _verdict(
    state: str,
    code: str,
    reason: str,
    todo: str,
    *,
    host: str | None = None,
    rank: int | None = None,
    status: int | None = None,
    signal: int | None = None,
    known: Known | None = None,
    lines: Sequence[str] = (),
    also: Sequence[str] = (),
) -> Verdict:
    return {
        "host": host,
        "rank": rank,
        "status": status,
        "signal": signal,
        "known": known,
        "lines": list(lines),
        "also": list(also),
        "log": None,
        "state": state,
        "code": code,
        "reason": reason,
        "todo": todo,
    }


def _found(made: Plan, course: Course) -> Verdict | None:
    if course.why == "interrupted":
        return _verdict("failed", "interrupted", "It was interrupted", "Run it again")
    if course.why == "held":
        return _verdict(
            "failed",
            "held",
            f"{made.request.hold_file} holds it",
            "Correct the guests, and start the training again. It continues from its checkpoint",
        )
    parts = (_limit, _ranks) if went_without(made, course) else (_guest, _room, _container, _limit, _ranks)
    return next((found for found in (part(made, course) for part in parts) if found is not None), None)


def missing(made: Plan, course: Course, waited_for: Collection[str] = ()) -> dict[str, str]:
    """Return {guest: reason} for guests that do not answer, whose container has ended, or that cannot be written to.

    Guests that are waited for may answer again.
    """
    found = dict.fromkeys(full_guests(course), f"No space is left in {made.request.work_dir}")
    for place in made.places:
        answer = course.answers.get(place.name)
        if answer is not None and not answer.running:
            found[place.name] = _end_of(answer)[1]
    for name, why in course.lost.items():
        if name not in waited_for:
            found[name] = f"It no longer answers: {why}"
    return found


def goes_on_without(made: Plan, names: Collection[str]) -> bool:
    """Return whether a run continues without these guests: an elastic one, with its launcher and enough ranks."""
    elastic = made.request.elastic
    left = [place for place in made.places if place.name not in names]
    if elastic is None or made.places[0] not in left:
        return not names
    return sum(place.slots for place in left) >= elastic.min_ranks


def went_without(made: Plan, course: Course) -> bool:
    """Return whether the end of an elastic run is that of its launcher, whatever the state of other guests."""
    if made.request.elastic is None:
        return False
    return _ended_well(made, course) or goes_on_without(made, missing(made, course))


def _ended_well(made: Plan, course: Course) -> bool:
    return len(course.statuses) == len(made.launches) and not any(course.statuses.values())


def _guest(made: Plan, course: Course) -> Verdict | None:
    for name, why in sorted(course.lost.items()):
        return _failed(
            made,
            course,
            "guest_unreachable",
            f"The guest {name} no longer answers: {why}",
            "Check the power state of the VM and its network. Its containers stop on their own",
            host=name,
        )
    return None


def full_guests(course: Course) -> list[str]:
    """Guests on which nothing more of the run can be written."""
    return sorted(name for name, one in course.answers.items() if one.room is not None and one.room < LEAST_KB)


def _room(made: Plan, course: Course) -> Verdict | None:
    for name in [] if _ended_well(made, course) else full_guests(course):
        folder = made.request.work_dir
        return _failed(
            made,
            course,
            "no_space",
            f"No space is left in {folder} on {name}, so the run cannot write its files",
            "Free space there, make the training print less, or set another work_dir",
            host=name,
        )
    return None


def _container(made: Plan, course: Course) -> Verdict | None:
    for place in made.places:
        answer = course.answers.get(place.name)
        if answer is None or answer.running:
            continue
        code, reason, todo = _end_of(answer)
        return _failed(made, course, code, f"{reason}, on {place.name}", todo, host=place.name)
    return None


def _end_of(answer: Answer) -> tuple[str, str, str]:
    """Return (code, reason, fix) of a container that has ended."""
    # A full container reports that first, since it explains all other failures.
    if answer.out_of_memory:
        reason = "The container was killed because its guest or its limit ran out of memory"
        return "out_of_memory", reason, "Give the VM more memory, or set a smaller batch"
    if answer.gone:
        todo = "Check which user or service removes containers on that guest, and whether the engine was restarted"
        return "container_gone", "The container of the run was removed while it ran", todo
    code = "no_space" if answer.exit_status == scripts.NO_STATUS else "container_gone"
    reason = CONTAINER_ENDS.get(
        answer.exit_status, f"The container of the run ended with {answer.exit_status} while it ran"
    )
    return code, reason, answer.said or "Check the log of the container engine on that guest"


def _limit(made: Plan, course: Course) -> Verdict | None:
    limits = made.request.limits
    if course.why == "too_long" or any(status == TIMED_OUT for status in course.statuses.values()):
        return _failed(
            made,
            course,
            "too_long",
            f"It did not end within {limits.wall_s} seconds: {course.seen.reported()}",
            "Set a higher limits.wall_s if the run made progress, else check the slowest rank",
        )
    if course.why == "stalled":
        return _failed(
            made,
            course,
            "stalled",
            f"It made no progress for {limits.stall_s} seconds: {course.seen.reported()}",
            "Check the data path between the guests, and the rank that reported last",
            host=_behind(made, course),
        )
    if course.why == "too_much_output":
        return _failed(made, course, "too_much_output", "It prints too much output", "Make the training print less")
    return None


def _behind(made: Plan, course: Course) -> str | None:
    """The guest of the only rank that never began, where there is just one."""
    hosts = launch.hosts_of_ranks(made.places)
    missing = {host for rank, host in enumerate(hosts) if rank not in course.seen.ranks}
    return missing.pop() if len(missing) == 1 else None


def _ranks(made: Plan, course: Course) -> Verdict | None:
    bad = {name: status for name, status in course.statuses.items() if status != 0}
    if not bad:
        for code, sentence in result.shortcomings(made.request, course.seen):
            return _failed(made, course, code, sentence, "Check the result of the run", lines=False)
        return None
    first = trouble.first_failure(course.seen.last_lines(), course.seen.failures)
    host = _host(made, first)
    if first.rank is None:
        name = sorted(bad)[0]
        reason = f"The launcher on {name} ended with {bad[name]}" + (f" because of {host}" if host else "")
        return _failed(made, course, "launcher_failed", reason, LOG, host=host or name, status=bad[name])
    how = f"was killed by signal {first.signal}" if first.signal else f"ended with {first.status}"
    reported = next((event.get("reason") for event in course.seen.failures if event.get("rank") == first.rank), None)
    reason = f"Rank {first.rank} on {host} failed first: it {how}" + (f" ({reported.rstrip('.')})" if reported else "")
    return _failed(
        made, course, "rank_failed", reason, LOG, host=host, rank=first.rank, status=first.status, signal=first.signal
    )


def _host(made: Plan, first: trouble.First) -> str | None:
    """The guest of the first failure, by its name in the inventory."""
    if first.node is not None:
        for place in made.places:
            if first.node in (place.node, place.name, place.address):
                return place.name
    hosts = launch.hosts_of_ranks(made.places)
    return hosts[first.rank] if first.rank is not None and first.rank < len(hosts) else None


def _failed(
    made: Plan,
    course: Course,
    code: str,
    reason: str,
    todo: str,
    lines: bool = True,
    *,
    host: str | None = None,
    rank: int | None = None,
    status: int | None = None,
    signal: int | None = None,
) -> Verdict:
    mine = [line for line in course.seen.tail(rank) if line.strip()] if rank is not None else []
    everything = course.seen.last_lines()
    shown = (mine or [line for line in everything if line.strip()])[-SHOWN_LINES:] if lines else []
    known = trouble.known_error(mine) or trouble.known_error(everything) if lines else None
    said: Known | None = None if known is None else {"code": known.code, "means": known.means, "todo": known.todo}
    gone = [
        place.name
        for place in made.places
        if place.name in course.answers and not course.answers[place.name].running and place.name != host
    ]
    return _verdict(
        "failed",
        code,
        reason,
        todo,
        host=host,
        rank=rank,
        status=status,
        signal=signal,
        known=said,
        lines=shown,
        also=gone,
    )


def error(made: Plan, verdict: Verdict) -> OperatorError:
    """The verdict as an error for the operator."""
    reason, todo = verdict["reason"], verdict["todo"]
    known = verdict["known"]
    if known is not None:
        reason, todo = f"{reason}. The cause is known: {known['means']}", known["todo"]
    if verdict["lines"]:
        todo = f"{todo.rstrip('.')}. The last lines were: " + " / ".join(line.strip() for line in verdict["lines"][-4:])
    guests = len(made.places)
    return OperatorError(
        f"Training {made.run}",
        f"failed on {guests} guest{'s' if guests > 1 else ''}",
        reason,
        todo,
        verdict["code"],
        host=verdict["host"],
        rank=verdict["rank"],
        status=verdict["status"],
        signal=verdict["signal"],
        known=known,
        lines=verdict["lines"],
        log=verdict["log"],
    )
