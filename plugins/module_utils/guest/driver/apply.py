# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Change the driver of a guest. Each step can be interrupted, and the next run detects its remains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import packages
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import (
    notes,
    nouveau,
    package_file,
    read,
    source,
    trouble,
)

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.params import DriverRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.state import DriverState, Surroundings
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.packages import Packages

# NVIDIA's installer writes its failures here.
INSTALLER_LOG = "/var/log/nvidia-installer.log"
OPTION_SINCE = 560
REBUILD_S, LOAD_S = 600, 120


class Steps:
    """The steps of one guest.

    found: the driver to install, None to remove every one; exact: the version of its package in a repository.
    """

    def __init__(
        self,
        label: str,
        commands: Commands,
        files: Files,
        manager: Packages,
        requested: DriverRequest,
        found: source.Source | None,
        exact: str | None,
    ) -> None:
        self._label = label
        self._commands = commands
        self._files = files
        self._manager = manager
        self._requested = requested
        self._found = found
        self._exact = exact

    def make(self, changes: Sequence[Change], now: DriverState, wanted: DriverState, around: Surroundings) -> None:
        """Apply the changes, in an order in which each finds its requirements."""
        due = {change.path for change in changes}
        again = now.interrupted
        if "missing" in due:
            self._manager.install(list(now.missing))
        if "nouveau" in due or "nouveau" in again:
            self._keep_nouveau_away(wanted.nouveau == "blocked")
        if wanted.version is None:
            if "driver" in due or again:
                self._remove(now, around)
        elif "driver" in due or {"driver", "packages"} & {*again}:
            self._install(now, wanted, around)
        elif "module" in due:
            self._build(wanted, around)
        if "loaded" in due:
            self._load(wanted, around)

    def _keep_nouveau_away(self, block: bool) -> None:
        notes.begin(self._files, "nouveau")
        if block:
            self._files.write(nouveau.FILE, nouveau.TEXT)
        else:
            self._files.remove(nouveau.FILE)
        for program, argv in nouveau.REBUILDS:
            # A guest without either program starts without such a file system.
            if self._commands.find(program) is not None:
                self._commands.must(
                    argv,
                    self._label,
                    "cannot rebuild the initramfs with the setting for nouveau",
                    "Check whether /boot is full",
                    "initramfs",
                    limit_s=REBUILD_S,
                )
                break
        notes.end(self._files, "nouveau")

    def _install(self, now: DriverState, wanted: DriverState, around: Surroundings) -> None:
        found = cast("source.Source", self._found)
        if found.kind == source.REPOSITORY:
            self._repair(now, None)
            notes.begin(self._files, "driver")
            name = cast("str", found.name)
            name = self._manager.pinned(name, self._exact) if self._exact else name
            self._manager.install([name], self._how(now, wanted), self._make_way(now, wanted, around))
        else:
            with package_file.at_hand(self._label, found, self._requested.ca_file) as path:
                package_file.check(self._label, self._requested, found, path, now, around, self._manager)
                self._repair(now, path if found.format != "run" else None)
                notes.begin(self._files, "driver")
                others = self._make_way(now, wanted, around)
                if found.format == "run":
                    self._run_file(path, found, now, others, around)
                else:
                    self._manager.install([path], self._how(now, wanted), others)
        notes.end(self._files, "driver")

    def _repair(self, now: DriverState, path: str | None) -> None:
        if "packages" in now.interrupted:
            self._manager.repair(path)

    def _how(self, now: DriverState, wanted: DriverState) -> str:
        if now.version == wanted.version and now.format == wanted.format:
            return "reinstall"
        older = now.version and self._requested.downgrade == "allow" and now.package == wanted.package
        return "downgrade" if older and _numbers(wanted.version) < _numbers(now.version) else "install"

    def _make_way(self, now: DriverState, wanted: DriverState, around: Surroundings) -> list[str]:
        """The packages that the new driver replaces; this removes a .run installation at once."""
        if now.format == "run" and wanted.format != "run":
            self._uninstall()
        old = [now.package] if now.package and now.package != wanted.package else []
        return sorted({*around.others, *old})

    def _run_file(
        self, path: str, found: source.Source, now: DriverState, others: Sequence[str], around: Surroundings
    ) -> None:
        if others:
            self._manager.remove(others)
        if now.loaded is not None:
            # The installer loads the new module at the end; its log has any error.
            self._commands.run(["systemctl", "stop", "nvidia-gridd", "nvidia-persistenced"])
            self._commands.run(["modprobe", "-r", "nvidia_uvm", "nvidia_drm", "nvidia_modeset", "nvidia"])
        keys: list[str] = []
        if self._requested.signing_key:
            keys = [
                f"--module-signing-secret-key={self._requested.signing_key}",
                f"--module-signing-public-key={self._requested.signing_certificate}",
            ]
        kind = _kernel_modules(found.version) if around.needs_open else []
        done = self._commands.run(["sh", path, "--silent", "--dkms", *kind, *keys], limit_s=packages.LIMIT_S)
        if not done.ok:
            raise OperatorError(
                self._label,
                f"cannot install the guest driver {found.version}",
                f"{done.outcome} {self._errors_of_installer()}".strip(),
                f"Check {INSTALLER_LOG} on the guest. If the kernel has another version, remove it with "
                "`state: absent`, reboot, and run the task again",
                "installer_failed",
                rc=done.rc,
            )

    def _errors_of_installer(self) -> str:
        lines = (self._files.text(INSTALLER_LOG) or "").splitlines()
        errors = [line.split("ERROR:", 1)[1].strip() for line in lines if "ERROR:" in line]
        return f"Its log reports: {' / '.join(errors[-2:])}" if errors else ""

    def _remove(self, now: DriverState, around: Surroundings) -> None:
        self._repair(now, None)
        notes.begin(self._files, "driver")
        if now.format == "run":
            self._uninstall()
        names = sorted({*around.others, *([now.package] if now.package else [])})
        if names:
            self._manager.remove(names)
        notes.end(self._files, "driver")

    def _uninstall(self) -> None:
        if self._files.exists(read.UNINSTALLER):
            self._commands.must(
                ["nvidia-uninstall", "--silent"],
                self._label,
                "cannot remove the driver that a .run file installed",
                f"Check {INSTALLER_LOG} on the guest",
                "installer_failed",
                limit_s=packages.LIMIT_S,
            )

    def _build(self, wanted: DriverState, around: Surroundings) -> None:
        self._commands.must(
            ["dkms", "autoinstall", "-k", around.kernel],
            self._label,
            f"cannot build the module of the driver {wanted.version} for the kernel {around.kernel}",
            "Check /var/lib/dkms/nvidia/*/build/make.log on the guest",
            "module_missing",
            limit_s=packages.LIMIT_S,
        )

    def _load(self, wanted: DriverState, around: Surroundings) -> None:
        done = self._commands.run(["modprobe", "nvidia"], limit_s=LOAD_S)
        if not done.ok and self._requested.gpu == "required":
            raise trouble.not_loaded(self._label, wanted.version, done.words, around)


def _kernel_modules(version: str | None) -> list[str]:
    """The installer's option for the open kernel modules; its name changed with branch 560 [unsure]."""
    return ["--kernel-module-type=open"] if _numbers(version) >= (OPTION_SINCE,) else ["-m=kernel-open"]


def _numbers(version: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in cast("str", version).split("."))
