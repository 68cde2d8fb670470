"""A capture sends only the requests that its page lists, contains no text of the site, and continues after a kill."""

from __future__ import annotations

import copy
import json
import re
import zipfile
from pathlib import Path

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import fields, objects, reader, run
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.rest import Rest
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.transport import is_repeatable
from pyVmomi import VmomiSupport

from house.collection import ROOT
from vsphere_twin.model.seed import SEEDS

PAGE = (ROOT / "docs" / "capture_requests.md").read_text()
LOGIN = {"RetrieveServiceContent", "Login", "Logout", "GET vimServiceVersions.xml"}
SESSION = {"POST /api/session", "DELETE /api/session"}


@pytest.fixture
def capture(twin, drive, tmp_path):
    running = twin("small")
    tagging = running.world.tagging
    tag = tagging.add_tag(running.world, "row-7", tagging.add_category(running.world, "rack"))
    tagging.attach(tag, "HostSystem", running.world.of_kind("HostSystem")[0].moid)
    module = drive(running)
    return running, lambda **params: module("site_capture_info", dest=str(tmp_path / "site.zip"), **params)


def test_a_capture_sends_only_the_requests_that_the_page_lists(capture):
    running, module = capture
    answer = module()
    assert not answer["failed"], answer["msg"]
    sent = set(running.requests) - LOGIN - SESSION
    rest = {one.replace("{kind}", "library") for one in sent if "/" in one}
    assert {one for one in sent if "/" not in one} <= set(reader.METHODS)
    assert rest == {
        *(f"GET {path.partition('?')[0]}" for path in reader.PATHS),
        *(f"POST {one}" for one in reader.POSTS),
    }
    assert not [name for name in reader.METHODS if f"`{name}`" not in PAGE]
    assert not [path for path in (*reader.PATHS, *reader.POSTS) if f"`{path}`" not in PAGE]
    assert all(is_repeatable(name) or name == "ContinueRetrievePropertiesEx" for name in reader.METHODS)
    assert not running.unserved


def test_vms_cost_one_request_for_twenty(twin, drive, tmp_path):
    """So a site with 1,000 VMs costs some hundred requests, and not one for each object."""
    counted = []
    for number in (2, 102):
        seed = yaml.safe_load((SEEDS / "small.yml").read_text())
        seed["datacenters"][0]["vms"][0]["count"] = number
        running = twin(seed)
        answer = drive(running)("site_capture_info", dest=str(tmp_path / f"{number}.zip"))
        assert not answer["failed"], answer["msg"]
        objects = [name for name in Capture(answer["dest"]).files if "-VirtualMachine-" in name]
        counted.append((len(objects), sum(running.requests.values())))
    (few, before), (many, after) = counted
    assert (many - few, after - before) == (100, 5), counted


def test_what_a_source_refuses_is_in_the_coverage(capture):
    _running, module = capture
    answer = module()
    (path,) = [name for name in answer["refused"] if name.endswith("/software")]
    assert answer["refused"][path] == {"": "400 INVALID_ARGUMENT"}
    found = Capture(answer["dest"])
    assert not found.is_read(path)
    assert found.is_read(path.replace("/software", "/enablement/software"))
    assert answer["sources"]["unread"] == len(answer["refused"])


