# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Shapes and requests for the tests of this folder."""

from __future__ import annotations

import dataclasses

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import params, plan, rules
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.state import Direct, Host, Node, Shape
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm

NVIDIA, MELLANOX = 0x10DE, 0x15B3
A100, T4 = (NVIDIA, 0x20F1), (NVIDIA, 0x1EB8)
CONNECTX = (MELLANOX, 0x101D)
P2P = {"pciPassthru.RelaxACSforP2P": "TRUE", "pciPassthru.allowP2P": "TRUE"}
# On node 1 of HOST.
GPU_AT, NIC_AT = "0000:3b:00.0", "0000:3a:00.0"


def host(version="8.0.3", sockets=2, cores=32, memory_gb=256, mhz=2600, **fields):
    """A host whose last NUMA node has a GPU and a network adapter."""
    nodes = tuple(
        Node(number, memory_gb * 1024 // sockets, (GPU_AT, NIC_AT) if number == sockets - 1 else ())
        for number in range(sockets)
    )
    return Host("host-1", "esx-01", version, cores, 2 * cores, mhz, memory_gb * 1024, nodes, **fields)


HOST = host()


def vgpu(profile="grid_a100-40c", number=0, node=None):
    return Direct(13000 + number, "vgpu", profile, node=node)


def pci(ids=A100, number=0, address=None, node=None):
    return Direct(13000 + number, "pci", address or f"{ids[0]:04x}:{ids[1]:04x}", (ids,), address, node)


def sriov(number=0, address=None):
    return Direct(4001 + number, "sriov", "SR-IOV adapter", (), address)


def pvrdma():
    return Direct(4001, "pvrdma", "PVRDMA adapter")


def shape(**fields):
    """A VM of 4 vCPUs and 16 GB that is off; what belongs to the VM itself goes there."""
    own = {field.name for field in dataclasses.fields(Vm)} - {field.name for field in dataclasses.fields(Shape)}
    vm = Vm(**{name: fields.pop(name) for name in list(fields) if name in own})
    values = {"cpus": 4, "cores_per_socket": 1, "memory_mb": 16384, "hardware_version": 21, "host": HOST, **fields}
    return Shape(vm=vm, **values)


def requested(**options):
    """A request with the defaults of the module."""
    return params.ARGUMENTS.settings(
        {**{name: one.get("default") for name, one in params.ARGUMENTS.part.items()}, **options}
    )


def changes(now, **options):
    """{path: (before, after)} of what the request changes."""
    wanted = plan.want(now, requested(**options))
    return {change.path: (change.before, change.after) for change in plan.setting_changes(now, wanted)}


def against(now, newest=None, **options):
    """{code: sentence} of what speaks against the request."""
    requested_one = requested(**options)
    found = rules.problems(now, plan.want(now, requested_one), requested_one, newest)
    return {problem.code: f"{problem.found} {problem.todo}" for problem in found}
