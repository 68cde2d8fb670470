# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Data of other tools: what a capture takes from them, and what it lists as not read."""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import imports
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

XSI = "http://www.w3.org/2001/XMLSchema-instance"
PREFIXES = ["XMLSchema-instance", "_XMLSchema-instance", "xsi"]


def saved(kind, moid, prefix, **properties):
    """The file of one object, as govc writes it."""
    declared = f'xmlns:{prefix}="{XSI}" {prefix}'
    sets = "".join(
        f"<propSet><name>{name}</name>{value.replace('@', declared)}</propSet>" for name, value in properties.items()
    )
    return f'<ObjectContent>\n  <obj type="{kind}">{moid}</obj>{sets}</ObjectContent>\n'


HARDWARE = """<val @:type="HostHardwareInfo"><systemInfo><vendor>Dell Inc.</vendor><model>PowerEdge R760xa</model>
<uuid>4c4c4544-0051-5810-8032-b7c04f423633</uuid></systemInfo><memorySize>549755813888</memorySize>
<pciDevice><id>0000:3b:00.0</id><deviceName>ConnectX-7</deviceName></pciDevice></val>"""
REFERENCES = """<val @:type="ArrayOfManagedObjectReference">
<ManagedObjectReference type="VirtualMachine">vm-21</ManagedObjectReference>
<ManagedObjectReference type="VirtualMachine">vm-22</ManagedObjectReference></val>"""


@pytest.fixture
def folder(tmp_path):
    """A folder that govc wrote until an error: VM vm-22 has no file. Each file has another prefix."""
    place = tmp_path / "saved"
    place.mkdir()
    about = "<about><version>8.0.3</version><build>24022510</build><apiVersion>8.0.3.0</apiVersion></about>"
    files = {
        "0000-ServiceInstance-ServiceInstance.xml": saved(
            "ServiceInstance", "ServiceInstance", PREFIXES[0], content=f'<val @:type="ServiceContent">{about}</val>'
        ),
        "0001-LicenseManager-LicenseManager.xml": saved("LicenseManager", "LicenseManager", PREFIXES[0]),
        "0002-HostSystem-host-10.xml": saved(
            "HostSystem",
            "host-10",
            PREFIXES[1],
            name='<val @:type="xsd:string">esx07.finance.example.org</val>',
            hardware=HARDWARE,
            vm=REFERENCES,
        ),
        "0003-VirtualMachine-vm-21.xml": saved(
            "VirtualMachine", "vm-21", PREFIXES[2], name='<val @:type="xsd:string">finance-db</val>'
        ),
        "0004-Folder-broken.xml": "<ObjectContent",
        "0005-Folder-evil.xml": '<!DOCTYPE x [<!ENTITY a "b">]><ObjectContent>&a;</ObjectContent>',
    }
    for name, text in files.items():
        (place / name).write_text(text)
    answers = place / "HostNetworkSystem-networkSystem-10"
    answers.mkdir()
    hint = f'<returnval xmlns:_XMLSchema-instance="{XSI}" _XMLSchema-instance:type="PhysicalNicHintInfo">'
    (answers / "QueryNetworkHint.xml").write_text(
        f"<MethodResponse>{hint}<device>vmnic4</device><connectedSwitchPort><devId>finance-leaf</devId>"
        "</connectedSwitchPort></returnval></MethodResponse>"
    )
    return place


def test_objects_of_govc_are_read_with_each_prefix(folder, tmp_path):
    dest = str(tmp_path / "site.zip")
    (made,) = imports.bring(dest, [str(folder)], False)
    capture = Capture(dest)
    host = capture.files["vcenter/0000-HostSystem-host-10.xml"].decode()
    assert "<val xmlns" in host
    assert 'XMLSchema-instance:type="HostHardwareInfo"' in host
    for stays in ("PowerEdge R760xa", "549755813888", "0000:3b:00.0", "ConnectX-7", "host-001", ">vm-22<"):
        assert stays in host
    hint = capture.files["methods/HostNetworkSystem-networkSystem-10/QueryNetworkHint.xml"].decode()
    assert "vmnic4" in hint
    assert capture.manifest["vcenter"] == {"version": "8.0.3", "build": "24022510", "api_version": "8.0.3.0"}
    everything = "".join(text.decode() + name for name, text in capture.files.items()) + json.dumps(capture.manifest)
    assert "finance" not in everything
    assert "4c4c4544" not in everything
    assert made.source == "import of vCenter"


def test_answers_of_older_releases_of_govc_are_read(folder, tmp_path):
    for kind, method in (("EnvironmentBrowser-envbrowser-8", "QueryConfigOption"), ("Folder-group-d1", "Other")):
        (folder / kind).mkdir()
        answer = "<returnval><version>vmx-14</version></returnval>"
        (folder / kind / f"{method}.xml").write_text(f"<QueryConfigOptionResponse>{answer}</QueryConfigOptionResponse>")
    dest = str(tmp_path / "site.zip")
    imports.bring(dest, [str(folder)], False)
    capture = Capture(dest)
    option = capture.files["methods/EnvironmentBrowser-envbrowser-8/QueryConfigOption.xml"].decode()
    assert (option.startswith("<MethodResponse>"), "vmx-14" in option) == (True, True)
    refused = [row["refused"].get("") for row in capture.manifest["coverage"].values()]
    assert "not read: Its root is QueryConfigOptionResponse, not MethodResponse." in refused


