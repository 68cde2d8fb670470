# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Resolve a user's text for an instance to a profile of one GPU. Every problem is reported, not just the first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Iterable

from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.planner import RequestedInstance
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.table import COMPUTE_INSTANCE_PROFILES

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.gpu import MigGpu, MigProfile

# Names drift: 3g.39gb on R535 is 3g.40gb elsewhere, 7g.79gb an 80 GB card. Further apart is another profile.
TOLERANCE = 0.03

_NAME = re.compile(r"^(?:mig\s+)?(\d+)g(?:\.(\d+)gb)?((?:[+-][a-z.]+)*)$")
_PLACED = re.compile(r"^([^:]+)(?::\d+)?$")
_COMPUTE = re.compile(r"^(?:mig\s+)?(\d+)c(?:\.\S+)?$")


class Unresolved(ValueError):
    """A profile that this GPU does not have, with the message."""


def find_profile(gpu: MigGpu, text: Any) -> MigProfile:
    """The profile that a user means by an id, a name or a number of slices; raises Unresolved."""
    text = str(text).strip().lower()
    if text.isdecimal():
        profile = gpu.profile(int(text))
        if profile is None:
            raise Unresolved(f"{text} is not the id of a profile{_read_by_yaml(int(text))}")
        return profile
    for profile in gpu.profiles:
        if text in (profile.key, profile.name.lower()) or text in profile.aliases:
            return profile
    match = _NAME.match(text)
    if match is None:
        raise Unresolved(f"{text} is not the name of a profile")
    slices, gigabytes, suffix = int(match[1]), match[2], match[3]
    alike = [
        profile for profile in gpu.profiles if profile.compute_slices == slices and _suffix(profile.name) == suffix
    ]
    if not alike:
        raise Unresolved(f"{text} does not exist on this GPU")
    for profile in alike:
        if gigabytes is not None and abs(_gigabytes(profile.name) - int(gigabytes)) <= TOLERANCE * int(gigabytes):
            return profile
    raise Unresolved(f"{text} does not exist on this GPU, which has {' and '.join(profile.name for profile in alike)}")


def find_compute(text: Any) -> int | None:
    """The slices of a compute instance, written 1c or 1c.3g.20gb; None for anything else.

    A number alone could be slices or an id, of which 1 is two slices, so it is neither.
    """
    match = _COMPUTE.match(str(text).strip().lower())
    return int(match[1]) if match and f"{match[1]}c" in COMPUTE_INSTANCE_PROFILES else None


def check_entries(entries: Iterable[Any]) -> list[str]:
    """Return the problems of a layout before any GPU is known; an entry is a text, a number or a dict."""
    problems = []
    for number, entry in enumerate(entries, start=1):
        where = f"layout: entry {number}"
        if isinstance(entry, dict):
            unknown = sorted(set(entry) - {"profile", "start", "compute"})
            if unknown:
                problems.append(f"{where} has {', '.join(unknown)}, but it takes profile, start and compute.")
            if isinstance(entry.get("profile"), bool) or not isinstance(entry.get("profile"), (str, int)):
                problems.append(f"{where} needs a profile by id, name or number of slices.")
            start = entry.get("start")
            if start is not None and not str(start).isdecimal():
                problems.append(f"{where}: start is {start}, but it has to be a memory slot from 0 on.")
            compute = entry.get("compute")
            if compute is not None and not isinstance(compute, list):
                problems.append(f"{where}: compute has to be a list such as [1c, 1c].")
            elif compute:
                wrong = [str(one) for one in compute if find_compute(one) is None]
                if wrong:
                    problems.append(f"{where}: compute has {', '.join(wrong)}, but it takes 1c, 2c, 3c, 4c or 7c.")
        elif isinstance(entry, bool) or not isinstance(entry, (str, int)):
            problems.append(f"{where} is {entry}, but it has to be a profile or a dict with a profile.")
        text = entry.get("profile") if isinstance(entry, dict) else entry
        if isinstance(text, str) and not _PLACED.match(text.strip()):
            problems.append(
                f"{where} is {text}, but the part after the colon has to be a memory slot from 0 on, as in '9:4'."
            )
        elif isinstance(text, str) and ":" in text and isinstance(entry, dict) and entry.get("start") is not None:
            problems.append(f"{where} has a start twice, in profile and in start.")
    return problems


def resolve(gpu: MigGpu, entries: Iterable[Any], default_compute: bool) -> tuple[list[RequestedInstance], list[str]]:
    """Return (the requests, the problems): the meaning of each entry on this GPU.

    default_compute: True for one compute instance that fills its GPU instance, False to leave it to others.
    """
    found, problems = [], []
    for entry in entries:
        details = entry if isinstance(entry, dict) else {}
        start: int | str | None
        text, _colon, start = str(details.get("profile", entry) if details else entry).partition(":")
        try:
            profile = find_profile(gpu, text)
        except Unresolved as problem:
            problems.append(str(problem))
            continue
        start = details["start"] if details.get("start") is not None else start or None
        start = int(start) if start is not None else None
        if start is not None and start not in profile.starts:
            starts = ", ".join(str(one) for one in profile.starts)
            problems.append(f"{profile.name} cannot begin at slot {start}, only at {starts}")
            continue
        compute = details.get("compute")
        if compute is not None:
            compute = tuple(sorted((find_compute(one) for one in compute), reverse=True))
            if sum(compute) > profile.compute_slices:
                problems.append(
                    f"{profile.name} has {profile.compute_slices} compute slices, "
                    f"but its compute instances ask for {sum(compute)}"
                )
                continue
        elif default_compute:
            compute = (profile.compute_slices,)
        found.append(RequestedInstance(profile.id, start, compute))
    return found, problems


def _read_by_yaml(number: int) -> str:
    """YAML 1.1 reads 9:4 without quotes as a number of base 60."""
    return f" (9:4 has to be quoted, YAML reads {number // 60}:{number % 60} as {number})" if number >= 60 else ""


def _gigabytes(name: str) -> int:
    match = _NAME.match(name.lower())
    return int(match[2]) if match and match[2] else 0


def _suffix(name: str) -> str:
    match = _NAME.match(name.lower())
    return match[3] if match else ""
