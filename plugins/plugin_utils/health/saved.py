# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The readings of the last health check of each site, in one file."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.health.judged import FORMAT
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import files

if TYPE_CHECKING:
    from collections.abc import Mapping


def last(path: str, site: str = "") -> dict[str, Any]:
    """The saved readings of a site; empty without a file, with a damaged one, and with one of another format.

    Readings without a site, from an older version, belong to the site that reads them first.
    """
    sites = _sites(_full(path), site)
    return {"format": FORMAT, "site": site, **sites.get(site, {"at": "", "objects": {}})} if sites else {}


def updated(path: str, saved: Mapping[str, Any]) -> dict[str, Any]:
    """The content of the file after the readings of one site were replaced. saved: those of judged.check.

    Other writers wait between the read and the write, so a check of another site loses nothing.
    """
    full = _full(path)
    folder = os.path.dirname(full) or "."
    site = str(saved.get("site") or "")
    try:
        with files.locked(folder):
            others = {name: one for name, one in _sites(full, site).items() if name != site}
            content = {**saved, "others": others}
            files.replace(full, json.dumps(content, indent=4, sort_keys=True), private=True)
    except OSError as error:
        raise AnsibleFilterError(
            f"Cannot save the readings of the health check. The file {full} is not writable: {error}. Correct the "
            "permissions of its folder, and run the playbook again."
        ) from error
    return content


def _full(path: str) -> str:
    return os.path.expanduser(os.path.expandvars(path))


def _sites(full: str, site: str) -> dict[str, Any]:
    """{site: its readings} of the file."""
    try:
        with open(full, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    if not _is_known(found):
        return {}
    given = found.get("others")
    others = {name: one for name, one in given.items() if _is_known(one, False)} if isinstance(given, dict) else {}
    owner = str(found.get("site") or site)
    return {**others, owner: {"at": found.get("at") or "", "objects": found["objects"]}}


def _is_known(found: Any, whole: bool = True) -> bool:
    """Whether these are readings of a site, in a file of the present format if they are whole."""
    known = isinstance(found, dict) and isinstance(found.get("objects"), dict)
    known = known and (not whole or found.get("format") == FORMAT)
    return bool(known) and all(isinstance(one, dict) for one in found["objects"].values())
