# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The objects of AWX as files for infra.aap_configuration, with references in place of secrets. Pure."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import yaml
from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.module_utils.core import logins
from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import SECRET, SECRET_VALUE
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.credential_types import TYPES
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.objects import objects

if TYPE_CHECKING:
    from collections.abc import Mapping

    Row = dict[str, Any]

# Names of the files of some lists. The others have the name of their list.
# [sure] redhat-cop/aap_configuration_template, August 2026
NAMES = {
    "controller_notifications": "controller_notification_templates",
    "controller_templates": "controller_job_templates",
    "controller_workflows": "controller_workflow_job_templates",
}
_NODES = "simplified_workflow_nodes"
# Fields of the built-in credential types that are not secret. All others are.
OPEN = ("username", "become_method", "become_username", "vault_id", "host", "verify_ssl")
# Fields of notifications with keys, besides names that SECRET matches, and addresses that contain a token.
HIDDEN = ("grafana_key", "mattermost_url", "rocketchat_url", "service_key", "url")
_HEADER = re.compile("auth|cookie|key", re.I)
_LOGIN = re.compile(r"https?://[^/\s@]+@", re.I)
_SUFFIX = re.compile(r"[a-z0-9][a-z0-9_]*")
_HEAD = "---\n# Made by the playbook aiready.vsphere.awx_files from the options of the role awx. Do not edit.\n"


class _Text(str):
    """A text that AWX evaluates, and Ansible must not."""


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        return True


_Dumper.add_representer(_Text, lambda dumper, text: dumper.represent_scalar("!unsafe", str(text), style='"'))


def files(options: Mapping[str, Any], suffix: str = "aiready") -> dict[str, Any]:
    """{files: {name: content}, secrets: [variables that the user sets in a vault]}."""
    if suffix and not _SUFFIX.fullmatch(suffix):
        raise AnsibleFilterError(
            f"Cannot write the files of AWX. {suffix!r} cannot be the end of a variable. Use lower case letters, "
            "digits and _ in awx_files_suffix, such as aiready_dev."
        )
    # Ansible's own types of texts and numbers become plain ones.
    lists = json.loads(json.dumps(objects(options), default=str))
    end = f"_{suffix}" if suffix else ""
    known = _Secrets()
    made = {}
    for name, rows in lists.items():
        content = {f"{name}{end}": _texts(known.hidden([_row(name, row, known) for row in rows], name))}
        made[f"{NAMES.get(name, name)}{end}.yml"] = _HEAD + yaml.dump(
            content, Dumper=_Dumper, sort_keys=False, width=150, allow_unicode=True
        )
    return {"files": made, "secrets": sorted(known.names)}


class _Secrets:
    """Variables that take the place of secrets."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}

    def variable(self, value: Any, *words: str) -> _Reference:
        """A template of the variable with these words in its name, in place of the value."""
        parts = [re.sub(r"[^a-z0-9]+", "_", word.lower()).strip("_") for word in words]
        name = "_".join(part for part in parts if part)
        name = name if name.startswith("aiready_") else f"aiready_{name}"
        if self.names.setdefault(name, value) != value:
            raise AnsibleFilterError(
                f"Cannot write the files of AWX. Two different secrets need the variable {name}, because the names of "
                "their objects differ only in other characters than letters and digits. Rename one of the objects."
            )
        return _Reference(f"{{{{ {name} }}}}")

    def hidden(self, value: Any, *words: str) -> Any:
        """A value without texts that are secrets by their form, such as an address with a password."""
        if isinstance(value, dict):
            own = str(value.get("name", ""))
            return {key: self.hidden(one, *words, *([own] if own else []), str(key)) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.hidden(one, *words) for one in value]
        if (
            isinstance(value, str)
            and not isinstance(value, _Reference)
            and (SECRET_VALUE.search(value) or _LOGIN.search(value) or logins.is_in(value))
        ):
            return self.variable(value, *words[1:])
        return value


class _Reference(str):
    """A template that Ansible evaluates when it reads the file."""


_Dumper.add_representer(_Reference, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", str(text)))


def _row(name: str, row: Row, known: _Secrets) -> Row:
    if name == "controller_credentials":
        return _credential(row, known)
    if name == "controller_notifications":
        return _notification(row, known)
    return _workflow(row) if name == "controller_workflows" else row


def _credential(row: Row, known: _Secrets) -> Row:
    own = [one["inputs"]["fields"] for one in TYPES.values() if one["name"] == row["credential_type"]]
    shown = [one["id"] for one in own[0] if not one.get("secret")] if own else OPEN
    inputs = {
        key: value if key in shown or value in ("", None) else known.variable(value, row["name"], key)
        for key, value in row["inputs"].items()
    }
    return {**row, "inputs": inputs}


def _notification(row: Row, known: _Secrets) -> Row:
    settings = row["notification_configuration"]
    made = {
        key: known.variable(value, "notification", row["name"], key) if value and _is_secret(key) else value
        for key, value in settings.items()
    }
    if isinstance(settings.get("headers"), dict):
        made["headers"] = {
            key: known.variable(value, "notification", row["name"], key) if value and _is_header(key) else value
            for key, value in settings["headers"].items()
        }
    return {**row, "notification_configuration": made}


def _is_secret(key: str) -> bool:
    return key in HIDDEN or bool(SECRET.search(key))


def _is_header(key: str) -> bool:
    return bool(_HEADER.search(key) or SECRET.search(key))


def _workflow(row: Row) -> Row:
    """Nodes name the organization of their job templates. The role awx passes it itself."""
    nodes = [
        {**node, "lookup_organization": row["organization"]} if "unified_job_template" in node else node
        for node in row[_NODES]
    ]
    return {**row, _NODES: nodes}


def _texts(value: Any) -> Any:
    """Mark the templates of AWX."""
    if isinstance(value, dict):
        return {_texts(key): _texts(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_texts(one) for one in value]
    if isinstance(value, str) and not isinstance(value, _Reference):
        return _Text(value) if "{{" in value or "{%" in value or "{#" in value else str(value)
    return value
