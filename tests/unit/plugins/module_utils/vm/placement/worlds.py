# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Small data centres for the planner, in one line each."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import model
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import (
    DIRECT,
    MIG,
    SAME_SIZE,
    Gpu,
    Host,
    Nic,
    NumaNode,
    Present,
    Vm,
    World,
)

A100 = catalogue.board_of("grid_a100-40c")
SLICED = catalogue.time_sliced_profiles(A100)
INSTANCES = catalogue.mig_profiles(A100)
GB = 1024


def gpu(number=0, mode=SAME_SIZE, carries=(), node=None, **more):
    """An A100; those with even numbers are on node and root 0."""
    node = number % 2 if node is None else node
    return Gpu(
        id=f"0000:{0x10 + number:02x}:00.0",
        title="NVIDIA A100-PCIE-40GB",
        board="grid_a100",
        mode=mode,
        numa=node,
        root=f"root{node}",
        carries=tuple(sorted(carries)),
        device_id="20f1",
        **more,
    )


def port(number=0, node=None, **more):
    """A port; given away, or split into functions on the switch dvs."""
    node = number % 2 if node is None else node
    return Nic(pci=f"0000:{0x80 + number:02x}:00.0", numa=node, root=f"root{node}", **more)


def split(number=0, vfs=8, switch="dvs", **more):
    return port(number, device=f"vmnic{number}", vfs_free=vfs, switch=switch, **more)


def host(number=1, gpus=1, memory_gb=512, **more):
    """A host with two NUMA nodes."""
    gpus = tuple(gpu(at) for at in range(gpus)) if isinstance(gpus, int) else tuple(gpus)
    modes = {one.mode for one in gpus}
    offered = (SLICED if modes - {MIG, DIRECT} else []) + (INSTANCES if MIG in modes else [])
    return Host(
        **{
            "moid": f"host-{number}",
            "name": f"esx-{number:02}",
            "cluster": "gpu",
            "version": "8.0.3",
            "memory_free_mb": memory_gb * GB,
            "threads": 128,
            "nodes": tuple(NumaNode(node, memory_gb * GB // 2, 32) for node in (0, 1)),
            "gpus": gpus,
            "offered": frozenset(offered),
            "switches": frozenset({"dvs"}),
            "portgroups": {"VM Network": "vSwitch0"},
            "datastores": ("datastore-1",),
            **more,
        }
    )


def world(*hosts, stores=None):
    return World(tuple(hosts), {"datastore-1": ("nvme", 10000)} if stores is None else stores)


def vm(name="a", *profiles, **more):
    """A VM with vGPUs of the A100, given by what follows the board: vm("a", "40c")."""
    return Vm(**{"name": name, "profiles": tuple(f"grid_a100-{one}" for one in profiles), "memory_mb": 64 * GB, **more})


def there(on="host-1", power="off", **more):
    """Where a VM is now."""
    return Present(**{"moid": "vm-1", "path": "/dc/vm/a", "host": on, "power": power, "memory_mb": 64 * GB, **more})


def rules(**more):
    return model.Rules(**more)
