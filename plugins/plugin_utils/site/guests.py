# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Inputs of the stages inside guests, from a site and the data of vCenter: the guests, and the options of each."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import directpath
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.hosts import RDMA_PATHS
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.relaxed import unchecked
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import (
    STAGES,
    defaults_of,
    identities,
    validate,
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

# Variables that the inventory may set for a guest.
OWN = ("ansible_host", "ansible_user", "data_mac")
# The variable of a guest that the playbook upgrade found in vCenter, and not in the inventory.
FOUND = "aiready_guest_found"
FEATURES = {"vgpu": "vgpu", "mig": "vgpu", "passthrough": "compute"}
VAULT = b"$ANSIBLE_VAULT"
ACCEPT_NEW = "-o StrictHostKeyChecking=accept-new"


def stages(site: Any) -> list[str]:
    """Stages inside the guests whose sections the site has."""
    return [name for name in STAGES if isinstance(site, Mapping) and site.get(name)]


def of_stage(site: Any, name: str) -> tuple[Any, Any]:
    """(a validated site, one of its sections with defaults, even if the site does not have the section)."""
    site, errors = validate(site)
    if errors:
        raise AnsibleFilterError("The site is not valid. " + " ".join(errors))
    site = directpath.lowered(site)
    return site, part_of(site, name)


def part_of(site: Mapping[str, Any], name: str) -> Any:
    """A section of a validated site with its defaults, even if the site does not have it."""
    return site[name] if site[name] is not None else defaults_of(name)


def guests(
    site: Any,
    seen: Mapping[str, Any] | None = None,
    names: Iterable[str] = (),
    variables: Mapping[str, Mapping[str, Any]] | None = None,
    token: bool | None = None,
    without: Container[str] = (),
    planned: bool = False,
) -> dict[str, Any]:
    """The query for vCenter; with its answer, the guests with all inputs of the role guest_vm.

    names are the hosts of the inventory's group training_guests, variables those of each host. token is True if a
    licence token exists beside the site, and None if this is unknown. Stages in without are left out. With planned, the
    stage machines may still add the adapters of the training.
    """
    active = [stage for stage in stages(site) if stage not in without]
    site, requested = of_stage(site, "guests")
    vms = [identity for entry in site["vms"] for identity in identities(entry)]
    reported: dict[str, Any] = {"stages": active, "look": _look(site, requested, vms), "guests": {}, "reached": {}}
    reported.update({key: [] for key in ("problems", "waiting", "later", "notes")})
    if seen is None:
        return reported
    listed = {name: _own(variables, name) for name in names if not _was_found(variables, name)}
    found, reported["waiting"], reported["problems"] = _matched(vms, seen["vms"], listed)
    made, problems = {}, reported["problems"]
    reported["notes"] = list(_open_token(requested["licence"]))
    problems += _token(requested["licence"], token)
    for name, (position, vm) in found.items():
        made[name] = _guest(site, requested, position, vm, listed.get(name) or _own(None, name))
        problems += _troubles(site, name, made[name], vm)
    problems += _unchecked(requested["host_keys"], listed)
    for guest in made.values():
        guest["peers"] = [{"name": other, "addresses": made[other]["addresses"]} for other in made]
    # In check mode, the stage machines may not have created or started them, or not have added their adapters.
    reached = {name: guest for name, guest in made.items() if guest["address"] and not (planned and _lacks(guest))}
    reported["later"] = [name.rpartition("/")[2] for name in reported["waiting"]]
    reported["later"] += [name for name in made if name not in reached]
    return dict(reported, guests=made, reached=reached)


def _lacks(guest: Mapping[str, Any]) -> bool:
    """Whether a guest has no adapter for its data path, without which RDMA cannot be configured."""
    rdma = guest["data_path"] in RDMA_PATHS and guest["rdma"]["stack"] != "ignore"
    return rdma and not guest["data_interface"]["mac"]


def _was_found(variables: Mapping[str, Mapping[str, Any]] | None, name: str) -> bool:
    """Whether an earlier play of this run added the guest. Its address may have changed since."""
    return variables is not None and name in variables and bool(variables[name].get(FOUND))


def _own(variables: Mapping[str, Mapping[str, Any]] | None, name: str) -> dict[str, Any]:
    """The variables that the inventory sets for a guest."""
    said = variables[name] if variables is not None and name in variables else {}
    return {**{key: said.get(key) for key in OWN}, "unchecked": unchecked(said) if said else ""}


def _look(site: Mapping[str, Any], requested: Mapping[str, Any], vms: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Options of vm_guest_info."""
    path, group = site["network"]["path"], site["network"]["portgroup"]
    options = {
        "vms": vms,
        "datacenter": site["datacenter"],
        "address_network": requested["address_network"],
        "data_network": group if path == "tcp" else None,
        "host_driver": site["gpu"]["mode"] in ("vgpu", "mig"),
    }
    return {key: value for key, value in options.items() if value is not None}


def _matched(
    vms: Sequence[Mapping[str, Any]], seen: Sequence[Mapping[str, Any]], listed: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, tuple[int, Mapping[str, Any]]], list[str], list[str]]:
    """({name in the inventory: (position, VM)}, VMs that do not exist yet, problems)."""
    found: dict[str, tuple[int, Mapping[str, Any]]]
    found, waiting, problems = {}, [], []
    by_label = {vm[key]: vm for vm in seen for key in ("path", "name")}
    for position, identity in enumerate(vms):
        label = identity.get("path") or identity["name"]
        vm = by_label.get(label)
        if vm is None:
            waiting.append(label)
        elif vm["name"] in found:
            problems.append(
                f"{vm['path']}: the name of the VM is also its name in Ansible, but {found[vm['name']][1]['path']} "
                f"has the name {vm['name']} too. Rename one of them."
            )
        elif not listed or vm["name"] in listed:
            found[vm["name"]] = (position, vm)
    names = {identity.get("path", identity.get("name")).rpartition("/")[2] for identity in vms}
    for name in listed:
        if name not in names:
            problems.append(
                f"{name}: it is in the inventory's group training_guests, but no VM of site.vms has this name. Add "
                "it to site.vms, or remove it from the group."
            )
    return found, waiting, problems


def _guest(
    site: Mapping[str, Any], requested: Mapping[str, Any], position: int, vm: Mapping[str, Any], own: Mapping[str, Any]
) -> dict[str, Any]:
    """Data of one guest; variables of the inventory have precedence."""
    path = site["network"]["path"]
    adapter = _data_adapter(vm, path, site["network"]["portgroup"]) or {}
    fixed = _fixed_address(requested["data_addresses"], position)
    data = {"mac": own["data_mac"] or adapter.get("mac") or "", "mtu": _mtu(site, requested)}
    if fixed:
        data["address"] = str(fixed)
    held = [str(fixed.ip)] if fixed else [text for text in adapter.get("addresses") or [] if ":" not in text]
    address = own["ansible_host"] or vm["address"] or ""
    addresses = [address, *(text for one in vm["adapters"] for text in one["addresses"]), *held]
    host = vm["host"] or {}
    return {
        "vm": vm["path"],
        "connection": _connection(requested, address, own),
        "address": address,
        "addresses": list(dict.fromkeys(text for text in addresses if text)),
        "data_path": path,
        "data_interface": data,
        "data_address": held[0] if held else "",
        "gpus": vm["gpus"],
        "gpu": vm["gpus"] > 0,
        "host": host.get("name") or "",
        "host_driver": (host.get("driver") or {}).get("version") or "",
        **_common(site, requested),
    }


def _common(site: Mapping[str, Any], requested: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that all guests share, under the names of the role guest_vm."""
    return {
        "driver": _driver(requested["driver"], site["licence"]),
        "mig": (site["stack"]["mig"] or {}).get("layout") or [],
        "licence": _licence(site, requested["licence"]),
        "roce": given(site["roce"]) if site["network"]["path"] in RDMA_PATHS else {},
        "rdma": dict(requested["rdma"], gpudirect=_gpudirect(site, requested)),
        "limits": given(requested["limits"]),
        "ntp_servers": requested["ntp_servers"],
        "user": requested["training_user"],
        "reboot": requested["reboot"],
        "reboot_timeout_s": requested["reboot_timeout_s"],
        "login_timeout_s": requested["login_timeout_s"],
    }


def _driver(driver: Mapping[str, Any] | None, licence: str) -> dict[str, Any]:
    """A checksum that has only digits is a SHA-256 checksum; the module needs its type."""
    made = given(driver)
    if made.get("flavour") == "auto":
        made["flavour"] = "data_centre" if licence == "none" else "vgpu"
    if made.get("checksum") and ":" not in made["checksum"]:
        made["checksum"] = f"sha256:{made['checksum']}"
    return made


def _connection(requested: Mapping[str, Any], address: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """Ansible's own variables, unless the inventory sets them."""
    reported: dict[str, Any] = {"ansible_host": address if not own["ansible_host"] else "", "ansible_user": ""}
    if requested["user"] and not own["ansible_user"]:
        reported["ansible_user"] = requested["user"]
    if requested["host_keys"] == "accept_new":
        reported["ansible_ssh_extra_args"] = ACCEPT_NEW
    else:
        # AWX and ansible-runner disable the check with ANSIBLE_HOST_KEY_CHECKING; a variable has precedence.
        reported["ansible_host_key_checking"] = True
    return {key: value for key, value in reported.items() if value}


def _data_adapter(vm: Mapping[str, Any], path: str, portgroup: str | None) -> Mapping[str, Any] | None:
    """The adapter of the training: the first of the path's kind, or the plain one on the port group."""
    adapters = vm["adapters"]
    if path in RDMA_PATHS:
        return next((one for one in adapters if one["kind"] == path), None)
    if portgroup:
        return next((one for one in adapters if one["network"] == portgroup), None)
    return next((one for one in adapters if vm["address"] in one["addresses"]), None)


def _fixed_address(
    plan: Mapping[str, Any] | None, position: int
) -> ipaddress.IPv4Interface | ipaddress.IPv6Interface | None:
    if plan is None:
        return None
    network = ipaddress.ip_network(plan["subnet"], strict=False)
    return ipaddress.ip_interface(f"{network.network_address + plan['first'] + position}/{network.prefixlen}")


def _mtu(site: Mapping[str, Any], requested: Mapping[str, Any]) -> int:
    """The requested value; 0 keeps the current one."""
    if requested["mtu"] is not None:
        return requested["mtu"]
    return site["network"]["mtu"] if site["network"]["path"] in RDMA_PATHS else 0


def _licence(site: Mapping[str, Any], licence: Mapping[str, Any] | None) -> dict[str, Any]:
    """The licence without its token, which is neither in the site nor here."""
    if licence is None:
        return {}
    feature = licence["feature_type"]
    return given(dict(licence, feature_type=FEATURES[site["gpu"]["mode"]] if feature == "auto" else feature))


def _gpudirect(site: Mapping[str, Any], requested: Mapping[str, Any]) -> str:
    """off if network adapter and GPU must not, or cannot, communicate directly."""
    path, asked = site["network"]["path"], site["network"]["gpudirect"]
    return requested["rdma"]["gpudirect"] if path in ("sriov", "passthrough") and asked != "disabled" else "off"


def _unchecked(host_keys: str, listed: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Problems of guests whose host keys must be known, although the inventory disables the check."""
    for name, own in listed.items():
        if host_keys == "known" and own["unchecked"]:
            yield (
                f"{name}: site.guests.host_keys is known, but the inventory sets {own['unchecked']}, which disables "
                "the check of host keys. Remove that, or set site.guests.host_keys to accept_new."
            )


def _troubles(site: Mapping[str, Any], name: str, guest: Mapping[str, Any], vm: Mapping[str, Any]) -> Iterator[str]:
    """Problems of a guest whose data from vCenter does not match the site."""
    if not guest["address"]:
        yield (
            f"{name}: the guest has no address for SSH. {vm['why_no_address']} Start it with playbook machines, wait "
            "for VMware Tools, or set ansible_host in the inventory's group training_guests."
        )
    if not guest["data_interface"]["mac"]:
        has = ", ".join(f"{one['label']} ({one['kind']}, {one['network']})" for one in vm["adapters"]) or "none"
        known = any(one["kind"] == guest["data_path"] for one in vm["adapters"])
        todo = (
            "Set its MAC address as data_mac in the inventory's group training_guests."
            if known
            else "Set site.network.portgroup, and run playbook machines to add it."
        )
        yield (f"{name}: the adapter for the path {guest['data_path']} is unknown. Adapters of the VM: {has}. {todo}")
    if site["gpu"]["mode"] in ("vgpu", "mig") and not guest["gpu"]:
        yield f"{name}: the VM has no GPU, but site.gpu gives it one. Run playbook machines first."


def _token(licence: Mapping[str, Any] | None, token: bool | None) -> Iterator[str]:
    """Problems of the source of the licence token."""
    if licence is None or token is None:
        return
    file = licence["token_file"]
    if token and file:
        yield "site.guests.licence.token_file: site_licence_token is also set. Remove one of them."
    elif not token and not file:
        yield (
            "site.guests.licence: it has no token. Set site_licence_token in a vault, or name its file in "
            "site.guests.licence.token_file."
        )
    elif file and os.path.isabs(file) and not os.path.isfile(file):
        yield f"site.guests.licence.token_file: {file} does not exist. Correct the path."


def _open_token(licence: Mapping[str, Any] | None) -> Iterator[str]:
    """A warning about a token that others on the controller can read."""
    file = (licence or {}).get("token_file")
    if not file or not os.path.isabs(file) or not os.path.isfile(file) or not os.stat(file).st_mode & 0o044:
        return
    try:
        with open(file, "rb") as opened:
            vaulted = opened.read(len(VAULT)) == VAULT
    except OSError:
        return
    if not vaulted:
        yield (
            f"site.guests.licence.token_file: other users of this machine can read the token in {file}. Run chmod "
            "600 on it, or encrypt it with ansible-vault."
        )


def given(part: Any) -> Any:
    """A part of a site without unset values, for which the role has its own defaults."""
    if isinstance(part, Mapping):
        return {key: given(value) for key, value in part.items() if value is not None}
    return {} if part is None else part
