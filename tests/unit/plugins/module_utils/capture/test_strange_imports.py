# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Folders and archives of other people: whatever is not read is an error or is named in the coverage."""

from __future__ import annotations

import io
import json
import os
import tarfile
import zipfile

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import imports
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

from .test_imports import saved

CONFIG = "hostname leaf\ninterface Ethernet1\n   description München\n   mtu 9214\n"
HOST = saved("HostSystem", "host-1", "xsi", name='<val @:type="xsd:string">esx1.example.org</val>')
ROOT = '{"RedfishVersion": "1.0"}'
ONLY_CONFIGS = "not read: a capture has the folder configs alone"


def folder(place, **files):
    for name, content in files.items():
        path = place.joinpath(*name.split("/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(place)


def packed(path, files):
    with zipfile.ZipFile(path, "w") as made:
        for name, content in files.items():
            made.writestr(name, content)
    return str(path)


def brought(tmp_path, *sources):
    """The capture, and what its coverage lists as not read."""
    dest = str(tmp_path / "made.zip")
    imports.bring(dest, sources, False)
    capture = Capture(dest)
    unread = {name: one["refused"][""] for name, one in capture.manifest["coverage"].items() if not one["answered"]}
    return capture, unread


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_a_configuration_in_another_encoding_is_read(tmp_path, encoding):
    capture, _unread = brought(tmp_path, folder(tmp_path / "in", **{"configs/leaf.cfg": CONFIG.encode(encoding)}))
    text = capture.files["snapshot/configs/switch-001.cfg"].decode()
    assert "   mtu 9214\n" in text
    assert "nchen" not in text


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_objects_and_resources_in_another_encoding_are_read(tmp_path, encoding):
    sources = folder(
        tmp_path / "in",
        **{
            "saved/0000-HostSystem-host-1.xml": HOST.replace("esx1", "münchen").encode(encoding),
            "mockup/redfish/v1/index.json": ROOT.replace("}", ', "Name": "ü"}').encode(encoding),
        },
    )
    capture, unread = brought(tmp_path, sources)
    assert "host-001" in capture.files["vcenter/0000-HostSystem-host-1.xml"].decode()
    assert "bmcs/bmc-001/redfish/v1/index.json" in capture.files
    assert "HostSystem-host-1" not in unread


def test_parts_of_a_snapshot_that_are_left_out_are_named(tmp_path):
    source = folder(
        tmp_path / "in",
        **{
            "configs/a.cfg": CONFIG,
            "configs/b.cfg": CONFIG,
            "configs/binary.cfg": b"\0\1\2",
            "batfish/layer1_topology.json": '{"edges": []}',
            "hosts/h.json": "{}",
            "sonic_configs/leaf/config_db.json": "{}",
        },
    )
    os.symlink("/etc/hostname", os.path.join(source, "configs", "link.cfg"))
    _capture, unread = brought(tmp_path, source)
    found = [reason for name, reason in unread.items() if name.startswith("snapshot ")]
    assert sorted(found) == sorted(
        [
            "not read: another file has the same host name",
            *2 * ["not read: it is no text, a link, or too large"],
            *3 * [ONLY_CONFIGS],
        ]
    )
    assert {name.rpartition("/")[2] for name, reason in unread.items() if reason == ONLY_CONFIGS} == {
        "batfish",
        "hosts",
        "sonic_configs",
    }


def test_a_snapshot_has_folders_for_switches_and_the_second_time_of_a_switch_is_named(tmp_path):
    spine = CONFIG.replace("hostname ", "hostname second-")
    assert spine != CONFIG
    one = folder(tmp_path / "one", **{"configs/rack1/leaf.cfg": CONFIG, "configs/rack2/spine.cfg": spine})
    two = folder(tmp_path / "two", **{"configs/leaf.cfg": CONFIG})
    capture, unread = brought(tmp_path, one, two)
    assert [name for name in capture.files if name.startswith("snapshot")] == [
        "snapshot/configs/switch-001.cfg",
        "snapshot/configs/switch-002.cfg",
    ]
    (twice,) = [reason for name, reason in unread.items() if name.startswith("snapshot ")]
    assert twice == "not read: another file has the same host name"


def test_files_of_one_name_in_the_folders_of_switches_are_those_of_their_switches(tmp_path):
    texts = {"a": f"! Command: show running-config\n{CONFIG}", "b": "ip routing\n", "c": "no ip routing\n"}
    source = folder(tmp_path, **{f"configs/{name}/running-config.cfg": text for name, text in texts.items()})
    capture, _unread = brought(tmp_path, source)
    found = [text.decode() for name, text in capture.files.items() if name.startswith("snapshot")]
    assert [text.splitlines()[0] for text in found] == ["! Command: show running-config", "ip routing", "no ip routing"]


def test_objects_below_a_folder_named_configs_are_read(tmp_path):
    capture, _unread = brought(tmp_path, folder(tmp_path, **{"configs/saved/0000-HostSystem-host-1.xml": HOST}))
    assert capture.is_read("HostSystem-host-1")


def test_objects_of_two_vcenters_are_rejected(tmp_path):
    one = folder(tmp_path / "one", **{"0000-HostSystem-host-1.xml": HOST})
    other = folder(tmp_path / "other", **{"0000-HostSystem-host-1.xml": HOST.replace("esx1", "esx9")})
    with pytest.raises(OperatorError, match="two vCenters.*--out"):
        brought(tmp_path, one, other)
    assert not (tmp_path / "made.zip").exists()


def test_a_folder_with_two_saves_names_the_second_one(tmp_path):
    source = folder(
        tmp_path / "in",
        **{"0000-HostSystem-host-1.xml": HOST, "0007-HostSystem-host-1.xml": HOST.replace("esx1", "esx9")},
    )
    capture, unread = brought(tmp_path, source)
    assert capture.is_read("HostSystem-host-1")
    (name,) = [one for one in unread if one.startswith("file ")]
    assert unread[name].endswith("Another file has the same object: the folder has two saves.")


def test_a_zip_of_a_snapshot_and_of_a_mockup_is_read(tmp_path):
    files = {"lab/configs/leaf.cfg": CONFIG, "lab/redfish/v1/index.json": ROOT}
    capture, _unread = brought(tmp_path, packed(tmp_path / "site.zip", files))
    assert {"snapshot/configs/switch-001.cfg", "bmcs/bmc-001/redfish/v1/index.json"} <= set(capture.files)
    everything = "".join(text.decode() for text in capture.files.values()) + json.dumps(capture.manifest)
    assert str(tmp_path) not in everything


@pytest.mark.parametrize("name", ["../configs/leaf.cfg", "/tmp/configs/leaf.cfg", "a\\..\\configs\\leaf.cfg"])
def test_a_zip_whose_names_lead_out_of_it_is_rejected(tmp_path, name):
    with pytest.raises(OperatorError, match="lead out of it"):
        brought(tmp_path, packed(tmp_path / "site.zip", {name: CONFIG, "configs/ok.cfg": CONFIG}))


def test_a_link_in_a_zip_is_not_followed(tmp_path):
    link = zipfile.ZipInfo("configs/link.cfg")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "site.zip", "w") as made:
        made.writestr(link, "/etc/hostname")
        made.writestr("configs/leaf.cfg", CONFIG)
    capture, _unread = brought(tmp_path, str(tmp_path / "site.zip"))
    assert [name for name in capture.files if name.startswith("snapshot")] == ["snapshot/configs/switch-001.cfg"]


def tarred(path, files):
    with tarfile.open(path, "w:gz") as made:
        for name, text in files.items():
            row = tarfile.TarInfo(name)
            row.size = len(text)
            made.addfile(row, io.BytesIO(text.encode()))
        link = tarfile.TarInfo("configs/link.cfg")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        made.addfile(link)
    return str(path)


def test_a_tgz_of_a_save_and_of_a_mockup_is_read(tmp_path):
    files = {"vc/0000-HostSystem-host-1.xml": HOST, "bmc/redfish/v1/index.json": ROOT, "configs/leaf.cfg": CONFIG}
    capture, _unread = brought(tmp_path, tarred(tmp_path / "site.tar.gz", files))
    assert {name.partition("/")[0] for name in capture.files} == {"bmcs", "snapshot", "vcenter"}
    assert [name for name in capture.files if name.startswith("snapshot")] == ["snapshot/configs/switch-001.cfg"]


@pytest.mark.parametrize("name", ["../configs/leaf.cfg", "/tmp/configs/leaf.cfg"])
def test_a_tgz_whose_names_lead_out_of_it_is_rejected(tmp_path, name):
    with pytest.raises(OperatorError, match="lead out of it"):
        brought(tmp_path, tarred(tmp_path / "site.tgz", {name: CONFIG}))


def test_a_zip_that_unpacks_to_too_much_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(imports.bundle, "MOST_BYTES", 100)
    with pytest.raises(OperatorError, match="more than .* 100 bytes"):
        brought(tmp_path, packed(tmp_path / "site.zip", {"configs/leaf.cfg": CONFIG * 9}))


def test_a_capture_is_no_source_of_an_import(tmp_path):
    brought(tmp_path, folder(tmp_path / "in", **{"configs/a.cfg": CONFIG}))
    with pytest.raises(OperatorError, match="It is a capture"):
        imports.bring(str(tmp_path / "other.zip"), [str(tmp_path / "made.zip")], False)


def encrypted(data):
    """The bit of the encryption, in the header of the file and in the directory of the archive."""
    for start, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.index(start) + flags
        data = data[:place] + bytes([data[place] | 1]) + data[place + 1 :]
    return data


@pytest.mark.parametrize(
    "spoil, words",
    [
        (lambda data: data[:-60], "The archive is cut off or damaged: .* Copy it again"),
        (lambda data: data.replace(b"hostname", b"hostnamf"), "The archive is cut off or damaged: .* Copy it again"),
        (encrypted, "The archive is encrypted, or .* Unpack it"),
    ],
)
def test_a_damaged_or_encrypted_zip_is_rejected(tmp_path, spoil, words):
    path = tmp_path / "site.zip"
    packed(path, {"configs/leaf.cfg": CONFIG})
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(OperatorError, match=words):
        brought(tmp_path, str(path))


def test_a_mockup_without_the_resources_that_link_others_is_read(tmp_path):
    system = {"Id": "1", "UUID": "4c4c4544-0042-3510-8052-b4c04f4e3532", "Model": "PowerEdge XE9680"}
    sources = folder(
        tmp_path / "bmc-a",
        **{
            "redfish/v1/Systems/1/index.json": json.dumps(system),
            "redfish/v1/Systems/1/Bios/index.json": json.dumps({"Attributes": {"SriovGlobalEnable": "Enabled"}}),
            "redfish/v1/SessionService/Sessions/1/index.json": json.dumps({"UserName": "jane"}),
        },
    )
    capture, unread = brought(tmp_path, sources)
    place = "bmcs/bmc-001/redfish/v1/Systems/1"
    assert {f"{place}/index.json", f"{place}/Bios/index.json"} <= set(capture.files)
    assert not any("Session" in name for name in capture.files)
    assert "no file in the imported mockup" in unread["bmc bmc-001/redfish/v1"]
