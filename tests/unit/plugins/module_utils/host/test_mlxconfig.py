# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The texts follow captures on public pages: a guide of SmartX for ESXi, and those of HPE and NVIDIA for Linux."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host import mlxconfig

ESXI = """
PCI devices:
------------
DEVICE_TYPE             MST                           PCI       RDMA            NET                       NUMA
ConnectX5(rev:0)        mt4121_pciconf0               02:00.0   net-vmnic2
ConnectX5(rev:0)        mt4121_pciconf0.1             02:00.1   net-vmnic3
"""
LINUX = """MST modules:
------------
    MST PCI module is not loaded
    MST PCI configuration module loaded
PCI devices:
------------
DEVICE_TYPE             MST                           PCI       RDMA            NET                       NUMA
BlueField2(rev:1)       /dev/mst/mt41686_pciconf0.1   e2:00.1   mlx5_1          net-ens7f1                1

ConnectX5(rev:0)        /dev/mst/mt4121_pciconf0      01:00.0   mlx5_0          net-                    redeast   0
"""
NOTHING = """MST modules:
------------
    MST PCI module is not loaded
    MST PCI configuration module is not loaded
"""
QUERY = """
Device #1:
----------

Device type:    ConnectX6DX
Name:           MCX623106AN-CDA_Ax
Description:    ConnectX-6 Dx EN adapter card; 100GbE; Dual-port QSFP56
Device:         mt4125_pciconf0

Configurations:                              Default         Current         Next Boot
         MEMIC_SIZE_LIMIT                    _256KB(1)       _256KB(1)       DISABLED(0)
         HOST_CHAINING_DESCRIPTORS           Array[0..7]     Array[0..7]     Array[0..7]
*        ATS_ENABLED                         False(0)        False(0)        True(1)
RO       SAFE_MODE_ENABLE                    True(1)         True(1)         True(1)
         NUM_OF_VFS                          0               8               8
The '*' shows parameters with next value different from default/current value.
"""


def test_devices_are_read_on_esxi_where_columns_are_empty():
    assert [(one.mst, one.kind, one.pci, one.net) for one in mlxconfig.devices(ESXI)] == [
        ("mt4121_pciconf0", "ConnectX5", "0000:02:00.0", "vmnic2"),
        ("mt4121_pciconf0.1", "ConnectX5", "0000:02:00.1", "vmnic3"),
    ]


def test_devices_are_read_on_linux_with_paths_and_names_that_are_cut_in_two():
    assert [(one.mst, one.pci, one.net) for one in mlxconfig.devices(LINUX)] == [
        ("/dev/mst/mt4121_pciconf0", "0000:01:00.0", "redeast"),
        ("/dev/mst/mt41686_pciconf0.1", "0000:e2:00.1", "ens7f1"),
    ]


def test_an_adapter_that_is_listed_by_two_ways_is_one_device():
    twice = "ConnectX3(rev:1) mt4099_pciconf0 01:00.0 net-vmnic0\nConnectX3(rev:1) mt4099_pci_cr0 01:00.0 net-vmnic0\n"
    assert [one.mst for one in mlxconfig.devices(twice)] == ["mt4099_pciconf0"]


def test_without_the_driver_of_the_tools_there_are_no_devices():
    assert mlxconfig.devices(NOTHING) == []


def test_parameters_are_read_with_their_marks():
    keys, columns = mlxconfig.keys(QUERY)
    assert columns == ["Default", "Current", "Next Boot"]
    ats = keys["ATS_ENABLED"]
    assert (ats.default, ats.current, ats.next, ats.read_only) == ("False(0)", "False(0)", "True(1)", False)
    assert keys["SAFE_MODE_ENABLE"].read_only
    assert (keys["NUM_OF_VFS"].current, keys["NUM_OF_VFS"].default) == ("8", "0")
    assert "The" not in keys


def test_an_old_tool_prints_fewer_columns():
    keys, columns = mlxconfig.keys("Configurations:             Next Boot\n   SRIOV_EN    True(1)\n")
    assert columns == ["Next Boot"]
    assert (keys["SRIOV_EN"].next, keys["SRIOV_EN"].current) == ("True(1)", "")


@pytest.mark.parametrize(
    "shown, requested, same",
    [
        ("True(1)", True, True),
        ("True(1)", 1, True),
        ("True(1)", "true", True),
        ("False(0)", True, False),
        ("8", 8, True),
        ("ETH(2)", "eth", True),
        ("ETH(2)", 2, True),
        ("ETH(2)", 1, False),
    ],
)
def test_a_value_is_what_the_user_means_in_any_spelling(shown, requested, same):
    assert mlxconfig.same(shown, requested) is same


def test_the_lines_that_report_the_error_are_found():
    assert mlxconfig.complaint("Device #1\n-E- The Device doesn't support FOO parameter\nmore") == [
        "-E- The Device doesn't support FOO parameter"
    ]
    assert mlxconfig.complaint("sh: syntax error") == ["sh: syntax error"]


UNNAMED = """PCI devices:
------------
DEVICE_TYPE             MST      PCI       RDMA            NET                                     NUMA
ConnectX6LX(rev:0)      NA       99:00.1   mlx5_bond_0     net-bond0                               1

ConnectX7(rev:0)        NA       c3:00.0   mlx5_7          net-ens114                              1
"""


def test_before_mst_was_started_addresses_are_the_names():
    found = mlxconfig.devices(UNNAMED)
    assert [(one.mst, one.net, one.named) for one in found] == [
        ("0000:99:00.1", "bond0", False),
        ("0000:c3:00.0", "ens114", False),
    ]
    assert all(one.named for one in mlxconfig.devices(LINUX))


def test_a_function_may_have_several_network_devices():
    (dpu,) = mlxconfig.devices("BlueField3(rev:1) /dev/mst/mt41692_pciconf0 0000:03:00.0 mlx5_0 net-pf0hpf,net-p0 -1\n")
    assert (dpu.pci, dpu.nets) == ("0000:03:00.0", ["pf0hpf", "p0"])


def test_a_parameter_may_have_both_marks_and_values_that_are_not_reported():
    text = QUERY.replace("RO       SAFE_MODE_ENABLE ", "*RO      SAFE_MODE_ENABLE ").replace("_256KB(1) ", "N/A       ")
    keys, _columns = mlxconfig.keys(text)
    assert keys["SAFE_MODE_ENABLE"].read_only
    assert (keys["MEMIC_SIZE_LIMIT"].default, keys["MEMIC_SIZE_LIMIT"].current) == ("", "")
