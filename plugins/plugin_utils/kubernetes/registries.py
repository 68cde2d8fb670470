# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The secret with the logins of registries, with which nodes pull the images of pods. Pure."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

TYPE, KEY = "kubernetes.io/dockerconfigjson", ".dockerconfigjson"


def secret(requested: Mapping[str, Any], passwords: Mapping[str, str] | None, namespace: str) -> dict[str, Any]:
    """The secret; requested has name and registries."""
    auths = {}
    for one in requested["registries"]:
        user, password = one["username"], str((passwords or {}).get(one["address"]) or "")
        login = base64.b64encode(f"{user}:{password}".encode()).decode()
        auths[one["address"]] = {"username": user, "password": password, "auth": login}
    text = json.dumps({"auths": auths}, sort_keys=True)
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": TYPE,
        "metadata": {"name": requested["name"], "namespace": namespace},
        "data": {KEY: base64.b64encode(text.encode()).decode()},
    }


def problems(requested: Mapping[str, Any], passwords: Mapping[str, str] | None) -> list[str]:
    """A sentence for each registry without a password."""
    return [
        f"Cannot create the pull secret {requested['name']}. The password of the registry {one['address']} is not set. "
        f"Set the key {one['address']} of site_registry_passwords in a vault."
        for one in requested.get("registries") or ()
        if not (passwords or {}).get(one["address"])
    ]
