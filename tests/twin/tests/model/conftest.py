"""Worlds for the rules: no sockets, no threads, time runs when a test says so."""

from __future__ import annotations

import copy

import pytest
from pyVmomi import vim

from vsphere_twin.model import power, reconfigure, seed, tasks

READY = {
    "cpus": 8,
    "memory_gb": 32,
    "firmware": "efi",
    "memory_reservation": "all",
    "extra_config": {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "1024"},
}


class Lab:
    """A small world with shortcuts for what the tests do all the time."""

    def __init__(self, data):
        self.world = seed.from_data(data)

    @property
    def hosts(self):
        return self.world.of_kind("HostSystem")

    def vm(self, name):
        (found,) = [one for one in self.world.of_kind("VirtualMachine") if one.name == name]
        return found

    def task(self, method, entity, work):
        started = tasks.start(self.world, method, entity, work)
        self.world.timeline.settle()
        return started

    def power_on(self, name):
        vm = self.vm(name)
        return self.task("PowerOnVM_Task", vm, lambda: power.power_on(self.world, vm))

    def power_off(self, name):
        vm = self.vm(name)
        return self.task("PowerOffVM_Task", vm, lambda: power.power_off(self.world, vm))

    def reconfigure(self, name, **fields):
        vm = self.vm(name)
        spec = vim.vm.ConfigSpec(**fields)
        return self.task("ReconfigVM_Task", vm, lambda: reconfigure.reconfigure(self.world, vm, spec))


@pytest.fixture
def lab():
    """Build a lab: hosts=[...], vms=[...] as in a seed; VMs are ready for vGPUs unless they say otherwise."""

    def build(hosts=None, vms=(), release="8.0.3", drs="manual", switches=None, **more):
        hosts = hosts or [{"name": "esx-1", "gpus": [{"board": "a100_pcie_40gb"}]}]
        return Lab(
            {
                "release": release,
                "users": {"someone": "secret"},
                "datacenters": [
                    {
                        "name": "lab",
                        "datastores": [{"name": "disk", "capacity_gb": 10000}],
                        "networks": [{"name": "VM Network"}],
                        "switches": switches or [{"name": "dvs", "portgroups": [{"name": "train", "vlan": 7}]}],
                        "vm_folders": ["jobs"],
                        "clusters": [{"name": "gpu", "drs": drs, "hosts": [_host(one) for one in hosts]}],
                        "vms": [{**copy.deepcopy(READY), **one} for one in vms],
                    }
                ],
                **more,
            }
        )

    return build


def _host(one):
    host = {"driver": {"family": "nvaie", "version": "550.54.10"}, **one}
    host["gpus"] = [{"graphics_type": "sharedDirect", **gpu} for gpu in host.get("gpus", [])]
    return host
