from __future__ import annotations

from datetime import datetime

from twin_labs.host_lab import ESX, esx, host, seed
from vsphere_twin.model import adapters

from ..contract import Look

MODULES = ("nmlx5_core", "nmlx5_rdma")


def reports(twin, name=ESX):
    """What the model knows of a host."""
    found = host(twin, name)
    carrying = {nic.device: nic for nic in adapters.rdma_devices(found)}
    return {
        "name": found.name,
        "driver": (found.driver.family, found.driver.version),
        "boot": found.boot_time,
        "maintenance": found.maintenance,
        "running": sorted(vm.name for vm in found.running_vms()),
        "kernel": {name: one.configured for name, one in found.kernel.settings.items() if name == "atsSupport"},
        "modules": {name: sorted(found.kernel.modules[name].options.split()) for name in MODULES},
        "tag": found.options["Net.PVRDMAVmknic"],
        "firewall": found.rulesets["pvrdma"],
        "profiles": [entry.name for entry in found.vgpu_types],
        "nics": {nic.device: (nic.pci, nic.driver, nic.mtu, nic.numa_node) for nic in found.nics},
        "rdma": {device: nic.rdma.name for device, nic in carrying.items()},
        "pfc": {device: adapters.dcb(found, nic)[1] for device, nic in carrying.items()},
        "gpus": {gpu.pci_id: (gpu.passthrough, gpu.active_type) for gpu in found.gpus},
        "vmkernel": {nic.device: (nic.mtu, sorted(nic.services)) for nic in found.vmkernel},
    }


def reported(answer):
    """The same, from the answer."""
    said = answer["host"]
    active = {gpu["id"]: gpu["active"] for gpu in said["graphics"]["devices"]}
    types = {"shared_direct": "sharedDirect"}
    return {
        "name": said["name"],
        "driver": (said["driver"]["family"], said["driver"]["version"] or ""),
        "boot": _time(said["boot_time"]),
        "maintenance": said["in_maintenance"],
        "running": said["running_vms"],
        "kernel": {name: one["configured"] for name, one in said["kernel"].items()},
        "modules": {
            name: sorted(f"{key}={value}" for key, value in one["options"].items())
            for name, one in said["modules"].items()
        },
        "tag": said["options"]["Net.PVRDMAVmknic"],
        "firewall": said["rulesets"]["pvrdma"],
        "profiles": said["profiles_offered"],
        "nics": {nic["device"]: (nic["pci"], nic["driver"], nic["mtu"], nic["numa_node"]) for nic in said["nics"]},
        "rdma": {nic["device"]: nic["rdma"]["name"] for nic in said["nics"] if nic["rdma"]},
        "pfc": {nic["device"]: sum(1 << one for one in nic["dcb"]["pfc"]) for nic in said["nics"] if nic["dcb"]},
        "gpus": {
            gpu["id"]: (gpu["passthrough"]["active"], types.get(active[gpu["id"]], active[gpu["id"]]))
            for gpu in said["gpus"]
        },
        "vmkernel": {nic["device"]: (nic["mtu"], nic["services"]) for nic in said["vmkernel"]},
    }


def _time(text):
    return datetime.fromisoformat(text)


LOOKS = [
    Look(
        module="esxi_host_info",
        name="a host that is ready",
        params={"host": ESX},
        reports=reports,
        reported=reported,
        seed=seed(
            esx(
                module_options={"nmlx5_core": "pfctx=0x08 pfcrx=0x08 trust_state=2"},
                kernel={"atsSupport": True},
                options={"Net.PVRDMAVmknic": "vmk1"},
                rulesets={"pvrdma": True},
            ),
            mtu=9000,
        ),
    ),
    Look(
        module="esxi_host_info",
        name="a host as it comes from the factory, by its path",
        params={"host": "/lab/host/gpu/esx-02.lab.example"},
        reports=lambda twin: reports(twin, "esx-02.lab.example"),
        reported=reported,
        seed="factory",
    ),
]

# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = seed()
