"""A VM of the twin and its guest, without any machine behind it."""

from __future__ import annotations

import pytest

from twin_labs.guest_lab import HOST, VM, Guest
from twin_labs.guest_pair import Pair
from vsphere_twin.model import seed as seeds


@pytest.fixture
def guest_of():
    """A function that makes a guest of a VM with these settings on a host with those."""

    def make(host=(), **vm):
        data = {
            "release": "8.0.3",
            "users": {"administrator@vsphere.local": "VMware1!"},
            "datacenters": [
                {
                    "name": "lab",
                    "datastores": [{"name": "ds", "capacity_gb": 2048, "free_gb": 2000}],
                    "networks": [{"name": "VM Network"}],
                    "switches": [{"name": "dvs-rdma", "mtu": 9000, "portgroups": [{"name": "pg-rdma"}]}],
                    "clusters": [{"name": "gpu", "hosts": [{**HOST, **dict(host)}]}],
                    "vms": [{**VM, **vm}],
                }
            ],
        }
        world = seeds.from_data(data)
        return Guest(world, world.of_kind("VirtualMachine")[0])

    return make


@pytest.fixture
def pair_of():
    """Two guests that reach each other by RDMA, but for what is broken: see twin_labs.guest_pair.seed."""
    return Pair
