# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The parameters of surroundings_info."""

from __future__ import annotations

from typing import Any, Mapping
from urllib.parse import urlsplit

ARGUMENTS: dict[str, dict[str, Any]] = {
    "addresses": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "url": {"type": "str", "required": True},
            "expect": {"type": "str", "choices": ["file", "key", "server"], "default": "file"},
            "ca_file": {"type": "path"},
        },
    },
    "registries": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "address": {"type": "str", "required": True},
            "username": {"type": "str"},
            "password": {"type": "str", "no_log": True},
            "ca_file": {"type": "path"},
            "insecure": {"type": "bool", "default": False},
        },
    },
    "paths": {"type": "list", "elements": "path", "default": []},
    "timeout_s": {"type": "int", "default": 10},
}


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters, one sentence each."""
    problems = [
        f"addresses[{number}].url: {entry['url']} is not a URL. Write it with http:// or https://."
        for number, entry in enumerate(params["addresses"])
        if urlsplit(entry["url"]).scheme not in ("http", "https") or not urlsplit(entry["url"]).netloc
    ]
    if not 1 <= params["timeout_s"] <= 300:
        problems.append(f"timeout_s is {params['timeout_s']}; it must be between 1 and 300.")
    return problems
