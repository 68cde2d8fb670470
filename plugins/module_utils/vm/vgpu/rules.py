# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Reasons why a VM cannot have the requested profiles. Pure: a state goes in, problems come out."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Iterable, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import parse
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.rules import Problem, refusal, unreachable
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu import offer

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import ProfileName
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu.state import Host, VmState


def refuse_impossible(
    label: str, now: VmState, devices: Sequence[tuple[int, str]], added: Iterable[str], max_per_vm: int | None = None
) -> None:
    """Raise one OperatorError with every reason why the VM cannot have these devices."""
    problems = unreachable(now.vm) or against_devices(now, [profile for key, profile in devices], added, max_per_vm)
    if problems:
        names = ", ".join(sorted(profile for key, profile in devices))
        text = "cannot get the vGPU profile %s" if len(devices) == 1 else "cannot get the vGPU profiles %s"
        raise refusal(label, text % names, problems)


def against_devices(
    now: VmState, profiles: Sequence[str], added: Iterable[str], max_per_vm: int | None = None
) -> list[Problem]:
    """Return the problems of a VM with these profiles, of which some have to be added."""
    unnamed = [profile for profile in sorted(set(added)) if parse(profile) is None]
    if unnamed:
        return [offer.unknown_profile(now, profile) for profile in unnamed]
    problems = offer.against_profiles(now, sorted(set(added)))
    for rule in (_mixed_boards, _mixed_series, _several_fractional, _too_many, _too_few_gpus, _firmware):
        problem = rule(now, profiles, max_per_vm)
        if problem is not None:
            problems.append(problem)
    return problems


def _mixed_boards(now: VmState, profiles: Sequence[str], max_per_vm: int | None) -> Problem | None:
    boards = sorted({name.board for name in _names(profiles)})
    if len(boards) > 1:
        return Problem(
            "mixed_boards",
            f"All vGPUs of a VM must be of one board, but these are of {' and '.join(boards)}.",
            "Choose profiles of one board.",
        )
    return None


def _mixed_series(now: VmState, profiles: Sequence[str], max_per_vm: int | None) -> Problem | None:
    series = sorted({name.series.upper() for name in _names(profiles)})
    if len(series) > 1:
        return Problem(
            "mixed_series",
            f"All vGPUs of a VM must be of one series, but these are of {' and '.join(series)}.",
            "Choose profiles of one series; for training use the C series.",
        )
    return None


def _several_fractional(now: VmState, profiles: Sequence[str], max_per_vm: int | None) -> Problem | None:
    if len(profiles) < 2 or not _before(now.host, (8,)):
        return None
    fractional = sorted(
        {profile for profile in profiles if not catalogue.is_whole_gpu(profile, cast("Host", now.host).offered)}
    )
    if not fractional:
        return None
    return Problem(
        "several_fractional",
        f"vSphere {cast('Host', now.host).version} supports several vGPUs in a VM only if each has the whole memory of "
        f"its GPU; {', '.join(fractional)} {'does' if len(fractional) == 1 else 'do'} not.",
        "Use whole-GPU profiles, give the VM a single vGPU, or move it to a host with vSphere 8.0.",
    )


def _too_many(now: VmState, profiles: Sequence[str], max_per_vm: int | None) -> Problem | None:
    # vSphere 8.0 announced 8; 4 before that is commonly reported but not confirmed [unsure], hence the option.
    limit = max_per_vm or (4 if _before(now.host, (8,)) else 8)
    if len(profiles) <= limit:
        return None
    where = f" on vSphere {now.host.version}" if now.host and not max_per_vm else ""
    return Problem(
        "too_many",
        f"A VM supports {limit} vGPUs at most{where}; {len(profiles)} were requested.",
        "List fewer profiles, or set max_per_vm if your release supports more.",
    )


def _too_few_gpus(now: VmState, profiles: Sequence[str], max_per_vm: int | None) -> Problem | None:
    if now.host is None or not now.host.offered or not now.host.gpus:
        return None
    numbers = [catalogue.most_per_gpu(profile) for profile in profiles]
    needed = math.ceil(sum(Fraction(1, number) for number in numbers if number))
    there = len(now.host.gpus)
    if needed <= there:
        return None
    return Problem(
        "too_few_gpus",
        f"These vGPUs need at least {needed} GPUs of one host, and host {now.host.name} has {there}.",
        "List fewer or smaller profiles, or move the VM to a host with more GPUs.",
    )


def _firmware(now: VmState, profiles: Sequence[str], max_per_vm: int | None) -> Problem | None:
    if now.vm.firmware != "bios" or not any(catalogue.needs_efi(profile) for profile in profiles):
        return None
    # The firmware is never changed here: a guest that was installed under BIOS does not start under EFI.
    return Problem(
        "firmware_bios",
        "Its firmware is BIOS, which cannot map the memory window of this GPU.",
        "Use a VM that was installed with EFI firmware. The firmware of an installed guest cannot be changed.",
    )


def _names(profiles: Iterable[str]) -> list[ProfileName]:
    return [name for name in map(parse, profiles) if name is not None]


def _before(host: Host | None, release: tuple[int, ...]) -> bool:
    return host is not None and bool(host.release) and host.release < release
