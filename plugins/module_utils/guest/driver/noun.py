# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The NVIDIA driver of the guest that the module runs on."""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, not_proved
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import machine, os_release, packages
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.clock import Clock
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import (
    apply,
    package_file,
    plan,
    read,
    source,
    trouble,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import state as states
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.params import DriverRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.state import DriverState
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.state import Surroundings
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.packages import Packages


class GuestDriver(Noun[DriverRequest, DriverState]):
    """One guest; tests may replace its files, its commands and its time."""

    def __init__(
        self,
        commands: Commands | None = None,
        files: Files | None = None,
        clock: type[Clock] = Clock,
        kernel: str | None = None,
        machine: str | None = None,
    ) -> None:
        self._commands = commands or Commands()
        self._files = files or Files()
        self._clock = clock
        self._kernel = kernel or os_release.kernel()
        self._machine = machine or platform.machine()
        self._around = cast("Surroundings", None)
        self._manager = cast("Packages", None)
        self._look = cast("read.Look", None)
        # The driver to install, None to remove every one; the version of its package in a repository.
        self._found: source.Source | None = None
        self._exact: str | None = None

    def read(self, items: Sequence[Item[DriverRequest, DriverState]]) -> None:
        (item,) = items
        requested = item.requested
        distribution = os_release.read(self._files)
        os_release.refuse_unsupported(item.label, "cannot read the guest driver", distribution)
        self._manager = packages.of(
            distribution, self._commands, self._files, item.label, requested.lock_wait_s, self._clock
        )
        self._look = read.Look(
            self._commands, self._files, self._manager, distribution, self._kernel, self._machine, requested.flavour
        )
        self._found = self._named(item.label, requested, distribution)
        self._see(item)
        item.ids.update(
            **machine.ids(self._files),
            distribution=distribution.name,
            kernel=self._kernel,
            secure_boot=self._around.secure_boot,
        )
        if self._found is not None and self._found.kind == source.REPOSITORY:
            self._choose(item, self._found)

    def want(self, item: Item[DriverRequest, DriverState]) -> DriverState:
        return plan.want(item.label, item.now, self._around, item.requested, self._found)

    def compare(self, now: DriverState, wanted: DriverState) -> list[Change]:
        return plan.compare(now, wanted)

    def validate(self, items: Sequence[Item[DriverRequest, DriverState]]) -> None:
        """Check the file if it already exists; a file that an earlier task copies is checked in the real run."""
        (item,) = items
        found = self._found
        if found is None or found.kind != source.FILE or not os.path.isfile(found.place):
            return
        if any(change.path == "driver" for change in item.changes):
            try:
                package_file.check(
                    item.label, item.requested, found, found.place, item.now, self._around, self._manager
                )
            except OperatorError as error:
                item.error = error

    def apply(self, items: Sequence[Item[DriverRequest, DriverState]]) -> None:
        (item,) = items
        item.touched = True
        steps = apply.Steps(
            item.label, self._commands, self._files, self._manager, item.requested, self._found, self._exact
        )
        try:
            steps.make(item.changes, item.now, item.wanted, self._around)
        except OperatorError as error:
            item.error = error

    def prove(self, items: Sequence[Item[DriverRequest, DriverState]]) -> None:
        for item in items:
            item.proved = proved = self._see(item, prove=True)
            if item.error is not None:
                continue
            left = [change for change in plan.compare(proved, item.wanted) if self._matters(change, item, proved)]
            try:
                self._judge(item, proved, left)
            except OperatorError as error:
                item.error = error

    def project(self, state: DriverState) -> dict[str, Any]:
        return states.project(state)

    def pending(self, state: DriverState) -> list[dict[str, Any]]:
        return states.pending(state)

    def _judge(self, item: Item[DriverRequest, DriverState], proved: DriverState, left: Sequence[Change]) -> None:
        asked = item.requested.state == "present" and item.requested.gpu == "required"
        if left and item.wanted.version and proved.version == item.wanted.version and proved.built is None:
            raise trouble.not_loaded(item.label, item.wanted.version, "nvidia not found in directory", self._around)
        if left:
            raise not_proved(
                item.label,
                "is not in the desired state after the change",
                left,
                "Run the task again. If the difference remains, check the package manager of the guest",
            )
        if asked and not states.pending(proved):
            trouble.refuse_without_gpu(item.label, proved, self._around, item.requested.host_version)

    def _matters(self, change: Change, item: Item[DriverRequest, DriverState], proved: DriverState) -> bool:
        # Without a GPU the kernel may refuse a module, or the package may load it: either is valid. The same applies to
        # a module that is in the kernel without the expected reboot.
        return change.path != "loaded" or (item.requested.gpu == "required" and proved.loaded != proved.version)

    def _see(self, item: Item[DriverRequest, DriverState], prove: bool = False) -> DriverState:
        found = self._found
        seen, self._around = self._look.state(found)
        if found is not None:
            kind = found.format
            held = kind == "run" and seen.nouveau_loaded and (seen.version, seen.format) != (found.version, kind)
            seen = replace(seen, missing=self._look.requirements(kind, item.requested.headers), held=held)
        if not prove:
            item.now = seen
        return seen

    def _named(
        self, label: str, requested: DriverRequest, distribution: os_release.Distribution
    ) -> source.Source | None:
        if requested.state == "absent":
            return None
        found = source.of(cast("str", requested.package), requested.source, requested.version)
        return package_file.known(label, found, self._manager, distribution)

    def _choose(self, item: Item[DriverRequest, DriverState], found: source.Source) -> None:
        """Choose the version of a package of a repository: the requested, the installed, or the newest one."""
        if item.now.package == found.name and found.version in (None, item.now.version):
            self._found = replace(found, version=item.now.version)
            return
        offered = self._manager.versions(cast("str", found.name))
        fitting = [one for one in offered if found.version in (None, source.driver_version(one))]
        if not fitting:
            there = sorted({source.driver_version(one) or one for one in offered})
            raise OperatorError(
                item.label,
                f"cannot install the guest driver {found.version or ''} from the package {found.name}".replace(
                    "  ", " "
                ),
                f"The repositories of the guest have {', '.join(there)}" if there else "No repository has this package",
                "Correct `package` or `version`, or add the repository first. NVIDIA has no public repository for it",
                "not_in_repository",
                offered=there,
            )
        self._found = replace(found, version=source.driver_version(fitting[0]) or fitting[0])
        self._exact = fitting[0]
