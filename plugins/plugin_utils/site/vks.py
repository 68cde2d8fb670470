# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The VKS cluster of a site: its node pools and VM classes, and the checks of this section. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import mmio
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.machines import gpudirect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Names of the same product: Tanzu Kubernetes Grid on a Supervisor became the vSphere Kubernetes Service.
ALIASES = ("vks", "tkgs", "tkg")
KEY = "site.kubernetes.vks"
DEVICES = "site.gpu.passthrough.devices"
# A DNS-1123 label, and a DNS-1123 subdomain: the forms that Kubernetes requires for names.
LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
SUBDOMAIN = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
LONGEST = 63
P2P = {"pciPassthru.allowP2P": True, "pciPassthru.RelaxACSforP2P": True}


def is_vks(requested: Mapping[str, Any]) -> bool:
    """Whether the stage creates the cluster."""
    return requested["kind"] in ALIASES


def cluster(site: Mapping[str, Any], requested: Mapping[str, Any]) -> dict[str, Any]:
    """Input of the role for the cluster, from a validated site."""
    own, vcenter = requested["vks"], site["vcenter"] or {}
    keys = ("namespace", "cluster_class", "class_namespace", "storage_class", "version", "os_image", "containerd_gb")
    return {
        **{key: own[key] for key in keys},
        "name": own["cluster"],
        "supervisor": own["supervisor"] or "",
        **_urls(own["supervisor"] or ""),
        "ca_file": own["ca_file"] or vcenter.get("ca_file") or "",
        "username": vcenter.get("username") or "",
        "control_plane": {"nodes": own["control_plane"]["nodes"], "vm_class": own["control_plane"]["vm_class"]},
        "pods": own["pods_cidr"] or "",
        "services": own["services_cidr"] or "",
        "pools": [_pool(entry, site, own) for entry in site["vms"]],
        "classes": [] if own["vm_class"] else [_class(entry, site, own) for entry in site["vms"]],
    }


def _urls(address: str) -> dict[str, str]:
    """Addresses of the login and of the API server. A port in the address is that of both."""
    own_port = ":" in address.rpartition("]")[2]
    return {
        "login_url": f"https://{address}",
        "api_url": f"https://{address}" if own_port else f"https://{address}:6443",
    }


def _name(entry: Mapping[str, Any]) -> str:
    """The node pool of an entry: train- with a count is the pool train."""
    text = entry["prefix"] or entry["name"] or (entry["path"] or "").rpartition("/")[2]
    return text.lower().strip("-.")


def _pool(entry: Mapping[str, Any], site: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": _name(entry),
        "nodes": entry["count"] or 1,
        "vm_class": own["vm_class"] or f"{own['cluster']}-{_name(entry)}",
    }


