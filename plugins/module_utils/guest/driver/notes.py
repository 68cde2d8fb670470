# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Steps that a run has begun, saved in the guest until they are done, so that the next run finishes those of a killed
one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files

FILE = "/var/lib/aiready.vsphere/vgpu_guest_driver.json"
# Steps that leave no other trace when they are cut short.
STEPS = ("driver", "nouveau")


def read(files: Files) -> tuple[str, ...]:
    """The steps that were begun and not ended."""
    try:
        reported = json.loads(files.text(FILE) or "{}")
    except ValueError:
        return ()
    begun = reported.get("begun", []) if isinstance(reported, dict) else []
    return tuple(step for step in STEPS if step in begun)


def begin(files: Files, step: str) -> None:
    files.write(FILE, json.dumps({"begun": sorted({*read(files), step})}) + "\n", 0o600)


def end(files: Files, step: str) -> None:
    left = [one for one in read(files) if one != step]
    if left:
        files.write(FILE, json.dumps({"begun": left}) + "\n", 0o600)
    else:
        files.remove(FILE)
