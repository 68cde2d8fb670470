# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What the name of a vGPU profile says. Names are read, never made up: vSphere is the only one who gives them."""

from __future__ import annotations

import re
from typing import NamedTuple

# A board's name may hold hyphens (rtx6000-ada) and digits, so the sizes are taken from the end.
_PATTERN = re.compile(
    r"^(?P<board>(?P<family>grid|nvidia)_[a-z0-9_-]+?)"
    r"-(?:(?P<slices>\d)-)?(?P<gb>\d+)(?P<series>[abcq])(?P<variant>me|\d)?$"
)


class ProfileName(NamedTuple):
    """The parts of a profile's name, e.g. grid_a100-3-20c."""

    text: str
    board: str
    family: str
    slices: int | None
    gb: int
    series: str
    variant: str

    @property
    def mig_backed(self) -> bool:
        return self.slices is not None

    @property
    def media(self) -> bool:
        return self.variant == "me"


def parse(text: str) -> ProfileName | None:
    """The parts of a name, or None when it is not the name of a vGPU profile."""
    found = _PATTERN.match(text)
    if found is None:
        return None
    parts = found.groupdict()
    return ProfileName(
        text=text,
        board=parts["board"],
        family=parts["family"],
        slices=int(parts["slices"]) if parts["slices"] else None,
        gb=int(parts["gb"]),
        series=parts["series"],
        variant=parts["variant"] or "",
    )
