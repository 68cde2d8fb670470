# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Versions of host drivers, such as 550.54.16-1OEM.800.1.0.20613240."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

_FORM = re.compile(r"(?P<driver>\d{3,4}(?:\.\d+){1,3})(?:-\d*OEM\.(?P<esx>\d{3})\.(?P<rest>[\d.]+))?\Z", re.ASCII)


@functools.total_ordering
@dataclass(frozen=True, eq=False)
class DriverVersion:
    """A driver's version; versions of one driver for several releases of ESXi are equal."""

    text: str
    driver: str
    # ESXi release that it was built for, such as 8.0.0; None if the text does not contain it.
    esxi: str | None = None

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self.driver.split("."))

    @property
    def branch(self) -> int:
        """The branch, by which drivers of hosts and guests are paired: 550 of 550.54.16."""
        return self.numbers[0]

    def __eq__(self, other: object) -> bool:
        return self.numbers == other.numbers if isinstance(other, DriverVersion) else NotImplemented

    def __lt__(self, other: DriverVersion) -> bool:
        return self.numbers < other.numbers

    def __hash__(self) -> int:
        return hash(self.numbers)

    def __str__(self) -> str:
        return self.driver


def parse(text: str | None) -> DriverVersion | None:
    """Return a DriverVersion; None for a text without one."""
    found = _FORM.match((text or "").strip())
    if found is None:
        return None
    esx = found.group("esx")
    # 702 is 7.0.2 and 800 is 8.0.0: how the strings of VIBs for known releases read, no vendor's statement.
    return DriverVersion(found.group(0), found.group("driver"), ".".join(esx) if esx else None)


def is_named(text: str, wanted: str) -> bool:
    """Return whether a version is the wanted one, which may lack the suffix for ESXi."""
    return wanted in (text, text.partition("-")[0])


def fits_release(built_for: str | None, release: str) -> bool:
    """Return whether a driver for one release of ESXi may run on another: of the same major version, not newer."""
    if built_for is None:
        return True
    ours, theirs = _numbers(built_for), _numbers(release)
    return ours[:1] == theirs[:1] and ours <= theirs


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])
