# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The options of vgpu_licence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence import gridd, token

ARGUMENTS: dict[str, dict[str, Any]] = {
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "feature_type": {"type": "str", "choices": list(gridd.FEATURES), "default": "vgpu"},
    "token": {"type": "str", "no_log": True},
    # The name of a file reveals nothing of its content.
    "token_file": {"type": "path", "no_log": False},
    "token_name": {"type": "str", "default": token.NAME, "no_log": False},
    "other_tokens": {"type": "str", "choices": ["refuse", "remove"], "default": "refuse", "no_log": False},
    "settings": {"type": "dict", "default": {}},
    "proof": {"type": "str", "choices": ["licensed", "none"], "default": "licensed"},
    "wait_s": {"type": "int", "default": 120},
}
MUTUALLY_EXCLUSIVE = [("token", "token_file")]


@dataclass(frozen=True)
class LicenceRequest:
    """The licence of one guest."""

    state: str
    token: str | None = field(repr=False)
    token_file: str | None
    token_name: str
    other_tokens: str
    # {key: value of gridd.conf}: None for a key to remove.
    settings: Mapping[str, str | None]
    proof: str
    wait_s: int


def request_of(params: Mapping[str, Any]) -> LicenceRequest:
    """The request of the task."""
    return request(LicenceRequest, params, settings=requested_settings(params))


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Return all problems of the options; no message contains a token."""
    problems: list[str] = []
    name = params["token_name"]
    if "/" in name or not name.endswith(token.ENDING) or name.startswith("."):
        problems.append(f"`token_name` is {name}. Use a file name without a folder that ends in .tok.")
    if params["wait_s"] < 0:
        problems.append("`wait_s` is negative. Use seconds, 0 or more.")
    if params["token"] is not None:
        trouble = token.problem(params["token"])
        if trouble is not None:
            problems.append(f"`token` is not a token: {trouble[0].lower()}{trouble[1:]}.")
    for key in params["settings"]:
        problems += _setting(key, params["settings"][key])
    return problems


def _setting(key: str, value: Any) -> list[str]:
    if key == gridd.FEATURE:
        return ["`settings` has FeatureType. Use the option `feature_type` instead."]
    if key in gridd.WITHDRAWN and value not in (None, ""):
        return [
            f"`settings` has {key}, a setting of the licence server that NVIDIA has withdrawn. Remove it: the token "
            "names the server."
        ]
    if not gridd.is_key(key):
        return [f"`settings` has {key!r}, which is not a valid name of a setting."]
    if isinstance(value, (dict, list)) or "\n" in str(value):
        return [f"`settings` has a value for {key} that is not a single line of text."]
    return []


def requested_settings(params: Mapping[str, Any]) -> dict[str, str | None]:
    """{key: value of gridd.conf}: None for a key to remove."""
    texts = {key: _text(value) for key, value in params["settings"].items()}
    if params["state"] == "absent":
        return dict(texts, **{gridd.FEATURE: gridd.FEATURES["unlicensed"]})
    return dict(texts, **{gridd.FEATURE: gridd.FEATURES[params["feature_type"]]})


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return str(value).upper() if isinstance(value, bool) else str(value)
