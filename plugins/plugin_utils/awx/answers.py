# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What the role awx needs of the results of awx.awx and of the objects that the controller returns. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# What the controller returns for a secret.
_SECRET = "$encrypted$"
_COMPARED = ("notification_type", "notification_configuration", "messages")


def ids(results: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """{name: ID} of the items of a task. In check mode, a new object has its name instead."""
    return {one["item"]["name"]: str(one.get("id", one["item"]["name"])) for one in results}


def notification_state(wanted: Mapping[str, Any], existing: Iterable[Mapping[str, Any]]) -> str:
    """Return C(exists) for a template that differs in its secrets at most, which awx.awx would send in each run."""
    found = next((one for one in existing if one["name"] == wanted["name"]), {})
    same = all(_same(wanted[key], found.get(key)) for key in _COMPARED if key in wanted)
    return "exists" if found and same else "present"


def unmanaged_nodes(nodes: Iterable[Mapping[str, Any]], workflow: Mapping[str, Any]) -> list[str]:
    """The nodes of a workflow that the role did not create: identifier and template of each."""
    own = {one["identifier"] for one in workflow["item"]["simplified_workflow_nodes"]}
    found = [one for one in nodes if one["workflow_job_template"] == workflow["id"] and one["identifier"] not in own]
    return [f"{one['identifier']} ({_template(one)})" for one in found]


def _template(node: Mapping[str, Any]) -> str:
    return str((node["summary_fields"].get("unified_job_template") or {}).get("name", "no template"))


def _same(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, dict) and isinstance(found, dict):
        return wanted.keys() == found.keys() and all(_same(wanted[key], found[key]) for key in wanted)
    return bool(wanted == found or (wanted and found == _SECRET))
