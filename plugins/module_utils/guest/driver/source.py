# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Source and kind of a guest driver, as far as a name or the first lines of a file show them. Pure."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.packages import Package

FILE, URL, REPOSITORY = "file", "url", "repository"
# The version of a driver within the version of a package, such as 2:550.54.15-1.
_DRIVER = re.compile(r"(?<![\d.])(\d{3,4}\.\d+(?:\.\d+)?)(?!\d|\.\d)")
_FORMATS = (".deb", ".rpm", ".run")
# Names of NVIDIA's files and packages, from the vGPU guide: guest drivers have grid in their names, the drivers of
# hosts vgpu, and those of data centres neither.
_GRID = re.compile(r"(?i)(?:^|[^a-z])grid(?:[^a-z]|$)")
_OPEN = re.compile(r"(?i)(?:^|[^a-z])open(?:[^a-z]|$)")
_HOST = re.compile(r"(?i)vgpu|vsphere|\bhost\b")
_ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64"}
# Bytes to read of a .run file: its script comes before the archive.
HEAD_BYTES = 32768


@dataclass(frozen=True)
class Source:
    """A guest driver that can be installed."""

    kind: str
    # Path, URL or name, as in the task.
    place: str
    format: str | None = None
    # The name of the package; of a .run file, that of the driver.
    name: str | None = None
    version: str | None = None
    architecture: str | None = None

    @property
    def base(self) -> str:
        """The last part of a path or address."""
        return os.path.basename(re.split(r"[?#]", self.place)[0]) if self.kind != REPOSITORY else self.place

    @property
    def flavour(self) -> str:
        """guest, host or data_centre, by the names that NVIDIA gives."""
        words = f"{self.name or ''} {self.base}"
        if _GRID.search(words):
            return "guest"
        return "host" if _HOST.search(words) else "data_centre"

    @property
    def open(self) -> bool:
        """Whether its kernel modules are the open ones; a .run file has both kinds, and its installer an option."""
        return self.format == "run" or bool(_OPEN.search(f"{self.name or ''} {self.base}"))


def of(package: str, kind: str = "auto", version: str | None = None) -> Source:
    """Return the Source that a task names, with the data from its name."""
    if kind == "auto":
        kind = URL if re.match(r"https?://", package) else FILE if package.startswith("/") else REPOSITORY
    source = Source(kind, package)
    if kind == REPOSITORY:
        return replace(source, name=package, version=version)
    found = next((ending[1:] for ending in _FORMATS if source.base.endswith(ending)), None)
    return replace(
        source,
        format=found,
        name=_package(source.base, found),
        version=version or driver_version(source.base),
        architecture=_architecture(source.base),
    )


def driver_version(text: str | None) -> str | None:
    """Return the version of a driver from the version of a package or a file's name; None if there is none."""
    found = _DRIVER.findall(text or "")
    return found[-1] if found else None


def is_package(source: Source, package: Package) -> Source:
    """Return the source with the metadata of the package in the file."""
    return replace(
        source,
        name=package.name,
        version=driver_version(package.version),
        architecture=_ARCHITECTURES.get(package.architecture, package.architecture),
    )


def is_run_file(source: Source, head: str) -> Source | None:
    """Return the source with the data in the first lines of a .run file; None if the lines are not NVIDIA's.

    The set of lines depends on the release, so the name of the file has priority.
    """
    if not head.startswith("#!"):
        return None
    reported = dict(re.findall(r"(?m)^(version_string|pkg_string|label)=\"?([^\"\n]*)\"?\s*$", head))
    version = reported.get("version_string") or driver_version(reported.get("pkg_string") or reported.get("label"))
    if not reported and "NVIDIA" not in head:
        return None
    return replace(
        source,
        name=reported.get("pkg_string") or source.name,
        version=version or source.version,
        architecture=_architecture(reported.get("pkg_string", "")) or source.architecture,
    )


def _package(base: str, kind: str | None) -> str | None:
    """The name of the package, from the file's name."""
    if kind == "deb":
        return base.split("_")[0]
    if kind == "rpm":
        return re.sub(r"-\d{3,4}\.\d.*\Z", "", base)
    return base[: -len(".run")] if kind == "run" else None


def _architecture(text: str) -> str | None:
    found = re.search(r"x86_64|amd64|aarch64|arm64", text)
    return _ARCHITECTURES.get(found[0], found[0]) if found else None
