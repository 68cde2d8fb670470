# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Captures of platforms that are Linux below: neighbours as lldpctl prints them, and names of ports of two kinds."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import offline
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import platform_of


def parsed(name, outputs):
    return offline.parsed(platform_of(name, None), outputs)


BLOCK = """\
-------------------------------------------------------------------------------
LLDP neighbors:
-------------------------------------------------------------------------------
Interface:    {},via: LLDP, RID: 2, Time: 0 day, 01:02:03
  Chassis:
    ChassisID:    mac 0c:42:a1:00:00:01
    SysName:      esx-02
  Port:
    PortID:       ifname vmnic5
    PortDescr:    a port
-------------------------------------------------------------------------------
"""


@pytest.mark.parametrize(
    "name, command, port",
    [
        ("sonic", "show lldp neighbors", "Ethernet4"),
        ("cumulus", "nv show interface lldp-detail", "swp4"),
        ("enterprise_sonic", "show lldp neighbor", "Eth1/4"),
    ],
)
@pytest.mark.parametrize("named", [True, False], ids=["by its command", "by its form"])
def test_neighbours_in_detail_on_platforms_that_are_linux(name, command, port, named):
    text = BLOCK.format(port)
    reported = parsed(name, {command: text} if named else text)
    (peer,) = reported["ports"][port]["neighbours"]
    assert (peer["system"], peer["port"], peer["chassis"]) == ("esx-02", "vmnic5", "0c:42:a1:00:00:01")
    assert reported["unread"] == []


def test_one_port_of_enterprise_sonic_is_named_by_its_command_alone():
    text = "sonic# show qos interface Ethernet 0\n   dscp-tc-map: m\n   pfc-asymmetric: on\n   pfc-priority  : 3,4\n"
    reported = parsed("enterprise_sonic", text)
    port = reported["ports"]["Ethernet0"]
    assert (port["running"]["pfc"], port["running"]["trust"], port["pfc_asymmetric"]) == ([3, 4], "dscp", True)
    assert reported["unread"] == []


STATUS = """\
Name                Description    Oper      Reason       AutoNeg   Speed     MTU       Alternate Name
Ethernet0           up there       down      phy-link-down off      400000    9100      Eth1/1
Ethernet4           -              up        oper-up      off       100000    9216      Eth1/2
"""


def test_native_names_and_second_names_of_enterprise_sonic():
    reported = parsed("enterprise_sonic", {"show interface status": STATUS})
    assert {
        name: (port["speed"], port["running"]["up"], port["running"]["mtu"]) for name, port in reported["ports"].items()
    } == {
        "Ethernet0": (400, False, 9100),
        "Ethernet4": (100, True, 9216),
    }
    config = {"show running-configuration": "interface Ethernet 8\n mtu 9216\n"}
    assert parsed("enterprise_sonic", config)["ports"]["Ethernet8"]["mtu"] == 9216
