"""Captures with data of another form load, or end in an error that names what is wrong."""

from __future__ import annotations

import json
import random
import re
import zipfile

import pytest

from twin_labs.saved import save
from vsphere_twin.capture import bundle
from vsphere_twin.capture import seed as captures
from vsphere_twin.model import seed as seeds
from vsphere_twin.model.seed_file import SeedError

HOST = "host esx-01.lab.example"
TEXTS = ("", "x", "-1", "9" * 20, "ä" * 9, "12.5", "host-99999", "A" * 100_000, "2020-13-45", "[]")
TYPES = ("Unknown", "xsd:int", "xsd:dateTime", "ArrayOfString", "ArrayOfUnknown", "HostConfigInfo", "VirtualE1000")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = save(seeds.load("small"), tmp_path_factory.mktemp("saved"))
    files = {one.name: one.read_text() for one in folder.iterdir()}
    rows = [
        {"command": "esxcli system hostname get", "file": "1.json"},
        {"command": "esxcli system settings kernel list"},
    ]
    files["hosts/host-001/esxcli/commands.json"] = json.dumps({"commands": rows})
    files["hosts/host-001/esxcli/1.json"] = json.dumps({"HostName": "esx-01"})
    files["bmcs/one/redfish/v1/Systems/1/index.json"] = json.dumps({"UUID": "x"})
    files["rest/api/cis/tagging/tag/1.json"] = json.dumps({"id": "1", "name": "a", "category_id": "2"})
    return files


