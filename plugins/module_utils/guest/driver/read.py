# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read NVIDIA's driver on a guest, and its surroundings. No decisions here."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import smi_text
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import packages, pci
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import notes, nouveau, source
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.state import DriverState, Surroundings

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.os_release import Distribution

# Packages of the guest driver itself.
GUEST = ("nvidia-linux-grid-*", "nvidia-linux-grid")
# Drivers of data centres and of distributions, which contain the same files but detect no vGPU. The list has the names
# that NVIDIA, Ubuntu, Debian and RPM Fusion use.
CONFLICTING = (
    "nvidia-driver",
    "nvidia-driver-*",
    "cuda-drivers",
    "cuda-drivers-*",
    "nvidia-open",
    "nvidia-open-*",
    "nvidia-headless-*",
    "nvidia-dkms-*",
    "nvidia-kernel-dkms",
    "nvidia-kernel-open-dkms",
    "nvidia-kernel-source-*",
    "nvidia-utils-*",
    "kmod-nvidia*",
    "akmod-nvidia*",
    "dkms-nvidia",
)
UNINSTALLER, LICENCE_SERVICE = "/usr/bin/nvidia-uninstall", "/usr/bin/nvidia-gridd"
LIBRARIES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib/aarch64-linux-gnu", "/usr/lib")
EFI_VARIABLE = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
# DKMS and the tools of Ubuntu save the public part of their module signing key here.
SIGNING_KEYS = ("/var/lib/dkms/mok.pub", "/var/lib/shim-signed/mok/MOK.der")
TOOLS = ("gcc", "make", "dkms")


