# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Inputs of the role switch from a site."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import intent, problems
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.hosts import RDMA_PATHS, overlaid
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import validate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# Settings that may differ between switches; all others must be the same on the whole path.
OWN = ("mtu", "bandwidth_percent", "ecn", "watchdog", "dcbx", "cable_length_m")
# Variables of a switch in the inventory, and their defaults.
VARIABLES: dict[str, Any] = {"site_switch": {}, "switch_host_ports": [], "switch_fabric_ports": []}
# Inputs of the role with the same names.
HANDED_ON = ("save", "confirm_timeout_s", "verify_timeout_s", "reconnect_timeout_s", "allow", "agreement")


def switches(
    site: Any, names: Iterable[str], variables: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, dict[str, Any]]:
    """{name: inputs of the role switch}; variables are those of the inventory, by name.

    For all switches at once, because each task of each host would compute its own in a separate process.
    """
    return {name: _switch(site, name, _of(variables, name)) for name in names}


def switch_problems(
    site: Any, names: Iterable[str], variables: Mapping[str, Mapping[str, Any]] | None = None, known: Sequence[str] = ()
) -> list[str]:
    """Problems of these switches of a valid site; known are all switches of the inventory."""
    if not isinstance(site, Mapping):
        return []
    found = [f"{name}: {problem}" for name in names for problem in _problems(site, name, _of(variables, name))]
    merged, errors = validate(site)
    return found if errors else found + list(_strangers(merged["fabric"]["cables"], known))


def _of(variables: Mapping[str, Mapping[str, Any]] | None, name: str) -> dict[str, Any]:
    """The variables of one switch in the inventory."""
    own = variables[name] if variables is not None and name in variables else {}
    return {key: own.get(key, default) for key, default in VARIABLES.items()}


def _switch(site: Any, name: str, own: Mapping[str, Any]) -> dict[str, Any]:
    site, errors = validate(overlaid(site, own["site_switch"]))
    if errors:
        raise AnsibleFilterError("The site is not valid. " + " ".join(errors))
    fabric, network = site["fabric"], site["network"]
    to_hosts, between = ports(fabric["cables"], name)
    return {
        "config": _without_gaps(site["roce"]),
        "host_ports": _once([*own["switch_host_ports"], *to_hosts]),
        "fabric_ports": _once([*own["switch_fabric_ports"], *between]),
        # An unset number is 0, as for every number of a role.
        "host_mtu": network["mtu"] if network["path"] in RDMA_PATHS else 0,
        "backup_file": os.path.join(fabric["backup_dir"], f"{name}.cfg") if fabric["backup_dir"] else "",
        "cables": [_without_gaps(cable) for cable in fabric["cables"]],
        **{key: fabric[key] for key in HANDED_ON},
    }


def ports(cables: Iterable[Mapping[str, Any]], name: str) -> tuple[list[str], list[str]]:
    """The ports of a switch to hosts, and those to switches, by the cables of the site."""
    to_hosts = [cable["port"] for cable in cables if cable["switch"] == name and cable["host"]]
    between = [cable["port"] for cable in cables if cable["switch"] == name and cable["peer"]]
    between += [cable["peer_port"] for cable in cables if cable["peer"] == name]
    return to_hosts, between


def _problems(site: Mapping[str, Any], name: str, own: Mapping[str, Any]) -> list[str]:
    override = own["site_switch"]
    if not isinstance(override, Mapping):
        return [
            "site_switch: expected a dictionary. Write the settings that differ below it, as roce: "
            "{cable_length_m: 300}."
        ]
    shared = list(_shared(override))
    merged, errors = validate(overlaid(site, override))
    if shared or errors:
        return shared or errors
    mtu = merged["network"]["mtu"] if merged["network"]["path"] in RDMA_PATHS else None
    found = [f"site_switch.roce.{problem}" for problem in problems(intent(merged["roce"]), mtu) if override]
    to_hosts, between = ports(merged["fabric"]["cables"], name)
    if not (own["switch_host_ports"] or own["switch_fabric_ports"] or to_hosts or between):
        found.append(
            "switch_host_ports, switch_fabric_ports: both are empty, and no cable of site.fabric.cables ends at "
            "this switch. Set the ports that carry RoCE, or remove the switch from the group switches."
        )
    return found


def _shared(override: Mapping[str, Any]) -> Iterator[str]:
    for key, value in override.items():
        if key != "roce":
            yield f"site_switch.{key}: it cannot differ between switches. Set site.{key} for all of them."
        elif isinstance(value, Mapping):
            for name in value:
                if name not in OWN:
                    yield (
                        f"site_switch.roce.{name}: it cannot differ between switches. Set site.roce.{name} for the "
                        f"whole path; {', '.join(OWN)} may differ."
                    )


def _strangers(cables: Iterable[Mapping[str, Any]], known: Sequence[str]) -> Iterator[str]:
    """Names in cables that the inventory does not have, which is a typing error."""
    for index, cable in enumerate(cables):
        for key in ("switch", "peer"):
            if known and cable[key] and cable[key] not in known:
                near = difflib.get_close_matches(cable[key], known, n=1)
                hint = f"Did you mean {near[0]}?" if near else "Add it, or correct the name."
                yield f"site.fabric.cables[{index}].{key}: {cable[key]} is not in the group switches. {hint}"


def _once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _without_gaps(value: Any) -> Any:
    """A copy without unset keys, at every depth; the module has its own defaults for these."""
    if isinstance(value, Mapping):
        return {key: _without_gaps(part) for key, part in value.items() if part is not None}
    if isinstance(value, list):
        return [_without_gaps(part) for part in value]
    return value
