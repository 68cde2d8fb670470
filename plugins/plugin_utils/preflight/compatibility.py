# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Findings on the rules of support: drivers, ESXi, boards, hardware versions and the licence server. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import source
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import support
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.finding import BLOCKS, OK, OPEN, Finding
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import directpath, stack
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import guests as site_guests
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.hosts import profiles
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import validate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Modes whose GPUs need the host driver.
SHARED = ("vgpu", "mig")


@dataclass
class _Asked:
    """What a site asks for, as far as the rules need it."""

    mode: str
    boards: list[Any]
    guest: str
    licensed: bool
    hardware: int | None
    protocol: str | None
    accepted: list[str] = field(default_factory=list)


def rules(requested: Mapping[str, Any] | None, previews: Mapping[str, Mapping[str, Any] | None]) -> Iterator[Finding]:
    """Findings on each rule that a host breaks or that cannot be measured; one row for all hosts alike."""
    asked = _asked(requested)
    if asked is None:
        return
    alike: dict[support.Verdict, list[str]] = {}
    for name, preview in previews.items():
        for verdict in _verdicts(asked, preview or {}):
            alike.setdefault(verdict, []).append(name)
    for verdict, names in alike.items():
        yield _finding(verdict, ", ".join(sorted(names)), asked.accepted)


def translation(requested: Mapping[str, Any] | None) -> Iterator[Finding]:
    """A finding on ATS of ports that no module reads, because the site leaves their firmware unchanged."""
    site, errors = validate(requested) if requested else ({}, [""])
    if errors or not directpath.pairs(site):
        return
    network = site["network"]
    if network["firmware"] == "ignore" and network["gpudirect"] != "disabled":
        found = (
            "The firmware setting ATS_ENABLED of the ports is not checked, because site.network.firmware is ignore. "
            "Without ATS, a port and a GPU do not reach each other by DirectPath."
        )
        todo = "Set site.network.firmware to auto, or run `mlxconfig -d DEVICE query ATS_ENABLED` for each port."
        yield Finding("hosts", "ports", "ATS", OPEN, found, todo=todo)


def unpinned(requested: Mapping[str, Any] | None) -> Iterator[Finding]:
    """A finding on each image without a digest, if the site asks for it: its tag may mean another image tomorrow."""
    site, errors = validate(requested) if requested else ({}, [""])
    if errors or site["stack"]["images"] != "report":
        return
    for key, image, fix in stack.unpinned(site):
        found = f"{image} has no digest, so its registry can replace the image."
        where = "kubernetes" if key.startswith("site.kubernetes.") else "guests"
        todo = f"{key}: {fix}. `docker images --digests` prints it."
        yield Finding("compatibility", where, "image", OPEN, found, todo=todo)


def host_driver(preview: Mapping[str, Any]) -> str:
    """The host driver that a host will have: the planned one, otherwise the installed one."""
    planned = ((preview.get("answers") or {}).get("driver") or {}).get("host") or {}
    there = (preview.get("host") or {}).get("driver") or {}
    return (planned.get("after") or {}).get("version") or there.get("version") or ""


def _asked(requested: Mapping[str, Any] | None) -> _Asked | None:
    site, errors = validate(requested) if requested else (None, [])
    if site is None or errors:
        return None
    found = [board for board in map(catalogue.board_of, profiles(site)) if board is not None]
    guest, licensed = _guest(requested or {}, site)
    return _Asked(
        site["gpu"]["mode"],
        list({board.key: board for board in found}.values()),
        guest,
        licensed,
        site["machine"]["hardware_version"],
        site["network"]["protocol"] if site["network"]["path"] == "pvrdma" else None,
        site["accept_unsure"],
    )


def _guest(requested: Mapping[str, Any], site: Mapping[str, Any]) -> tuple[str, bool]:
    """The guest driver, and whether the guests get a licence."""
    if "guests" not in site_guests.stages(requested):
        return "", False
    driver = site_guests.of_stage(requested, "guests")[1]["driver"]
    if not driver:
        return "", False
    version = driver["version"] or source.of(driver["package"], driver["source"]).version
    return version or "", bool(site["guests"]["licence"]) and site["gpu"]["mode"] in SHARED


def _verdicts(asked: _Asked, preview: Mapping[str, Any]) -> Iterator[support.Verdict]:
    host = preview.get("host") or {}
    release, driver = str(host.get("version") or ""), host_driver(preview)
    seen = support.boards_of([str(one.get("board")) for one in host.get("gpus") or ()])
    boards = list({board.key: board for board in [*asked.boards, *seen]}.values())
    yield from support.machine(release, asked.hardware, asked.protocol)
    yield from support.nvswitch(asked.mode, boards, int(host.get("nvswitches") or 0))
    if asked.mode in SHARED and driver:
        yield from support.newer(driver)
        yield from support.esx(driver, release)
        yield from support.dropped(driver, boards)
        if asked.mode == "mig":
            yield from support.mig(driver, release, asked.boards)
        if asked.guest:
            yield from support.guest(driver, asked.guest, asked.licensed)


def _finding(verdict: support.Verdict, where: str, accepted: list[str]) -> Finding:
    rule = support.entry(verdict.key)
    if rule.sure:
        state = BLOCKS if verdict.blocks else OPEN
        return Finding("compatibility", where, verdict.what, state, verdict.found, "", verdict.todo, verdict.key)
    if verdict.key in accepted:
        found = f"{verdict.found} The site accepts this ({verdict.key} in site.accept_unsure)."
        return Finding("compatibility", where, verdict.what, OK, found, code=verdict.key)
    found = f"{verdict.found} This rule is not confirmed [unsure]: {rule.source}."
    todo = f"{verdict.todo} To continue without this check, add {verdict.key} to site.accept_unsure."
    state = BLOCKS if verdict.blocks else OPEN
    return Finding("compatibility", where, verdict.what, state, found, "", todo, verdict.key)
