"""Uploads to content libraries, downloads of them, and VMs of what was uploaded, over REST and HTTPS."""

from __future__ import annotations

import hashlib
import io
import tarfile

import pytest
from pyVmomi import vim

from twin_labs.any_client import connected, ovf_text
from vsphere_twin.model import vmdk

ITEM = "content/library/item"
DISK = vmdk.empty(2 * 2**30)
OVF = ovf_text(size=len(DISK)).encode()


@pytest.fixture(scope="module")
def client():
    with connected() as started:
        yield started


@pytest.fixture
def session(client, request):
    """An update session of a new item of type ovf: its id, and that of the item."""
    name = request.node.name
    wanted = {"library_id": library(client), "name": name, "type": "ovf"}
    item = answer(client, "POST", ITEM, wanted, 201)
    return answer(client, "POST", f"{ITEM}/update-session", {"library_item_id": item}, 201), item


def answer(client, verb, path, body=None, status=200):
    got, value = client.rest(verb, path, body)
    assert got == status, value
    return value


def refused(client, verb, path, body=None):
    status, value = client.rest(verb, path, body)
    assert status >= 400, value
    return value["error_type"]


def library(client):
    (found,) = answer(client, "POST", "content/library?action=find", {"name": "images"})
    return found


def add(client, session, name, data, **more):
    """Announce a file, and upload it to the address in the answer; the status of the upload."""
    spec = {"name": name, "source_type": "PUSH", "size": len(data), **more}
    shown = answer(client, "POST", f"{ITEM}/update-session/{session}/file", spec)
    assert shown["status"] == "WAITING_FOR_TRANSFER"
    address = shown["upload_endpoint"]["uri"]
    return client.ask("PUT", address.partition("//")[2].partition("/")[1] + address.split("/", 3)[3], data)[0]


def complete(client, session, status=204):
    return answer(client, "POST", f"{ITEM}/update-session/{session}?action=complete", None, status)


def target(client):
    cluster = client.find(vim.ClusterComputeResource, "gpu")
    return {"resource_pool_id": cluster.resourcePool._moId}


def archive(*members, **headers):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, data in members:
            member = tarfile.TarInfo(name)
            member.size, member.pax_headers = (
                len(data),
                {name.replace("_", "."): value for name, value in headers.items()},
            )
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


def test_an_ovf_is_uploaded_deployed_and_downloaded(client, session):
    update, item = session
    sha = {"algorithm": "SHA256", "checksum": hashlib.sha256(DISK).hexdigest()}
    path = f"{ITEM}/update-session/{update}"
    assert answer(client, "GET", path)["preview_info"] == {"state": "UNAVAILABLE"}
    assert add(client, update, "appliance.ovf", OVF) == 201
    assert answer(client, "GET", path)["preview_info"] == {"state": "AVAILABLE", "warnings": []}
    assert refused(client, "POST", f"{ITEM}/update-session", {"library_item_id": item}) == "RESOURCE_BUSY"
    report = answer(client, "POST", f"{ITEM}/update-session/{update}/file?action=validate")
    assert (report["has_errors"], report["missing_files"]) == (True, ["disk.vmdk"])
    assert add(client, update, "disk.vmdk", DISK, checksum_info=sha) == 201
    complete(client, update)
    shown = answer(client, "GET", f"{ITEM}/update-session/{update}")
    assert (shown["state"], shown["library_item_id"]) == ("DONE", item)
    assert shown["expiration_time"]
    shown = answer(client, "GET", f"{ITEM}/{item}")
    assert (shown["size"], shown["content_version"], shown["version"]) == (len(OVF) + len(DISK), "2", "2")
    files = answer(client, "GET", f"{ITEM}/file?library_item_id={item}")
    assert {one["name"]: one["size"] for one in files} == {"appliance.ovf": len(OVF), "disk.vmdk": len(DISK)}
    for path, key in (("file", "name"), ("storage", "file_name")):  # in the form of before 7.0 Update 2
        assert "disk.vmdk" in str(answer(client, "POST", f"{ITEM}/{path}/{item}?action=get", {key: "disk.vmdk"}))
        assert refused(client, "POST", f"{ITEM}/{path}/{item}?action=get", {key: "none"}) == "NOT_FOUND"

    content = answer(client, "POST", f"vcenter/ovf/library-item/{item}?action=filter", {"target": target(client)})
    assert (content["networks"], content["EULAs"]) == (["net"], ["Agree."])
    group = client.find(vim.dvs.DistributedVirtualPortgroup, "pg-train")._moId
    spec = {"name": "deployed", "network_mappings": {"net": group}, "storage_provisioning": "thin"}
    body = {"target": target(client), "deployment_spec": spec}
    made = answer(client, "POST", f"vcenter/ovf/library-item/{item}?action=deploy", body)
    assert not made["succeeded"]  # the licence is not accepted
    spec["accept_all_EULA"] = True
    made = answer(client, "POST", f"vcenter/ovf/library-item/{item}?action=deploy", body)
    assert made["succeeded"], made
    vm = client.find(vim.VirtualMachine, "deployed")
    assert (vm._moId, vm.config.hardware.memoryMB) == (made["resource_id"]["id"], 2048)
    assert [one.name for one in vm.network] == ["pg-train"]
    made = answer(client, "POST", f"vcenter/ovf/library-item/{item}?action=deploy", body)
    assert "already exists" in made["error"]["errors"][0]["error"]["messages"][0]["default_message"]
    client.done(vm.Destroy_Task())

    down = answer(client, "POST", f"{ITEM}/download-session", {"library_item_id": item}, 201)
    old = f"{ITEM}/downloadsession/file"
    assert len(answer(client, "GET", f"{old}?download_session_id={down}")) == 2
    answer(client, "POST", f"{old}/{down}?action=prepare", {"file_name": "disk.vmdk"})
    ready = answer(client, "POST", f"{old}/{down}?action=get", {"file_name": "disk.vmdk"})
    assert (ready["status"], ready["checksum_info"]["checksum"]) == ("PREPARED", hashlib.sha1(DISK).hexdigest())
    assert client.ask("GET", "/" + ready["download_endpoint"]["uri"].split("/", 3)[3]) == (200, DISK)
    assert client.ask("GET", f"/cls/data/{down}/appliance.ovf")[0] == 404  # it was not prepared
    answer(client, "DELETE", f"{ITEM}/download-session/{down}", None, 204)
    assert client.ask("GET", f"/cls/data/{down}/disk.vmdk")[0] == 404


