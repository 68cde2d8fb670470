# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The machine that a module runs on, as a result names it."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files


MACHINE_ID = "/etc/machine-id"


def name() -> str:
    return platform.node()


def ids(files: Files) -> dict[str, str | None]:
    """Its name, and the ID that stays the same when the name does not."""
    return {"name": name(), "machine_id": (files.text(MACHINE_ID) or "").strip() or None}
