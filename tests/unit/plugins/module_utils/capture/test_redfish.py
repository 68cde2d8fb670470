# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Which resources of a BMC are read, and which texts of them stay, for answers that real BMCs send."""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import redfish, redfish_tree
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.anonymise import Scrubber
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table

ROOT = "/redfish/v1"


def link(path):
    return {"@odata.id": f"{ROOT}/{path}"}


def walked(resources, **options):
    """The tree of a service with these resources, and the paths that were asked."""
    asked = []

    def get(path):
        asked.append(path)
        body = resources.get(path.rstrip("/").removeprefix(ROOT).strip("/"))
        return (json.loads(json.dumps(body)), "") if body is not None else (None, "HTTP status 404")

    return redfish_tree.walk(get, **options), asked


def test_links_to_other_places_and_circles_are_not_followed():
    tree, asked = walked(
        {
            "": {
                "Systems": link("Systems"),
                "Up": {"@odata.id": f"{ROOT}/../../etc/passwd"},
                "x": link("Chassis/../.."),
            },
            "Systems": {
                "Members": [link("Systems/1"), link("Systems/1/"), {"@odata.id": "https://example.org/redfish/v1"}]
            },
            "Systems/1": {
                "Parent": link("Systems"),
                "Log": link("Systems/1/LogServices"),
                "Bios": link("Systems/1/Bios"),
            },
            "Systems/1/Bios": {"Attributes": {}, "Boot": link("Systems/1/Bios/Boot")},
        }
    )
    assert asked == [ROOT, f"{ROOT}/Systems", f"{ROOT}/Systems/1", f"{ROOT}/Systems/1/Bios"]
    assert list(tree.bodies) == asked


@pytest.mark.parametrize(
    "members",
    [None, "text", {"a": 1}, [None, 3, "x", {}], [{"@odata.id": None}], [{"@odata.id": ["/redfish/v1/Systems/1"]}]],
)
def test_members_of_another_shape_are_survived(members):
    tree, _asked = walked({"": {"Systems": link("Systems")}, "Systems": {"Members": members}})
    assert len(tree.bodies) == 2
    assert redfish.addition(tree, "bmc", Table(), False).files


def test_pages_of_a_collection_are_one_resource():
    first = {"Members": [link("Chassis/1")], "Members@odata.nextLink": f"{ROOT}/Chassis?$skip=1"}
    second = {"Members": [link("Chassis/2")], "Members@odata.nextLink": f"{ROOT}/Chassis?$skip=1"}
    pages = {
        "": {"Chassis": link("Chassis")},
        "Chassis": first,
        "Chassis?$skip=1": second,
        "Chassis/1": {},
        "Chassis/2": {},
    }
    tree, asked = walked(pages)
    assert asked.count(f"{ROOT}/Chassis?$skip=1") == 1
    assert len(tree.bodies[f"{ROOT}/Chassis"]["Members"]) == 2
    assert f"{ROOT}/Chassis/2" in tree.bodies


def test_limits_are_in_the_coverage(monkeypatch):
    monkeypatch.setattr(redfish_tree, "MOST_RESOURCES", 3)
    members = [link(f"Chassis/{number}") for number in range(5)]
    tree, _asked = walked({"": {"Chassis": link("Chassis")}, "Chassis": {"Members": members}, "Chassis/0": {}})
    assert len(tree.bodies) == 3
    assert {why for path, why in tree.refused.items() if "Chassis" in path} == {"The limit of a capture is reached."}


def test_only_the_named_system_is_read():
    members = {"Members": [link("Systems/A"), link("Systems/B")]}
    _tree, asked = walked({"": {"Systems": link("Systems")}, "Systems": members}, system_id="b")
    assert asked[-1] == f"{ROOT}/Systems/B"
    assert f"{ROOT}/Systems/A" not in asked


def test_a_service_without_systems_lacks_them_by_name():
    tree, _asked = walked({"": {"RedfishVersion": "1.6.0", "Managers": link("Managers")}, "Managers": {"Members": []}})
    assert tree.refused == {f"{ROOT}/Systems": "not read: the service root has no link to it"}


