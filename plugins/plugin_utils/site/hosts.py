# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Inputs of the stage for hosts from a site. Every setting that two layers share is computed here, once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import intent
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import directpath, trust
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import identities, validate

RDMA_PATHS = ("pvrdma", "sriov", "passthrough", directpath.DIRECTPATH)
# Paths whose ports need firmware settings.
FIRMWARE = {
    "sriov": {"ATS_ENABLED": True, "SRIOV_EN": True},
    "passthrough": {"ATS_ENABLED": True},
}
SOURCES = ("depot", "url", "file")


def hosts(site: Any, override: Any = None) -> dict[str, Any]:
    """The inputs of the role esxi_host for one host; override is its host variable site_host."""
    site, errors = validate(overlaid(site, override or {}))
    if errors:
        raise AnsibleFilterError("The site is not valid. " + " ".join(errors))
    label, paired, classes = directpath.label(site), directpath.pairs(site), directpath.classes(site)
    vmotion, site = directpath.requires_vmotion(site), directpath.lowered(site)
    network, gpu, treatment = site["network"], site["gpu"], site["hosts"]
    rdma = network["path"] in RDMA_PATHS
    shared = gpu["mode"] in ("vgpu", "mig")
    return {
        "cluster": site["cluster"] or "",
        "driver": driver(site["driver"]),
        "bios_functions": {key: word for key, word in site["bios"]["functions"].items() if word and word != "ignore"},
        "bios_attributes": site["bios"]["attributes"],
        "graphics_type": "shared_direct" if shared else "ignore",
        # Enhanced DirectPath I/O is a device mode of its own, which the vendor's software sets up.
        "gpu_passthrough": "disabled" if shared else "ignore" if "gpu" in classes else "enabled",
        "mig": {"mig": "enabled", "vgpu": "disabled"}.get(gpu["mode"], "ignore"),
        "profiles": profiles(site) if shared else [],
        "kernel_settings": {"atsSupport": network["ats"] == "enabled"} if network["ats"] != "ignore" else {},
        "module_options": module_options(site) if rdma else {},
        "nics": network["nics"] if rdma else [],
        "vfs": network["vfs"] if network["path"] == "sriov" else 0,
        "nic_passthrough": network["path"] == "passthrough" and "nic" not in classes,
        "directpath_label": label,
        "dvx_classes": classes,
        "requires_vmotion": vmotion,
        "requires_ats": paired and network["gpudirect"] != "disabled",
        "nic_firmware": firmware(network),
        "pvrdma": network["path"] == "pvrdma",
        "vmknic": (network["vmknic"] or "") if rdma else "",
        "mtu": network["mtu"] if rdma else 0,
        "vms": [identity for entry in site["vms"] for identity in identities(entry)],
        "datacenter": site["datacenter"] or "",
        "guest_shutdown_timeout_s": site["guest_shutdown_timeout_s"],
        **{key: value for key, value in treatment.items() if key not in ("serial", "bmc", "profile_places")},
        "profile_places": {key: place for key, place in (treatment["profile_places"] or {}).items() if place},
    }


def overlaid(site: Any, override: Any) -> Any:
    """A site with single keys replaced, at every depth."""
    if not (isinstance(site, Mapping) and isinstance(override, Mapping)):
        return override
    merged = dict(site)
    for key, value in override.items():
        merged[key] = overlaid(site[key], value) if key in site else value
    return merged


def bmc_connection(site: Any, address: str = "", password: str = "") -> dict[str, Any]:
    """Connection options of the BMC modules; the environment sets the others."""
    treatment = site.get("hosts") if isinstance(site, Mapping) else None
    bmc = treatment.get("bmc") if isinstance(treatment, Mapping) else None
    bmc = {**bmc, **trust.own(bmc)} if isinstance(bmc, Mapping) else {}
    given = dict(bmc, address=address, password=password)
    return {f"bmc_{key}": value for key, value in given.items() if value is not None and value != ""}


def driver(requested: Mapping[str, Any] | None) -> dict[str, Any]:
    """Options of nvaie_vib; empty for hosts that keep their driver."""
    return {key: value for key, value in (requested or {}).items() if value is not None}


def profiles(site: Mapping[str, Any]) -> list[str]:
    """Every profile that a VM of the site has."""
    common = [site["gpu"]["profile"]] if site["gpu"]["profile"] else []
    wanted = [name for entry in site["vms"] if identities(entry) for name in entry["profiles"] or common]
    return list(dict.fromkeys(wanted))


def module_options(site: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Options of the ports' driver for priority and DSCP, by module."""
    return intent(site["roce"]).esxi_module_options()


def firmware(network: Mapping[str, Any]) -> dict[str, Any]:
    """Requested firmware settings of the ports."""
    if network["firmware"] == "ignore" or network["path"] not in FIRMWARE:
        return {}
    settings = dict(FIRMWARE[network["path"]])
    if network["path"] == "sriov":
        settings["NUM_OF_VFS"] = network["vfs"]
    return settings
