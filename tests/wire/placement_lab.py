"""Data centres for the planner: hosts with several GPUs and with every kind of port."""

from __future__ import annotations

from .lab import NVAIE

NEAR, FAR = "0000:36:02.0", "0000:b6:02.0"
A100 = {"board": "a100_pcie_40gb", "graphics_type": "sharedDirect"}
ROOM = {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "1024"}
FIRMWARE = {"ats": True, "sriov": True, "num_vfs": 4}


def near(**more):
    return {**A100, "root": NEAR, "numa_node": 0, **more}


def far(**more):
    return {**A100, "root": FAR, "numa_node": 1, **more}


def esx(number, gpus=(None,), **more):
    """A host that is ready for every path: PVRDMA on dvs-rdma, functions on dvs-sriov, a port that is given away."""
    port = {"model": "cx6dx", "root": NEAR, "numa_node": 0, "firmware": FIRMWARE}
    return {
        "name": f"esx-{number:02}",
        "driver": NVAIE,
        "gpus": [near() if one is None else one for one in gpus],
        "nics": [
            {"device": "vmnic0", "model": "i350", "numa_node": 0, "uplink_of": "vSwitch0"},
            {"device": "vmnic1", **port, "uplink_of": "dvs-rdma"},
            {"device": "vmnic2", **port, "uplink_of": "dvs-sriov"},
            {"device": "vmnic3", **port, "passthrough": True, "label": "fabric"},
        ],
        "module_options": {"nmlx5_core": "max_vfs=0,4,0"},
        "vmkernel": [
            {"device": "vmk0", "network": "Management Network", "services": ["management"]},
            {"device": "vmk1", "portgroup": "pg-rdma"},
        ],
        "options": {"Net.PVRDMAVmknic": "vmk1"},
        "rulesets": {"pvrdma": True},
        **more,
    }


def vmknic(**more):
    """The VMkernel adapters of a host whose adapter for PVRDMA is not like those of others."""
    management = {"device": "vmk0", "network": "Management Network", "services": ["management"]}
    return [management, {"device": "vmk1", "portgroup": "pg-rdma", **more}]


def lab(*hosts, vms=(), release="8.0.3", others=(), stores=({"name": "datastore-01", "capacity_gb": 1000},)):
    """A datacenter with one cluster of these hosts, others in a second one."""
    clusters = [{"name": "gpu", "hosts": list(hosts)}]
    clusters += [{"name": "other", "hosts": list(others)}] if others else []
    return {
        "release": release,
        "users": {"administrator@vsphere.local": "VMware1!"},
        "datacenters": [
            {
                "name": "lab",
                "datastores": list(stores),
                "networks": [{"name": "VM Network"}],
                "switches": [
                    {"name": f"dvs-{name}", "uplinks": 1, "members": "uplinks", "portgroups": groups}
                    for name, groups in (
                        ("rdma", [{"name": "pg-rdma"}, {"name": "pg-other", "vlan": 222}]),
                        ("sriov", [{"name": "pg-sriov"}]),
                    )
                ],
                "vm_folders": ["training"],
                "clusters": clusters,
                "vms": list(vms),
            }
        ],
    }


def ready(name, host, *profiles, **more):
    """A VM on a host, set up with these vGPUs."""
    return {
        "name": name,
        "host": host,
        "firmware": "efi",
        "memory_gb": 64,
        "memory_reservation": "all",
        "vgpus": [f"grid_a100-{one}" for one in profiles],
        "extra_config": ROOM,
        **more,
    }


def requested(name, *profiles, **more):
    return {"name": name, "profiles": [f"grid_a100-{one}" for one in profiles], "memory_gb": 64, **more}


def left_to_host(running):
    """All GPUs are in the mode SYSTEM_SELECT."""
    with running.world.lock:
        for host in running.world.of_kind("HostSystem"):
            host.modes.left_to_host |= {gpu.pci_id for gpu in host.gpus}
            running.world.touch(host)
