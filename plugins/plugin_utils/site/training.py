# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Inputs of the role horovod from a site and its guests, without the prefix of their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.guests import given, of_stage, part_of
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.hosts import RDMA_PATHS
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.machines import gpudirect

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# The variable of each guest in a play with the result of site_guests.
GUEST = "aiready_guest"
HANDED_ON = (
    "image",
    "pull",
    "engine",
    "check_build",
    "restarts",
    "environment",
    "mounts",
    "shm_size",
    "limits",
    "result_dir",
)


def training(site: Any, guests: Sequence[Mapping[str, Any]] | None = None, unfit: bool = True) -> dict[str, Any]:
    """The inputs, and problems of the guests; guests are the variables of each, with its facts.

    unfit is whether a guest without its data path is a problem.
    """
    site, requested = of_stage(site, "training")
    network = site["network"]
    problems: list[str]
    hosts, problems = [], []
    for own in guests or []:
        host = _host(own, requested)
        hosts.append(host)
        problems += _problems(host, own, requested)
        problems += _unfit(host, own, network["path"]) if unfit else []
    interfaces = {host["interface"] for host in hosts}
    return {
        **{key: requested[key] for key in HANDED_ON},
        **how(requested),
        "hosts": [{key: value for key, value in host.items() if value} for host in hosts],
        # One interface name for all guests; if names differ, each host has its own.
        "interface": interfaces.pop() if len(interfaces) == 1 else "",
        "training": {key: requested[key] for key in ("builtin", "command", "arguments") if requested[key]},
        "data_path": network["path"],
        "gpudirect": {"ignore": "auto"}.get(gpudirect(network), gpudirect(network)),
        "roce": given(site["roce"]) if network["path"] in RDMA_PATHS else {},
        "gpus": "none" if requested["gpus"] == "none" or not any(_gpus(own) for own in guests or []) else "all",
        "container_engine": part_of(site, "runtime")["engine"],
        "memlock": part_of(site, "runtime")["memlock"],
        "problems": problems,
    }


def how(requested: Mapping[str, Any]) -> dict[str, Any]:
    """Launcher and controller, which default to each other's value."""
    elastic = requested["elastic"]
    gloo = elastic is not None or requested["controller"] == "gloo"
    return {
        "launcher": requested["launcher"] or ("horovodrun" if gloo else "mpirun"),
        "controller": requested["controller"] or ("gloo" if gloo else "mpi"),
        "elastic": given(elastic),
    }


def slots(requested: Mapping[str, Any], gpus: int) -> int:
    """The number of ranks on a guest with this number of GPUs."""
    if requested["slots"] is not None:
        return requested["slots"]
    return gpus if gpus and requested["gpus"] == "auto" else 1


def _gpus(own: Mapping[str, Any]) -> int:
    return (own.get(GUEST) or {}).get("gpus") or 0


def _host(own: Mapping[str, Any], requested: Mapping[str, Any]) -> dict[str, Any]:
    """Data of a guest: from its facts first, because an address may have been set just now."""
    guest, facts = own.get(GUEST) or {}, own.get("ansible_facts") or {}
    mac = (guest.get("data_interface") or {}).get("mac") or ""
    found = next((one for one in _interfaces(facts) if (one.get("macaddress") or "").lower() == mac.lower()), {})
    return {
        "name": own["inventory_hostname"],
        "address": (found.get("ipv4") or {}).get("address") or guest.get("data_address") or "",
        "interface": found.get("device") or "",
        "slots": slots(requested, _gpus(own)),
    }


def _interfaces(facts: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Adapters that Ansible has gathered; a bridge or a bond may also have the MAC address of an adapter."""
    for name in facts.get("interfaces") or []:
        one = facts.get(name.replace("-", "_").replace(".", "_").replace(":", "_"))
        if isinstance(one, Mapping) and one.get("type") in (None, "ether"):
            yield one


def _problems(host: Mapping[str, Any], own: Mapping[str, Any], requested: Mapping[str, Any]) -> Iterator[str]:
    name, guest = host["name"], own.get(GUEST) or {}
    if not guest:
        yield f"{name}: it is not a guest of the site. Remove it from the inventory's group training_guests."
    if requested["gpus"] == "auto" and guest and guest.get("gpus") and host["slots"] > guest["gpus"]:
        yield (
            f"{name}: it has {guest['gpus']} GPUs, but site.training.slots requests {host['slots']} ranks with a GPU "
            "each. Lower it, or set site.training.gpus to none."
        )


def _unfit(host: Mapping[str, Any], own: Mapping[str, Any], path: str) -> Iterator[str]:
    name, guest = host["name"], own.get(GUEST) or {}
    if not guest:
        return
    if "interfaces" not in (own.get("ansible_facts") or {}):
        yield (
            f"{name}: it does not answer, so its adapters are unknown. Check whether it runs, its network, and its "
            "SSH server, or exclude it with --limit."
        )
    elif not host["interface"]:
        mac = (guest.get("data_interface") or {}).get("mac")
        yield (
            f"{name}: the guest has no adapter with the MAC address {mac} for the path {path}. Run `ip link` in the "
            "guest to see its adapters, and run playbook guests."
        )
    elif not host["address"]:
        yield (
            f"{name}: its adapter {host['interface']} has no IPv4 address. Assign one by DHCP, in the template, or "
            "with site.guests.data_addresses, and run playbook guests."
        )
