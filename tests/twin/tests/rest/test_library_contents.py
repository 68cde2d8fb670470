"""Templates that are checked out and in, subscribed libraries that follow their source, and modules of clusters."""

from __future__ import annotations

import pytest

from vsphere_twin.model import inventory, provision

CURRENT = "NOT_ALLOWED_IN_CURRENT_STATE"


@pytest.fixture
def lab(other_lab):
    """One template and one OVF in a library."""
    items = [{"name": "ubuntu", "from": "base"}, {"name": "ovf", "type": "ovf", "from": "base"}]
    vms = [{"name": "base", "template": True}, {"name": "job"}]
    return other_lab(libraries=[{"name": "images", "items": items}], vms=vms)


def path_of(client, name):
    (item,) = client.ask("POST", "/api/content/library/item?action=find", {"name": name})
    return f"/api/vcenter/vm-template/library-items/{item}"


def at(client, name):
    return inventory.find_by_path(client.lab.world, f"lab/vm/{name}")


def test_a_template_is_changed_by_a_check_out_and_a_check_in(client):
    template = path_of(client, "ubuntu")
    outs, base = f"{template}/check-outs", at(client, "base")
    for wrong in ({}, {"name": "x", "placement": "here"}, {"name": 5}):
        assert client.refused("POST", f"{outs}?action=check-out", wrong) == (400, "INVALID_ARGUMENT")
    assert client.refused("POST", f"{outs}?action=check-out", {"name": "job"}) == (400, "ALREADY_EXISTS")
    vm = client.ask("POST", f"{outs}?action=check-out", {"name": "work"})
    assert client.ask("GET", outs) == [{"vm": vm}]
    assert client.ask("GET", f"{outs}/{vm}")["user"] == client.ask("GET", "/api/session")["user"]
    assert client.ask("GET", f"/api/vcenter/vm/{vm}/library-item")["check_out"]["library_item"] in template
    again = client.refused("POST", f"{outs}?action=check-out", {"name": "more"})
    assert again == (500, "UNABLE_TO_ALLOCATE_RESOURCE")
    assert client.refused("DELETE", f"/api/content/library/item/{template.rpartition('/')[2]}") == (400, CURRENT)
    come_in = f"{outs}/{vm}?action=check-in"
    assert client.refused("POST", come_in, {}) == (400, "INVALID_ARGUMENT")
    at(client, "work").power = "poweredOn"
    assert client.refused("POST", come_in, {"message": "done"}) == (400, CURRENT)
    assert client.refused("DELETE", f"{outs}/{vm}") == (400, CURRENT)
    at(client, "work").power = "poweredOff"
    assert client.refused("POST", f"{outs}/{at(client, 'job').moid}?action=check-in", {}) == (400, "INVALID_ARGUMENT")
    assert client.ask("POST", come_in, {"message": "done"}) == "2"
    assert (client.ask("GET", template)["vm_template"], client.ask("GET", outs)) == (vm, [])
    assert client.ask("GET", f"{template}/versions") == [
        {"version": "2", "vm_template": vm},
        {"version": "1", "vm_template": base.moid},
    ]


def test_a_check_out_ends_with_its_vm(client):
    outs = f"{path_of(client, 'ubuntu')}/check-outs"
    vm = client.ask("POST", f"{outs}?action=check-out", {"name": "work"})
    client.ask("DELETE", f"{outs}/{vm}")
    assert client.refused("GET", f"{outs}/{vm}") == (404, "NOT_FOUND")
    client.ask("POST", f"{outs}?action=check-out", {"name": "work"})
    provision.destroy(client.lab.world, at(client, "work"))
    assert client.ask("GET", outs) == []
    assert client.refused("GET", f"{path_of(client, 'ovf')}/check-outs") == (400, "INVALID_ARGUMENT")


