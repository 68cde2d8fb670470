"""Pseudonyms are consistent, and text that no table names never stays."""

from __future__ import annotations

import ipaddress

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.anonymise import Scrubber
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table


@pytest.fixture
def scrub():
    table = Table(salt=b"x" * 32)
    table.learn("host", "esx01.corp.example")
    table.learn("vm", "normal")
    return Scrubber(table)


def shared(one, other):
    """The number of leading bits that two addresses share."""
    return 32 - (int(ipaddress.ip_address(one)) ^ int(ipaddress.ip_address(other))).bit_length()


@pytest.mark.parametrize(
    "one, other", [("10.1.2.3", "10.1.2.77"), ("8.8.8.8", "8.8.4.4"), ("172.16.0.1", "172.31.0.1")]
)
def test_addresses_keep_their_common_prefix(scrub, one, other):
    made = [scrub.text("ipAddress", address) for address in (one, other)]
    assert shared(*made) == shared(one, other)
    assert made != [one, other]
    assert ipaddress.ip_address(made[0]).is_private is ipaddress.ip_address(one).is_private


@pytest.mark.parametrize(
    "address", ["0.0.0.0", "127.0.0.1", "255.255.255.0", "224.0.0.1", "169.254.1.1", "fe80::1", "::1"]
)
def test_addresses_that_belong_to_nobody_stay(scrub, address):
    assert scrub.text("ipAddress", address) == address


def test_a_name_is_the_same_in_every_field_and_spelling(scrub):
    texts = [
        ("name", "esx01.corp.example"),
        ("hostName", "ESX01"),
        ("systemName", "esx01"),
        ("dnsName", "esx01.corp.example"),
    ]
    assert {scrub.text(field, value) for field, value in texts} == {"host-001"}


def test_a_name_that_is_a_word_of_vsphere_is_replaced(scrub):
    assert scrub.text("status", "normal") == "vm-001"
    assert scrub.text("status", "performance") == "performance"


def test_options_stay_although_networks_have_their_words_as_names(scrub):
    for name in ("VMOTION", "none"):
        scrub.table.learn("portgroup", name)
    assert scrub.text("key", "vmotion.checkpointFBSize", "OptionValue") == "vmotion.checkpointFBSize"
    assert scrub.text("value", "none", "OptionValue") == "none"
    # A name of the site in a key, and the network itself, are replaced.
    assert scrub.text("key", "vmotion.esx01", "OptionValue") not in ("vmotion.esx01", "vmotion.host-001")
    assert [scrub.text("name", "VMOTION"), scrub.text("network", "none")] == ["portgroup-001", "portgroup-002"]


@pytest.mark.parametrize(
    "field, value, owner",
    [
        ("vendor", "Dell Inc.", ""),
        ("version", "8.0.3.0", ""),
        ("deviceName", "MT2892 Family [ConnectX-6 Dx]", "HostPciDevice"),
        ("id", "0000:3b:00.0", ""),
        ("vgpu", "grid_a100-40c", ""),
        ("device", "vmnic2", ""),
        ("key", "pciPassthru0.cfg.enable_uvm", ""),
    ],
)
def test_what_a_capture_is_for_stays(scrub, field, value, owner):
    assert scrub.text(field, value, owner) == value


@pytest.mark.parametrize(
    "field, value",
    [
        ("model", "esx01 of the lab"),
        ("vendor", "10.1.2.3"),
        ("deviceName", "/vmfs/devices/disks/naa.600508b1001c"),
        ("serialNumber", "CZ1234567"),
        ("serialNumber", "1234567890"),
        ("userName", "running"),
        ("key", "guestinfo.customer"),
        ("value", "secret project"),
        ("userName", "CORP\\jane"),
        ("url", "https://depot.corp.example/x"),
        ("vmPathName", "[store] job/job.vmx"),
        ("annotation", "call Jane"),
        ("licenseKey", "AAAAA-BBBBB-CCCCC-DDDDD-EEEEE"),
    ],
)
def test_what_identifies_is_replaced(scrub, field, value):
    made = scrub.text(field, value)
    words = [word for word in value.replace("/", " ").replace("\\", " ").split() if len(word) > 3]
    assert [word for word in words if word in made] == []
    assert scrub.text(field, value) == made


def test_dropped_texts_are_in_no_table(scrub):
    assert scrub.text("annotation", "call Jane") == ""
    assert scrub.dropped == {"annotation": 1}
    assert "Jane" not in str(scrub.table.as_data())


def test_a_mac_keeps_its_vendor_and_a_table_gives_the_same_again(scrub):
    made = scrub.text("mac", "B8:59:9F:01:02:03")
    assert made.startswith("b8:59:9f:")
    assert made != "b8:59:9f:01:02:03"
    again = Scrubber(Table.of_data(scrub.table.as_data()))
    assert again.text("mac", "b8:59:9f:01:02:03") == made
    assert again.text("name", "esx01") == "host-001"