def test_an_archive_is_unpacked(client, session):
    update, item = session
    manifest = f"SHA1(disk.vmdk)= {hashlib.sha1(DISK).hexdigest()}\n".encode()
    data = archive(("appliance.ovf", OVF), ("disk.vmdk", DISK), ("appliance.mf", manifest))
    assert add(client, update, "appliance.ova", data) == 201
    complete(client, update)
    files = answer(client, "GET", f"{ITEM}/file?library_item_id={item}")
    assert [one["name"] for one in files] == ["appliance.ovf", "disk.vmdk", "appliance.mf"]


@pytest.mark.parametrize(
    "files, said",
    [
        ({"a.ova": archive(("a.ovf", OVF), ("disk.vmdk", DISK))[: -4096 - len(DISK)]}, "OVA"),
        ({"a.ova": archive(("../../a.ovf", OVF))}, "no file in its folder"),
        ({"a.ova": archive(("/etc/a.ovf", OVF))}, "no file in its folder"),
        ({"a.ova": b"no archive"}, "cannot be read"),
        ({"a.ova": archive(("a.ovf", b""), GNU_sparse_map="0,0", GNU_sparse_size="9" * 12)}, "no file in its folder"),
        ({"a.ovf": OVF}, "disk.vmdk is missing"),
        ({"disk.vmdk": DISK}, "*.ovf is missing"),
        ({"a.ovf": OVF, "disk.vmdk": DISK[:-512]}, "names"),
        ({"a.ovf": b"<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"}, "not valid XML"),
        ({"a.ovf": OVF, "disk.vmdk": DISK, "a.mf": b"SHA256(disk.vmdk)= 00\n"}, "manifest"),
    ],
)
def test_wrong_content_is_never_completed(client, session, files, said):
    update, item = session
    for name, data in files.items():
        assert add(client, update, name, data) == 201
    got = complete(client, update, 400)
    assert got["error_type"] == "NOT_ALLOWED_IN_CURRENT_STATE"
    assert said in " ".join(one["default_message"] for one in got["messages"])
    assert answer(client, "GET", f"{ITEM}/file?library_item_id={item}") == []
    body = {"target": target(client), "deployment_spec": {"name": "none"}}
    deploy = f"vcenter/ovf/library-item/{item}?action=deploy"
    assert refused(client, "POST", deploy, body) == "NOT_ALLOWED_IN_CURRENT_STATE"


def test_uploads_are_checked_by_size_and_checksum(client, session):
    update, _item = session
    file = f"{ITEM}/update-session/{update}/file"
    for wrong in ({"name": "../x"}, {"name": ""}, {"name": "x", "size": -1}, {"name": "x", "source_type": "MAIL"}):
        assert refused(client, "POST", file, {"source_type": "PUSH", **wrong}) == "INVALID_ARGUMENT"
    for wrong in ({"size": True}, {"checksum_info": [1]}, {"checksum_info": {"checksum": 5}}):
        assert refused(client, "POST", file, {"name": "x", "source_type": "PUSH", **wrong}) == "INVALID_ARGUMENT"
    huge = {"name": "x", "source_type": "PUSH", "size": 10**15}
    assert refused(client, "POST", file, huge) == "UNABLE_TO_ALLOCATE_RESOURCE"
    pull = {"name": "x", "source_type": "PULL", "source_endpoint": {"uri": "http://192.0.2.1/x"}}
    assert refused(client, "POST", file, pull) == "RESOURCE_INACCESSIBLE"
    assert add(client, update, "short.iso", b"four", size=5) == 500
    assert add(client, update, "long.iso", b"four", size=3) == 400
    sum_ = {"algorithm": "SHA1", "checksum": "0" * 40}
    assert add(client, update, "wrong.iso", b"four", checksum_info=sum_) == 201
    states = {one["name"]: one["status"] for one in answer(client, "GET", file)}
    assert states == {"short.iso": "ERROR", "long.iso": "WAITING_FOR_TRANSFER", "wrong.iso": "ERROR"}
    assert complete(client, update, 400)["error_type"] == "NOT_ALLOWED_IN_CURRENT_STATE"
    assert client.ask("PUT", f"/cls/data/{update}/none", b"x")[0] == 404
    answer(client, "POST", f"{ITEM}/update-session/{update}?action=cancel", None, 204)
    assert refused(client, "POST", file, huge) == "NOT_ALLOWED_IN_CURRENT_STATE"