def loaded(files, path):
    """The seed of these files, and the world that it makes."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    made = captures.of(path)
    seeds.from_data(made)
    return {(row["object"], row["fact"]): row["reason"] for row in made["assumptions"]}


def of(files, kind, number=0):
    return [name for name in sorted(files) if f"-{kind}-" in name][number]


def changed(text, chance):
    """One XML file with one change."""
    places = list(re.finditer(r">([^<>\n]+)</", text))
    kinds = list(re.finditer(r':type="([^"]+)"', text))
    elements = list(re.finditer(r"<(\w+)[^<>]*>[^<>]*</\1>", text))
    found, values = chance.choice([(places, TEXTS), (kinds, TYPES), (elements, ("",)), (elements, ("",))])
    if not found:
        return text
    place = chance.choice(found)
    start, end = place.span(1) if values != ("",) else place.span()
    return text[:start] + chance.choice(values) + text[end:]


@pytest.mark.parametrize("number", range(12))
def test_random_changes_end_in_assumptions(saved, tmp_path, number):
    chance, files = random.Random(number), dict(saved)
    names = [name for name in files if name.endswith(".xml") and "Datacenter" not in name]
    for name in chance.choices(names, k=30):
        files[name] = changed(files[name], chance)
    try:
        found = loaded(files, tmp_path / "one.zip")
    except SeedError as problem:
        found = str(problem)
    assert found


@pytest.mark.parametrize(
    "answer", ["[]", "{}", "null", "3", '"s"', "[1]", '{"commands": 1}', '{"commands": [1, {}]}', "{"]
)
def test_json_files_of_any_form_load(saved, tmp_path, answer):
    files = {name: answer if name.endswith(".json") else text for name, text in saved.items()}
    found = loaded(files, tmp_path / "one.zip")
    assert (HOST, "kernel settings") in found
    assert sum(thing.startswith("file ") for thing, _fact in found) == (3 if answer == "{" else 0)


def test_parts_that_are_missing_are_named(saved, tmp_path):
    files = dict(saved)
    for kind in ("VmwareDistributedVirtualSwitch", "Datastore"):
        del files[of(files, kind)]
    host, vm = of(files, "HostSystem"), of(files, "VirtualMachine")
    files[host] = re.sub(r"<ip[ >].*?</ip>", "", files[host], flags=re.DOTALL)
    files[vm] = re.sub(r'(<name>config</name><val xsi:type=")\w+', r"\1HostConfigInfo", files[vm])
    files["0999-Folder-group-v9.xml"] = "<html>"
    found = loaded(files, tmp_path / "one.zip")
    assert found[HOST, "network"].startswith("its data cannot be read: AttributeError")
    assert found["VM train-01", "devices"] == "not captured"
    assert found["VirtualMachine vm-101", "config"].startswith("it cannot be read")
    assert "file 0999-Folder-group-v9.xml" in {thing for thing, _fact in found}
    assert ("datacenter lab", "datastore") in found


def test_names_and_texts_of_files_do_no_harm(saved, tmp_path):
    more = {
        "../../evil.xml": "<a/>",
        "/etc/passwd": "x",
        "a\\b.txt": "y",
        "photo.xml": b"\xff\xfe\x00",
        "bom.json": b"\xef\xbb\xbf{}",
    }
    found = loaded({**saved, **more}, tmp_path / "one.zip")
    assert found["file photo.xml", "content"].startswith("it is no UTF-8")
    assert [one.name for one in tmp_path.iterdir()] == ["one.zip"]


def test_entities_that_grow_are_left_out(saved, tmp_path):
    rows = [f'<!ENTITY e{n} "{f"&e{n - 1};" * 100}">' for n in range(1, 6)]
    bomb = f'<!DOCTYPE x [<!ENTITY e0 "{"a" * 1000}">{"".join(rows)}]><ObjectContent><obj>&e5;</obj></ObjectContent>'
    found = loaded({**saved, "0998-Folder-group-v8.xml": bomb}, tmp_path / "one.zip")
    assert ("file 0998-Folder-group-v8.xml", "content") in found


def test_an_archive_with_too_much_in_it_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(bundle, "MOST_BYTES", 1000)
    with zipfile.ZipFile(tmp_path / "one.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("0000-Datacenter-datacenter-1.xml", "0" * 100_000)
    with pytest.raises(SeedError, match=r"1 files with 100000 bytes\. The limit is \d+ files and 1000 bytes"):
        captures.of(tmp_path / "one.zip")


@pytest.mark.parametrize(
    "manifest",
    [
        {"format": 1, "coverage": [], "vcenter": []},
        {"format": 1, "coverage": {"HostSystem-host-101": 5}, "vcenter": {"version": 8}},
        {"format": 1, "files": ["x"]},
    ],
)
def test_a_manifest_of_another_form_loads(saved, tmp_path, manifest):
    assert (HOST, "kernel settings") in loaded({**saved, "manifest.json": json.dumps(manifest)}, tmp_path / "one.zip")


TAG = {"id": "tag-1", "name": "row-7", "category_id": "c-1"}
CATEGORY = {"id": "c-1", "name": "rack", "cardinality": "SINGLE"}


@pytest.mark.parametrize(
    "rows, expected",
    [
        (None, ("tags", "objects that have them")),
        ([{"tag_id": "tag-1", "object_ids": [{"id": "lost", "type": "Item"}]}], ("tag row-7", "1 of its objects")),
        ([{"tag_id": "tag-1", "object_ids": [{"id": ["vm-101"], "type": 5}]}], ("tags", "presence")),
        (["tag-1"], ("tags", "presence")),
    ],
    ids=["no answer", "an item of a library", "types", "texts"],
)
def test_what_is_unknown_about_the_objects_of_a_tag_is_assumed(saved, tmp_path, rows, expected):
    base = "rest/api/cis/tagging"
    more = {f"{base}/tag.json": ["tag-1"], f"{base}/tag/001.json": TAG, f"{base}/category/001.json": CATEGORY}
    if rows is not None:
        more[f"{base}/tag-association/001.json"] = rows
    files = {**saved, **{name: json.dumps(one) for name, one in more.items()}}
    found = loaded(files, tmp_path / "one.zip")
    assert [one for one in found if one[0] in ("tags", "tag row-7")] == [expected]


def test_deep_structures_load(saved, tmp_path):
    parent = "<parent>" * 50_000 + "</parent>" * 50_000
    name = of(saved, "VirtualMachine")
    more = {name: re.sub("</backing>", f"{parent}</backing>", saved[name], count=1)}
    more["rest/api/content/library/001.json"] = "[" * 100_000
    found = loaded({**saved, **more}, tmp_path / "one.zip")
    assert ("file rest/api/content/library/001.json", "content") in found
    assert [why for why in found.values() if "recursion" in why] != []


def test_links_of_a_folder_are_not_followed(saved, tmp_path):
    secret, folder = tmp_path / "secret.xml", tmp_path / "saved"
    secret.write_text(saved[of(saved, "Folder")])
    folder.mkdir()
    for name, text in saved.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "0996-Folder-group-v7.xml").symlink_to(secret)
    assert "0996-Folder-group-v7.xml" not in bundle.Bundle(folder).files


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"text"])
def test_a_file_that_is_no_archive_is_rejected(tmp_path, content):
    (tmp_path / "one.zip").write_bytes(content)
    with pytest.raises(SeedError, match="the capture cannot be read"):
        captures.of(tmp_path / "one.zip")


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_archive_with_damaged_data_is_rejected(tmp_path, method):
    path = tmp_path / "one.zip"
    with zipfile.ZipFile(path, "w", method) as made:
        made.writestr("one.xml", "x" * 5000)
    content = path.read_bytes()
    start = content.index(b"one.xml") + 18
    path.write_bytes(content[:start] + b"\xff" * 12 + content[start + 12 :])
    with pytest.raises(SeedError, match="It is cut off or damaged: .* Copy it again"):
        captures.of(path)


def test_the_vms_of_a_vapp_are_in_the_pool_around_it(saved, tmp_path):
    files, name = dict(saved), of(saved, "VirtualMachine")
    pool = re.search(r'type="ResourcePool"[^>]*>([\w-]+)<', files[name])[1]
    files[name] = files[name].replace(f'type="ResourcePool">{pool}<', 'type="VirtualApp">resgroup-v9<')
    files[name] = re.sub(rf'type="ResourcePool"([^>]*)>{pool}<', r'type="VirtualApp"\1>resgroup-v9<', files[name])
    parent = f'<val XMLSchema-instance:type="ManagedObjectReference" type="ResourcePool">{pool}</val>'
    files["9999-VirtualApp-resgroup-v9.xml"] = (
        '<ObjectContent xmlns:XMLSchema-instance="http://www.w3.org/2001/XMLSchema-instance">'
        '<obj type="VirtualApp">resgroup-v9</obj><propSet><name>name</name>'
        '<val XMLSchema-instance:type="xsd:string">stack</val></propSet>'
        f"<propSet><name>parent</name>{parent}</propSet></ObjectContent>"
    )
    rows = loaded(files, tmp_path / "one.zip")
    assert [reason for (_vm, fact), reason in rows.items() if fact == "vApp"] == ["the twin has no vApps"]
