# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A host with GPU and RDMA ports, as the pure parts see it."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import Network, Port, Rdma, Switch, Vmkernel
from ansible_collections.aiready.vsphere.plugins.module_utils.host.pci import Device, Tree

GPU, T4, ONBOARD, RDMA, FREE, HBA = (
    "0000:39:00.0",
    "0000:af:00.0",
    "0000:4a:00.0",
    "0000:3a:00.0",
    "0000:3a:00.1",
    "0000:01:00.0",
)
FUNCTION = "0000:39:00.4"


def tree():
    return Tree(
        [
            Device(GPU, 0x10DE, 0x20F1, 0x03, "A100"),
            Device(FUNCTION, 0x10DE, 0x20F1, 0x03, "A100"),
            Device(T4, 0x10DE, 0x1EB8, 0x03, "T4"),
            Device(ONBOARD, 0x8086, 0x1521, 0x02, "I350"),
            Device(RDMA, 0x15B3, 0x101D, 0x02, "ConnectX-6 Dx"),
            Device(FREE, 0x15B3, 0x101D, 0x02, "ConnectX-6 Dx"),
            Device(HBA, 0x1000, 0x0016, 0x01, "RAID"),
        ]
    )


def network(uplinks=("vmnic2",), rdma="active", mtu=1500):
    switches = (
        Switch("vSwitch0", False, 1500, ("vmnic0",)),
        Switch("dvs-train", True, mtu, tuple(uplinks), "50 1a"),
    )
    ports = (
        Port("vmnic0", ONBOARD, "igbn", 1500, 1000, "vSwitch0"),
        Port("vmnic2", RDMA, "nmlx5_core", mtu, 100000, "dvs-train" if "vmnic2" in uplinks else ""),
        Port("vmnic3", FREE, "nmlx5_core", 1500, 100000, "dvs-train" if "vmnic3" in uplinks else ""),
    )
    adapters = (
        Vmkernel("vmk0", 1500, ("management", "vmotion"), "vSwitch0"),
        Vmkernel("vmk1", 1500, (), "dvs-train"),
    )
    devices = (Rdma("vmrdma0", "nmlx5_rdma", rdma, 1024, "vmnic2"),) if rdma else ()
    return Network(ports, switches, adapters, devices)
