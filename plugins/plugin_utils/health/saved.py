# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The readings of the last health check of each site, in one file. Ansible replaces the file as a whole."""

from __future__ import annotations

import json
import os
from typing import Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.health.judged import FORMAT


def last(path: str, site: str = "") -> dict[str, Any]:
    """The saved readings of a site; empty without a file, with a damaged one, and with one of another format.

    The site and the readings of all other sites are in the result, because the next check saves them again. Readings
    without a site, from an older version, belong to the site that reads them first.
    """
    try:
        with open(os.path.expanduser(os.path.expandvars(path)), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    if not _is_known(found):
        return {}
    given = found.get("others")
    others = {name: one for name, one in given.items() if _is_known(one, False)} if isinstance(given, dict) else {}
    owner = str(found.get("site") or site)
    sites = {**others, owner: {"at": found.get("at") or "", "objects": found["objects"]}}
    mine = sites.pop(site, {"at": "", "objects": {}})
    return {"format": FORMAT, "site": site, **mine, "others": sites}


def _is_known(found: Any, whole: bool = True) -> bool:
    """Whether these are readings of a site, in a file of the present format if they are whole."""
    known = isinstance(found, dict) and isinstance(found.get("objects"), dict)
    known = known and (not whole or found.get("format") == FORMAT)
    return bool(known) and all(isinstance(one, dict) for one in found["objects"].values())
