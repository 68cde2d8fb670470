# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What earlier plays of a run decided and found, and so on which hosts a play runs. Pure; see docs/architecture.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import STAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

FACT = "aiready_run"
# Stages that playbook site skips, and the answer of the filter site_guests; known and inside follow from them.
KEYS = ("skipped", "guests", "known", "inside")
NO_GUESTS: dict[str, Any] = {"stages": [], "guests": {}, "reached": {}, "later": []}
# Guests of a run, and those of them that a training leaves out.
GUESTS, QUARANTINED = "aiready_guests", "aiready_quarantined"
# Matches no host, and does not warn.
NOBODY = "all:!all"


def state(variables: Mapping[str, Mapping[str, Any]] | None) -> dict[str, Any]:
    """{skipped, known, guests, inside}; variables are hostvars, which do not exist before the first play of a run."""
    own = variables["localhost"] if variables and "localhost" in variables else {}
    fact = own.get(FACT, {})
    if not isinstance(fact, Mapping) or any(key not in KEYS for key in fact):
        raise AnsibleFilterError(
            f"Cannot read which stages run. The variable {FACT} is {fact!r}, and this collection needs the name for "
            "its own fact. Rename the variable of the inventory or of the command line."
        )
    skipped, guests = list(fact.get("skipped") or ()), fact.get("guests") or NO_GUESTS
    # A pattern of a group that does not exist would warn, so a stage inside guests needs one with an address.
    inside = [stage for stage in guests["stages"] if guests["reached"] and stage not in skipped]
    return {"skipped": skipped, "known": "look" in guests, "guests": guests, "inside": inside}


def hosts(
    pattern: str,
    stage: str | Sequence[str],
    variables: Mapping[str, Mapping[str, Any]] | None,
    without: str = "",
) -> str:
    """The pattern if the stage runs, or any of several; otherwise one that matches no host.

    without: name of a fact. Hosts that have it as true are left out.
    """
    found = state(variables)
    asked = [stage] if isinstance(stage, str) else stage
    runs = any(one in found["inside"] if one in STAGES else one not in found["skipped"] for one in asked)
    if runs and pattern == GUESTS and asked == ["training"] and found["guests"].get("quarantined"):
        # Without guests in this group, the pattern would warn.
        return f"{pattern}:!{QUARANTINED}"
    if not (runs and pattern):
        return NOBODY
    names = [name for name, own in variables.items() if own.get(without)] if variables and without else []
    # A comma, because names may have colons.
    return ",".join([pattern, *(f"!{name}" for name in names)])
