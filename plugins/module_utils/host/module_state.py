# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A kernel module of a host: its configured options, its loaded options, and valid requests. Pure."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, replace
from typing import Any, Iterable, Iterator, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import module_text

# One value for each port that the module drives, over all cards of the host (NVIDIA ESXi driver user manual).
PER_PORT = ("max_vfs",)
LARGEST = {"max_vfs": 128}


@dataclass(frozen=True)
class Parameter:
    """One row of `esxcli system module parameters list`."""

    name: str
    kind: str
    description: str


@dataclass(frozen=True)
class Module:
    """A kernel module. active is None if the options of the loaded module are unknown."""

    name: str
    enabled: bool
    loaded: bool
    options: dict[str, str]
    active: dict[str, str] | None = None
    parameters: dict[str, Parameter] = field(default_factory=dict)
    ports: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModuleRequest:
    """The options of a kernel module. None keeps whether it is enabled."""

    module: str
    options: Mapping[str, Any] | None
    state: str
    enabled: bool | None


def with_parameters(module: Module, rows: Iterable[Mapping[str, Any]] | None) -> Module:
    """Return a module with the parameters that `esxcli system module parameters list` reports."""
    parameters = [
        Parameter(row["Name"], str(row.get("Type", "")), str(row.get("Description", ""))) for row in rows or []
    ]
    return replace(module, parameters={one.name: one for one in parameters})


def want(subject: str, now: Module, requested: ModuleRequest) -> Module:
    """The desired module; reports all problems of the request at once."""
    requests = requested.options or {}
    problems = [problem for name, value in sorted(requests.items()) for problem in _problems(now, name, value)]
    if problems:
        known = ", ".join(sorted(now.parameters))
        raise OperatorError(
            subject,
            f"cannot set options of the kernel module {now.name}",
            " ".join(problems),
            f"Correct `options`. {now.name} has {known}" if known else "Correct `options`",
            "module_option_impossible",
            problems=problems,
        )
    enabled = now.enabled if requested.enabled is None else requested.enabled
    options = module_text.merged(now.options, requests, requested.state == "replaced")
    return replace(now, enabled=enabled, options=options)


def doubts(module: Module) -> list[str]:
    """Return values that the module accepts but that are probably a mistake."""
    transmit, receive = (module.options.get(name, "0") for name in ("pfctx", "pfcrx"))
    if module.name == "nmlx5_core" and not module_text.same(transmit, receive):
        return [f"pfctx is {transmit} and pfcrx is {receive}; only priorities in both are lossless."]
    return []


def compare(now: Module, wanted: Module) -> list[Change]:
    """Return one change per option, and one for the module itself."""
    names = sorted(set(now.options) | set(wanted.options))
    changes = [
        Change(f"{now.name}.{name}", now.options.get(name), wanted.options.get(name), _needs(wanted, name))
        for name in names
        if now.options.get(name) != wanted.options.get(name)
    ]
    if now.enabled != wanted.enabled:
        needs = None if wanted.enabled == now.loaded else "reboot"
        changes.append(Change(f"{now.name}.enabled", now.enabled, wanted.enabled, needs))
    return changes


def pending(module: Module) -> list[dict[str, str]]:
    """Options that the module was not loaded with, and a module that is to be loaded or left out."""
    names = sorted(set(module.options) | set(module.active or {}))
    waiting = [f"{module.name}.{name}" for name in names if _needs(module, name) and module.active is not None]
    if module.enabled != module.loaded:
        waiting.append(f"{module.name}.enabled")
    return [{"what": what, "needs": "reboot"} for what in waiting]


def project(module: Module) -> dict[str, Any]:
    """A module as a user sees it."""
    return {
        "module": module.name,
        "enabled": module.enabled,
        "loaded": module.loaded,
        "options": dict(sorted(module.options.items())),
        "active_options": None if module.active is None else dict(sorted(module.active.items())),
    }


def _needs(module: Module, name: str) -> str | None:
    """Return the requirement of an option to take effect; with unknown options of the loaded module, a restart ensures
    it."""
    if module.active is None:
        return "reboot"
    one, other = module.options.get(name), module.active.get(name)
    if one is None or other is None:
        return None if one == other else "reboot"
    return None if module_text.same(one, other) else "reboot"


def _problems(now: Module, name: str, value: Any) -> Iterator[str]:
    if value is None:
        return
    if now.parameters and name not in now.parameters:
        near = difflib.get_close_matches(name, now.parameters, n=3, cutoff=0.6)
        meant = f" (near it: {', '.join(near)})" if near else ""
        yield f"{now.name} has no parameter {name}{meant}."
        return
    text = module_text.spelled(value)
    if not module_text.is_one_word(text):
        yield f"The value {text} of {name} has spaces, so ESXi would read several options; put them in double quotes."
        return
    numbers = module_text.integers(text)
    parameter = now.parameters.get(name)
    if parameter is not None and "int" in parameter.kind.lower() and numbers is None:
        yield f"{name} is of type {parameter.kind}, which {text} is not."
        return
    if name in PER_PORT and numbers is not None:
        yield from _per_port(now, name, numbers)


def _per_port(now: Module, name: str, numbers: Sequence[int]) -> Iterator[str]:
    if now.ports and len(numbers) != len(now.ports):
        right = ",".join([str(numbers[0])] * len(now.ports))
        yield (
            f"{name} takes one value for each port that {now.name} drives, and there are {len(now.ports)} "
            f"({', '.join(now.ports)}); the request has {len(numbers)}. {right} fits."
        )
    largest = LARGEST.get(name)
    if largest is not None and not all(0 <= number <= largest for number in numbers):
        yield f"{name} is at most {largest} for a port."
