# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The parameters of surroundings_info."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence
from urllib.parse import urlsplit

from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request

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


@dataclass(frozen=True)
class AddressRequest:
    """One URL that must answer."""

    url: str
    expect: str
    ca_file: str | None


@dataclass(frozen=True)
class RegistryRequest:
    """One container registry, with a login or without."""

    address: str
    username: str | None
    password: str | None = field(repr=False)
    ca_file: str | None
    insecure: bool


@dataclass(frozen=True)
class SurroundingsRequest:
    """Everything that one task reads of a machine and its network."""

    addresses: Sequence[AddressRequest]
    registries: Sequence[RegistryRequest]
    paths: Sequence[str]
    timeout_s: int


def request_of(params: Mapping[str, Any]) -> SurroundingsRequest:
    """The request of the task."""
    return request(
        SurroundingsRequest,
        params,
        addresses=[request(AddressRequest, entry) for entry in params["addresses"]],
        registries=[request(RegistryRequest, entry) for entry in params["registries"]],
    )


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