def test_a_session_ends_with_its_item_and_a_failed_one_keeps_no_data(client, session):
    update, item = session
    add(client, update, "one.iso", b"data")
    answer(client, "POST", f"{ITEM}/update-session/{update}?action=fail", None, 204)
    (file,) = answer(client, "GET", f"{ITEM}/update-session/{update}/file")
    assert file["bytes_transferred"] == 0
    update = answer(client, "POST", f"{ITEM}/update-session", {"library_item_id": item}, 201)
    add(client, update, "two.iso", b"data")
    answer(client, "DELETE", f"{ITEM}/{item}", None, 204)
    assert refused(client, "POST", f"{ITEM}/update-session/{update}?action=complete") == "NOT_FOUND"
    assert client.ask("PUT", f"/cls/data/{update}/two.iso", b"x")[0] == 404


def test_an_item_is_made_of_a_vm(client):
    vm = client.find(vim.VirtualMachine, "train-01")
    body = {"name": "train-template", "library": library(client), "source_vm": vm._moId}
    item = answer(client, "POST", "vcenter/vm-template/library-items", body, 201)
    shown = answer(client, "GET", f"vcenter/vm-template/library-items/{item}")
    assert (shown["cpu"]["count"], shown["vm_template"]) == (
        16,
        client.find(vim.VirtualMachine, "train-template")._moId,
    )
    assert [nic["backing_type"] for nic in shown["nics"].values()] == ["DISTRIBUTED_PORTGROUP"]
    assert refused(client, "POST", "vcenter/vm-template/library-items", body) == "ALREADY_EXISTS"
    down = {"library_item_id": item}
    assert refused(client, "POST", f"{ITEM}/download-session", down) == "NOT_ALLOWED_IN_CURRENT_STATE"
    wrong = {**body, "name": "x", "source_vm": "vm-none"}
    assert refused(client, "POST", "vcenter/vm-template/library-items", wrong) == "NOT_FOUND"
    body = {
        "create_spec": {"name": "train-ovf"},
        "source": {"type": "VirtualMachine", "id": vm._moId},
        "target": {"library_id": library(client)},
    }
    made = answer(client, "POST", "vcenter/ovf/library-item", body)
    assert made["succeeded"]
    down = answer(client, "POST", f"{ITEM}/download-session", {"library_item_id": made["ovf_library_item_id"]}, 201)
    files = answer(client, "GET", f"{ITEM}/download-session/{down}/file")
    assert [one["name"] for one in files] == ["train-ovf.ovf", "train-ovf-1.vmdk"]
    assert refused(client, "POST", f"{ITEM}/download-session", {"library_item_id": "none"}) == "NOT_FOUND"
    assert refused(client, "GET", f"{ITEM}/download-session/none") == "NOT_FOUND"
    assert refused(client, "POST", f"{ITEM}/download-session", {"library_item_id": []}) == "INVALID_ARGUMENT"
    old = f"{ITEM}/downloadsession/file/{down}?action=get"
    assert refused(client, "POST", old, {"file_name": []}) == "INVALID_ARGUMENT"
    for progress in ("x", True, -1, 101):
        alive = f"{ITEM}/download-session/{down}?action=keep-alive"
        assert refused(client, "POST", alive, {"client_progress": progress}) == "INVALID_ARGUMENT"


def test_an_item_is_copied_and_renamed(client, session):
    update, item = session
    add(client, update, "appliance.ovf", OVF)
    add(client, update, "disk.vmdk", DISK)
    complete(client, update)
    copy = f"{ITEM}/{item}?action=copy"
    assert refused(client, "POST", copy, {"library_id": library(client)}) == "ALREADY_EXISTS"
    made = answer(client, "POST", copy, {"library_id": library(client), "name": "copied"}, 201)
    assert len(answer(client, "GET", f"{ITEM}/file?library_item_id={made}")) == 2
    answer(client, "PATCH", f"{ITEM}/{made}", {"name": "renamed", "description": "x"}, 204)
    shown = answer(client, "GET", f"{ITEM}/{made}")
    assert (shown["name"], shown["description"], shown["type"]) == ("renamed", "x", "ovf")
    assert refused(client, "PATCH", f"{ITEM}/{made}", {"name": "ubuntu-24.04"}) == "ALREADY_EXISTS"
    assert refused(client, "POST", f"{ITEM}/none?action=copy", {}) == "NOT_FOUND"