class Look:
    """One reading of the guest; each answer is cached."""

    def __init__(
        self,
        commands: Commands,
        files: Files,
        manager: packages.Packages,
        distribution: Distribution,
        kernel: str,
        machine: str,
        flavour: str = "vgpu",
    ) -> None:
        self._commands = commands
        self._files = files
        self._manager = manager
        self._distribution = distribution
        self._kernel = kernel
        self._machine = machine
        self._data_centre = flavour == "data_centre"
        self._installed: list[packages.Package] = []

    def state(self, requested: source.Source | None) -> tuple[DriverState, Surroundings]:
        """Return (DriverState, Surroundings); request: the Source that the task names, None for none."""
        self._installed = self._manager.all()
        own = self._own(requested)
        ran = self._ran()
        version = source.driver_version(own.version) if own else ran
        kind = self._distribution.package_format if own else "run" if ran else None
        state = DriverState(
            version=version,
            format=kind,
            package=own.name if own else None,
            built=self._built(),
            loaded=self._loaded(),
            nouveau="blocked" if self._nouveau_blocked() else "allowed",
            nouveau_loaded=self._files.exists("/sys/module/nouveau"),
            ours=self._files.text(nouveau.FILE) == nouveau.TEXT,
            interrupted=self._interrupted(own),
        )
        if state.loaded or state.version:
            state = replace(state, report=self.report())
        return state, self._around(own, requested, state)

    def report(self) -> smi_text.Report:
        """Return the report of nvidia-smi."""
        done = self._commands.run(["nvidia-smi", "-q"])
        if done.missing:
            return smi_text.Report(trouble="not_installed", said=done.outcome)
        if done.timed_out:
            return smi_text.Report(trouble="unknown", said=done.outcome)
        return smi_text.parse(done.stdout + done.stderr)

    def requirements(self, kind: str | None, headers: bool) -> tuple[str, ...]:
        """The packages that are missing for building the module of a driver of this kind."""
        # Packages contain the tools themselves, but do not know the running kernel.
        tools = [tool for tool in TOOLS if kind == "run" and self._commands.find(tool) is None]
        needed = headers and not self._files.exists(f"/lib/modules/{self._kernel}/build")
        return tuple(tools + ([self._distribution.headers(self._kernel)] if needed else []))

    def _own(self, requested: source.Source | None) -> packages.Package | None:
        """Return the installed package of the guest driver: the requested one before any other."""
        found = packages.named(self._installed, GUEST)
        if requested is not None and requested.name and requested.format != "run":
            found = packages.named(self._installed, [requested.name]) or found
        return found[0] if found else None

    def _ran(self) -> str | None:
        """The version that a .run file has installed; None without one."""
        # The driver for whole GPUs has no licence service.
        if not self._files.exists(UNINSTALLER) or self._files.exists(LICENCE_SERVICE) is self._data_centre:
            return None
        names = [name for folder in LIBRARIES for name in self._files.names(folder)]
        found = [name[len("libnvidia-ml.so.") :] for name in names if re.match(r"libnvidia-ml\.so\.\d{3,}", name)]
        return found[0] if found else self._built()

    def _built(self) -> str | None:
        done = self._commands.run(["modinfo", "nvidia"])
        found = re.search(r"(?m)^version:\s*(\S+)", done.stdout) if done.ok else None
        return found[1] if found else None

    def _loaded(self) -> str | None:
        return (self._files.text("/sys/module/nvidia/version") or "").strip() or None

    def _nouveau_blocked(self) -> bool:
        texts = [
            self._files.text(f"{folder}/{name}") or ""
            for folder in nouveau.FOLDERS
            for name in self._files.names(folder)
            if name.endswith(".conf")
        ]
        return nouveau.blocked(texts, self._files.text("/proc/cmdline") or "")

    def _interrupted(self, own: packages.Package | None) -> tuple[str, ...]:
        open_ones = list(notes.read(self._files))
        if self._manager.broken_off() or (own is not None and not own.whole):
            open_ones.append("packages")
        return tuple(sorted(set(open_ones)))

    def _around(
        self, own: packages.Package | None, requested: source.Source | None, state: DriverState
    ) -> Surroundings:
        enabled = self._secure_boot()
        gpus = pci.nvidia_gpus(self._files)
        mine = {own.name} if own else set()
        guests = [one.name for one in packages.named(self._installed, GUEST) if one.name not in mine]
        requested_one = {requested.name} if requested is not None else set()
        return Surroundings(
            distribution=self._distribution,
            kernel=self._kernel,
            machine=self._machine,
            secure_boot=enabled,
            key_enrolled=bool(enabled) and self._key_enrolled(),
            # Packages of the driver for whole GPUs need each other.
            conflicting=tuple(
                one.name for one in packages.named(self._installed, CONFLICTING) if one.name not in mine | requested_one
            )
            if not self._data_centre
            else (),
            broken=tuple(sorted(one.name for one in self._installed if not one.whole)),
            other_run=self._files.exists(UNINSTALLER) and self._files.exists(LICENCE_SERVICE) is self._data_centre,
            needs_open=self._data_centre and bool(pci.open_only(self._files, gpus or [])),
            others=tuple(guests),
            users=self._users() if state.loaded else (),
            device=None if gpus is None else bool(gpus),
            kernel_said=self._kernel_said() if state.report.trouble else (),
        )

    def _secure_boot(self) -> bool | None:
        try:
            with open(self._files.at(EFI_VARIABLE), "rb") as file:
                # Four bytes of attributes, then the value.
                return file.read()[-1:] == b"\x01"
        except OSError:
            # A guest without EFI has none; one whose variables cannot be read may have it.
            return None if self._files.exists("/sys/firmware/efi") else False

    def _key_enrolled(self) -> bool:
        for path in SIGNING_KEYS:
            if self._files.exists(path):
                said = self._commands.run(["mokutil", "--test-key", path])
                if "already enrolled" in said.stdout + said.stderr:
                    return True
        return False

    def _users(self) -> tuple[str, ...]:
        fields = ["--query-compute-apps=pid,process_name", "--format=csv,noheader"]
        done = self._commands.run(["nvidia-smi", *fields])
        rows = [line.split(",", 1) for line in done.stdout.splitlines() if done.ok]
        return tuple(f"{row[1].strip()} (process {row[0].strip()})" for row in rows if row[0].strip().isdecimal())

    def _kernel_said(self) -> tuple[str, ...]:
        done = self._commands.run(["dmesg"])
        lines = [line.strip() for line in done.stdout.splitlines() if re.search(r"NVRM:|nvidia:", line)]
        return tuple(lines[-2:])


def head_of(path: str) -> str:
    """The first lines of a file; empty where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(source.HEAD_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def look_into(
    found: source.Source, path: str, manager: packages.Packages, distribution: Distribution
) -> source.Source | None:
    """Return a Source with the metadata of its file; None for a file that does not match its name."""
    if not os.path.isfile(path):
        return None
    if found.format == "run":
        return source.is_run_file(found, head_of(path))
    if found.format != distribution.package_format:
        return found
    package = manager.in_file(path)
    return source.is_package(found, package) if package is not None else None
