# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Reasons why a VM cannot be changed, for any change. Pure: a state goes in, problems come out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable, NamedTuple, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm


class Problem(NamedTuple):
    """One reason why a request cannot be carried out."""

    code: str
    found: str
    todo: str


def refusal(label: str, wanted: str, problems: Sequence[Problem]) -> OperatorError:
    """The problems of one VM as one error, with each fix once."""
    return OperatorError(
        f"VM {label}",
        wanted,
        " ".join(problem.found for problem in problems),
        " ".join(dict.fromkeys(problem.todo for problem in problems if problem.todo)),
        problems[0].code,
        problems=[problem._asdict() for problem in problems],
    )


def unreachable(vm: Vm) -> list[Problem]:
    """Return the problems that prevent vSphere from changing the VM."""
    if vm.template:
        return [Problem("template", "The VM is a template.", "Clone a VM from it and change the clone.")]
    if vm.connection != "connected":
        return [
            Problem(
                f"vm_{vm.connection}",
                f"vCenter reports the VM as {vm.connection}.",
                "Restore its host or its datastore first.",
            )
        ]
    if vm.power == "suspended":
        return [Problem("suspended", "The VM is suspended.", "Resume it, or shut it down, then run the task again.")]
    return []


def refuse_unreachable(label: str, vm: Vm, changes: Iterable[Change]) -> None:
    """Raise an OperatorError when the VM cannot be changed at all."""
    problems = unreachable(vm)
    if problems:
        raise refusal(label, _planned(changes), problems)


def refuse_running(label: str, vm: Vm, changes: Iterable[Change]) -> None:
    """Raise an OperatorError when the VM runs, for nothing of this can be changed then."""
    if vm.power != "on":
        return
    problem = Problem(
        "vm_running",
        "The VM is running, and vSphere changes these settings only while a VM is off.",
        "Shut the VM down, or set power=cycle: the module then shuts it down, changes it and powers it on again.",
    )
    raise refusal(label, _planned(changes), [problem])


def _planned(changes: Iterable[Change]) -> str:
    return f"cannot apply these changes: {'; '.join(str(change) for change in changes)}"
