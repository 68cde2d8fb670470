from __future__ import annotations

from twin_labs.host_lab import host
from vsphere_twin.model import pci

from ..contract import Look

NEW = [
    {"name": name, "profiles": ["grid_a100-40c"], "memory_gb": 64, "cpus": 16, "disk_gb": 100}
    for name in ("new-01", "new-02")
]
HOSTS = ("esx-01.lab.example", "esx-02.lab.example")


def port_on(switch):
    """The address of the port that is an uplink of a switch."""
    return lambda found: next(nic.pci for nic in found.nics if nic.switch is not None and nic.switch.name == switch)


def given(found):
    """The address of the port that is passed through."""
    return next(
        nic.pci
        for nic in found.ports
        if found.passthru[nic.pci].active and nic.pci not in [one.pci for one in found.nics]
    )


def one_per_host(names, port=None, switch=None, action="create"):
    """What a plan has to say when each host gets one VM with its only GPU, by the model."""

    def reports(twin):
        return {
            name: {
                "action": action,
                "host": where,
                "gpus": [(gpu.pci_id, f"10de:{gpu.board.device_id:04x}") for gpu in host(twin, where).gpus],
                "nics": [port(host(twin, where))] if port else [],
                "nodes": [gpu.numa_node for gpu in host(twin, where).gpus],
                "root": {row.root for row in pci.devices(host(twin, where)) if row.address in _gpus(twin, where)},
                "switch": switch,
            }
            for name, where in zip(names, HOSTS, strict=True)
        }

    return reports


def _gpus(twin, where):
    return [gpu.pci_id for gpu in host(twin, where).gpus]


def reported(answer):
    """The same from the answer; a root is identified by its bus."""
    return {
        one["name"]: {
            "action": one["action"],
            "host": one["host"],
            "gpus": [(gpu["id"], f"{gpu['vendor_id']}:{gpu['device_id']}") for gpu in one["gpus"]],
            "nics": [nic["pci"] for nic in one["nics"]],
            "nodes": one["numa_nodes"],
            "root": {f"{one['root']}:02.0"},
            "switch": one["switch"],
        }
        for one in answer["placement"]["vms"]
    }


def look(name, params, reports):
    return Look("vm_placement_info", name, {"cluster": "gpu", "anti_affinity": True, **params}, reports, reported)


NAMES = ("new-01", "new-02")
OLD = [{"name": name, "profiles": ["grid_a100-40c"]} for name in ("train-01", "train-02")]

LOOKS = [
    look("tcp", {"vms": NEW, "portgroup": "pg-train"}, one_per_host(NAMES, switch="dvs-train")),
    look(
        "PVRDMA",
        {"vms": NEW, "path": "pvrdma", "portgroup": "pg-rdma"},
        one_per_host(NAMES, port_on("dvs-rdma"), "dvs-rdma"),
    ),
    look(
        "virtual functions with GPUDirect",
        {"vms": NEW, "path": "sriov", "portgroup": "pg-sriov", "gpudirect": True},
        one_per_host(NAMES, port_on("dvs-sriov"), "dvs-sriov"),
    ),
    look(
        "passed-through ports with GPUDirect",
        {"vms": NEW, "path": "passthrough", "nic_label": "fabric", "gpudirect": True},
        one_per_host(NAMES, given),
    ),
    look("VMs that are there", {"vms": OLD}, one_per_host(("train-01", "train-02"), action="keep")),
]

# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = "small"
