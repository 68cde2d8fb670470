# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Reasons why a cluster cannot be read, from failed results of kubernetes.core.k8s_info. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.causes import short
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.refused import status_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# For most of these, the module ends with a traceback, so the texts are those of the Python client and of urllib3.
# (pattern, cause, fix). The first match counts.
PROXY = r"ProxyError|Tunnel connection failed"
REASONS = (
    (PROXY, "The proxy of the controller does not connect to the API server", "Correct the proxy, or set no_proxy"),
    (
        r"\bUnauthorized\b",
        "The API server rejects the login, for example because the token or the certificate expired",
        "Renew the credentials of the kubeconfig",
    ),
    (
        r"system:anonymous",
        "The request has no login, for example because the exec plugin of the kubeconfig failed",
        "Check the user of the kubeconfig, for example with: kubectl auth whoami",
    ),
    (
        r"\bForbidden\b|is forbidden",
        "The user of the kubeconfig may not read these objects",
        "Bind the user to a role with the rights that docs/kubernetes.md lists",
    ),
    (
        r"certificate has expired",
        "The certificate of the API server has expired",
        "Renew the certificates of the cluster, and check the clock of the controller",
    ),
    (
        r"Hostname mismatch|IP address mismatch",
        "The certificate of the API server is not for the server of the kubeconfig",
        "Set server or tls-server-name of the kubeconfig to a name in the certificate",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|certificate verify failed",
        "The certificate of the API server is not from the authority of the kubeconfig",
        "Set certificate-authority-data of the kubeconfig to the authority of the cluster",
    ),
    (
        r"NameResolutionError|Name or service not known|Temporary failure in name resolution",
        "The controller cannot resolve the name of the API server",
        "Check the server of the kubeconfig and the name resolution of the controller",
    ),
    (
        r"Connection refused|timed out|No route to host|Network is unreachable|Max retries exceeded",
        "The controller cannot connect to the API server",
        "Check the server of the kubeconfig, and the firewall between the controller and the cluster",
    ),
    (
        r"Invalid kube-?config|Could not create API client",
        "The kubeconfig has no usable cluster, user or context",
        "Check site.kubernetes.kubeconfig and site.kubernetes.context",
    ),
)
# A server that does not answer, and a kubeconfig that is not there any more.
GONE = (PROXY, *(pattern for pattern, _cause, _fix in REASONS[-3:]))
OTHER = ("The module of kubernetes.core failed", "Run the playbook again with -vvv")


def unread(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """Each reason once, as a sentence; results are those of kubernetes.core.k8s_info."""
    failed = [one for one in results if not one.get("skipped") and "resources" not in one]
    return list(dict.fromkeys(sentence(one, "the cluster") for one in failed))


def is_gone(result: Mapping[str, Any]) -> bool:
    """Whether a failed result shows that no API server answers, or that the kubeconfig has none."""
    text = _text(result)
    # urllib3 reports a certificate as the cause of exceeded retries.
    first = next((pattern for pattern, _cause, _fix in REASONS if re.search(pattern, text)), None)
    return "resources" not in result and first in GONE


def sentence(result: Mapping[str, Any], what: str) -> str:
    """The cause of a failed result of kubernetes.core."""
    text = _text(result)
    known = ((cause, fix) for pattern, cause, fix in REASONS if re.search(pattern, text))
    cause, fix = next(known, OTHER)
    answer = status_of(text).get("message") or (result.get("msg") if (cause, fix) == OTHER else "")
    reported = f" The API server reports: {short(answer).rstrip('.')}." if answer and answer != "Unauthorized" else ""
    return f"Cannot read {what}. {cause}.{reported} {fix}."


def _text(result: Mapping[str, Any]) -> str:
    return "\n".join(str(result.get(key) or "") for key in ("msg", "exception", "module_stderr", "module_stdout"))
