"""Training VMs for end-to-end tests: sites that create them, and what the model of the data centre knows of them."""

from __future__ import annotations

from pyVmomi import vim

from vsphere_twin.model import gpudirect, pvrdma

PROFILE = "grid_a100-40c"
NAMES = ("job-01", "job-02")
# What the hosts of the seed `small` have for each path.
NETWORKS = {
    "tcp": {"path": "tcp", "portgroup": "pg-train"},
    "pvrdma": {"path": "pvrdma", "nics": ["vmnic2"], "vmknic": "vmk1", "portgroup": "pg-rdma"},
    "sriov": {"path": "sriov", "nics": ["vmnic3"], "portgroup": "pg-sriov"},
    "passthrough": {"path": "passthrough", "nics": ["0000:3b:00.0"]},
}
KINDS = {
    "tcp": vim.vm.device.VirtualVmxnet3,
    "pvrdma": vim.vm.device.VirtualVmxnet3Vrdma,
    "sriov": vim.vm.device.VirtualSriovEthernetCard,
}


def created(path, vms=None, **changes):
    """The keys of a site that creates VMs with a data path."""
    return {
        "cluster": "gpu",
        "machine": {"template": "ubuntu-template", "cpus": 16, "memory_gb": 64, "folder": "training"},
        "network": NETWORKS[path],
        "vms": vms or [{"prefix": "job-", "count": 2}],
        **changes,
    }


def vms_of(lab, names=NAMES):
    """The VMs as the model has them; each name once, or there is something wrong."""
    found = [vm for vm in lab.twin.world.of_kind("VirtualMachine") if vm.name in names]
    assert sorted(vm.name for vm in found) == sorted(names)
    return sorted(found, key=lambda vm: vm.name)


def setup(vm):
    """What was desired of a VM, as the model has it and not as a module says."""
    return {
        "cpus": vm.cpus,
        "memory": (vm.memory_mb, vm.fully_reserved),
        "mmio": vm.setting("pciPassthru.use64bitMMIO"),
        "profiles": [profile for key, profile in vm.vgpus],
        "power": vm.power,
        "firmware": vm.firmware,
    }


def desired(profile=PROFILE):
    return {
        "cpus": 16,
        "memory": (65536, True),
        "mmio": "TRUE",
        "profiles": [profile],
        "power": "poweredOn",
        "firmware": "efi",
    }


def traffic(lab, path):
    """The path of the VMs' traffic, which vCenter does not report."""
    world, machines = lab.twin.world, vms_of(lab)
    if path == "pvrdma":
        return {way.way for vm in machines for way in pvrdma.state(world, vm)}
    if path == "tcp":
        return {type(nic) for vm in machines for nic in vm.nics}
    return {gpudirect.verdict(world, vm) for vm in machines}


GOOD = {
    "tcp": {KINDS["tcp"]},
    "pvrdma": {pvrdma.RDMA},
    "sriov": {gpudirect.Verdict(True)},
    "passthrough": {gpudirect.Verdict(True)},
}


def untouched(vm):
    """Changes whenever anything reconfigures or restarts a VM."""
    return vm.change_version, vm.booted, vm.host.name