def test_a_host_without_cluster_is_named_as_a_host(folder, tmp_path):
    same = saved(
        "ComputeResource", "domain-s9", PREFIXES[0], name='<val @:type="xsd:string">esx07.finance.example.org</val>'
    )
    (folder / "0001-ComputeResource-domain-s9.xml").write_text(same)
    dest = str(tmp_path / "site.zip")
    imports.bring(dest, [str(folder)], False)
    names = json.loads((tmp_path / "site.zip.secret.json").read_text())["known"]
    assert names["esx07.finance.example.org"] == "host-001"


def test_what_a_partial_folder_lacks_is_not_read(folder, tmp_path):
    dest = str(tmp_path / "site.zip")
    imports.bring(dest, [str(folder)], False)
    capture = Capture(dest)
    assert capture.is_read("VirtualMachine-vm-21")
    assert capture.is_read("method HostNetworkSystem-networkSystem-10/QueryNetworkHint")
    unread = {name: one["refused"][""] for name, one in capture.manifest["coverage"].items() if not one["answered"]}
    assert unread["VirtualMachine-vm-22"] == "not read: no file in the imported folder"
    assert unread["LicenseManager-LicenseManager"].startswith("left out")
    assert unread["Folder-broken"].startswith("not read: It is not XML")
    assert unread["Folder-evil"] == "not read: It has a document type."
    assert unread["method QueryConfigTarget-host-10"].startswith("not read: govc")


def test_an_import_does_not_mix_two_times_of_vcenter(folder, tmp_path):
    dest = str(tmp_path / "site.zip")
    imports.bring(dest, [str(folder)], False)
    with pytest.raises(OperatorError, match="another time"):
        imports.bring(dest, [str(folder)], False)


@pytest.mark.parametrize("short", [True, False])
def test_mockups_and_snapshots_are_found_below_one_folder(tmp_path, short):
    base = tmp_path / "data" / "bmc-07.finance.example.org"
    root = base if short else base / "redfish" / "v1"
    (root / "Systems" / "1").mkdir(parents=True)
    link = {"@odata.id": "/redfish/v1/Systems"}
    members = {"Members": [{"@odata.id": "/redfish/v1/Systems/1"}, {"@odata.id": "/redfish/v1/Systems/2"}]}
    (root / "index.json").write_text(json.dumps({"RedfishVersion": "1.15.0", "Systems": link}))
    (root / "Systems" / "index.json").write_text(json.dumps(members))
    (root / "Systems" / "1" / "index.json").write_text(json.dumps({"Model": "R760xa", "SerialNumber": "7QX2B63"}))
    configs = tmp_path / "data" / "net" / "configs"
    configs.mkdir(parents=True)
    (configs / "leaf1.cfg").write_text("hostname finance-leaf\ninterface Ethernet1\n   mtu 9214\nusername x secret y\n")
    (configs / "binary").write_bytes(b"\0\1\2")
    dest = str(tmp_path / "site.zip")
    imports.bring(dest, [str(tmp_path / "data")], False)
    capture = Capture(dest)
    assert set(capture.files) == {
        "bmcs/bmc-001/redfish/v1/index.json",
        "bmcs/bmc-001/redfish/v1/Systems/index.json",
        "bmcs/bmc-001/redfish/v1/Systems/1/index.json",
        "snapshot/configs/switch-001.cfg",
    }
    assert b"mtu 9214" in capture.files["snapshot/configs/switch-001.cfg"]
    everything = "".join(text.decode() for text in capture.files.values()) + json.dumps(capture.manifest)
    assert [text for text in ("finance", "7QX2B63", "secret y") if text in everything] == []
    coverage = capture.manifest["coverage"]
    refusal = coverage["bmc bmc-001/redfish/v1/Systems/2"]["refused"]
    assert refusal == {"": "not read: no file in the imported mockup"}
    assert not coverage["switch switch-001/state"]["answered"]


def test_a_folder_without_data_is_named(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(OperatorError, match="cannot import the folder") as refused:
        imports.bring(str(tmp_path / "site.zip"), [str(tmp_path)], False)
    assert refused.value.code == "capture_import_empty"


def test_links_out_of_the_folder_are_not_followed(folder, tmp_path):
    outside = tmp_path / "outside.xml"
    outside.write_text(saved("VirtualMachine", "vm-9", PREFIXES[0]))
    (folder / "0009-VirtualMachine-vm-9.xml").symlink_to(outside)
    dest = str(tmp_path / "site.zip")
    imports.bring(dest, [str(folder)], False)
    assert not Capture(dest).is_read("VirtualMachine-vm-9")
