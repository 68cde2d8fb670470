# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Attributes to stage so that the next boot applies the request; pure, and strict before any change."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import function_plan
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import registry as registries
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.bios_state import PREFIX
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.function_map import GOVERNORS
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.function_plan import RequestedValue

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.bios_state import BiosState
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.function_map import Governor

JOB = PREFIX + "job"


@dataclass(frozen=True)
class Locked:
    """Reason why an attribute is read-only, and the value that it gets instead, if known.

    moved: whether the locking attribute changes with the next boot; if not, its active value can be set again.
    """

    reason: str
    value: Any = None
    known: bool = False
    moved: bool = True


def requests(
    label: str,
    state: BiosState,
    vendor: str,
    registry: registries.Registry,
    functions: Mapping[str, str],
    attributes: Mapping[str, Any],
) -> dict[str, RequestedValue]:
    """Return {attribute: RequestedValue} for all requests of a task; reports all problems of a kind at once."""
    found, unmapped, clashes = function_plan.resolve(vendor, registry, functions, state.next)
    function_plan.refuse_unmapped(label, vendor, registry, unmapped)
    named = _named(label, registry, attributes)
    clashes += [
        f"{found[name].asked_by} needs {name}={found[name].value}, `attributes` has {name}={requested.value}"
        for name, requested in named.items()
        if name in found and found[name].value != requested.value
    ]
    if clashes:
        raise OperatorError(
            label,
            "cannot set the BIOS",
            f"The requests contradict each other: {'; '.join(clashes)}",
            "Remove one of the two",
            code="wishes_contradict",
        )
    return {**found, **named}


def want(
    label: str,
    state: BiosState,
    vendor: str,
    registry: registries.Registry,
    requested_one: Mapping[str, RequestedValue],
    conflicts: str,
) -> BiosState:
    """The state after staging; rejects invalid settings, and conflicts with settings that others have staged."""
    requested_one = {**_released(vendor, state, requested_one), **requested_one}
    locks = _locks(vendor, registry, state, {name: requested.value for name, requested in requested_one.items()})
    refused, staged = [], {}
    for name, requested in requested_one.items():
        lock = locks.get(name)
        if lock is not None and lock.known and lock.value == requested.value:
            continue
        settled = state.next.get(name) == requested.value
        back = lock is not None and not lock.moved and state.attributes.get(name) == requested.value
        if lock is not None and not back and (not settled or lock.known):
            refused.append(f"{_reported(registry, name, requested)} (for {requested.asked_by}): {lock.reason}")
        elif not settled:
            staged[name] = requested.value
    if refused:
        raise OperatorError(
            label,
            "cannot set the BIOS",
            f"The BIOS locks these attributes: {'; '.join(refused)}",
            "Set the attributes that they depend on too, under `attributes`, or remove them from the task",
            code="attribute_locked",
            attributes=[text.partition("=")[0] for text in refused],
        )
    _refuse_conflicts(label, state, staged, conflicts)
    after = {**state.staged, **staged}
    after = {name: value for name, value in after.items() if state.attributes.get(name) != value}
    scheduled = state.scheduled
    if scheduled is not None:
        # Others schedule the settings that they staged without a job.
        scheduled = bool(after) and (scheduled or any(name in after for name in requested_one))
    return replace(state, staged=after, scheduled=scheduled)


def _reported(registry: registries.Registry, name: str, requested: RequestedValue) -> str:
    entry = registry.attributes.get(name)
    return f"{name}={'...' if entry is not None and entry.write_only else requested.value}"


def compare(now: BiosState, wanted: BiosState) -> list[Change]:
    """The changes of the settings that the next boot applies."""
    changes = [
        Change(PREFIX + name, now.next.get(name), wanted.next.get(name), "reboot" if name in wanted.staged else None)
        for name in sorted({**now.staged, **wanted.staged})
        if now.next.get(name) != wanted.next.get(name)
    ]
    if not changes and wanted.scheduled and not now.scheduled:
        changes.append(Change(JOB, None, "scheduled"))
    return changes


def _named(label: str, registry: registries.Registry, attributes: Mapping[str, Any]) -> dict[str, RequestedValue]:
    found, problems = {}, []
    for text, wanted in attributes.items():
        entries = registry.find(text)
        if len(entries) != 1:
            problems.append(_not_one(registry, text, entries))
            continue
        try:
            found[entries[0].name] = RequestedValue(registries.accept(entries[0], wanted), "attributes")
        except registries.Unacceptable as reason:
            problems.append(f"{entries[0].name} {reason}, not {wanted}")
    if problems:
        raise OperatorError(
            label,
            "cannot set BIOS attributes",
            f"The BIOS does not accept them: {'; '.join(problems)}",
            "Correct `attributes`. The valid names and values are in the BMC's own attribute registry",
            code="attribute_unknown",
            registry=registry.name,
        )
    return found


def _not_one(registry: registries.Registry, text: str, entries: Sequence[registries.Attribute]) -> str:
    if entries:
        return f"{text} may be any of {', '.join(entry.name for entry in entries)}"
    near = difflib.get_close_matches(text, list(registry.attributes), n=3)
    return f"there is no {text}" + (f" (near: {', '.join(near)})" if near else "")


