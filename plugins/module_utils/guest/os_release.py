# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Distribution of a guest, and its consequences. Pure but for read()."""

from __future__ import annotations

import platform
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Iterable, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files


# Supported distributions, by ID and version, with their family.
SUPPORTED = {
    "ubuntu": ("20.04", "22.04", "24.04"),
    "debian": ("12",),
    "rhel": ("8", "9"),
    "rocky": ("8", "9"),
}
FAMILIES = {"ubuntu": "debian", "debian": "debian", "rhel": "redhat", "rocky": "redhat"}
RELATIVES = {"debian": "debian", "ubuntu": "debian", "rhel": "redhat", "fedora": "redhat", "centos": "redhat"}


@dataclass(frozen=True)
class Distribution:
    """A distribution as /etc/os-release reports it."""

    id: str
    version: str
    name: str
    # debian (apt and dpkg) or redhat (dnf and rpm); None for any other.
    family: str | None = None

    @property
    def major(self) -> str:
        return self.version.split(".")[0]

    @property
    def package_format(self) -> str | None:
        return {"debian": "deb", "redhat": "rpm"}.get(cast("str", self.family))

    def headers(self, kernel: str) -> str:
        """The package with the headers of a kernel."""
        return f"kernel-devel-{kernel}" if self.family == "redhat" else f"linux-headers-{kernel}"

    def __str__(self) -> str:
        return self.name


def parse(text: str) -> Distribution:
    """The Distribution in the text of an os-release file."""
    reported = {}
    for line in text.splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith("#"):
            reported[name] = _unquoted(value)
    identity = reported.get("ID", "").lower()
    version = reported.get("VERSION_ID", "")
    return Distribution(
        id=identity,
        version=version,
        name=reported.get("PRETTY_NAME") or f"{identity} {version}".strip() or "an unknown system",
        family=_family(identity, reported.get("ID_LIKE", "").lower().split()),
    )


def read(files: Files) -> Distribution:
    """The Distribution of this guest."""
    return parse(files.text("/etc/os-release") or files.text("/usr/lib/os-release") or "")


def kernel() -> str:
    """The release of the kernel that runs."""
    return platform.release()


def refuse_unsupported(subject: str, wanted: str, distribution: Distribution) -> None:
    """Refuse a system whose package manager is not supported."""
    if distribution.family is None:
        raise OperatorError(
            subject,
            wanted,
            f"The guest runs {distribution}, whose package manager is neither apt nor dnf",
            f"Use one of {', '.join(supported_names())}",
            "unsupported_distribution",
            distribution=distribution.id,
            version=distribution.version,
        )


def supported_names() -> list[str]:
    """The supported distributions as people write them."""
    names = {"ubuntu": "Ubuntu", "debian": "Debian", "rhel": "RHEL", "rocky": "Rocky Linux"}
    return [f"{names[identity]} {'/'.join(versions)}" for identity, versions in SUPPORTED.items()]


def _family(identity: str, relatives: Iterable[str]) -> str | None:
    if identity in FAMILIES:
        return FAMILIES[identity]
    # Fedora itself names no other distribution in ID_LIKE.
    return next((RELATIVES[name] for name in (identity, *relatives) if name in RELATIVES), None)


def _unquoted(value: str) -> str:
    try:
        words = shlex.split(value)
    except ValueError:
        return value.strip("\"'")
    return words[0] if words else ""
