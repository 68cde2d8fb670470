# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Places in which a text of the site hides: configurations of switches, options of vSphere, resources of BMCs."""

from __future__ import annotations

import re

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import (
    esxcli_fields,
    fields,
    govc,
    host_commands,
    redfish,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.anonymise import Scrubber
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.host_text import HostText
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.switch_text import SwitchText

XSI = 'xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:type="xsd:string"'


CUSTOM = XSI.replace("xsd:string", "CustomFieldStringValue")


def switch(text, keep_names=False):
    return SwitchText(Scrubber(Table(bytes(32)), keep_names), (), ()).output(text)


@pytest.mark.parametrize("keep_names", [False, True])
@pytest.mark.parametrize(
    "block",
    [
        "banner motd\nProperty of Canary, call 5551234567\nEOF",
        "banner login ^C\nCanary 5551234567\n^C",
        "banner motd @ Canary\n5551234567 @",
        " certificate ca 01\n  30820366 Canary01\n  5551234567\n  quit",
        "  30820366 0EDEAD00 CA4A2700 5551",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nCanary5551234567\n-----END OPENSSH PRIVATE KEY-----",
        "/* by Canary\n 5551234567 */",
        "/* Canary 5551234567 */",
        'set system login message "Canary 5551234567"',
        "nv set interface swp1 description 'Canary 5551234567'",
        'nv set system message pre-login "Canary 5551234567"',
        'interface ethernet 1/1 description "Canary 5551234567"',
        "neighbor 198.51.100.8 password 7 Canary5551234567",
        "tacacs-server host 198.51.100.7 key 7 Canary5551234567",
        "snmp-server community Canary5551234567 ro",
        "event-handler x secret Canary5551234567",
        "crypto isakmp psk Canary5551234567",
        "macsec cak Canary5551234567",
        "enable sha512 $6$Canary5551234567",
        "lldp med location elin 5551234567",
        "System contact: Canary +1 5551234567",
        "  S/N: 5551234567",
        "Express Service Code : 5551234567",
        "circuit-id 5551234567",
        "Interface descr: Canary 5551234567",
        'interfaces { ge-0/0/0 { description "Canary 5551234567"; } }',
    ],
)
def test_blocks_and_secrets_of_a_switch_leave_with_no_setting(block, keep_names):
    made = switch(f"interface Ethernet1\n   mtu 9214\n{block}\ninterface Ethernet2\n   mtu 1500", keep_names)
    assert "Canary" not in made
    assert "5551" not in made
    assert "30820366" not in made
    assert made.startswith("interface Ethernet1\n   mtu 9214\n")
    assert made.endswith("\ninterface Ethernet2\n   mtu 1500")


@pytest.mark.parametrize(
    "line",
    [
        "set protocols bgp group CANARY neighbor 9.8.7.6 description x",
        "nv set vrf canary router bgp neighbor 9.8.7.6 description x",
        "  canary 9.8.7.6 { description x; }",
    ],
)
def test_words_before_a_description_are_replaced(line):
    made = switch(line)
    assert "canary" not in made.lower()
    assert "9.8.7.6" not in made
    assert made.endswith("description removed")


@pytest.mark.parametrize("sign", ["!", "#", "//"])
def test_a_comment_has_no_long_number(sign):
    counter = "mtu 9214\n  rx 5551234567"
    assert switch(f"{sign} ask 5551234567\n{counter}") == f"{sign} word-001 0\n{counter}"


@pytest.mark.parametrize("start", ["banner motd", "banner motd @", "certificate x", "/*", "-----BEGIN X-----"])
def test_a_block_without_end_hides_nothing_behind_it(start):
    assert switch(f"{start}\nmtu 9214").endswith("\nmtu 9214")


def test_a_description_with_the_sign_of_a_comment_hides_no_setting():
    made = switch("   description a /* b\n   mtu 9214\n   description c */ d")
    assert made.split("\n")[1] == "   mtu 9214"


@pytest.mark.parametrize("start", ["", "description", "banner motd @"])
def test_a_long_line_of_blanks_keeps_its_form(start):
    assert switch(start + " " * 60_000 + "\n") == switch(start + " " * 6 + "\n").replace(" " * 6, " " * 60_000)


def test_answers_in_json_one_after_the_other_are_read_as_data():
    made = switch('{"description": "Canary"}\n' * 2000 + "mtu 9214")
    assert made.endswith("\nmtu 9214")
    assert made.count('"description": "removed"') == 2000


def test_counters_are_no_certificate():
    table = "Port  Rx  Tx  Drop\n  12345678 12345678 12345678"
    assert switch(table) == table


@pytest.mark.parametrize(
    "line",
    [
        "router bgp 15169",
        "   neighbor 198.51.100.8 remote-as 15169",
        "set routing-options autonomous-system 15169",
        "set protocols bgp group x neighbor 198.51.100.9 peer-as 15169;",
        "   rd 15169:100",
        "   route-target import 15169:100",
        "   route-target export target:15169:100",
        "router bgp 3.15169",
        "   rd 3.15169:100",
        "   route-target import evpn 15169:1",
        "   bgp confederation identifier 15169",
        "   bgp confederation peers 65001 15169",
        "   set as-path prepend 15169 15169",
        "BGP router identifier 198.51.100.1, local AS number 15169",
    ],
)
def test_the_number_of_a_public_autonomous_system_is_replaced(line):
    made = switch(line)
    assert "15169" not in made
    assert made == switch(line)


@pytest.mark.parametrize(
    "line",
    [
        "router bgp 65001",
        "router bgp 4200000001",
        "   rd 64512:100",
        "   rd 0.64512:100",
        "set as-path prepend 64512 64513",
    ],
)
def test_a_private_autonomous_system_stays(line):
    assert line.split()[-1] in switch(line)


def stored(inner, kind="VirtualMachineConfigInfo", keep_names=False):
    """The content of an object of vCenter with this property."""
    text = (
        '<ObjectContent><obj type="VirtualMachine">vm-1</obj><propSet><name>config</name>'
        f'<val xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:type="{kind}">{inner}</val>'
        "</propSet></ObjectContent>"
    )
    saved = govc.Saved()
    saved.objects["VirtualMachine", "vm-1"] = govc.parse(text, "ObjectContent")
    made = govc.addition(saved, Table(bytes(32)), keep_names)
    return "".join(str(one) for one in made.files.values())


def option(key, value):
    return f"<extraConfig><key>{key}</key><value {XSI}>{value}</value></extraConfig>"


@pytest.mark.parametrize("keep_names", [False, True])
@pytest.mark.parametrize(
    "inner",
    [
        option("guestinfo.userdata", "Y2FuYXJ5"),
        option("machine.id", "Y2FuYXJ5"),
        option("vmware.rootPassword", "Y2FuYXJ5"),
        "<vAppConfig><property><key>1</key><value>Y2FuYXJ5</value></property></vAppConfig>",
        "<vAppConfig><property><key>1</key><defaultValue>Y2FuYXJ5</defaultValue></property></vAppConfig>",
        "<vAppConfig><eula>Y2FuYXJ5</eula></vAppConfig>",
        "<vAppConfig><ovfSection><contents>Y2FuYXJ5</contents></ovfSection></vAppConfig>",
        "<annotation>Y2FuYXJ5</annotation>",
    ],
)
def test_data_for_guests_leaves_with_no_setting(inner, keep_names):
    assert "Y2FuYXJ5" not in stored(f"<name>web</name>{inner}", keep_names=keep_names)


@pytest.mark.parametrize(
    "field, value",
    [
        ("chapSecret", "s"),
        ("mutualChapSecret", "s"),
        ("chapName", "s"),
        ("readOnlyCommunities", "s"),
        ("community", "s"),
        (fields.option_field("snmp.receiver.1.community", "value", "s"), "s"),
        (fields.option_field("RemoteDisplay.vnc.key", "value", "s"), "s"),
    ],
)
def test_secrets_of_storage_and_services_are_dropped_with_names_too(field, value):
    assert Scrubber(Table(bytes(32)), keep_names=True).text(field, value) == ""


def test_what_a_neighbour_describes_itself_as_is_replaced():
    scrub = Scrubber(Table(bytes(32)))
    assert scrub.text("softwareVersion", "Ubuntu 24.04 of canary", "PhysicalNicCdpInfo") == "text-001"


def test_a_folder_with_the_name_of_a_setting_does_not_change_the_setting():
    table = Table(bytes(32))
    table.learn("folder", "shared")
    scrub = Scrubber(table)
    assert scrub.text("hostDefaultGraphicsType", "shared", "HostGraphicsConfig") == "shared"
    assert scrub.text("name", "shared") == "folder-001"


def test_contacts_of_a_bmc_and_files_of_its_firmware_are_replaced():
    text = redfish.RedfishText(Scrubber(Table(bytes(32))))
    contact = {"ContactName": "canary", "EmailAddress": "canary@x.example", "PhoneNumber": "5551234567"}
    attributes = {"PxeBootFile": "canary", "ServerOtherInfo": "canary", "ProcCStates": "Disabled"}
    profiles = {"SysProfile": "PerfOptimized", "WorkloadProfile": "GraphicProcessing", "SubNumaCluster": "TwoClusters"}
    made = str(text.body({"Location": {"Contacts": [contact]}, "Attributes": attributes}))
    assert text.body({"Attributes": profiles}) == {"Attributes": profiles}
    assert "canary" not in made
    assert "5551234567" not in made
    assert "Disabled" in made


def test_json_that_is_nested_too_deeply_is_read_as_lines():
    assert "canary" not in switch('{"a":' * 50_000 + '"canary"' + "}" * 50_000)


def test_a_long_number_after_an_unknown_text_is_replaced():
    assert switch("Canary 5551234567") == "word-001 0"
    # Counters, and the columns of a table.
    assert switch("mtu 5551234567") == "mtu 5551234567"
    assert switch("Name  Rx Bytes\nCanary  12345678 2345678").endswith("word-001  0 0")
    assert switch("Queue  Rx Bytes\nCanary  12345678 2345678").endswith("word-001  12345678 2345678")


@pytest.mark.parametrize("line", ["hostname {}", 'switchname "{}"', "set system host-name {}"])
def test_a_name_of_digits_is_replaced(line):
    assert "4711" not in switch(line.format(4711))


@pytest.mark.parametrize(
    "text",
    [
        "Port  Vendor  Serial No\nEt1  Mellanox  {}",
        "Port  Type  Order\n----  ----  -----\n\nEt1  QSFP28  {}",
        "Port  Phone  Mtu\nEt1  {}  9214",
        "Port\tAsset\tRx\nEt1\t{}\t7",
        "Et1  {}  9214",
        "Customer {}",
        "order {}",
        "Chassis id: {}",
        "ticket = {}",
        "rx 12345678 order {}",
        "order 5551234567 {}",
        "Canary +49 171 {}",
        "Port  State  Asset\nEt1  up  none\nmgmt  up  none\nEt2  up  {}",
        "Port  State  Rx\nEt1  up  0\n\nContract  {}",
        '{{"orderNumber": {}}}',
        '{{"ports": [{{"phone": "{}", "mtu": 9214}}]}}',
        '{{"chassis_id": "{}"}}',
        '{{"project": {{"value": [{{"id": {}}}]}}}}',
        '{{"support contract": {}.5}}',
        '{{"{}": 1}}',
    ],
)
def test_a_long_number_of_a_thing_is_replaced(text):
    assert "4711000815" in text.format(4711000815)
    assert "4711000815" not in switch(text.format(4711000815))


@pytest.mark.parametrize(
    "text",
    [
        "Port  RxPPP  TxPPP\n=====\n\nEthernet1/1  12345678  4711000815",
        "Port  UC0  UC1\n----  ---  ---\nEthernet0  12345678  4711000815",
        "     4711000815 packets input, 12345678 bytes",
        "30 seconds input rate 12345678 bits/sec, 4711000815 packets/sec",
        "  FEC corrected codewords: 4711000815",
        "  random-detect minimum-threshold 1536000 bytes maximum-threshold 15360000 bytes",
        "Input statistics: 4711000815 packets",
        "Serial number: 7\n  rx 4711000815 packets",
        '{"inOctets": 4711000815, "inBitsRate": 12345678.25}',
        '{"rx_bytes": "4711000815", "bandwidth": 100000000000, "timestamp": 1732500000.25}',
    ],
)
def test_counters_sizes_and_times_stay(text):
    made = switch(text)
    assert [one for one in re.findall(r"\d{7,}", text) if one not in made] == []


def test_a_table_with_many_rows_takes_time_for_its_size_alone():
    row = "Et1  QSFP28  4711000815  9214\n"
    assert "4711000815" not in switch("Port  Type  Asset  Mtu\n" + row * 20_000)


@pytest.mark.parametrize(
    "inner",
    [
        option("asset.number", "4711000815"),
        option("4711000815", "x"),
        f"<customValue {CUSTOM}><key>1</key><value>4711000815</value></customValue>",
        "<locationId>4711000815</locationId>",
    ],
)
def test_a_long_number_in_a_text_of_vcenter_is_replaced(inner):
    assert "4711000815" not in stored(f"<name>web</name>{inner}")


def test_a_long_number_of_an_option_of_vsphere_stays():
    assert "4194304" in stored(option("vmotion.checkpointFBSize", "4194304"))


def test_a_long_number_in_a_text_of_a_bmc_is_replaced():
    text = redfish.RedfishText(Scrubber(Table(bytes(32))))
    made = text.body({"OrderNumber": "4711000815", "PartNumber": "1013112345", "CapacityBytes": 4711000815})
    assert made["OrderNumber"] != "4711000815"
    assert (made["PartNumber"], made["CapacityBytes"]) == ("1013112345", 4711000815)


def test_amounts_in_the_text_of_a_command_stay():
    commands = {command.name: command for command in host_commands.COMMANDS}

    def made(name, value):
        return esxcli_fields.answer(Scrubber(Table(bytes(32))), commands[name], value)

    memory = {"Physical Memory": "137338511360 Bytes"}
    assert made("hardware.memory.get", memory) == memory
    counters = {"Packets received": "12345678", "Bytes received": "47110008154711"}
    assert made("rdma.device.stats.get", counters) == counters
    option = {"Path": "/Net/TcpipHeapMax", "Int Value": "1073741824", "String Value": "4711000815"}
    assert made("system.settings.advanced.list", option) == {**option, "String Value": "text-001"}


@pytest.mark.parametrize("name", ["mlx5_canary", "ib_canary", "nvme_canary_0", "bnxt_canary1"])
def test_a_renamed_rdma_device_is_replaced(name):
    made = HostText(Scrubber(Table(bytes(32)))).reported(
        "text", f"CA '{name}'\n\tNumber of ports: 1\n{name} mlx5_core mlx5_0"
    )
    assert "canary" not in made
    assert made.endswith(" mlx5_core mlx5_0")
