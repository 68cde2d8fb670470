# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The readings of the last health check, in a file of the results folder. Ansible replaces the file as a whole."""

from __future__ import annotations

import json
import os
from typing import Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.health.judged import FORMAT


def last(path: str) -> dict[str, Any]:
    """The saved readings; empty without a file, with a damaged one, and with one of another format."""
    try:
        with open(os.path.expanduser(os.path.expandvars(path)), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    known = isinstance(found, dict) and found.get("format") == FORMAT and isinstance(found.get("objects"), dict)
    return found if known and all(isinstance(one, dict) for one in found["objects"].values()) else {}
