# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Manage the limits and settings of an engine's service."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, not_proved
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import machine
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.clock import Clock
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container import (
    config_file,
    engines,
    proxy,
    settings_state,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.docker import Docker
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.loading import Loading
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.request import SettingsRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.service import Service
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.settings_state import SettingsState

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.service import Seen
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files

HEADING = "# Made by Ansible, aiready.vsphere.container_engine.\n"
# Docker's containers are children of containerd, so that both need the limit, in the order in which they start.
UNITS = {"docker": ("containerd.service", "docker.service"), "containerd": ("containerd.service",)}
# A limit for login shells does not apply to systemd services.
MEMLOCK = HEADING + "[Service]\nLimitMEMLOCK=infinity\n"


class EngineSettings(Noun[SettingsRequest, SettingsState]):
    """The settings of one engine's service."""

    def __init__(
        self, requested: SettingsRequest, commands: Commands, files: Files, clock: type[Clock] = Clock
    ) -> None:
        self._requested = requested
        self._commands = commands
        self._files = files
        self._clock = clock
        self._engine = engines.ENGINES[requested.engine]
        self._ids = machine.ids(files)
        self._label = f"{self._engine.name} on {self._ids['name']}"
        self._docker = Docker(self._label, commands)
        self._services: list[Service] = []
        # {path: text} as it was before.
        self._before: dict[str, str | None] = {}

    @property
    def _env_file(self) -> str:
        return f"/etc/{self._engine.name}/proxy.env"

    @property
    def _proxy_drop_in(self) -> str:
        return f"/etc/systemd/system/{self._engine.unit}.d/50-aiready-proxy.conf"

    def read(self, items: Sequence[Item[SettingsRequest, SettingsState]]) -> None:
        (item,) = items
        item.label = self._label
        item.ids.update(self._ids)
        known = [Service(unit, self._commands) for unit in UNITS[self._engine.name]]
        self._services = [service for service in known if service.look().known]
        if self._engine.unit not in [service.unit for service in self._services]:
            raise OperatorError(
                self._label,
                "cannot be set up",
                f"The service {self._engine.unit} does not exist.",
                "Install the engine with the role aiready.vsphere.container_runtime.",
                "engine_missing",
            )
        item.now = self._state()

    def want(self, item: Item[SettingsRequest, SettingsState]) -> SettingsState:
        return settings_state.want(item.label, item.now, item.requested)

    def compare(self, now: SettingsState, wanted: SettingsState) -> list[Change]:
        return settings_state.compare(now, wanted)

    def apply(self, items: Sequence[Item[SettingsRequest, SettingsState]]) -> None:
        (item,) = items
        now, wanted = item.now, item.wanted
        files = self._files_for(now, wanted)
        self._before = {path: config_file.read(self._files, path) for path in files}
        item.touched = True
        self._put(files)
        if not now.running:
            self._commands.run(["systemctl", "daemon-reload"], limit_s=120)
        elif wanted.loaded:
            loading = Loading(item.label, self._commands, self._requested.restart, self._clock)
            loading.load(
                self._late(),
                self._docker.containers if self._engine.loses_containers else tuple,
                self._is_loaded,
                lambda: self._put(self._before),
                reload_first=self._engine.name == "docker" and now.units == wanted.units,
                reread_units=True,
            )

    def prove(self, items: Sequence[Item[SettingsRequest, SettingsState]]) -> None:
        (item,) = items
        item.proved = self._state()
        gap = settings_state.compare(item.proved, item.wanted)
        if gap and item.error is None:
            item.error = not_proved(
                item.label,
                "is not in the desired state after the change",
                gap,
                "Check other settings with `systemctl cat`, and the journal of the engine. Then run the task again.",
            )

    def project(self, state: SettingsState) -> dict[str, Any]:
        return settings_state.project(state)

    def pending(self, state: SettingsState) -> list[dict[str, Any]]:
        return settings_state.pending(state)

    def _state(self) -> SettingsState:
        looks = {service.unit: service.look() for service in self._services}
        said = proxy.parse(self._text(self._env_file)) if self._text(self._proxy_drop_in) else proxy.Proxy()
        daemon: dict[str, Any] = {}
        if self._engine.name == "docker":
            daemon = config_file.tree(self._engine.config, self._text(self._engine.config), "json")
        state = SettingsState(
            memlock={unit: self._memlock(unit) or seen.memlock for unit, seen in looks.items()},
            proxy=said,
            daemon=daemon,
            running=looks[self._engine.unit].active,
        )
        if not state.running:
            return state
        state = replace(state, loaded=all(self._is_current(unit, seen) for unit, seen in looks.items()))
        if self._engine.name == "docker":
            known = (self._docker.info().get("RegistryConfig") or {}).get("IndexConfigs") or {}
            open_ones = {address for address, entry in known.items() if not (entry or {}).get("Secure", True)}
            listed = {entry for entry in state.insecure if "/" not in entry}
            left_open = (open_ones - listed) & set(self._requested.secure_registries)
            loaded = state.loaded and listed <= open_ones and not left_open
            state = replace(state, loaded=loaded, containers=self._docker.containers())
        return state

    def _is_current(self, unit: str, seen: Seen) -> bool:
        """Return whether a service started after the last change of the files that it reads only then."""
        paths = [_memlock_drop_in(unit)]
        if unit == self._engine.unit:
            paths += [self._proxy_drop_in, self._env_file]
        moments = [self._files.changed_at(path) for path in paths]
        written = [moment for moment in moments if moment is not None]
        if not seen.active:
            return True
        return all(moment <= seen.since for moment in written) and self._memlock(unit) in (None, seen.memlock)

    def _memlock(self, unit: str) -> str | None:
        """The limit that our file gives a service."""
        return settings_state.UNLIMITED if self._text(_memlock_drop_in(unit)) == MEMLOCK else None

    def _is_loaded(self) -> bool:
        try:
            state = self._state()
        except OperatorError:
            # An engine that starts does not answer yet.
            return False
        return state.running and state.loaded

    def _late(self) -> list[Service]:
        """Return the engine, preceded by its dependencies that are older than their files, also those of a killed
        run.
        """
        late = [service for service in self._services[:-1] if not self._is_current(service.unit, service.look())]
        return [*late, self._services[-1]]

    def _files_for(self, now: SettingsState, wanted: SettingsState) -> dict[str, str | None]:
        """Return {path: text} of the files to write."""
        files: dict[str, str | None] = {}
        for unit, limit in wanted.memlock.items():
            if now.memlock[unit] != limit:
                files[_memlock_drop_in(unit)] = MEMLOCK
        if now.proxy != wanted.proxy:
            text = proxy.as_text(wanted.proxy)
            # Referenced files first.
            files[self._env_file] = text
            files[self._proxy_drop_in] = text and f"{HEADING}[Service]\nEnvironmentFile={self._env_file}\n"
            if text is None:
                files = dict(reversed(list(files.items())))
        if now.daemon != wanted.daemon:
            files[self._engine.config] = json.dumps(wanted.daemon, indent=4) + "\n"
        return files

    def _put(self, files: Mapping[str, str | None]) -> None:
        done: list[str] = []
        try:
            for path, text in files.items():
                if path == self._env_file and text is not None:
                    # A property of a service could be read by every user of the machine, and this file only by root.
                    self._files.write(path, text, mode=0o600)
                else:
                    config_file.put(self._files, path, text)
                done.append(path)
        except OperatorError:
            for path in done:
                config_file.put(self._files, path, self._before[path])
            raise

    def _text(self, path: str) -> str | None:
        return config_file.read(self._files, path)


def _memlock_drop_in(unit: str) -> str:
    return f"/etc/systemd/system/{unit}.d/50-aiready-memlock.conf"
