# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The desired driver of a guest and the changes to reach it. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import refusals, trouble
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.state import pending

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.params import DriverRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.source import Source
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.state import DriverState, Surroundings


def want(
    label: str, now: DriverState, around: Surroundings, requested: DriverRequest, source: Source | None
) -> DriverState:
    """The desired state; refuses invalid requests. source: the driver to install, None to remove every one."""
    if source is None:
        return _without(label, now, around)
    refusals.refuse(label, now, around, requested, source)
    kind = source.format or around.distribution.package_format
    if now.held:
        return replace(now, nouveau="blocked", interrupted=tuple(step for step in now.interrupted if step != "nouveau"))
    wanted = replace(
        now,
        version=source.version,
        format=kind,
        package=source.name if kind != "run" else None,
        built=source.version,
        nouveau="blocked",
        interrupted=(),
    )
    if requested.install_requirements and (reported(now), now.built, now.interrupted) != (
        reported(wanted),
        wanted.built,
        (),
    ):
        wanted = replace(wanted, missing=())
    if wanted.waits:
        return wanted
    if requested.gpu == "required" or now.loaded:
        wanted = replace(wanted, loaded=source.version)
    if requested.gpu == "required" and not compare(now, wanted) and not pending(now):
        trouble.refuse_without_gpu(label, now, around, requested.host_version)
    return wanted


def _without(label: str, now: DriverState, around: Surroundings) -> DriverState:
    refusals.refuse_in_use(label, now, around, "cannot remove the driver")
    gone = replace(now, version=None, format=None, package=None, built=None, interrupted=())
    if now.version is None:
        # Remaining modules in the kernel do not belong to the guest driver then.
        gone = replace(gone, built=now.built)
    return replace(gone, nouveau=now.nouveau if not now.ours else "allowed")


def compare(now: DriverState, wanted: DriverState) -> list[Change]:
    """Return the changes from one state to the other, in the order of their execution."""
    found: list[Change] = []
    if now.interrupted != wanted.interrupted:
        found.append(Change("interrupted", list(now.interrupted), list(wanted.interrupted)))
    if now.missing != wanted.missing:
        found.append(Change("missing", list(now.missing), list(wanted.missing)))
    if now.nouveau != wanted.nouveau:
        waits = now.nouveau_loaded and wanted.nouveau == "blocked"
        found.append(Change("nouveau", now.nouveau, wanted.nouveau, needs="reboot" if waits else None))
    if reported(now) != reported(wanted):
        found.append(Change("driver", reported(now), reported(wanted), needs="reboot" if _waits(wanted) else None))
    elif wanted.version and wanted.built != now.built:
        found.append(Change("module", now.built, wanted.built))
    if wanted.loaded != now.loaded:
        found.append(Change("loaded", now.loaded, wanted.loaded))
    return found


def reported(state: DriverState) -> str | None:
    """A driver as version and format."""
    return f"{state.version} ({state.format})" if state.version else None


def _waits(wanted: DriverState) -> bool:
    return any(entry["what"] == "driver" for entry in pending(wanted))
