# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Texts of notifications with what the jobs of this collection return. Pure.

AWX renders them with the job and its artifacts, but those of an approval with the name and the address only.
"""

from __future__ import annotations

from typing import Any

# The artifacts with a text for a person: the summary of a plan, and what to do after a failure.
ARTIFACTS = ("aiready_approval", "aiready_next_steps", "aiready_preflight", "aiready_validation", "aiready_drift")
# AWX rejects a text that uses an undefined name, so each artifact is tested.
_TEXTS = "".join(
    f"{{% if job.artifacts.{one} is defined %}}\n{{{{ job.artifacts.{one}.text }}}}{{% endif %}}" for one in ARTIFACTS
)
_FIRST = "{{ job_friendly_name }} #{{ job.id }} '{{ job.name }}' {{ job.status }}: {{ url }}"
# A webhook sends its body as JSON.
_AS_JSON = (
    f'{{% set text %}}{_TEXTS}{{% endset %}}{{"job": {{{{ job_metadata }}}}, "text": {{{{ text | trim | tojson }}}}}}'
)
_APPROVAL = (
    "The approval node '{{ approval_node_name }}' needs review: {{ workflow_url }}\n\nThe message about the job of the "
    "plan has its summary, and so has the approval if the job has a credential of the controller.\n\n"
    "{{ job_metadata }}"
)


# AWX adds the events that an update lacks, so a run in check mode would report a change.
_EVENTS = ("started", "success", "error", "workflow_approval")


def of_type(kind: str) -> dict[str, Any] | None:
    """The messages of a type of notification, or None for those of AWX."""
    return whole(_of_type(kind))


def whole(given: dict[str, Any] | None) -> dict[str, Any] | None:
    """The same messages with all events, or None for no messages."""
    return {**dict.fromkeys(_EVENTS), **given} if given else None


def _of_type(kind: str) -> dict[str, Any]:
    if kind == "email":
        body = f"{_FIRST}\n{_TEXTS}\n\n{{{{ job_metadata }}}}"
        every = {"message": None, "body": body}
        return {
            "success": every,
            "error": every,
            "workflow_approval": {"running": {"message": None, "body": _APPROVAL}},
        }
    if kind == "webhook":
        every = {"body": _AS_JSON}
        return {"success": every, "error": every}
    if kind in ("slack", "mattermost", "rocketchat"):
        # The source of a message is one line. What it renders may have several.
        every = {"message": _FIRST + _TEXTS.replace("\n", "{{ '\\n' }}")}
        return {"success": every, "error": every}
    return {}
