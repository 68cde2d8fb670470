# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Argument specs that every vCenter module shares; each has a documentation fragment of the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.controller import env_fallback

if TYPE_CHECKING:
    # Options of a module in the form of AnsibleModule.
    Options = Dict[str, Dict[str, Any]]


def _env(*names: str) -> tuple[Callable[..., str], list[str]]:
    return (env_fallback, list(names))


CONNECTION: Options = {
    "hostname": {"type": "str", "fallback": _env("VMWARE_HOST")},
    "port": {"type": "int", "default": 443, "fallback": _env("VMWARE_PORT")},
    "username": {"type": "str", "fallback": _env("VMWARE_USER")},
    "password": {"type": "str", "no_log": True, "fallback": _env("VMWARE_PASSWORD")},
    # A path, which messages have to show; the token itself is no option.
    "saml_token_file": {"type": "path", "no_log": False, "fallback": _env("AIREADY_SAML_TOKEN_FILE")},
    "session_id": {"type": "str", "no_log": True, "fallback": _env("AIREADY_SESSION_ID")},
    "rest_session_id": {"type": "str", "no_log": True, "fallback": _env("AIREADY_REST_SESSION_ID")},
    "validate_certs": {"type": "bool", "default": True, "fallback": _env("VMWARE_VALIDATE_CERTS")},
    "ca_file": {"type": "path", "fallback": _env("AIREADY_VCENTER_CA_FILE")},
    "proxy_host": {"type": "str", "fallback": _env("VMWARE_PROXY_HOST")},
    "proxy_port": {"type": "int", "default": 80, "fallback": _env("VMWARE_PROXY_PORT")},
    "session": {"type": "str", "choices": ["reuse", "once"], "default": "reuse"},
    "session_dir": {"type": "path", "fallback": _env("AIREADY_SESSION_DIR")},
    "request_timeout_s": {"type": "int", "default": 120},
}

DATACENTER: Options = {"datacenter": {"type": "str"}}

IDENTITY_KEYS = ("name", "path", "moid", "instance_uuid", "bios_uuid")

# Options that name one VM; at the top of a module or inside the elements of a fleet.
VM_IDENTITY: Options = {key: {"type": "str"} for key in IDENTITY_KEYS}

TASK_WAITING: Options = {
    "tasks_in_flight": {"type": "int", "default": 32},
    "task_timeout_s": {"type": "int", "default": 600},
}

HOST_IDENTITY: Options = {"host": {"type": "str", "required": True}}

# Transport of esxcli; the ssh_* options are read for esxcli_transport=ssh alone.
ESXCLI_TRANSPORT: Options = {
    "esxcli_transport": {"type": "str", "choices": ["vcenter", "ssh"], "default": "vcenter"},
    "esxcli_timeout_s": {"type": "int", "default": 900},
    "ssh_host": {"type": "str"},
    "ssh_port": {"type": "int", "default": 22},
    "ssh_user": {"type": "str", "default": "root"},
    "ssh_key_file": {"type": "path"},
    "ssh_known_hosts_file": {"type": "path"},
}

# Not required by the specification: Ansible's own message does not name the environment variable. login.py checks the
# options of the login.
_NEEDED = {"hostname": "VMWARE_HOST"}

_RANGES = {
    "port": (1, 65535),
    "proxy_port": (1, 65535),
    "request_timeout_s": (1, 86400),
    "esxcli_timeout_s": (1, 86400),
    "ssh_port": (1, 65535),
    "tasks_in_flight": (1, 640),
    "task_timeout_s": (1, 604800),
}


def check_common(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters of this file, one sentence each."""
    # Filters import the specs above in each process of Ansible, and login.py needs pyVmomi.
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import login

    missing = [
        f"{name} is not set; give it to the task, to module_defaults, or by the environment variable {variable}."
        for name, variable in _NEEDED.items()
        if name in params and not (params[name] or "").strip()
    ]
    missing += login.problems(params)
    return missing + [
        f"{name} is {params[name]}; it must be between {low} and {high}."
        for name, (low, high) in sorted(_RANGES.items())
        if params.get(name) is not None and not low <= params[name] <= high
    ]