def test_a_template_goes_back_to_its_previous_version(client):
    template, base = path_of(client, "ubuntu"), at(client, "base")
    outs, versions = f"{template}/check-outs", f"{template}/versions"
    for name in ("second", "third"):
        vm = client.ask("POST", f"{outs}?action=check-out", {"name": name})
        client.ask("POST", f"{outs}/{vm}?action=check-in", {"message": name})
    assert at(client, "base") is None  # older ones than the previous one are deleted
    assert [row["version"] for row in client.ask("GET", versions)] == ["3", "2"]
    second = client.ask("GET", f"{versions}/2")["vm_template"]
    assert client.refused("GET", f"{versions}/1") == (404, "NOT_FOUND")
    for verb, path in (("DELETE", f"{versions}/3"), ("POST", f"{versions}/3?action=rollback")):
        assert client.refused(verb, path, {"message": "m"}) == (400, "INVALID_ARGUMENT")
    held = client.ask("POST", f"{outs}?action=check-out", {"name": "held"})
    assert client.refused("POST", f"{versions}/2?action=rollback", {"message": "m"}) == (400, CURRENT)
    client.ask("DELETE", f"{outs}/{held}")
    assert client.ask("POST", f"{versions}/2?action=rollback", {"message": "m"}) == "4"
    assert client.ask("GET", template)["vm_template"] == second
    client.ask("DELETE", f"{versions}/3")
    assert client.ask("GET", versions) == [{"version": "4", "vm_template": second}]
    assert base.template


@pytest.fixture
def mirror(client):
    """The client, the identifiers of a published library and of one that gets its files on demand."""
    (source,) = client.ask("GET", "/api/content/local-library")
    client.headers["Host"] = "vcenter.lab.example"
    info = {"published": True, "authentication_method": "BASIC", "password": "one"}
    client.ask("PATCH", f"/api/content/local-library/{source}", {"publish_info": info})
    url = client.ask("GET", f"/api/content/library/{source}")["publish_info"]["publish_url"]
    store = {"type": "DATASTORE", "datastore_id": client.lab.world.of_kind("Datastore")[0].moid}
    info = {"subscription_url": url, "authentication_method": "BASIC", "password": "one", "on_demand": True}
    spec = {
        "name": "mirror",
        "storage_backings": [store],
        "subscription_info": {**info, "automatic_sync_enabled": True},
    }
    return client, source, client.ask("POST", "/api/content/subscribed-library", spec)


def items(client, library):
    found = client.ask("GET", f"/api/content/library/item?library_id={library}")
    return {one["name"]: one for one in (client.ask("GET", f"/api/content/library/item/{name}") for name in found)}


def test_a_subscribed_library_follows_its_source(mirror):
    client, source, copy = mirror
    before = items(client, copy)
    client.ask("POST", "/api/content/library/item", {"library_id": source, "name": "more", "type": "iso"})
    renamed = f"/api/content/library/item/{items(client, source)['ovf']['id']}"
    client.ask("PATCH", renamed, {"name": "other"})
    assert items(client, copy) == before
    client.ask("POST", f"/api/content/subscribed-library/{copy}?action=sync")
    after = items(client, copy)
    assert (sorted(after), after["other"]["id"]) == (["more", "other"], before["ovf"]["id"])
    item = f"/api/content/library/subscribed-item/{after['other']['id']}"
    client.ask("POST", f"{item}?action=sync", {"force_sync_content": False})
    assert items(client, copy)["other"]["cached"] is False
    client.ask("POST", f"{item}?action=sync", {"force_sync_content": True})
    assert items(client, copy)["other"]["cached"] is True
    client.ask("POST", f"{item}?action=evict")
    assert items(client, copy)["other"]["cached"] is False
    client.ask("DELETE", renamed)
    client.ask("POST", f"{item}?action=sync", {"force_sync_content": True})
    assert sorted(items(client, copy)) == ["more"]
    client.ask(
        "PATCH",
        f"/api/content/local-library/{source}",
        {"publish_info": {"password": "two", "current_password": "one"}},
    )
    wrong = client.refused("POST", f"/api/content/subscribed-library/{copy}?action=sync")
    assert wrong[1] == "RESOURCE_INACCESSIBLE"


