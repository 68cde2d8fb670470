# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compares the site's settings for guests, container engines and training with each other. Each problem has a fix."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING, Any, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.training import images
from ansible_collections.aiready.vsphere.plugins.module_utils.training import params as training_params
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import directpath, validation
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.host_checks import CHECKSUM, LARGEST_MTU
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.hosts import RDMA_PATHS
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.machines import gpus_of
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import identities
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.training import how, slots
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.repository_keys import FINGERPRINT, normal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# Smaller values break IPv4 (RFC 791 requires 576, Linux accepts 68). Ethernet is not used with less than 1280.
SMALLEST_MTU = 1280
VERSION = re.compile(r"\d+(\.\d+){1,3}([+~-][\w.~-]+)?")
USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
REGISTRY = re.compile(r"[A-Za-z0-9.-]+(:\d{1,5})?|\[[0-9a-fA-F:]+\](:\d{1,5})?")
NTP = re.compile(r"[A-Za-z0-9\[][A-Za-z0-9.:_\]-]*")
MEMLOCK = re.compile(r"unlimited|as_is|[1-9]\d*")
REASONS = {
    "pvrdma": "a PVRDMA adapter is not a PCIe device that a GPU can reach",
    "tcp": "TCP goes through the network stack of the guest",
}


def guest_problems(site: Mapping[str, Any]) -> Iterator[str]:
    """Conflicts between all settings inside the guests, for the sections that the site has."""
    if site["guests"]:
        yield from _guests(site["guests"], site)
    if site["runtime"]:
        yield from _runtime(site["runtime"])
    if site["training"]:
        yield from _training(site)
    yield from validation.problems(site)


def _guests(requested: Mapping[str, Any], site: Mapping[str, Any]) -> Iterator[str]:
    path, mode = site["network"]["path"], site["gpu"]["mode"]
    if requested["training_user"] and not USER.fullmatch(requested["training_user"]):
        yield (
            f"site.guests.training_user: {requested['training_user']} is not valid on every distribution. Use "
            "lower-case letters, digits, - and _."
        )
    if requested["training_user"] == "root":
        yield (
            "site.guests.training_user: it is root, and root must not log in between the guests by SSH key. Name "
            "another user."
        )
    yield from _driver(requested["driver"])
    yield from _licence(requested["licence"], mode)
    yield from _rdma(requested["rdma"], path, site["network"]["gpudirect"])
    yield from _mtu(requested["mtu"], path, site["network"]["mtu"])
    yield from _addresses(requested["data_addresses"], site["vms"])
    for index, server in enumerate(requested["ntp_servers"]):
        if not NTP.fullmatch(server):
            yield (
                f"site.guests.ntp_servers[{index}]: {server} is not a valid name or address. Write one server in each "
                "entry."
            )
    if not MEMLOCK.fullmatch(requested["limits"]["memlock"]):
        yield (
            f"site.guests.limits.memlock: {requested['limits']['memlock']} is not a valid limit. Use unlimited, as_is, "
            "or a number of kB."
        )
    for key in ("nofile", "stack_kb"):
        if requested["limits"][key] is not None and requested["limits"][key] < 0:
            yield (
                f"site.guests.limits.{key}: {requested['limits'][key]} is below zero. Use 0 to keep the current limit."
            )
    for key in ("login_timeout_s", "reboot_timeout_s"):
        if not 1 <= requested[key] <= 86400:
            yield f"site.guests.{key}: {requested[key]} is not a valid timeout. Use 1 to 86400 seconds."
    group = site["network"]["portgroup"]
    if requested["address_network"] and requested["address_network"] == group and path in RDMA_PATHS:
        yield (
            f"site.guests.address_network: {group} is the port group of the training, and its adapter may lose its "
            "connection during setup. Name another port group, or remove it."
        )


