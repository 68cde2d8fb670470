# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""NVIDIA's runtime in an engine, current and desired. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container import config_file, engines, loading

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.request import RuntimeRequest

WAITS = "engine_restart"
KNOWS_GPUS = {True: "known to the engine", False: "unknown to the engine, which started before the toolkit came"}
LOADED = {True: "runs with its configuration", False: "runs with an older configuration"}
# Docker supports devices of this kind since then.
DOCKER_CDI_SINCE = 25


@dataclass(frozen=True)
class RuntimeState:
    """Files of an engine, their settings of the runtime, and the engine's own report."""

    engine: str
    name: str
    # {path: content}, in the order in which the engine reads them.
    trees: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    # State of the engine's service: running, and with the present content of its files.
    running: bool = False
    loaded: bool = True
    # True if the engine can have found the program behind its option for GPUs (`docker run --gpus`).
    knows_gpus: bool = True
    version: str = ""
    # Running containers that a restart would stop.
    containers: tuple[str, ...] = ()
    # GPUs that containers cannot be given, and names with no GPU behind them.
    cdi_missing: tuple[str, ...] = ()
    cdi_stale: tuple[str, ...] = ()

    @property
    def runtime(self) -> engines.Runtime:
        return engines.runtime_in(self.engine, self.trees.values(), self.name)


def want(label: str, now: RuntimeState, trees: Mapping[str, dict[str, Any]], requested: RuntimeRequest) -> RuntimeState:
    """Return the state with these files; refuses to stop containers without permission."""
    wanted = replace(now, trees=trees, cdi_missing=(), cdi_stale=(), loaded=True, knows_gpus=True)
    differ = file_changes(now, wanted)
    if not now.running:
        return wanted
    if requested.cdi and requested.state == "present":
        _refuse_old(label, now)
    if requested.restart == "later":
        return replace(wanted, loaded=now.loaded and not differ, knows_gpus=now.knows_gpus)
    if requested.restart == "safe" and now.containers:
        # A newer file may also be an update of the toolkit, so that nothing fails for it.
        wanted = replace(wanted, knows_gpus=now.knows_gpus)
        if restart_is_due(now, wanted):
            raise loading.containers_in_the_way(label, now.containers)
    return wanted


def restart_is_due(now: RuntimeState, wanted: RuntimeState) -> bool:
    """Return whether a reload is known to be insufficient."""
    if now.knows_gpus != wanted.knows_gpus:
        return True
    reloadable = engines.ENGINES[now.engine].reloadable
    before, after = _flat(now.trees), _flat(wanted.trees)
    touched = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    return any(key not in reloadable for key in touched)


def _refuse_old(label: str, now: RuntimeState) -> None:
    major = now.version.split(".")[0]
    if now.engine == "docker" and major.isdecimal() and int(major) < DOCKER_CDI_SINCE:
        raise OperatorError(
            label,
            "does not support the Container Device Interface",
            f"Its version is {now.version}. Version {DOCKER_CDI_SINCE} and newer support it.",
            "Set `cdi: false`, or install a newer engine.",
            "engine_too_old",
            version=now.version,
        )


def _flat(trees: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    return {key: value for tree in trees.values() for key, value in tree.items()}


def file_changes(now: RuntimeState, wanted: RuntimeState) -> list[Change]:
    changes: list[Change] = []
    for path, tree in wanted.trees.items():
        name = path.rsplit("/", 1)[-1]
        changes += config_file.differences(name, now.trees.get(path, {}), tree)
    return changes


def compare(now: RuntimeState, wanted: RuntimeState) -> list[Change]:
    changes = file_changes(now, wanted)
    if now.loaded != wanted.loaded:
        needs = None if wanted.loaded else WAITS
        changes.append(Change("engine", LOADED[now.loaded], LOADED[wanted.loaded], needs))
    if now.knows_gpus != wanted.knows_gpus:
        changes.append(Change("gpu_option", KNOWS_GPUS[now.knows_gpus], KNOWS_GPUS[wanted.knows_gpus]))
    for path, before, after in (
        ("cdi.missing", now.cdi_missing, wanted.cdi_missing),
        ("cdi.stale", now.cdi_stale, wanted.cdi_stale),
    ):
        if before != after:
            changes.append(Change(path, list(before), list(after)))
    return changes


def pending(state: RuntimeState) -> list[dict[str, Any]]:
    waits = (("engine", state.loaded), ("gpu_option", state.knows_gpus))
    return [{"what": what, "needs": WAITS} for what, done in waits if not done]


def project(state: RuntimeState) -> dict[str, Any]:
    runtime = state.runtime
    return {
        "runtime_path": runtime.path,
        "default_runtime": runtime.default,
        "cdi": runtime.cdi,
        "running": state.running,
        "loaded": state.loaded,
        "knows_gpus": state.knows_gpus,
        "cdi_missing": list(state.cdi_missing),
        "cdi_stale": list(state.cdi_stale),
    }