def test_files_are_only_removed_where_they_come_on_demand(mirror):
    client, source, copy = mirror
    client.ask("POST", f"/api/content/subscribed-library/{copy}?action=evict")
    client.ask("PATCH", f"/api/content/subscribed-library/{copy}", {"subscription_info": {"on_demand": False}})
    client.ask("POST", f"/api/content/subscribed-library/{copy}?action=sync")
    one = items(client, copy)["ovf"]
    assert one["cached"] is True
    library, item = f"/api/content/subscribed-library/{copy}", f"/api/content/library/subscribed-item/{one['id']}"
    assert client.refused("POST", f"{library}?action=evict") == (400, CURRENT)
    assert client.refused("POST", f"{item}?action=evict") == (400, "INVALID_ELEMENT_CONFIGURATION")
    local = items(client, source)["ovf"]["id"]
    for path in (f"subscribed-library/{source}", f"library/subscribed-item/{local}"):
        for action in ("sync", "evict"):
            assert client.refused("POST", f"/api/content/{path}?action={action}") == (400, "INVALID_ELEMENT_TYPE")


def test_a_library_without_subscriptions_is_published_to_none(mirror):
    client, source, copy = mirror
    library, item = (
        f"/api/content/local-library/{source}",
        f"/api/content/library/item/{items(client, source)['ovf']['id']}",
    )
    for path in (library, item):
        client.ask("POST", f"{path}?action=publish")
        refused = client.refused("POST", f"{path}?action=publish", {"subscriptions": [{"subscription": "none"}]})
        assert refused == (400, "INVALID_ARGUMENT")
    assert client.refused("POST", f"/api/content/local-library/{copy}?action=publish") == (400, "INVALID_ELEMENT_TYPE")
    client.ask("PATCH", library, {"publish_info": {"published": False, "current_password": "one"}})
    assert client.refused("POST", f"{item}?action=publish") == (400, CURRENT)


def test_a_probe_reports_whether_a_library_can_subscribe(mirror):
    client, source, _copy = mirror
    url = client.ask("GET", f"/api/content/library/{source}")["publish_info"]["publish_url"]

    def probe(**info):
        info = {"authentication_method": "BASIC", "subscription_url": url, "password": "one", **info}
        return client.ask("POST", "/api/content/subscribed-library?action=probe", {"subscription_info": info})

    assert probe() == {"status": "SUCCESS", "error_messages": []}
    assert probe(password="two")["status"] == "INVALID_CREDENTIALS"
    assert probe(subscription_url=url.replace(source, "none"))["status"] == "RESOURCE_NOT_FOUND"
    assert [probe(subscription_url=one)["status"] for one in ("", "http://x")] == ["INVALID_URL"] * 2
    assert client.refused("POST", "/api/content/subscribed-library?action=probe", {}) == (400, "INVALID_ARGUMENT")


def test_a_cluster_has_modules_with_its_vms(client):
    base, (cluster,) = "/api/vcenter/cluster/modules", client.lab.world.of_kind("ClusterComputeResource")
    for wrong in ({}, {"cluster": "domain-c0"}, {"cluster": at(client, "job").moid}):
        assert client.refused("POST", base, wrong) == (400, "INVALID_ARGUMENT")
    module = client.ask("POST", base, {"cluster": cluster.moid})
    assert client.ask("GET", base) == {"summaries": [{"module": module, "cluster": cluster.moid}]}
    members, vm = f"{base}/vm/{module}/members", at(client, "job").moid
    assert client.ask("POST", f"{members}?action=add", {"vms": [vm]}) == {"success": True}
    assert client.ask("POST", f"{members}?action=add", {"vms": [vm, "vm-0"]}) == {"success": False}
    assert client.ask("GET", members) == {"vms": [vm]}
    assert client.refused("POST", f"{members}?action=add", {"vms": vm}) == (400, "INVALID_ARGUMENT")
    assert client.ask("POST", f"{members}?action=remove", {"vms": [vm]}) == {"success": True}
    assert client.ask("POST", f"{members}?action=remove", {"vms": [vm]}) == {"success": False}
    client.ask("POST", f"{members}?action=add", {"vms": [vm]})
    provision.destroy(client.lab.world, at(client, "job"))
    assert client.ask("GET", members) == {"vms": []}
    client.ask("DELETE", f"{base}/{module}")
    assert client.refused("DELETE", f"{base}/{module}") == client.refused("GET", members) == (404, "NOT_FOUND")
