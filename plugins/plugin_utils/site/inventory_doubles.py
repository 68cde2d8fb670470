# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Machines that an inventory lists twice, so that a run would change or restart the wrong one. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleError
from jinja2 import TemplateError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import TypeVar

    V = TypeVar("V")

GROUPS = ("esxi_hosts", "switches", "training_guests")
# A tunnel on the controller; its ports may not be known yet.
LOOPBACK = ("127.", "::1", "localhost")


def doubles(groups: Mapping[str, Sequence[str]], variables: Mapping[str, Mapping[str, Any]] | None) -> Iterator[str]:
    """Sentences about names and addresses that two hosts share; variables as hostvars has them."""
    yield from _groups(groups)
    # vCenter compares names of hosts case-insensitively.
    for names in _alike((name, name.lower()) for name in groups.get("esxi_hosts") or ()).values():
        yield (
            f"The inventory has one host under the names {' and '.join(names)} in the group esxi_hosts. Remove all "
            "but the name that vCenter shows."
        )
    for address, names in _alike(_of(groups, variables, "esxi_hosts", ("bmc_address",))).items():
        yield (
            f"The inventory sets bmc_address of {' and '.join(names)} to {address[0]}, so a restart would affect "
            "the wrong host. Set bmc_address of each host to its own BMC."
        )
    for address, names in _alike(_of(groups, variables, "switches", ("ansible_host", "ansible_port"))).items():
        if address[0].startswith(LOOPBACK):
            continue
        yield (
            f"The inventory sets ansible_host of {' and '.join(names)} in the group switches to {address[0]}. Set "
            "ansible_host of each switch to its own address, or remove one of the names."
        )


def _groups(groups: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for place, one in enumerate(GROUPS):
        for other in GROUPS[place + 1 :]:
            both = [name for name in groups.get(one) or () if name in (groups.get(other) or ())]
            if both:
                yield (
                    f"The inventory has {', '.join(both)} in the groups {one} and {other}. Remove it from the wrong "
                    "group."
                )


def _of(
    groups: Mapping[str, Sequence[str]],
    variables: Mapping[str, Mapping[str, Any]] | None,
    group: str,
    keys: Sequence[str],
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(host, the values of these variables) of each host that has the first of them."""
    for name in groups.get(group) or ():
        own = variables[name] if variables is not None and name in variables else {}
        values = tuple(value_of(own, key) for key in keys)
        if values[0]:
            yield name, values


def value_of(own: Mapping[str, Any], key: str) -> str:
    """One variable of a host as a text; empty if it is not set, or cannot be evaluated, which other checks report."""
    try:
        value = own.get(key)
    except (AnsibleError, TemplateError):
        return ""
    # Before ansible-core 2.19, a template that cannot be evaluated is returned unchanged.
    return str(value) if isinstance(value, (str, int)) and "{{" not in str(value) else ""


def _alike(pairs: Iterable[tuple[str, V]]) -> dict[V, list[str]]:
    """{value: names} of the values that several have."""
    found: dict[V, list[str]] = {}
    for name, value in pairs:
        found.setdefault(value, []).append(name)
    return {value: names for value, names in found.items() if len(names) > 1}
