"""Hosts for end-to-end tests: as from the factory, ready, or lacking one thing; and how the model sees them."""

from __future__ import annotations

import copy

import yaml

from rehearse import playbook
from vsphere_twin.model import adapters

SEEDS = playbook.ROOT / "tests" / "twin" / "src" / "vsphere_twin" / "seeds"
# What has to be true of a host of the lab's site, as the model knows it.
READY = {
    "driver": ("nvaie", "550.54.16"),
    "graphics": ("sharedDirect", ["sharedDirect"]),
    "ats": "TRUE",
    "flow control": [3],
    "marking": "26",
    "pvrdma": ("vmk1", True),
    "mtu": 9000,
    "whole GPU offered": True,
    "maintenance": False,
}
FACTORY = {
    "driver": ("none", ""),
    "graphics": ("shared", ["basic"]),
    "ats": "FALSE",
    "flow control": [],
    "marking": None,
    "pvrdma": ("", False),
    "mtu": 1500,
    "whole GPU offered": False,
    "maintenance": False,
}


def hosts_of(lab):
    """The hosts of a lab's twin, by name."""
    return sorted(lab.twin.world.of_kind("HostSystem"), key=lambda host: host.name)


def state(host):
    """What matters of a host, as the model has it and not as a module says."""
    port = next(nic for nic in host.nics if nic.device == "vmnic2")
    _mode, mask = adapters.dcb(host, port)
    vmk1 = next(adapter for adapter in host.vmkernel if adapter.device == "vmk1")
    marking = dict(part.partition("=")[::2] for part in host.kernel.modules["nmlx5_rdma"].active.split())
    return {
        "driver": (host.driver.family, host.driver.version),
        "graphics": (host.default_graphics_type, [gpu.active_type for gpu in host.gpus]),
        "ats": str(host.kernel.settings["atsSupport"].runtime).upper(),
        "flow control": [priority for priority in range(8) if mask & (1 << priority)],
        "marking": marking.get("dscp_force"),
        "pvrdma": (host.options.get("Net.PVRDMAVmknic") or "", host.rulesets["pvrdma"]),
        "mtu": vmk1.mtu,
        "whole GPU offered": "grid_a100-40c" in {profile.name for profile in host.vgpu_types},
        "maintenance": host.maintenance,
    }


def factory(count, vms=None, fabric=False, **changes):
    """The seed `factory` with this many hosts, each with some keys replaced; fabric: with its switches."""
    seed = yaml.safe_load((SEEDS / "factory.yml").read_text())
    (datacenter,) = seed["datacenters"]
    (cluster,) = datacenter["clusters"]
    dell, hpe = cluster["hosts"]
    makes = [dell, hpe, *(dict(dell, name=f"esx-{number:02}.lab.example") for number in range(3, count + 1))]
    cluster["hosts"] = [{**copy.deepcopy(host), **changes} for host in makes[:count]]
    if not fabric:
        del seed["fabric"]
    for row in datacenter["vms"]:
        row.update({} if row.get("template") else vms or {})
    return seed


# What a host has that lacks nothing.
DONE = {
    "state": "ready",
    "driver": {"family": "nvaie", "version": "550.54.16"},
    "kernel": {"atsSupport": True},
    "module_options": {"nmlx5_core": "pfctx=0x08 pfcrx=0x08 trust_state=2", "nmlx5_rdma": "dscp_force=26"},
    "options": {"Net.PVRDMAVmknic": "vmk1"},
    "rulesets": {"pvrdma": True},
}
# And how it looks when one step was left out.
LACKS = {
    "bios": {"bios": {"vendor": "dell", "attributes": {"MmioAbove4Gb": "Disabled"}}},
    "driver": {"driver": {"family": "none"}},
    "kernel": {"kernel": {"atsSupport": False}},
    "modules": {"module_options": {"nmlx5_rdma": "dscp_force=26"}},
    "marking": {"module_options": {"nmlx5_core": "pfctx=0x08 pfcrx=0x08 trust_state=2"}},
    "graphics": {"gpu": {"graphics_type": "shared"}},
    "pvrdma": {"options": {}},
    "firewall": {"rulesets": {"pvrdma": False}},
    "mtu": {"vmk_mtu": 1500},
    "mig": {"gpu": {"mig": True}},
    "passthrough": {"gpu": {"passthrough": True}},
    "leave": {"maintenance": True},
}


def broken(names):
    """A data centre of hosts that each lack what one step brings, by the name of the host."""
    seed = factory(1)
    (datacenter,) = seed["datacenters"]
    (cluster,) = datacenter["clusters"]
    (pattern,) = cluster["hosts"]
    datacenter["switches"][0]["mtu"] = 9000
    cluster["hosts"] = [_lacking(copy.deepcopy(pattern), name) for name in names]
    datacenter["vms"] = [{"name": "train-01", "host": "leave.lab.example", "firmware": "efi"}]
    return seed


def _lacking(host, name):
    lack = copy.deepcopy(LACKS[name])
    host.update(copy.deepcopy(DONE), name=f"{name}.lab.example")
    host["gpus"][0].update({"graphics_type": "sharedDirect", **lack.pop("gpu", {})})
    host["vmkernel"][1]["mtu"] = lack.pop("vmk_mtu", 9000)
    host.update(lack)
    return host
