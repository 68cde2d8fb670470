"""Hosts for tests of their settings: an A100 and a ConnectX-6 Dx behind one PCIe switch, and onboard ports."""

from __future__ import annotations

from vsphere_twin.model import boot

ESX = "esx-01.example.com"
OTHER = "esx-02.example.com"
ROOT = "0000:36:02.0"
GPU = "0000:39:00.0"
ONBOARD = "0000:4a:00.0"
RDMA, FREE = "0000:3a:00.0", "0000:3a:00.1"
NVAIE = {"family": "nvaie", "version": "550.54.16"}


def esx(name=ESX, **more):
    """A host that is ready for vGPU, its RDMA ports as they come from the factory."""
    firmware = more.pop("firmware", {})
    gpu = {
        "board": "a100_pcie_40gb",
        "root": ROOT,
        "numa_node": 0,
        "graphics_type": "sharedDirect",
        **more.pop("gpu", {}),
    }
    port = {"model": "cx6dx", "root": ROOT, "numa_node": 0, "firmware": firmware}
    return {
        "name": name,
        "driver": NVAIE,
        "gpus": [gpu],
        "nics": [
            {"device": "vmnic0", "model": "i350", "numa_node": 0, "uplink_of": "vSwitch0"},
            {"device": "vmnic1", "model": "i350", "numa_node": 0},
            {"device": "vmnic2", **port, "uplink_of": "dvs-train"},
            {"device": "vmnic3", **port},
        ],
        "vmkernel": [
            {"device": "vmk0", "network": "Management Network", "services": ["management", "vmotion"]},
            {"device": "vmk1", "portgroup": "pg-rdma"},
        ],
        **more,
    }


def seed(*hosts, vms=(), mtu=1500, release="8.0.3"):
    """One cluster of these hosts, or of two ready ones."""
    hosts = hosts or (esx(), esx(OTHER))
    return {
        "release": release,
        "users": {"administrator@vsphere.local": "VMware1!"},
        "datacenters": [
            {
                "name": "lab",
                "datastores": [{"name": "datastore-01", "capacity_gb": 1000}],
                "networks": [{"name": "VM Network"}],
                "switches": [{"name": "dvs-train", "mtu": mtu, "portgroups": [{"name": "pg-rdma", "vlan": 111}]}],
                "clusters": [{"name": "gpu", "hosts": list(hosts)}],
                "vms": [
                    {"name": f"train-{number:02}", "host": hosts[0]["name"], "firmware": "efi", "memory_gb": 16, **vm}
                    for number, vm in enumerate(vms, start=1)
                ],
            }
        ],
    }


def host(twin, name=ESX):
    """The model of a host."""
    return next(one for one in twin.world.of_kind("HostSystem") if one.name == name)


def restart(twin, name=ESX, cold=False):
    """Boot a host of the model again, at once."""
    with twin.world.lock:
        boot.boot(twin.world, host(twin, name), cold)


def settings(twin, name=ESX):
    """Everything of a host of the model that modules about hosts can set."""
    found = host(twin, name)
    return {
        "kernel": {one.name: one.configured for one in found.kernel.settings.values()},
        "modules": {one.name: (one.options, one.enabled) for one in found.kernel.modules.values()},
        "graphics": (found.default_graphics_type, found.assignment_policy),
        "gpus": {gpu.pci_id: (gpu.configured_type, gpu.active_type, gpu.vgpu_mode) for gpu in found.gpus},
        "passthrough": {address: (one.enabled, one.active, one.label) for address, one in found.passthru.items()},
        "tag": found.options["Net.PVRDMAVmknic"],
        "firewall": found.rulesets["pvrdma"],
        "mtu": {nic.device: nic.mtu for nic in [*found.vmkernel, *found.nics]},
    }