def _driver(driver: Mapping[str, Any] | None) -> Iterator[str]:
    if driver is None:
        return
    source, package = driver["source"], driver["package"]
    is_url = bool(re.match(r"(?i)https?://", package))
    if source == "url" and not is_url:
        yield f"site.guests.driver: source is url, but {package} is no address. Write it with https://, or use copy."
    if source in ("copy", "repository") and is_url:
        yield f"site.guests.driver: source is {source}, but {package} is an address. Use url, or remove source."
    if re.match(r"(?i)http://", package) and not driver["checksum"]:
        yield (
            f"site.guests.driver.package: {package} uses plain HTTP, so an attacker on the network can replace a "
            "file that is installed as root. Write it with https://, or set site.guests.driver.checksum."
        )
    if driver["checksum"] and not CHECKSUM.fullmatch(driver["checksum"]):
        yield (
            f"site.guests.driver.checksum: {driver['checksum']} is not a SHA-256 checksum. Write the 64 digits that "
            "sha256sum prints."
        )
    if driver["version"] and not VERSION.fullmatch(driver["version"]):
        yield f"site.guests.driver.version: {driver['version']} is not a valid version. Write it as 550.54.15."
    if driver["ca_file"] and not is_url:
        yield (
            f"site.guests.driver.ca_file: {package} is not an address, so no server is used. Remove ca_file; "
            "repositories of the guests have their own."
        )
    yield from _signature(driver)


def _signature(driver: Mapping[str, Any]) -> Iterator[str]:
    key, certificate = driver["signing_key"], driver["signing_certificate"]
    if bool(key) != bool(certificate):
        has, lacks = ("signing_key", "signing_certificate") if key else ("signing_certificate", "signing_key")
        yield f"site.guests.driver: it has {has}, but no {lacks}, and a signature needs both. Set both, or none."
    elif key and re.search(r"\.(deb|rpm)$", driver["package"]):
        yield (
            f"site.guests.driver.signing_key: it is for .run files, but {driver['package']} is signed with the keys "
            "of DKMS. Remove it; secure_boot: signed declares that an enrolled key signs the module."
        )


def _licence(licence: Mapping[str, Any] | None, mode: str) -> Iterator[str]:
    if licence is None:
        return
    if licence["feature_type"] in ("vgpu", "rtx_vws") and mode in directpath.WHOLE:
        yield (
            f"site.guests.licence.feature_type: {licence['feature_type']} is for vGPUs, but site.gpu.mode is "
            f"{mode}. Use compute, or remove it."
        )
    if licence["feature_type"] == "compute" and mode not in directpath.WHOLE:
        yield (
            f"site.guests.licence.feature_type: compute is for whole GPUs, but site.gpu.mode is {mode}, whose "
            "licence depends on the profile. Use vgpu, or remove it."
        )
    if not 1 <= licence["wait_s"] <= 86400:
        yield f"site.guests.licence.wait_s: {licence['wait_s']} is not a valid timeout. Use 1 to 86400 seconds."


def _rdma(rdma: Mapping[str, Any], path: str, wanted: str) -> Iterator[str]:
    stack, direct = rdma["stack"], rdma["gpudirect"]
    if stack == "ofed" and path == "pvrdma":
        yield (
            "site.guests.rdma.stack: ofed replaces the RDMA core that the PVRDMA module is built for. Use inbox, "
            "or the path directpath, sriov or passthrough."
        )
    if stack == "ofed" and path == "tcp":
        yield "site.guests.rdma.stack: ofed is for RDMA, but site.network.path is tcp. Remove it, or use another path."
    if direct in ("dmabuf", "peermem") and path in REASONS:
        yield (
            f"site.guests.rdma.gpudirect: it is {direct}, but {REASONS[path]}. Use the path directpath, "
            "sriov or passthrough, or remove it."
        )
    elif direct in ("dmabuf", "peermem") and wanted == "disabled":
        yield (
            f"site.guests.rdma.gpudirect: it is {direct}, but site.network.gpudirect is disabled. Remove one of them."
        )
    elif direct == "peermem" and stack != "ofed":
        yield (
            "site.guests.rdma.gpudirect: peermem needs the RDMA core of DOCA-OFED. Set stack to ofed, or use dmabuf, "
            "which needs an open GPU driver and a kernel from 5.12 on."
        )