def _class(entry: Mapping[str, Any], site: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Options of vm_class for the nodes of an entry."""
    gpu, network, machine = site["gpu"], site["network"], site["machine"]
    profiles = [] if gpu["mode"] == "passthrough" else list(entry["profiles"] or [gpu["profile"]] * gpu["per_vm"])
    devices = [_device(one, gpu["passthrough"]["label"]) for one in _boards(gpu)]
    ports = [_device(one, network["label"]) for one in _ports(network)]
    sizes = [mmio.gpu_mmio_gb(one) for one in profiles] + [_window(one) for one in devices]
    size = gpu["mmio_size_gb"] or (mmio.window_gb(sizes, len(ports)) if gpu["mmio"] == "auto" else 0)
    return {
        "name": f"{own['cluster']}-{_name(entry)}",
        "cpus": entry["cpus"] or machine["cpus"],
        "memory_mb": (entry["memory_gb"] or machine["memory_gb"] or 0) * 1024,
        "vgpu_profiles": profiles,
        "devices": devices + ports,
        "mmio_gb": size,
        # GPUs with such a window need EFI. The firmware of the image has precedence.
        "firmware": own["firmware"] or ("efi" if size else ""),
        "extra_config": dict(P2P) if ports and gpudirect(network) == "enabled" else {},
        "namespaces": [own["namespace"]],
    }


def _boards(gpu: Mapping[str, Any]) -> list[str]:
    if gpu["mode"] != "passthrough":
        return []
    return list(gpu["passthrough"]["devices"][:1]) * gpu["per_vm"]


def _ports(network: Mapping[str, Any]) -> list[str]:
    """One device for each adapter: a single entry is the device of all adapters."""
    devices = list(network["devices"])
    if network["path"] == "tcp":
        return []
    return devices * network["adapters"] if len(devices) == 1 else devices


def _device(text: str, label: str | None) -> dict[str, str]:
    vendor, dummy, device = text.partition(":")
    return {"vendor_id": f"0x{vendor}", "device_id": f"0x{device}", "label": label or ""}


def _window(device: Mapping[str, str]) -> int:
    return mmio.passthrough_mmio_gb(int(device["vendor_id"], 16), int(device["device_id"], 16)) or 0


def problems(site: Mapping[str, Any], requested: Mapping[str, Any]) -> Iterator[str]:
    """Conflicts between the cluster and the other sections of a validated site."""
    own = requested["vks"]
    if not is_vks(requested):
        if own:
            yield f"{KEY}: site.kubernetes.kind is {requested['kind']}. Set it to vks, or remove {KEY}."
        if not requested["kubeconfig"]:
            yield "site.kubernetes.kubeconfig: it is not set. Name the kubeconfig file of the cluster."
        return
    if not own:
        yield f"{KEY}: it is not set, and site.kubernetes.kind is {requested['kind']}. Describe the cluster in {KEY}."
        return
    if bool(own["supervisor"]) == bool(requested["kubeconfig"]):
        yield (
            f"{KEY}.supervisor: set either the address of the Supervisor, or site.kubernetes.kubeconfig with a "
            "kubeconfig file of its namespace."
        )
    if not own["vm_class"]:
        yield from _shape(site)
    yield from _names(own)
    names = [_name(entry) for entry in site["vms"]]
    for name in sorted({one for one in names if names.count(one) > 1}):
        yield f"site.vms: two entries have the node pool {name}. Use another prefix for one of them."
    for index, name in enumerate(names):
        yield from _pool_name(f"site.vms[{index}]", name, own)


def _names(own: Mapping[str, Any]) -> Iterator[str]:
    """Names of the section that the Supervisor would reject after the first VM class was created."""
    given = {key: own[key] for key in ("namespace", "cluster", "class_namespace", "cluster_class", "storage_class")}
    given.update({"vm_class": own["vm_class"], "control_plane.vm_class": own["control_plane"]["vm_class"]})
    for key, name in given.items():
        is_label = key in ("namespace", "cluster", "class_namespace")
        if name is not None and not (LABEL if is_label else SUBDOMAIN).fullmatch(name):
            signs, longest = ("digits and -", LONGEST) if is_label else ("digits, - and .", 253)
            yield (
                f"{KEY}.{key}: {name or 'an empty text'} is not a valid name in Kubernetes. Use at most {longest} "
                f"lower-case letters, {signs}, and begin and end with a letter or a digit."
            )


def _pool_name(key: str, name: str, own: Mapping[str, Any]) -> Iterator[str]:
    if not LABEL.fullmatch(name):
        yield (
            f"{key}: {name or 'an empty text'} is not a valid name of a node pool in Kubernetes. Use at most {LONGEST} "
            "lower-case letters, digits and - in prefix or name."
        )
        return
    # The stage names a VM class after both. [unsure: vCenter calls the name of a class DNS-compliant]
    whole = len(own["cluster"]) + 1 + len(name)
    if not own["vm_class"] and whole > LONGEST:
        yield (
            f"{key}: the VM class {own['cluster']}-{name} would have a name of {whole} characters, and vCenter allows "
            f"{LONGEST}. Shorten prefix or name, or {KEY}.cluster."
        )


def _shape(site: Mapping[str, Any]) -> Iterator[str]:
    gpu, network, machine = site["gpu"], site["network"], site["machine"]
    for key in ("cpus", "memory_gb"):
        if machine[key] is None and any(entry[key] is None for entry in site["vms"]):
            yield f"site.machine.{key}: it is not set, and a VM class needs it. Set it, or name {KEY}.vm_class."
    if gpu["mode"] == "passthrough" and not gpu["passthrough"]["devices"]:
        yield f"{DEVICES}: it is not set, and a VM class needs the PCI IDs of the boards, such as 10de:20f1."
    if network["path"] == "pvrdma":
        yield "site.network.path: nodes of a VKS cluster have no PVRDMA adapter. Use tcp or passthrough."
    if network["path"] in ("passthrough", "sriov") and not network["devices"]:
        yield "site.network.devices: it is not set, and a VM class needs the PCI IDs of the port, such as 15b3:101d."
    given = len(network["devices"])
    if network["path"] != "tcp" and given > 1 and given != network["adapters"]:
        yield (
            f"site.network.devices: it has {given} entries, and site.network.adapters is {network['adapters']}. A VM "
            "class has one device for each adapter. List one entry for all adapters, or one for each adapter."
        )