def _released(vendor: str, state: BiosState, requested_one: Mapping[str, RequestedValue]) -> dict[str, RequestedValue]:
    """Profiles that must be released because an attribute changes that they govern or would overwrite."""
    found = {}
    for governor in GOVERNORS.get(vendor, ()):
        moved = [
            name
            for name, values in (
                *((one, state.next) for one in governor.governed),
                # The active profile already agreed with an active value.
                *((one, state.attributes) for one in governor.overwritten),
            )
            if name in requested_one and values.get(name) != requested_one[name].value
        ]
        if governor.release and moved and governor.name in state.attributes:
            found[governor.name] = RequestedValue(governor.free, requested_one[moved[0]].asked_by)
    return found


def _locks(
    vendor: str, registry: registries.Registry, state: BiosState, requested_one: Mapping[str, str | int]
) -> dict[str, Locked]:
    """Return {attribute: Locked} for requested attributes that become read-only when the other requests apply."""
    after = {**state.next, **requested_one}
    locks = {}
    for name in requested_one:
        entry = registry.attributes.get(name)
        if entry is not None and (entry.write_only or (entry.locked and not registry.locked_by_others(name))):
            locks[name] = Locked("the BIOS marks it as read-only")
    for governor in GOVERNORS.get(vendor, ()):
        _govern(governor, state, after, requested_one, locks)
    for name, effects in registry.effects(after).items():
        if name in requested_one:
            _depend(name, effects, state, after, locks)
    return locks


def _govern(
    governor: Governor,
    state: BiosState,
    after: Mapping[str, Any],
    requested_one: Mapping[str, str | int],
    locks: dict[str, Locked],
) -> None:
    profile = after.get(governor.name)
    if profile is None:
        return
    sets = governor.sets.get(profile, {})
    # The choice of a profile sets its values; under an already active profile, the active value decides.
    chosen = state.attributes.get(governor.name) != profile
    for name in governor.governed:
        if name not in requested_one:
            continue
        if profile == governor.free:
            locks.pop(name, None)
        else:
            reason = f"it can be set only with {governor.name}={governor.free}, and {governor.name} is {profile}"
            locks[name] = Locked(reason, sets.get(name), chosen and name in sets, chosen)


def _depend(
    name: str,
    effects: Mapping[str | None, tuple[Any, tuple[str, ...]]],
    state: BiosState,
    after: Mapping[str, Any],
    locks: dict[str, Locked],
) -> None:
    def reported(masters: Iterable[str]) -> str:
        return ", ".join(f"{master}={after.get(master)}" for master in masters)

    def moved(masters: Iterable[str]) -> bool:
        return any(state.attributes.get(master) != after.get(master) for master in masters)

    value, masters = effects.get("CurrentValue", (None, ()))
    if moved(masters):
        locks[name] = Locked(f"{reported(masters)} makes it {value}", value, True)
        return
    for lock in registries.LOCKS:
        value, masters = effects.get(lock, (None, ()))
        if value is True and name not in locks:
            locks[name] = Locked(f"it cannot be set while {reported(masters)}", moved=moved(masters))
        elif value is False:
            locks.pop(name, None)


def _refuse_conflicts(label: str, state: BiosState, staged: Mapping[str, Any], conflicts: str) -> None:
    if not staged:
        return
    if state.running:
        raise OperatorError(
            label,
            "cannot stage BIOS settings",
            f"The BMC applies other settings now ({', '.join(job.name for job in state.jobs)})",
            "Wait until the server has booted, then run again",
            code="bios_job_running",
        )
    if conflicts == "replace":
        return
    others = [
        f"{name} is staged as {state.staged[name]}, requested is {staged[name]}"
        for name in staged
        if name in state.staged
    ]
    if others:
        raise OperatorError(
            label,
            "cannot stage BIOS settings",
            f"Other values are staged for the next boot: {'; '.join(others)}",
            "Set `conflicts: replace`, or reboot the server so that the staged values take effect",
            code="staged_otherwise",
            attributes=sorted(name for name in staged if name in state.staged),
        )
    if state.jobs:
        raise OperatorError(
            label,
            f"cannot stage {', '.join(sorted(staged))}",
            f"The BMC has scheduled a job for the next boot ({state.jobs[0].name}) and accepts no more until it ran",
            "Set `conflicts: replace`, which schedules all settings anew, or reboot the server first",
            code="bios_job_scheduled",
            jobs=[job.name for job in state.jobs],
        )


def missing(changes: Iterable[Change], proved: BiosState, wanted: BiosState) -> list[Change]:
    """The planned changes that the BMC does not show; ignores settings that it staged itself, as profiles do."""
    planned = {change.path for change in changes} | {PREFIX + name for name in wanted.staged} | {JOB}
    return [change for change in compare(proved, wanted) if change.path in planned]


def attributes_of(changes: Iterable[Change]) -> list[str]:
    """The names of the attributes that a list of changes is about."""
    return [change.path[len(PREFIX) :] for change in changes if change.path != JOB]


def not_staged(label: str, changes: Sequence[Change]) -> OperatorError:
    """The error if the BMC accepted settings and does not show them."""
    shown = [f"{change.path[len(PREFIX) :]} is {change.before}, requested is {change.after}" for change in changes]
    return OperatorError(
        label,
        "the settings are not staged for the next boot",
        f"The BMC accepted them, but does not show them: {'; '.join(shown)}",
        "Run again. If it fails again, check the BMC's log, and update its firmware",
        code="not_staged",
        attributes=attributes_of(changes),
    )