def text(field, value, **body):
    scrubber = redfish.RedfishText(Scrubber(Table()))
    return scrubber.body({field: value, **body})[field]


@pytest.mark.parametrize(
    "field, value",
    [
        ("Id", "CPU.Socket.1"),
        ("Id", "proc1dimm12"),
        ("Id", "HGX_GPU_0_DRAM_0"),
        ("Id", "BiosAttributeRegistryU58.v1_2_44"),
        ("Id", "NIC.Integrated.1-1-1"),
        ("Model", "PowerEdge R760xa"),
        ("Manufacturer", "Dell Inc."),
        ("FirmwareVersion", "7.00.00.171"),
        ("BiosVersion", "U58 v2.44 (01/17/2025)"),
        ("@odata.id", "/redfish/v1/Systems/System.Embedded.1/Bios/Settings"),
        ("@odata.type", "#ComputerSystem.v1_12_0.ComputerSystem"),
        ("ResetType@Redfish.AllowableValues", ["On", "ForceOff", "PowerCycle"]),
        ("DeviceLocator", "PROC 1 DIMM 2"),
        ("VendorId", "0x10de"),
    ],
)
def test_products_and_identifiers_stay(field, value):
    assert text(field, value) == value


@pytest.mark.parametrize(
    "field, value",
    [
        ("Name", "rack7-finance"),
        ("Id", "437XR1138R2"),
        ("SerialNumber", "123456"),
        ("SKU", "7QX2B63"),
        ("AssetTag", "Unit 3"),
        ("HostName", "esx-01.example.org"),
        ("@odata.id", "/redfish/v1/Chassis/437XR1138R2"),
        ("MACAddress", "0c:42:a1:be:00:42"),
        ("UUID", "4c4c4544-0051-5810-8032-b7c04f423633"),
        ("Address", "10.77.1.9"),
        ("Model", "PowerEdge of 10.77.1.9"),
        ("NodeGUID", "58a2:e103:0003:96f2"),
    ],
)
def test_texts_of_the_site_do_not_stay(field, value):
    assert value.rpartition("/")[2] not in text(field, value)


def test_extensions_of_a_vendor_have_only_their_links():
    oem = {"Dell": {"Jobs": link("Managers/1/Jobs"), "NodeID": "7QX2B63", "Count": 3, "Deep": {"ServiceTag": "x"}}}
    assert text("Oem", oem) == {"Dell": {"Jobs": link("Managers/1/Jobs"), "Deep": {}}}


REGISTRY = {
    "RegistryEntries": {
        "Attributes": [
            {
                "AttributeName": "UrlBoot",
                "Type": "Enumeration",
                "Value": [{"ValueName": "Finance"}],
                "CurrentValue": "my rack",
            },
            {"AttributeName": "Banner", "Type": "String", "HelpText": "Text at the start"},
        ]
    }
}


def test_bios_attributes_stay_if_the_registry_lists_their_value():
    tree = redfish_tree.Tree(bodies={f"{ROOT}/Registries/a": REGISTRY})
    scrubber = redfish.RedfishText(Scrubber(Table()))
    scrubber.learn(tree)
    bios = {"UrlBoot": "Finance", "Banner": "Finance", "SriovGlobalEnable": "Enabled", "Count": 3, "SetupPassword": "x"}
    made = scrubber.body({"Attributes": bios})["Attributes"]
    assert made == {
        "UrlBoot": "Finance",
        "Banner": "text-001",
        "SriovGlobalEnable": "Enabled",
        "Count": 3,
        "SetupPassword": "",
    }
    entries = scrubber.body(REGISTRY)["RegistryEntries"]["Attributes"]
    assert entries[1]["HelpText"] == "Text at the start"
    assert entries[0]["CurrentValue"] == "text-002"


def test_a_serial_number_in_another_text_does_not_stay():
    tree = redfish_tree.Tree(bodies={ROOT: {"SerialNumber": "7QX2B63", "Model": "Box 7QX2B63"}})
    made = redfish.addition(tree, "bmc", Table(), False)
    assert "7QX2B63" not in "".join(made.files.values())
