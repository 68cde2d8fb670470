# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""NVIDIA's runtime in the container engine of one machine."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, not_proved
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import machine
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.clock import Clock
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container import (
    cdi,
    config_file,
    engines,
    runtime_state,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.docker import Docker
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.loading import Loading
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.request import RuntimeRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.runtime_state import RuntimeState
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.service import Service
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.toolkit import REFRESH_UNIT, Toolkit

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files


class ContainerRuntime(Noun[RuntimeRequest, RuntimeState]):
    """The files, the service and the devices of an engine."""

    def __init__(self, requested: RuntimeRequest, commands: Commands, files: Files, clock: type[Clock] = Clock) -> None:
        engine = engines.ENGINES[requested.engine]
        self._requested = requested
        self._commands = commands
        self._files = files
        self._clock = clock
        self._engine = replace(engine, config=requested.config or engine.config)
        self._ids = machine.ids(files)
        self._label = f"{engine.name} on {self._ids['name']}"
        self._toolkit = Toolkit(self._label, commands)
        self._service = Service(engine.unit, commands)
        self._docker = Docker(self._label, commands)
        # {path: text}, current and desired.
        self._before: dict[str, str | None]
        self._made: dict[str, str | None]
        self._before, self._made = {}, {}

    def read(self, items: Sequence[Item[RuntimeRequest, RuntimeState]]) -> None:
        (item,) = items
        item.label = self._label
        item.ids.update(self._ids)
        present = self._requested.state == "present"
        if present:
            self._toolkit.require()
        item.ids["toolkit_version"] = self._toolkit.version or None
        self._require_engine()
        self._before = self._read_files()
        item.now = self._state()
        item.ids["engine_version"] = item.now.version or None
        self._made = self._wanted_texts(item.now) if present else self._texts_without(item.now)

    def want(self, item: Item[RuntimeRequest, RuntimeState]) -> RuntimeState:
        trees = {path: self._tree(path, text) for path, text in self._made.items()}
        return runtime_state.want(item.label, item.now, trees, self._requested)

    def compare(self, now: RuntimeState, wanted: RuntimeState) -> list[Change]:
        return runtime_state.compare(now, wanted)

    def apply(self, items: Sequence[Item[RuntimeRequest, RuntimeState]]) -> None:
        (item,) = items
        changed = [path for path, tree in item.wanted.trees.items() if tree != item.now.trees[path]]
        item.touched = True
        self._put(changed, self._made)
        due = changed or not item.now.loaded or item.now.knows_gpus != item.wanted.knows_gpus
        if item.wanted.loaded and item.now.running and due:
            self._load(item, changed)
        if item.now.cdi_missing or item.now.cdi_stale:
            self._describe_devices()

    def prove(self, items: Sequence[Item[RuntimeRequest, RuntimeState]]) -> None:
        (item,) = items
        item.proved = self._state()
        gap = runtime_state.compare(item.proved, item.wanted)
        if gap and item.error is None:
            item.error = not_proved(
                item.label,
                "is not in the desired state after the change",
                gap,
                "Check which program changes these files, and the journal of the engine. Then run the task again.",
            )

    def project(self, state: RuntimeState) -> dict[str, Any]:
        return runtime_state.project(state)

    def pending(self, state: RuntimeState) -> list[dict[str, Any]]:
        return runtime_state.pending(state)

    # Existing files

    def _paths(self) -> list[str]:
        paths = [self._engine.config] if self._engine.config else []
        # Before it knew files of its own, the toolkit wrote into the engine's.
        if self._engine.drop_in and (self._requested.state == "absent" or self._toolkit.has_drop_in):
            paths.append(self._engine.drop_in)
        return paths

    def _tree(self, path: str, text: str | None) -> dict[str, Any]:
        return config_file.tree(path, text, self._engine.format)

    def _read_files(self) -> dict[str, str | None]:
        return {path: config_file.read(self._files, path) for path in self._paths()}

    def _state(self) -> RuntimeState:
        texts = self._read_files()
        trees = {path: self._tree(path, text) for path, text in texts.items()}
        state = self._with_devices(RuntimeState(self._engine.name, self._requested.runtime_name, trees=trees))
        if not self._engine.unit:
            return state
        seen = self._service.look()
        if not seen.active:
            return state
        state = replace(state, running=True)
        if self._engine.name == "docker":
            return self._docker.complete(replace(state, knows_gpus=self._knows_gpus(seen.since)))
        # A folder is as young as the last file that came or went in it.
        folders = [os.path.dirname(path) for path in texts if path == self._engine.drop_in]
        changed = [self._files.changed_at(path) for path in [*texts, *folders]]
        return replace(state, loaded=all(moment <= seen.since for moment in changed if moment is not None))

    def _knows_gpus(self, since: float) -> bool:
        hook = self._commands.find(self._engine.gpu_hook)
        if self._requested.state == "absent" or hook is None:
            return True
        came = self._files.came_at(hook)
        return came is not None and came <= since

    def _with_devices(self, state: RuntimeState) -> RuntimeState:
        """Compare GPUs with the offered devices, if the interface for devices is used."""
        if self._requested.state == "absent" or not (self._requested.cdi or self._engine.name == "podman"):
            return state
        done = self._commands.run(["nvidia-smi", "-L"])
        there = cdi.gpus(done.stdout)
        if not done.ok or not there:
            raise OperatorError(
                self._label,
                "cannot provide GPUs to containers",
                done.outcome if not done.ok else f"`nvidia-smi -L` shows no GPU: {done.words or 'no output'}.",
                "Check that the VM has a vGPU and that the guest driver is installed and loaded.",
                "no_gpu",
            )
        missing, stale = cdi.gap(there, self._toolkit.devices())
        return replace(state, cdi_missing=tuple(missing), cdi_stale=tuple(stale))

    def _require_engine(self) -> None:
        if self._requested.state == "present" and self._commands.find(self._engine.program) is None:
            raise OperatorError(
                self._label,
                "cannot be configured",
                f"The program `{self._engine.program}` is not installed.",
                "Install the engine with the role aiready.vsphere.container_runtime.",
                "engine_missing",
            )

    # The desired state

    def _wanted_texts(self, now: RuntimeState) -> dict[str, str | None]:
        if not self._engine.config:
            return {}
        made = self._toolkit.configured(self._engine, self._before, self._requested)
        if self._engine.name == "docker":
            path, text = next(iter(made.items()), (self._engine.config, None))
            tree = engines.mended(
                now.trees[path],
                self._tree(path, text),
                now.name,
                self._requested.default_runtime,
                self._requested.cdi,
            )
            made[path] = _as_json(tree)
        return made

    def _texts_without(self, now: RuntimeState) -> dict[str, str | None]:
        if self._engine.name == "docker":
            (path,) = now.trees
            tree = engines.without_runtime("docker", now.trees[path], now.name)
            return {path: _as_json(tree) if tree != now.trees[path] else self._before[path]}
        if self._engine.config:
            own = now.trees[self._engine.config]
            if engines.runtime_in(now.engine, [own], now.name).path:
                raise OperatorError(
                    self._engine.config,
                    f"still has the runtime {now.name}",
                    "An older toolkit or a person wrote it into the file of the engine.",
                    "Remove its tables manually. The module removes only its own file.",
                    "configured_in_place",
                    path=self._engine.config,
                )
            return {self._engine.config: self._before[self._engine.config], self._engine.drop_in: None}
        return {}

    # The change

    def _put(self, paths: Sequence[str], texts: Mapping[str, str | None]) -> None:
        done: list[str] = []
        try:
            for path in paths:
                config_file.put(self._files, path, texts[path])
                done.append(path)
        except OperatorError:
            for path in done:
                config_file.put(self._files, path, self._before[path])
            raise

    def _load(self, item: Item[RuntimeRequest, RuntimeState], changed: Sequence[str]) -> None:
        loading = Loading(item.label, self._commands, self._requested.restart, self._clock)
        loading.load(
            [self._service],
            self._docker.containers if self._engine.loses_containers else tuple,
            lambda: self._is_loaded(item.wanted),
            lambda: self._put(changed, self._before),
            reload_first=bool(self._engine.reloadable) and not runtime_state.restart_is_due(item.now, item.wanted),
        )

    def _is_loaded(self, wanted: RuntimeState) -> bool:
        try:
            state = self._state()
        except OperatorError:
            # An engine that starts does not answer yet.
            return False
        return state.running and state.loaded and (state.knows_gpus or not wanted.knows_gpus)

    def _describe_devices(self) -> None:
        unit = Service(REFRESH_UNIT, self._commands)
        if not unit.look().known:
            self._toolkit.generate()
        elif not unit.do("restart"):
            raise OperatorError(
                self._label,
                "cannot provide all GPUs to containers",
                f"The service {REFRESH_UNIT} failed. The last lines of its journal: {unit.last_words()}.",
                "Correct the error in the journal, then run the task again.",
                "cdi_not_generated",
            )


def _as_json(tree: Mapping[str, Any]) -> str:
    return json.dumps(tree, indent=4) + "\n"
