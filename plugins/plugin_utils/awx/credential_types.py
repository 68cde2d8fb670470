# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The credential types of AWX for this collection, and which templates get their credentials. Pure."""

from __future__ import annotations

from typing import Any

# Own types: the built-in type for vCenter also switches the check of its certificate off. AWX rejects names of the
# environment that begin with ANSIBLE_, so group_vars of the project use the variables of the others.
TYPES: dict[str, dict[str, Any]] = {
    "vcenter": {
        "name": "aiready vCenter",
        "description": "vCenter of aiready.vsphere, with a verified certificate",
        "kind": "cloud",
        "inputs": {
            "fields": [
                {"id": "host", "label": "vCenter", "type": "string"},
                {"id": "username", "label": "User", "type": "string"},
                {"id": "password", "label": "Password", "type": "string", "secret": True},
            ],
            "required": ["host", "username", "password"],
        },
        "injectors": {
            "env": {
                "VMWARE_HOST": "{{ host }}",
                "VMWARE_USER": "{{ username }}",
                "VMWARE_PASSWORD": "{{ password }}",
                "VMWARE_VALIDATE_CERTS": "True",
            }
        },
    },
    "bmc": {
        "name": "aiready BMC",
        "description": "User of the BMCs",
        "kind": "cloud",
        "inputs": {
            "fields": [
                {"id": "username", "label": "User", "type": "string"},
                {"id": "password", "label": "Password", "type": "string", "secret": True},
            ],
            "required": ["username", "password"],
        },
        "injectors": {"env": {"AIREADY_BMC_USER": "{{ username }}", "AIREADY_BMC_PASSWORD": "{{ password }}"}},
    },
    "switches": {
        "name": "aiready switches",
        "description": "User of the switches",
        "kind": "net",
        "inputs": {
            "fields": [
                {"id": "username", "label": "User", "type": "string"},
                {"id": "password", "label": "Password", "type": "string", "secret": True},
            ],
            "required": ["username", "password"],
        },
        "injectors": {
            "extra_vars": {"site_switch_user": "{{ username }}", "site_switch_password": "{{ password }}"},
        },
    },
    "licence": {
        "name": "aiready licence token",
        "description": "Client configuration token of the licence server",
        "kind": "cloud",
        "inputs": {
            "fields": [{"id": "token", "label": "Token", "type": "string", "secret": True, "multiline": True}],
            "required": ["token"],
        },
        "injectors": {"extra_vars": {"site_licence_token": "{{ token }}"}},
    },
    "registry": {
        "name": "aiready registry",
        "description": "Password or key of one container registry",
        "kind": "cloud",
        "inputs": {
            "fields": [
                {"id": "address", "label": "Registry", "type": "string"},
                {"id": "password", "label": "Password or key", "type": "string", "secret": True},
            ],
            "required": ["address", "password"],
        },
        # A key with a template needs no blanks.
        "injectors": {"extra_vars": {"site_registry_passwords": {"{{address}}": "{{ password }}"}}},
    },
    "controller": {
        "name": "aiready controller",
        "description": "Token that puts the summary of a plan into the text of its approval",
        "kind": "cloud",
        "inputs": {
            "fields": [
                {"id": "host", "label": "Address of the controller", "type": "string", "format": "url"},
                {"id": "token", "label": "Token", "type": "string", "secret": True},
            ],
            "required": ["host", "token"],
        },
        "injectors": {"env": {"AIREADY_CONTROLLER_HOST": "{{ host }}", "AIREADY_CONTROLLER_TOKEN": "{{ token }}"}},
    },
}
# Types that every controller has.
BUILT_IN = {"machine": "Machine", "vault": "Vault", "scm": "Source Control", "image_registry": "Container Registry"}
# Credentials of these kinds belong to the project or the execution environment, not to job templates.
ELSEWHERE = ("scm", "image_registry")
# Credentials of this kind belong only to the plans of workflows.
OF_PLANS = "controller"
