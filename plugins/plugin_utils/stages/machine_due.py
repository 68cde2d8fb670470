# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The remaining changes of each VM after a check of all of them, and the VMs that must be off for them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.machine_steps import key_of, name_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Changes of a VM's power state, not of its settings.
OF_POWER = frozenset(("power", "power_cycle", "power_on_again"))


def due(
    steps: Mapping[str, Sequence[Mapping[str, Any]]],
    looks: Mapping[str, Sequence[Mapping[str, Any]]],
    start: str = "ignore",
    wait_for: str = "none",
) -> dict[str, Any]:
    """{step: entries that change}, and what that means for the power of the VMs.

    looks: {step: result of each entry of the step, in their order}; a step that was not looked at is due whole.
    """
    found = {step: list(_changing(entries, looks.get(step))) for step, entries in steps.items() if step != "power"}
    looked = looks.get("config") or ()
    cycled, noted = _of_power(steps["config"], looked)
    # vm_config starts the VMs that it powered off; the role waits for their guests.
    waiting = cycled + noted
    if start == "all":
        waiting += [
            key_of(entry) for entry, look in zip(steps["power"], looks.get("power") or ()) if _down(look, wait_for)
        ]
    on = [entry for entry in steps["power"] if key_of(entry) in waiting]
    return {
        **found,
        "running": [name_of(entry) or key_of(entry) for entry in steps["power"] if key_of(entry) in cycled],
        "differences": [
            f"{name_of(entry) or key_of(entry)}: {', '.join(_settings(look))}"
            for entry, look in zip(steps["config"], looked)
            if key_of(entry) in cycled
        ],
        "on": on,
        "anything": bool(on) or any(found.values()),
    }


def _changing(
    entries: Sequence[Mapping[str, Any]], results: Sequence[Mapping[str, Any]] | None
) -> list[Mapping[str, Any]]:
    """The entries whose settings change; without a result, all may change."""
    if not results:
        return list(entries)
    changing = []
    for entry, result in zip(entries, results):
        if _settings(result):
            changing.append(entry)
    return changing


def _settings(result: Mapping[str, Any]) -> list[str]:
    """The settings that change, without the power state."""
    return [change["path"] for change in result["changes"] if change["path"] not in OF_POWER]


def _down(look: Mapping[str, Any], wait_for: str) -> bool:
    """Whether a VM is off, or an earlier wait for it ended early."""
    return look["changed"] or (wait_for == "address" and not look["after"].get("address"))


def _of_power(
    entries: Sequence[Mapping[str, Any]], looks: Sequence[Mapping[str, Any]]
) -> tuple[list[str | None], list[str | None]]:
    """The running VMs that must be off, and those that an interrupted run left off."""
    paths = {
        key_of(entry): {change["path"] for change in look["changes"]} & OF_POWER for entry, look in zip(entries, looks)
    }
    cycled = [key for key, found in paths.items() if "power_cycle" in found]
    return cycled, [key for key, found in paths.items() if found and "power_cycle" not in found]
