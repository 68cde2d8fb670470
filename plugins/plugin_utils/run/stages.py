# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The stage of a play: by its own variable, by its playbook, or by a role of its tasks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# Set by a play of a user, in its vars or in those of its import_playbook.
VARIABLE = "aiready_stage"
# The stages in their order, with estimates of their duration in seconds for users without records of earlier runs. A
# stage without work is near the first number, one with much work near the second.
USUAL = {
    "drift": (10, 60),
    "preflight": (10, 60),
    "hosts": (60, 2700),
    "fabric": (60, 600),
    "machines": (20, 900),
    "guests": (60, 900),
    "runtime": (60, 600),
    "training": (120, 1800),
    "validation": (300, 2400),
    "kubernetes": (30, 1800),
    "restore": (30, 2700),
    "upgrade": (30, 600),
}
# Playbooks of this collection whose name differs from their stage.
PLAYBOOKS = {"fabric_check": "fabric", "fleet": "machines", "restore_guests": "restore", "validate": "validation"}
# Playbooks that other playbooks import as a part of their stage.
PARTS = {"fabric_check": ("fabric", "validation")}
# Playbooks that only prepare the next stage.
BEFORE_OTHERS = ("known_guests",)
# Roles of this collection; role site is part of every stage.
ROLES = {
    "preflight": "preflight",
    "bios": "hosts",
    "esxi_host": "hosts",
    "switch": "fabric",
    "training_vm": "machines",
    "guest_vm": "guests",
    "container_runtime": "runtime",
    "horovod": "training",
    "kubernetes": "kubernetes",
    "validation": "validation",
}
_NAMESPACE = "aiready.vsphere."
_OWN = str(Path(__file__).absolute().parents[3] / "playbooks")


def of_play(path: str, variables: Any, own: str = _OWN) -> tuple[str | None, bool]:
    """Return (stage or None, whether the play only prepares the next stage)."""
    return _reported(path, variables, own)[:2]


def _reported(path: str, variables: Any, own: str) -> tuple[str | None, bool, Sequence[str]]:
    """Return the same, and the stages that it may be a part of."""
    said = variables.get(VARIABLE) if isinstance(variables, dict) else None
    if isinstance(said, str) and said.strip() and "{{" not in said:
        return said.strip(), False, ()
    file = path.rpartition(":")[0] or path
    if os.path.realpath(os.path.dirname(file)) != os.path.realpath(own):
        return None, False, ()
    name = os.path.splitext(os.path.basename(file))[0]
    if name in BEFORE_OTHERS:
        return None, True, ()
    stage = PLAYBOOKS.get(name, name)
    return (stage if stage in USUAL else None), False, PARTS.get(name, ())


def of_role(name: str) -> str | None:
    """The stage of a role of this collection, by its whole name; None for any other."""
    return ROLES.get(name[len(_NAMESPACE) :]) if name.startswith(_NAMESPACE) else None


def plan(plays: Iterable[tuple[str, str, Any]]) -> dict[str, tuple[str | None, bool]]:
    """{id of a play: (stage, whether it only prepares it)} of the plays of a playbook: [(id, path, variables)]."""
    found, before = [], None
    for play, path, variables in plays:
        stage, prepares, parts = _reported(path, variables, _OWN)
        if before in parts:
            stage = before
        found.append((play, stage, prepares))
        before = stage
    reported, coming = [], None
    for play, stage, prepares in reversed(found):
        coming = coming if prepares else stage
        reported.append((play, (coming, prepares)))
    return dict(reversed(reported))


def in_order(planned: Mapping[str, tuple[str | None, bool]]) -> list[str]:
    """The stages of a playbook, each once, in the order in which they begin."""
    return list(dict.fromkeys(stage for stage, prepares in planned.values() if stage is not None))