def _mtu(mtu: int | None, path: str, of_path: int) -> Iterator[str]:
    if mtu is None:
        return
    if not SMALLEST_MTU <= mtu <= LARGEST_MTU:
        yield f"site.guests.mtu: {mtu} is not a valid MTU. Use {SMALLEST_MTU} to {LARGEST_MTU}."
    elif path in RDMA_PATHS and mtu > of_path:
        yield (
            f"site.guests.mtu: {mtu} is larger than site.network.mtu, which is {of_path}, so larger packets are "
            "dropped. Lower it, or raise site.network.mtu."
        )


def _addresses(plan: Mapping[str, Any] | None, vms: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if plan is None:
        return
    try:
        network = ipaddress.ip_network(plan["subnet"])
    except ValueError:
        yield (
            f"site.guests.data_addresses.subnet: {plan['subnet']} is not a valid network. Write the network address "
            "with the length of its prefix, such as 198.51.100.0/24."
        )
        return
    if network.version != 4:
        yield f"site.guests.data_addresses.subnet: {network} is IPv6, but launchers need IPv4. Use an IPv4 network."
        return
    last = plan["first"] + len([vm for entry in vms for vm in identities(entry)]) - 1
    if plan["first"] < 1 or last > network.num_addresses - 2:
        yield (
            f"site.guests.data_addresses: the VMs need the addresses {plan['first']} to {last}, but {network} has 1 "
            f"to {network.num_addresses - 2}. Use a larger network, or another first address."
        )


def _runtime(requested: Mapping[str, Any]) -> Iterator[str]:
    if requested["engine"] == "podman" and requested["source"] == "vendor":
        yield "site.runtime.source: it is vendor, and Docker's repository has no Podman. Use distribution."
    if requested["vendor_repository"] and requested["source"] != "vendor":
        yield (
            "site.runtime.vendor_repository: it has no effect, because source is distribution. Set source to "
            "vendor, or remove it."
        )
    for key in ("vendor_repository", "toolkit_repository"):
        yield from _repository(f"site.runtime.{key}", requested[key] or {})
    if requested["docker_users"] and requested["engine"] != "docker":
        yield f"site.runtime.docker_users: the engine is {requested['engine']}, which has no group docker. Remove it."
    if not VERSION.fullmatch(requested["toolkit_version"]):
        yield (
            f"site.runtime.toolkit_version: {requested['toolkit_version']} is not a valid version. Write it as 1.20.0."
        )
    if requested["proof_image"] and not re.fullmatch(r"[A-Za-z0-9\[]\S*", requested["proof_image"]):
        yield (
            f"site.runtime.proof_image: {requested['proof_image']} is not a valid name of an image. Write it as "
            "registry/name:tag."
        )
    elif images.wrong_digest(requested["proof_image"]):
        yield (
            f"site.runtime.proof_image: the digest {images.wrong_digest(requested['proof_image'])} cannot be pulled. "
            "Write sha256: and 64 hexadecimal digits."
        )
    seen = set()
    for index, one in enumerate(requested["registries"]):
        key, address = f"site.runtime.registries[{index}]", one["address"]
        if not REGISTRY.fullmatch(address):
            yield f"{key}.address: {address} is not a host name with a port. Remove https:// and the path."
        if address in seen:
            yield f"{key}.address: {address} is listed twice. List each registry once."
        seen.add(address)
        if one["insecure"] and one["ca_file"]:
            yield (
                f"{key}: ca_file names a trusted authority, but insecure disables the verification. Remove insecure to "
                "verify the registry."
            )
        if address == "nvcr.io" and one["username"] not in ("", "$oauthtoken"):
            yield (
                f"{key}.username: NVIDIA's registry has one user for all, literally $oauthtoken, but it is "
                f"{one['username']}. Write '$oauthtoken', and set the API key as the password."
            )
    proxy = requested["proxy"] or {}
    for key in ("http", "https"):
        if proxy.get(key) and re.search(r"://[^/]*@", proxy[key]):
            yield (
                f"site.runtime.proxy.{key}: it contains credentials, and a site is shown and stored. Remove them; "
                "use site.runtime.proxy.username and site_proxy_password."
            )
        elif proxy.get(key) and not re.match(r"https?://", proxy[key]):
            yield (
                f"site.runtime.proxy.{key}: {proxy[key]} is not a valid address of a proxy. Write it as "
                "http://host:port."
            )


def _repository(key: str, repository: Mapping[str, Any]) -> Iterator[str]:
    """A key that comes over plain HTTP would let anybody on the way sign packages, which root installs."""
    url, key_url = repository.get("url") or "", repository.get("key_url") or ""
    for index, one in enumerate(repository.get("key_fingerprints") or ()):
        if not FINGERPRINT.fullmatch(normal(one)):
            yield (
                f"{key}.key_fingerprints[{index}]: {one} is not a fingerprint. Write all 40 hexadecimal digits, in "
                "quotes, as `gpg --show-keys FILE` prints them."
            )
    for name, address in (("url", url), ("key_url", key_url)):
        if address and not re.match(r"https?://[^/\s]+", address, re.I):
            yield f"{key}.{name}: {address} is not an address. Write it with https://."
    if re.match(r"http://", key_url, re.I):
        yield (
            f"{key}.key_url: {key_url} uses plain HTTP, so an attacker on the network can replace the key. Write it "
            "with https://."
        )
    elif re.match(r"http://", url, re.I) and not key_url:
        yield (
            f"{key}.url: {url} uses plain HTTP and also provides the key, which an attacker on the network can "
            f"replace. Write it with https://, or set {key}.key_url to an address with https://."
        )


def _training(site: Mapping[str, Any]) -> Iterator[str]:
    requested = site["training"]
    yield from _image(requested)
    if site["runtime"] and site["runtime"]["engine"] == "containerd":
        yield (
            "site.runtime.engine: it is containerd, and site.training starts its containers there with nerdctl, "
            "which no stage installs. Use docker or podman."
        )
    if bool(requested["builtin"]) == bool(requested["command"]):
        there = "both are set" if requested["builtin"] else "none is set"
        yield f"site.training: exactly one of builtin and command is required, but {there}. Set one of them."
    if requested["engine"] != "horovod":
        for key in ("launcher", "controller"):
            if requested[key]:
                yield (
                    f"site.training.{key}: it is for Horovod, but the engine is {requested['engine']}. Remove it, or "
                    "set site.training.engine to horovod."
                )
    gpus = [gpus_of(entry, site["gpu"]) for entry in site["vms"] for dummy in identities(entry)]
    if (
        requested["slots"] is not None
        and requested["gpus"] == "auto"
        and 1 <= min(gpus, default=1) < requested["slots"]
    ):
        yield (
            f"site.training.slots: each guest has {requested['slots']} ranks, each with its own GPU, but the site "
            f"gives a VM {min(gpus)}. Lower it, raise site.gpu.per_vm, or set site.training.gpus to none."
        )
    given = {
        name: option.get("default")
        for name, option in cast("Mapping[str, Mapping[str, Any]]", training_params.ARGUMENTS).items()
    }
    given.update({key: requested[key] for key in given if key in requested})
    given.update(how(requested), elastic=requested["elastic"])
    given["limits"] = {**training_params.LIMITS, **requested["limits"]}
    given["hosts"] = [
        {"name": str(number), "address": "", "interface": "any", "slots": slots(requested, count)}
        for number, count in enumerate(gpus)
    ]
    found = [one for one in training_params.check_params(given) if not one.startswith("hosts: at least")]
    yield from dict.fromkeys(f"site.training.{_plain(one)}" for one in found)


def _plain(problem: str) -> str:
    """Slots are those of all guests here."""
    return re.sub(r"^hosts: \S+ has (-?\d+) slots\.", r"slots: a guest has \1 slots.", problem)


def _image(requested: Mapping[str, Any]) -> Iterator[str]:
    if not re.sub(r"[:@][^/]*$", "", requested["image"]) or re.search(r"\s|://", requested["image"]):
        yield (
            f"site.training.image: {requested['image'] or 'an empty text'} is not a valid name of an image. Write it "
            "as registry/name:tag."
        )
    lack = images.lack(requested["image"], requested["engine"])
    if lack is not None:
        what, todo = lack
        yield (
            f"site.training.image: {requested['image']} holds no {what}, which the engine {requested['engine']} needs. "
            f"{todo}."
        )
