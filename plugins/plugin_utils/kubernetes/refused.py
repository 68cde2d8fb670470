# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Objects that the API server did not accept, with the cause. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.causes import short

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FIXES = {
    "Conflict": "Set the value where the other manager gets it, for example in the values of its Helm release, or set "
    "site.kubernetes.force to true",
    "Forbidden": "Use a kubeconfig whose user may read and apply these objects",
    "Unauthorized": "Renew the credentials of the kubeconfig",
    "Invalid": "Correct site.kubernetes",
}
OTHER = "Check the API server of the cluster"
# (text, fix) of rejections whose reason says less. A webhook rejects with any reason.
TEXTS = (
    (
        "being terminated",
        "Wait until the namespace is gone. If it stays, remove what the finalizers of its objects wait for",
    ),
    # The server answers 500 without a reason to an object that its schema cannot type.
    ("failed to create typed patch object", FIXES["Invalid"]),
    (
        "quota: ",
        "Read the quotas of the namespace with kubectl describe quota, and raise them or remove what uses them",
    ),
    (
        "violates PodSecurity",
        "Label the namespace with pod-security.kubernetes.io/enforce=privileged",
    ),
    ("admission webhook", "Change what the webhook rejects in site.kubernetes, or ask the owner of the webhook"),
)


def refused(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence for each failed result of kubernetes_object or of kubernetes.core.k8s."""
    return [_sentence(one) for one in results if one.get("failed") or one.get("error") or not _is_done(one)]


def _is_done(result: Mapping[str, Any]) -> bool:
    own = result.get("kubernetes_object")
    return "result" in result if own is None else not own.get("failed")


def _sentence(result: Mapping[str, Any]) -> str:
    made = result["item"]
    status = (result.get("failure") or {}).get("status") or status_of(str(result.get("msg") or ""))
    causes = [short(f"{one.get('field')}: {one.get('message')}") for one in _causes(status)]
    reason = str(status.get("reason") or result.get("reason") or "")
    found = "; ".join(causes) or short(status.get("message") or result.get("msg") or "It gave no reason")
    fix = next((fix for part, fix in TEXTS if part in found), FIXES.get(reason, OTHER))
    return (
        f"Cannot apply the {made['kind']} {made['metadata']['name']}. The API server reports: {found.rstrip('.')}. "
        f"{fix}."
    )


def _causes(status: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    details = status.get("details") or {}
    found = [one for one in details.get("causes") or [] if one.get("message")]
    # A server adds a cause without a field for rules that it did not evaluate.
    return [one for one in found if one.get("field") != "<nil>"] or found


def status_of(text: str) -> Mapping[str, Any]:
    """The Status object in a message, which the module puts behind a text of its own."""
    begin = text.find("{")
    while begin >= 0:
        try:
            found, dummy = json.JSONDecoder().raw_decode(text[begin:])
        except ValueError:
            begin = text.find("{", begin + 1)
            continue
        return found if isinstance(found, dict) else {}
    return {}
