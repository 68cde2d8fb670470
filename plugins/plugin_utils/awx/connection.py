# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The connection of awx.awx to the controller: how the role reads lists through it, and why it fails. Pure.

The modules of awx.awx get options, module_defaults, the environment of a play and configuration files. A lookup gets
the environment of ansible-playbook and the configuration files only. [sure] awx.awx 24.6.1
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core import logins

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Options of the modules -> options of the lookup.
_SHARED = {"controller_host": "host", "validate_certs": "verify_ssl", "request_timeout": "request_timeout"}
_TOKENS = ("CONTROLLER_OAUTH_TOKEN", "TOWER_OAUTH_TOKEN")
_HOSTS = ("CONTROLLER_HOST", "TOWER_HOST")
# Ansible replaces a part of a value that equals a secret.
_HIDDEN = re.compile(r"\*{8}|VALUE_SPECIFIED_IN_NO_LOG_PARAMETER")

# AWX prints the first 100 characters of a key that it cannot read. [sure] awx/main/validators.py
_PRINTED_KEY = re.compile(r"(Invalid certificate or key): .*\.\.\.", re.DOTALL)

# (regular expression for a message of awx.awx, the fix). The first row that matches is used. The login with a password
# has other words than that with a token.
_DENIED = (
    (
        r"HTTP (Error )?401\b",
        "Set CONTROLLER_OAUTH_TOKEN to a valid token with the scope Write, or CONTROLLER_USERNAME and "
        "CONTROLLER_PASSWORD.",
    ),
    (
        r"HTTP (Error )?403\b",
        "Use a token with the scope Write. Only a system administrator can create organizations, credential types and "
        "instance groups. The other objects need the admin role of the organization.",
    ),
)
_FIXES = (
    ("CERTIFICATE_VERIFY_FAILED", "Set SSL_CERT_FILE to the file of the certificate authority of the controller."),
    *_DENIED,
    (
        r"(?i)could not be found|HTTP Error 404\b",
        "Set CONTROLLER_HOST to the address of the controller, such as https://awx.example.org. Behind the gateway of "
        "automation platform 2.5 or newer, also set CONTROLLER_OPTIONAL_API_URLPATTERN_PREFIX to /api/controller/, and "
        "CONTROLLER_OAUTH_TOKEN to a token instead of a password.",
    ),
    (
        r"(?i)resolve|network error|unknown error|parse|refused|timed out|no route",
        "Set CONTROLLER_HOST to the address of the controller, such as https://awx.example.org, which this machine "
        "must reach.",
    ),
    ("", "Read the log of the controller for the cause."),
)
_OBJECT_FIXES = (
    (
        "Playbook not found for project",
        "Copy the playbook from extensions/awx/project of the collection into the top folder of the repository, push "
        "it, and run this playbook again.",
    ),
    (
        "(?i)project update",
        "Read the output of the last update of the project in the UI. Correct awx_project.scm_url and scm_branch. A "
        "private repository needs a credential of the kind scm in awx_credentials.",
    ),
    *_DENIED,
    (
        r"(?i)network error|unknown error|server error|timed out|refused",
        "Check the controller, and run this playbook again. It continues with the missing objects.",
    ),
    ("", "Correct the option of the role that has this value, see the table of inputs in roles/awx/README.md."),
)


def connection(
    result: Mapping[str, Any], token: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """{reads, why, lookup, verified} of the result of a module, and of the token that was created for the lookup.

    reads: "environment" if a lookup finds the token itself, "token" if it needs one of its own, or "" with the reason.
    """
    given = _options(result)
    known = os.environ if environment is None else environment
    host = given.get("controller_host")
    found = _first(known, _HOSTS)
    lookup = {short: given[long] for long, short in _SHARED.items() if given.get(long) is not None}
    answer = {
        "reads": "token",
        "why": "",
        "lookup": {**lookup, "oauth_token": token["token"]} if token else lookup,
        # A configuration file can disable the check too. awx.awx does not return that.
        "verified": given.get("validate_certs") is not False,
    }
    if found and _first(known, _TOKENS) and host in (None, found):
        return {**answer, "reads": "environment"}
    if "invocation" not in result:
        return {**answer, "reads": "", "why": "Ansible did not return the address of the controller"}
    if host and _HIDDEN.search(host):
        return {**answer, "reads": "", "why": "Ansible hides the address of the controller, because it has a secret"}
    if not host and given.get("controller_config_file"):
        why = "The address is only in the file of controller_config_file, which a lookup of awx.awx does not read"
        return {**answer, "reads": "", "why": why}
    return answer


def failure(result: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> str:
    """Where awx.awx failed, why, and the fix, as the end of a sentence."""
    known = os.environ if environment is None else environment
    host = _options(result).get("controller_host") or _first(known, _HOSTS)
    of = f"the controller {host}" if host else "the controller of the configuration of awx.awx"
    cause = str(result.get("msg") or "").rstrip(".")
    fix = next(words for pattern, words in _FIXES if re.search(pattern, cause))
    if not host:
        of += " (CONTROLLER_HOST is not set)"
        # ansible.controller of automation platform reads these, and awx.awx does not.
        platform = known.get("AAP_HOSTNAME")
        fix = f"{fix} awx.awx does not read AAP_HOSTNAME and AAP_TOKEN." if platform else fix
    return logins.hidden(f"{of}. {cause}. {fix}")


def rejected(result: Mapping[str, Any]) -> str:
    """Failure, cause and fix of an object that the controller rejects, without the secrets of the object."""
    failed = next((one for one in result.get("results") or () if one.get("failed")), result)
    cause = str(failed.get("msg") or "").strip().rstrip(".")
    if cause.startswith("Cannot "):
        return f"{cause}."
    item = failed.get("item")
    parts = item if isinstance(item, (list, tuple)) else [item]
    rows = [one for one in parts if isinstance(one, dict)]
    cause = _PRINTED_KEY.sub(r"\1", cause)
    for secret in sorted({text for row in rows for text in _secrets(row)}, key=len, reverse=True):
        cause = cause.replace(secret, "********")
    name = " ".join(str(one.get("name") or one.get("identifier")) for one in rows) or "the objects of the controller"
    fix = next(words for pattern, words in _OBJECT_FIXES if re.search(pattern, cause))
    return f"Cannot configure {name}. {cause}. {fix}"


def _secrets(row: Mapping[str, Any]) -> Iterator[str]:
    """All texts of the inputs of a credential or the settings of a notification template."""
    values = [*(row.get("inputs") or {}).values()] if "credential_type" in row else []
    values += (row.get("notification_configuration") or {}).values()
    for value in values:
        for one in value.values() if isinstance(value, dict) else [value]:
            if isinstance(one, str) and one:
                # awx.awx prints an answer of the controller as a dictionary of Python.
                yield from (one, repr(one)[1:-1])


def _options(result: Mapping[str, Any]) -> Mapping[str, Any]:
    return (result.get("invocation") or {}).get("module_args") or {}


def _first(environment: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((environment[name] for name in names if environment.get(name)), "")
