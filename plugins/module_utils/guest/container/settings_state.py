# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Present and desired limits and settings of an engine's service. No I/O."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container import loading, runtime_state
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.proxy import Proxy

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.request import SettingsRequest

UNLIMITED = "infinity"
SET, OTHER = "set", "another one"
INSECURE = "insecure-registries"


@dataclass(frozen=True)
class SettingsState:
    """Service of one engine."""

    # {unit: its limit of locked memory, as systemd has it}
    memlock: dict[str, str] = field(default_factory=dict)
    proxy: Proxy = Proxy()
    # Content of Docker's configuration.
    daemon: dict[str, Any] = field(default_factory=dict)
    running: bool = False
    loaded: bool = True
    containers: tuple[str, ...] = ()

    @property
    def insecure(self) -> list[str]:
        listed = self.daemon.get(INSECURE)
        return [entry for entry in listed if isinstance(entry, str)] if isinstance(listed, list) else []

    @property
    def units(self) -> tuple[dict[str, str], Proxy]:
        """Return the settings that a service reads only when it starts."""
        return self.memlock, self.proxy


def want(label: str, now: SettingsState, requested: SettingsRequest) -> SettingsState:
    """Return the requested state; refuses to stop containers without permission."""
    wanted = replace(now, loaded=True)
    if requested.memlock == "unlimited":
        wanted = replace(wanted, memlock=dict.fromkeys(now.memlock, UNLIMITED))
    if requested.proxy is not None:
        wanted = replace(wanted, proxy=requested.proxy)
    wanted = replace(wanted, daemon=_daemon(now, requested.insecure_registries, requested.secure_registries))
    if not now.running:
        return wanted
    differ = bool(compare(now, replace(wanted, loaded=now.loaded)))
    if requested.restart == "later":
        return replace(wanted, loaded=now.loaded and not differ)
    if requested.restart == "safe" and now.containers and now.units != wanted.units:
        raise loading.containers_in_the_way(label, now.containers)
    return wanted


def _daemon(now: SettingsState, insecure: Sequence[str], secure: Sequence[str]) -> dict[str, Any]:
    listed = [address for address in now.insecure if address not in secure]
    listed += [address for address in insecure if address not in listed]
    if listed == now.insecure:
        return now.daemon
    daemon = {key: value for key, value in now.daemon.items() if key != INSECURE}
    return dict(daemon, **{INSECURE: listed}) if listed else daemon


def compare(now: SettingsState, wanted: SettingsState) -> list[Change]:
    changes: list[Change] = []
    for unit, limit in wanted.memlock.items():
        if now.memlock[unit] != limit:
            changes.append(Change(f"{unit}: LimitMEMLOCK", now.memlock[unit], limit))
    changes += _proxy_changes(now.proxy, wanted.proxy)
    if now.insecure != wanted.insecure:
        changes.append(Change(f"daemon.json: {INSECURE}", now.insecure, wanted.insecure))
    if now.loaded != wanted.loaded:
        needs = None if wanted.loaded else runtime_state.WAITS
        changes.append(
            Change("engine", runtime_state.LOADED[now.loaded], runtime_state.LOADED[wanted.loaded], needs),
        )
    return changes


def _proxy_changes(now: Proxy, wanted: Proxy) -> list[Change]:
    changes = [
        Change(f"proxy.{name}", getattr(now, name) or None, getattr(wanted, name) or None)
        for name in ("http", "https")
        if getattr(now, name) != getattr(wanted, name)
    ]
    if now.no_proxy != wanted.no_proxy:
        changes.append(Change("proxy.no_proxy", list(now.no_proxy), list(wanted.no_proxy)))
    if now.credentials != wanted.credentials:
        before = (OTHER if wanted.credentials else SET) if now.credentials else None
        changes.append(Change("proxy.credentials", before, SET if wanted.credentials else None))
    return changes


def pending(state: SettingsState) -> list[dict[str, Any]]:
    return [] if state.loaded else [{"what": "engine", "needs": runtime_state.WAITS}]


def project(state: SettingsState) -> dict[str, Any]:
    return {
        "memlock": "unlimited" if all(limit == UNLIMITED for limit in state.memlock.values()) else "limited",
        "proxy_http": state.proxy.http,
        "proxy_https": state.proxy.https,
        "no_proxy": list(state.proxy.no_proxy),
        "proxy_credentials": SET if state.proxy.credentials else "",
        "insecure_registries": state.insecure,
        "running": state.running,
        "loaded": state.loaded,
    }