def test_json_keeps_its_structure(scrub):
    found = {"display_name": "Corp image", "components": [{"version": "8.0.3", "host": "esx01"}], "count": 3}
    made = scrub.data(found)
    assert made == {"display_name": "text-001", "components": [{"version": "8.0.3", "host": "host-001"}], "count": 3}


def test_with_names_only_secrets_are_dropped(scrub):
    kept = Scrubber(scrub.table, keep_names=True)
    assert [kept.text("name", "esx01"), kept.text("licenseKey", "AAAAA")] == ["esx01", ""]


def test_an_address_made_of_a_mac_address_is_made_of_its_pseudonym():
    table = Table(salt=b"x" * 32)
    mac = table.mac("b8:ce:f6:aa:bb:cc").replace(":", "")
    assert mac[:6] == "b8cef6"
    local = table.address("fe80::bace:f6ff:feaa:bbcc")
    assert local == str(ipaddress.ip_address(f"fe80::bace:f6ff:fe{mac[6:8]}:{mac[8:]}"))
    assert table.guid("b8ce:f603:00aa:bbcc") == f"b8ce:f603:00{mac[6:8]}:{mac[8:]}"
    assert table.address("fe80:0000:0000:0000:bace:f6ff:feaa:bbcc") == ipaddress.ip_address(local).exploded


def test_an_embedded_ipv4_address_has_the_pseudonym_of_ipv4():
    table = Table(salt=b"x" * 32)
    made = ipaddress.ip_address(table.address("::ffff:10.1.2.3"))
    assert str(made.ipv4_mapped) == table.address("10.1.2.3")


def test_a_random_link_local_address_is_replaced():
    table = Table(salt=b"x" * 32)
    made = table.address("fe80::1:2:3:4")
    assert made.startswith("fe80::")
    assert made != "fe80::1:2:3:4"


@pytest.mark.parametrize("mac", ["ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00"])
def test_the_mac_addresses_of_all_and_of_none_stay(mac):
    assert Table().mac(mac) == mac


@pytest.mark.parametrize(
    "key", ["pciPassthru.use64bitMMIO", "pciPassthru.64bitMMIOSizeGB", "pciPassthru0.cfg.enable_uvm"]
)
def test_keys_of_gpus_in_vms_stay(scrub, key):
    assert scrub.text("key", key) == key


SYSTEM = ("4c4c4544-0042-3510-8052-b4c04f4e3532", "44454c4c-4200-1035-8052-b4c04f4e3532")


@pytest.mark.parametrize("first, second", [SYSTEM, SYSTEM[::-1]])
def test_both_byte_orders_of_a_uuid_have_one_pseudonym(first, second):
    table = Table(salt=b"x" * 32)
    made = [table.uuid(text) for text in (first, second, first.upper(), second, first)]
    assert len(set(made)) == 1
    assert Table.of_data(table.as_data()).uuid(second) == made[0]
    assert table.uuid("4c4c4544-0042-3510-8052-b4c04f4e3533") != made[0]


@pytest.mark.parametrize("field", ["localizedMessage", "msg"])
def test_known_words_of_a_fault_stay_and_all_others_go(scrub, field):
    words = "The operation is not supported on the object."
    assert scrub.text(field, words) == words
    assert "secret-project" not in scrub.text(field, "Cannot start secret-project.")
    assert words not in scrub.text("annotation", words)


@pytest.mark.parametrize(
    "owner, field, value",
    [
        ("VirtualNicManagerNetConfig", "nicType", "vmotion"),
        ("HostVirtualNicSpec", "netStackInstanceKey", "vmotion"),
        ("DatastoreSummary", "type", "vsan"),
        ("HostNasVolume", "type", "NFS"),
        ("HostMultipathInfoHppLogicalUnitPolicy", "path", "none"),
        ("HostNetStackInstance", "name", "vmotion"),
        ("OptionValue", "value", "192"),
    ],
)
def test_words_of_vsphere_stay_although_networks_have_them_as_names(scrub, owner, field, value):
    for name in ("vMotion", "vsan", "nfs", "none", "192", "192.168.5.x"):
        scrub.table.learn("network", name)
    assert scrub.text(field, value, owner) == value
    assert scrub.text("network", value, "GuestNicInfo").startswith("network-")
    assert scrub.text("name", "192.168.5.x", "") == "network-006"


def test_a_device_with_signs_in_its_name_stays(scrub):
    for name in ("<class> Non-Volatile memory controller", "C610/X99 USB Controller #2"):
        assert scrub.text("deviceName", name, "HostPciDevice") == name


def test_a_machine_without_an_identity_gets_none(scrub):
    zeros = "00000000-0000-0000-0000-000000000000"
    assert scrub.text("uuid", zeros) == zeros
