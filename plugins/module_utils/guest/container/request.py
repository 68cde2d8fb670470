# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The requests of the modules for container engines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container import proxy as proxies

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.proxy import Proxy


@dataclass(frozen=True)
class SettingsRequest:
    """The limits and settings of an engine's service."""

    engine: str
    memlock: str
    # None leaves the proxy of the engine unchanged.
    proxy: Proxy | None
    insecure_registries: Sequence[str]
    secure_registries: Sequence[str]
    restart: str


@dataclass(frozen=True)
class RuntimeRequest:
    """NVIDIA's runtime in an engine."""

    engine: str
    state: str
    runtime_name: str
    runtime_path: str
    default_runtime: bool
    cdi: bool
    config: str
    restart: str


@dataclass(frozen=True)
class LoginRequest:
    """The login of one user at one registry."""

    registry: str
    username: str | None
    password: str | None = field(repr=False)
    state: str
    engine: str
    user: str
    config_file: str
    check: str
    ca_file: str
    insecure: bool
    # The URL may hold a password.
    proxy: str = field(repr=False)
    no_proxy: Sequence[str]


def settings_of(params: Mapping[str, Any]) -> SettingsRequest:
    """The request of a task of container_engine."""
    proxy = params["proxy"]
    return request(SettingsRequest, params, proxy=None if proxy is None else proxies.from_params(proxy))
