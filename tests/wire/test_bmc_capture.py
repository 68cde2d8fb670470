"""A capture of a BMC reads only the listed resources, contains no text of the server, and survives what BMCs send."""

from __future__ import annotations

import json
import re

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import redfish, redfish_tree, redfish_words
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import captured, session

from house.collection import ROOT

from .rows.bios_settings import DELL

PAGE = (ROOT / "docs" / "capture_requests.md").read_text()
LOGIN = re.compile(r"POST /redfish/v1/SessionService/Sessions/?|DELETE /redfish/v1/SessionService/Sessions/\w+/?")


@pytest.fixture
def bmcs(twin, drive, tmp_path):
    running = twin("factory", faces=("redfish",))
    module = drive(running)
    dest = str(tmp_path / "site.zip")
    return running, lambda at, **params: module("bmc_capture_info", at=at, dest=dest, **params)


def vendors(running):
    """One host of each vendor."""
    return {host.bmc.vendor: host for host in running.world.of_kind("HostSystem")}


def test_a_capture_reads_only_the_resources_that_the_page_lists(bmcs):
    running, module = bmcs
    for vendor, host in vendors(running).items():
        host.bmc.requests.clear()
        answer = module(host.name)
        assert not answer["failed"], answer["msg"]
        sent = [one for one in host.bmc.requests if not LOGIN.fullmatch(one)]
        paths = [one.removeprefix("GET ").rstrip("/").removeprefix("/redfish/v1").strip("/") for one in sent]
        listed = [one for one in paths if redfish_tree._FORMS.fullmatch(one)]
        linked = set(paths) - set(listed)
        registry = {one for one in linked if host.bmc.table.registry in one or "Registry" in one}
        settings = linked - registry
        assert all(one.startswith("GET ") for one in sent), vendor
        assert len(registry) == 2, (vendor, linked)
        assert [one.lower().rpartition("/")[0] for one in settings] == [f"systems/{system_of(paths)}/bios"], linked
        assert answer["lost"] == ""
        assert answer["refused"] == {}, vendor


def system_of(paths):
    (found,) = {one.split("/")[1].lower() for one in paths if one.lower().startswith("systems/")}
    return found


def test_the_page_lists_each_resource():
    forms = [one or "(service root)" for one in redfish_tree.RESOURCES]
    assert [one for one in [*forms, *redfish_tree.BY_LINK] if f"`{one}`" not in PAGE] == []


def test_a_capture_keeps_what_the_collection_reads(bmcs):
    running, module = bmcs
    for host in vendors(running).values():
        answer = module(host.name)
        own = answer["source"].removeprefix("bmc ")
        files = Capture(answer["dest"]).files
        bodies = {name: json.loads(text) for name, text in files.items() if name.startswith(f"bmcs/{own}/")}
        (bios,) = [body for name, body in bodies.items() if re.search(r"/Bios/index", name)]
        own_texts = ("SerialNumber", "ServerName", "SystemServiceTag")
        read = {name: value for name, value in bios["Attributes"].items() if name not in own_texts}
        assert read == {name: value for name, value in host.bmc.active.items() if name not in own_texts}
        registries = [body for body in bodies.values() if "RegistryEntries" in body]
        assert len(registries) == 1
        assert {one["AttributeName"] for one in registries[0]["RegistryEntries"]["Attributes"]} >= set(host.bmc.active)
        folders = {name.removeprefix(f"bmcs/{own}").removesuffix("/index.json") for name in bodies}
        assert {body["@odata.id"].rstrip("/") for body in bodies.values()} == folders


def test_planted_texts_are_nowhere_in_the_capture(bmcs, monkeypatch, tmp_path):
    running, module = bmcs
    planted, walk = [], redfish_tree.walk

    def plant(get, system_id=None):
        tree = walk(get, system_id)
        tree.bodies = {path: plant_in(body, planted) for path, body in tree.bodies.items()}
        return tree

    monkeypatch.setattr(redfish_tree, "walk", plant)
    for host in vendors(running).values():
        answer = module(host.name)
        assert not answer["failed"], answer["msg"]
    capture = Capture(answer["dest"])
    everything = "\n".join(text.decode() + name for name, text in capture.files.items()) + json.dumps(capture.manifest)
    assert len(planted) > 300
    assert re.findall(r".*(?:canary|hunter|10\.77\.|0c42a1be|finance).*", everything) == []
    for host in running.world.of_kind("HostSystem"):
        assert [text for text in (host.name, host.uuid, host.hardware.serial) if text in everything] == []


def plant_in(value, planted, key=""):
    """Put a canary into each text that describes no product, beside the vendor's registry of BIOS attributes."""
    if isinstance(value, dict):
        made = {
            name: one if name in ("RegistryEntries", "@odata.id") else plant_in(one, planted, name)
            for name, one in value.items()
        }
        planted += [f"canary{len(planted) + number:05}x" for number in range(3)]
        more = {"Location": {"Info": planted[-1]}, "Password": "hunter2", "AssetTag": f"{planted[-1]}-finance"}
        more.update(Description=planted[-2], Oem={"Contoso": {planted[-3].replace("x", " x"): planted[-3]}})
        return {**made, **more, "MACAddress": "0c:42:a1:be:00:42", "IPv4Addresses": [{"Address": "10.77.1.9"}]}
    if isinstance(value, list):
        return [plant_in(one, planted, key) for one in value]
    # These describe products, or are the links that the walk needed.
    kept = key in redfish_words.KEPT or key.endswith("@Redfish.AllowableValues") or redfish.PRODUCT.search(key)
    if not isinstance(value, str) or kept or key in ("AttributeRegistry", "Registry"):
        return value
    planted.append(f"canary{len(planted):05}x")
    return f"{value} {planted[-1]}"


def test_a_bmc_that_fails_is_in_the_coverage_and_does_not_fail_the_task(bmcs):
    running, module = bmcs
    answer = module(DELL, bmc_password="wrong")
    assert not answer["failed"]
    assert answer["lost"] == "bmc_login_refused"
    found = Capture(answer["dest"])
    assert not found.is_read(answer["source"])
    assert "wrong" not in json.dumps(found.manifest)
    assert [name for name in found.files if name.startswith("bmcs/")] == []


def test_two_bmcs_are_two_sources_of_one_capture(bmcs):
    running, module = bmcs
    hosts = list(vendors(running).values())[:2]
    sources = [module(host.name)["source"] for host in hosts]
    assert sources == ["bmc bmc-001", "bmc bmc-002"]
    again = module(hosts[0].name)
    assert again["source"] == "bmc bmc-001"
    folders = {name.split("/")[1] for name in Capture(again["dest"]).files}
    assert folders == {"bmc-001", "bmc-002"}


def test_a_bmc_that_breaks_off_has_its_first_resources_and_the_reason(bmcs, monkeypatch):
    _running, module = bmcs
    look, asked = session.Bmc.look, []

    def breaks(self, path):
        asked.append(path)
        if len(asked) > 3:
            raise captured.OperatorError("bmc", "cannot", "It broke.", "", "bmc_unreachable")
        return look(self, path)

    monkeypatch.setattr(session.Bmc, "look", breaks)
    answer = module(DELL)
    assert answer["lost"] == "bmc_unreachable"
    assert answer["sources"] == {"answered": 3, "unread": 3}
