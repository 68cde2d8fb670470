# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.pci import Device, Tree, normal_address, tree_of
from pyVmomi import vim

GPU, NEAR, FAR, ALONE = "0000:39:00.0", "0000:3a:00.0", "0000:b1:00.0", "0000:4a:00.0"


def device(address, parent="", kind=0x06, vendor=0x8086):
    return Device(address, vendor, 0, kind, address, parent)


def tree(numa_nodes=None):
    """A switch below one root port with GPU and port, a port below another root port, one on another complex."""
    return Tree(
        [
            device("0000:36:02.0"),
            device("0000:37:00.0", "0000:36:02.0"),
            device("0000:38:00.0", "0000:37:00.0"),
            device("0000:38:01.0", "0000:37:00.0"),
            device(GPU, "0000:38:00.0", 0x03, 0x10DE),
            device(NEAR, "0000:38:01.0", 0x02, 0x15B3),
            device("0000:36:04.0"),
            device(ALONE, "0000:36:04.0", 0x02),
            device("0000:b0:02.0"),
            device(FAR, "0000:b0:02.0", 0x02, 0x15B3),
        ],
        numa_nodes,
    )


@pytest.mark.parametrize(
    "text, address",
    [
        ("0000:3b:00.0", "0000:3b:00.0"),
        ("3B:00.1", "0000:3b:00.1"),
        ("00000000:AF:00.0", "0000:af:00.0"),
        ("00010000:AF:00.0", "10000:af:00.0"),
        ("vmnic2", None),
        ("0000:3b:00", None),
        ("0000:3b:00.8", None),
    ],
)
def test_an_address_is_known_in_every_spelling_of_the_tools(text, address):
    assert normal_address(text) == address


@pytest.mark.parametrize(
    "port, same_root, same_switch", [(NEAR, True, True), (ALONE, True, False), (FAR, False, False)]
)
def test_devices_are_near_by_their_bridges_and_their_root_complex(port, same_root, same_switch):
    pair = tree().pair(GPU, port)
    assert (pair["same_root"], pair["same_switch"]) == (same_root, same_switch)


def test_the_numa_node_of_a_bridge_holds_for_what_is_below_it_and_unknown_stays_unknown():
    known = tree({"0000:36:02.0": 0, NEAR: 0, FAR: 1})
    assert known.pair(GPU, NEAR)["same_numa"] is True
    assert known.pair(GPU, FAR)["same_numa"] is False
    assert known.pair(GPU, ALONE)["same_numa"] is None


def test_bridges_that_name_each_other_as_parents_do_not_hang_the_walk():
    looped = Tree([device("0000:01:00.0", "0000:02:00.0"), device("0000:02:00.0", "0000:01:00.0")])
    assert looped.bridges("0000:01:00.0") == ["0000:02:00.0", "0000:01:00.0"]


def test_signed_fields_of_the_api_become_the_numbers_of_the_vendors():
    entry = vim.host.PciDevice(
        id=GPU,
        classId=0x0302,
        bus=0x39,
        slot=0,
        function=0,
        vendorId=0x10DE,
        subVendorId=0,
        vendorName="NVIDIA",
        deviceId=0xA345 - 0x10000,
        subDeviceId=0,
        deviceName="GPU",
        parentBridge="0000:38:00.0",
    )
    numa = vim.host.NumaInfo(
        type="NUMA", numNodes=2, numaNode=[vim.host.NumaNode(typeId=1, pciId=[GPU]), vim.host.NumaNode(typeId=0)]
    )
    read = tree_of([entry], numa)
    entry.vendorId, entry.classId = 0x8086 - 0x10000, 0xFF00 - 0x10000
    again = tree_of([entry], None)
    assert (again.get(GPU).vendor, again.get(GPU).kind, again.numa_node(GPU)) == (0x8086, 0xFF, None)
    assert (read.get(GPU).device, read.get(GPU).kind, read.numa_node(GPU)) == (0xA345, 0x03, 1)
