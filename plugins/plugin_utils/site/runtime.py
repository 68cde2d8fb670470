# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Inputs of the role container_runtime from a site, without the prefix of their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.guests import of_stage

if TYPE_CHECKING:
    from collections.abc import Mapping

HANDED_ON = (
    "engine",
    "source",
    "toolkit_version",
    "cdi",
    "restart",
    "memlock",
    "docker_users",
    "proof_image",
)
# Empty if the site does not set them.
REPOSITORIES = ("vendor_repository", "toolkit_repository")


def runtime(site: Any, passwords: Mapping[str, str] | None = None, proxy_password: str = "") -> dict[str, Any]:
    """The inputs; passwords are by the address of their registry."""
    dummy, requested = of_stage(site, "runtime")
    proxy = dict(requested["proxy"] or {})
    if proxy.get("username"):
        proxy["password"] = proxy_password or ""
    return {
        **{key: requested[key] for key in HANDED_ON},
        # The role has defaults for fingerprints that are not set.
        **{key: {name: one for name, one in (requested[key] or {}).items() if one is not None} for key in REPOSITORIES},
        "registries": [
            dict(one, password=(passwords or {}).get(one["address"], "")) if one["username"] else dict(one)
            for one in requested["registries"]
        ],
        "proxy": proxy,
    }