def plant(value, canaries, seen):
    """Put a canary into every text of an object that is no word of vSphere's own lists."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, list):
        for number, one in enumerate(value):
            if isinstance(one, str) and not objects.is_enum(one):
                canaries.append(f"canary{len(canaries):05}x")
                list.__setitem__(value, number, f"{one} {canaries[-1]}")
            else:
                plant(one, canaries, seen)
    elif isinstance(value, VmomiSupport.DataObject):
        for info in value._GetPropertyList():
            one = getattr(value, info.name)
            if {info.name, f"{value._wsdlName}.{info.name}"} & fields.KEPT and not isinstance(
                one, VmomiSupport.DataObject
            ):
                continue
            if isinstance(one, str) and not objects.is_enum(one):
                canaries.append(f"canary{len(canaries):05}x")
                value.__dict__[info.name] = f"{one} {canaries[-1]}"
            else:
                plant(one, canaries, seen)


def plant_in_json(value, canaries, field=""):
    """Put a canary into every text of an answer in JSON, beside the fields that describe products."""
    if isinstance(value, dict):
        return {name: plant_in_json(one, canaries, name) for name, one in value.items()}
    if isinstance(value, list):
        return [plant_in_json(one, canaries, field) for one in value]
    if not isinstance(value, str) or field in fields.KEPT:
        return value
    canaries.append(f"canaryrest{len(canaries):05}x")
    return f"{value} {canaries[-1]}"


def test_planted_texts_are_nowhere_in_the_capture(capture, monkeypatch):
    _running, module = capture
    canaries, seen, copies = [], set(), []
    content, response = objects.content, objects.response

    def planted(row, scrub):
        values = dict(row.values)
        for name, value in values.items():
            if isinstance(value, str) and not objects.is_enum(value) and name not in fields.KEPT:
                canaries.append(f"canary{len(canaries):05}x")
                values[name] = f"{value} {canaries[-1]}"
            plant(value, canaries, seen)
        return content(Row(row.ref, values, row.missing), scrub)

    def answered(value, scrub):
        # The capture reads on with the keys in an answer.
        value = copy.deepcopy(value)
        copies.append(value)
        plant(value, canaries, seen)
        return response(value, scrub)

    call = Rest.call

    def rest(self, *given, **options):
        found = call(self, *given, **options)
        rows = isinstance(found, list) and any(isinstance(one, dict) for one in found)
        return plant_in_json(found, canaries) if isinstance(found, dict) or rows else found

    monkeypatch.setattr(objects, "content", planted)
    monkeypatch.setattr(objects, "response", answered)
    monkeypatch.setattr(Rest, "call", rest)
    answer = module()
    assert not answer["failed"], answer["msg"]
    assert len(canaries) > 300
    assert [one for one in canaries if one.startswith("canaryrest")] != []
    with zipfile.ZipFile(answer["dest"]) as found:
        text = "\n".join(found.read(name).decode() + name for name in found.namelist())
    assert re.findall(r".*canary.*", text) == []
    assert "canary" in Path(answer["secret"]).read_text()


def test_no_name_of_the_site_is_in_the_capture(capture):
    running, module = capture
    answer = module()
    found = Capture(answer["dest"])
    everything = "\n".join(text.decode() + name for name, text in found.files.items()) + json.dumps(found.manifest)
    named = {*(vm.name for vm in running.world.of_kind("VirtualMachine")), *running.world.users}
    named |= {host.name for host in running.world.of_kind("HostSystem")}
    assert [name for name in sorted(named) if name in everything] == []


def test_the_check_finds_nothing_that_was_collected(capture):
    _running, module = capture
    answer = module()
    assert answer["left"] == {}
    assert Capture(answer["dest"]).manifest["check"]["searched"]["originals"] > 30


def test_a_text_that_is_left_is_found(capture, monkeypatch):
    running, module = capture
    content = objects.content
    (name,) = [host.name for host in running.world.of_kind("HostSystem")][:1]

    def leaks(row, scrub):
        return f"{content(row, scrub)}\n<!-- {name} 10.77.1.9 -->\n"

    monkeypatch.setattr(objects, "content", leaks)
    assert set(module()["left"]) == {"IPv4 address", "collected original"}


def test_words_of_the_rest_services_stay(capture):
    running, module = capture
    found = Capture(module()["dest"])
    (category,) = [name for name in found.files if name.startswith("rest/api/cis/tagging/category/")]
    assert json.loads(found.files[category])["cardinality"] == "SINGLE"
    library = json.loads(found.files["rest/api/content/library/001.json"])
    assert (library["type"], library["storage_backings"][0]["type"]) == ("LOCAL", "DATASTORE")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT.*", library["creation_time"])
    items = [json.loads(found.files[f"rest/api/content/library/001/item/00{number}.json"]) for number in (1, 2, 3)]
    assert [one["type"] for one in items] == ["vm-template", "ovf", "iso"]
    (template,) = [vm.moid for vm in running.world.of_kind("VirtualMachine") if vm.template]
    behind = json.loads(found.files["rest/api/content/library/001/item/001/template.json"])
    assert behind["vm_template"] == template


def test_the_objects_of_a_tag_have_the_identifiers_of_the_capture(capture, monkeypatch):
    running, module = capture
    tagging = running.world.tagging
    category = tagging.add_category(running.world, "rail", cardinality="MULTIPLE")
    tagging.attach(tagging.add_tag(running.world, "odd", category), "VirtualMachine", "vm-101")
    tagging.add_tag(running.world, "unused", category)
    monkeypatch.setattr(reader, "TAGS_AT_ONCE", 1)
    found = Capture(module()["dest"])
    tags = [json.loads(found.files[f"rest/api/cis/tagging/tag/00{number}.json"])["id"] for number in (1, 2, 3)]
    rows = [json.loads(found.files[f"rest/api/cis/tagging/tag-association/00{number}.json"]) for number in (1, 2, 3)]
    (host, *_others) = [one.moid for one in running.world.of_kind("HostSystem")]
    assert rows == [
        [{"tag_id": tags[0], "object_ids": [{"id": host, "type": "HostSystem"}]}],
        [{"tag_id": tags[1], "object_ids": [{"id": "vm-101", "type": "VirtualMachine"}]}],
        [],
    ]


def test_more_items_than_a_capture_reads_are_skipped_by_name(capture, monkeypatch):
    _running, module = capture
    monkeypatch.setattr(reader, "MOST_ITEMS", 2)
    answer = module()
    rows = Capture(answer["dest"]).manifest["coverage"]
    skipped = {name: row["skipped"] for name, row in rows.items() if row.get("skipped")}
    assert skipped == {"/api/content/library/001/item/003": "The libraries have more than 2 items."}


def test_a_killed_capture_continues_with_what_is_left(capture, monkeypatch):
    running, module = capture
    whole = module()
    first = Capture(whole["dest"])
    save, left = reader.Reader._save, [30]

    def killed(self):
        save(self)
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    monkeypatch.setattr(reader.Reader, "_save", killed)
    with pytest.raises(KeyboardInterrupt):
        module()
    monkeypatch.setattr(reader.Reader, "_save", save)
    with monkeypatch.context() as other:
        other.setattr(run, "origin", lambda vcenter: "another vCenter")
        assert "An unfinished capture of another vCenter" in module()["msg"]
    running.requests.clear()
    again = module()
    assert again["resumed"]
    assert not whole["resumed"]
    assert running.requests["RetrievePropertiesEx"] < 60
    assert set(Capture(again["dest"]).files) == set(first.files)
