# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Reads inputs, lists of packages and results of tasks for the plans of stages inside guests. Pure."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

T = TypeVar("T")

# Status, name and version of a package; dpkg-query prints ii for an installed package and hi for a held one.
QUERIES = {
    "debian": ("dpkg-query", "--show", "--showformat=${db:Status-Abbrev}${Package} ${Version}\\n"),
    "redhat": ("rpm", "--query", "--queryformat", "rpm %{NAME} %{VERSION}-%{RELEASE}\\n"),
}
INSTALLED = re.compile(r"[ih]i |rpm ")


def family_of(facts: Mapping[str, Any]) -> str:
    return "redhat" if facts.get("os_family") == "RedHat" else "debian"


def query(family: str, packages: Iterable[str]) -> list[str]:
    """The command that lists packages."""
    return [*QUERIES[family], *packages]


def highest_status(family: str, packages: list[str]) -> int:
    """The exit status if only packages are missing: rpm returns their number, dpkg-query returns 1."""
    return 1 if family == "debian" else len(packages)


def installed(result: Mapping[str, Any]) -> dict[str, str]:
    """{package: version} of the installed packages in the output of such a command."""
    listed = (line.split() for line in result.get("stdout_lines") or () if INSTALLED.match(line))
    return {words[1]: "".join(words[2:3]) for words in listed if len(words) > 1}


def of_role(kind: type[T], prefix: str, inputs: Mapping[str, Any]) -> T:
    """The inputs of a role without its prefix."""
    return kind(**{name.removeprefix(prefix): value for name, value in inputs.items()})


def read_again(result: Mapping[str, Any]) -> bool:
    """Whether the verification reads a step again: it made changes, or was skipped and has no result."""
    return bool(result.get("changed", not result))


def plain(value: Any) -> Any:
    """Dataclasses as dictionaries. asdict() copies values, which Ansible does not allow for its own types."""
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value
