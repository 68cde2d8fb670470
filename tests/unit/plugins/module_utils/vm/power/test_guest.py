# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.power import guest
from pyVmomi import vim


def nic(*addresses, mac="00:50:56:01:02:03", network="VM Network", key=4000):
    return vim.vm.GuestInfo.NicInfo(
        macAddress=mac, network=network, ipAddress=list(addresses), deviceConfigId=key, connected=True
    )


def seen(*nics, first=None, tools="guestToolsRunning", power="poweredOn"):
    values = {
        "guest.net": list(nics),
        "guest.ipAddress": first,
        "guest.toolsRunningStatus": tools,
        "runtime.powerState": power,
    }
    return guest.guest_of(Row(vim.VirtualMachine("vm-1"), values, {}))


@pytest.mark.parametrize(
    "found, address",
    [
        (seen(nic("192.0.2.1")), "192.0.2.1"),
        (seen(nic("2001:db8::1", "fe80::1")), "2001:db8::1"),
        (seen(nic("fe80::1", "169.254.3.4", "127.0.0.1", "::1", "0.0.0.0")), None),
        (seen(nic("2001:db8::1", "192.0.2.1")), "192.0.2.1"),
        (seen(nic("192.0.2.1"), nic("192.0.2.2"), first="192.0.2.2"), "192.0.2.2"),
        (seen(nic("172.17.0.1", key=-1), nic("192.0.2.1"), first="172.17.0.1"), "192.0.2.1"),
        (seen(nic("192.0.2.9", network=None, key=-1)), "192.0.2.9"),
        (seen(first="192.0.2.7"), "192.0.2.7"),
        (seen(nic("not an address")), None),
        (seen(nic("2001:db8::1%-oProxyCommand=id", "2001:db8::2")), "2001:db8::2"),
        (seen(first="2001:db8::1%-oProxyCommand=id"), None),
        (seen(nic("192.0.2.1"), tools="guestToolsNotRunning"), None),
        (seen(nic("192.0.2.1"), first="192.0.2.1", power="poweredOff"), None),
        (seen(), None),
    ],
    ids=[
        "IPv4",
        "IPv6 alone",
        "nothing that others reach",
        "IPv4 before IPv6",
        "what vCenter shows",
        "a bridge inside the guest does not count",
        "a passed-through adapter alone",
        "no list of adapters",
        "nonsense",
        "a scope may be any text",
        "the same without a list of adapters",
        "what Tools said before they stopped",
        "what the guest said before it went off",
        "no news",
    ],
)
def test_the_address_is_one_that_others_can_reach(found, address):
    assert found.address == address
    assert found.has("address") is (address is not None)


def test_addresses_are_reported_by_mac_and_network_ipv4_first():
    found = seen(
        nic("fe80::1", "192.0.2.1", mac="00:50:56:AA:BB:CC"), nic("172.17.0.1", key=-1, mac="02:42:00:00:00:01")
    )
    assert guest.project(found) == [
        {"mac": "00:50:56:aa:bb:cc", "network": "VM Network", "addresses": ["192.0.2.1", "fe80::1"]}
    ]


@pytest.mark.parametrize(
    "found, says",
    [
        (seen(power="suspended"), "The VM is suspended"),
        (seen(tools="guestToolsNotRunning"), "VMware Tools do not run in the guest, and it reports no network adapter"),
        (
            seen(nic("fe80::1"), nic()),
            "are 00:50:56:01:02:03 (VM Network): fe80::1; 00:50:56:01:02:03 (VM Network): none",
        ),
    ],
)
def test_what_a_guest_has_so_far_is_reported_in_words(found, says):
    assert says in guest.reported(found)
