# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Files of services as text: what is read out of them, and what is put in."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import adapter, ifupdown, ini


def test_files_of_systemd_keep_repeated_keys_and_sections():
    text = "# note\n[Match]\nName=en*\n\n[Network]\nAddress=a\nAddress=b\nDHCP=no\n[Address]\nAddress=c\n"
    sections = ini.parse(text)
    assert ini.values(sections, "Network", "Address") == ["a", "b"]
    assert ini.parse(ini.render(sections)) == sections
    assert ini.values(ini.parse("[Network]\nAddress=a\nAddress=\nAddress=b\n"), "Network", "Address") == ["b"]


@pytest.mark.parametrize("text, size", [("9000", 9000), ("9K", 9216), ("jumbo", None)])
def test_sizes_of_systemd(text, size):
    assert ini.size(text) == size


STANZAS = """\
auto lo
iface lo inet loopback

allow-hotplug ens192
iface ens192 inet dhcp
    up ip link set dev ens192 mtu 4200

iface ens224 inet static
    address 192.0.2.5
    netmask 255.255.255.0
    mtu 1500
    gateway 192.0.2.1
iface ens224 inet6 auto
"""


def test_stanzas_report_mtu_and_address_in_all_their_forms():
    found = {(one["name"], one["family"]): one for one in ifupdown.stanzas(STANZAS)}
    assert found["ens192", "inet"]["mtu"] == 4200
    assert (found["ens224", "inet"]["mtu"], found["ens224", "inet"]["address"]) == (1500, "192.0.2.5/24")
    assert found["ens224", "inet6"]["mtu"] is None


@pytest.mark.parametrize("name", ["ens192", "ens224"])
def test_an_mtu_is_set_in_a_stanza_and_nothing_else_changes(name):
    changed = ifupdown.with_mtu(STANZAS, name, 9000)
    found = {one["name"]: one["mtu"] for one in ifupdown.stanzas(changed) if one["family"] == "inet"}
    other = "ens224" if name == "ens192" else "ens192"
    before = {one["name"]: one["mtu"] for one in ifupdown.stanzas(STANZAS) if one["family"] == "inet"}
    assert (found[name], found[other]) == (9000, before[other])
    assert ifupdown.with_mtu(changed, name, 9000) == changed
    assert {*STANZAS.splitlines()} - {*changed.splitlines()} <= {
        "    mtu 1500",
        "    up ip link set dev ens192 mtu 4200",
    }


@pytest.mark.parametrize(
    "text, mac",
    [
        ("00:50:56:9A:10:01", "00:50:56:9a:10:01"),
        ("0050.569a.1001", "00:50:56:9a:10:01"),
        ("00:50:56", None),
        ("ens", None),
    ],
)
def test_mac_addresses_in_all_their_forms(text, mac):
    assert adapter.mac_of(text) == mac


@pytest.mark.parametrize(
    "lines, mtu",
    [
        ("post-up /sbin/ip link set $IFACE mtu 9000", 9000),
        ("pre-up /sbin/ifconfig $IFACE mtu 9000", 9000),
        ("up ifconfig ens224 up mtu 9000 || true", 9000),
        ("up ip link set mtu 9000 dev ens224", 9000),
        # Of a bond's stanza: it is the MTU of another adapter.
        ("pre-up ip link set ens256 mtu 9000", None),
        ("pre-up ip link set ens2245 mtu 9000", None),
    ],
)
def test_a_command_sets_the_mtu_of_the_adapter_that_it_names(lines, mtu):
    text = f"iface ens224 inet dhcp\n    {lines}\n"
    assert ifupdown.stanzas(text)[0]["mtu"] == mtu
    changed = ifupdown.with_mtu(text, "ens224", 4200)
    assert ifupdown.stanzas(changed)[0]["mtu"] == 4200
    assert (lines in changed) is (mtu is None)


def test_stanzas_need_no_more_than_a_name():
    text = "auto ens224\niface ens224\n\tmtu 9000\n\taddress 192.0.2.5/24\n\taddress 2001:db8::5/64\n"
    (stanza,) = ifupdown.stanzas(text)
    assert (stanza["family"], stanza["mtu"], stanza["address"]) == ("inet", 9000, "192.0.2.5/24")
    assert ifupdown.stanzas(ifupdown.with_mtu(text, "ens224", 4200))[0]["mtu"] == 4200


def test_a_mask_that_is_none_stays_what_it_is():
    assert ifupdown.prefix_of("255.255.255.x") == "255.255.255.x"
