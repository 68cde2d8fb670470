"""The REST API in the form that it had before 7.0 Update 2, which clients still speak: tags and content libraries."""

from __future__ import annotations

import json

import pytest
from pyVmomi import vim

from .any_client import lab

TAGGING = "/rest/com/vmware/cis/tagging"
CONTENT = "/rest/com/vmware/content"


@pytest.fixture(scope="module")
def client():
    with lab() as started:
        yield started


@pytest.fixture
def ask(client):
    """The value of a request that succeeds."""

    def asked(verb, path, body=None):
        status, answer = client.rest(verb, path, body)
        assert status == 200, answer
        return answer["value"] if answer is not None else None

    return asked


@pytest.fixture
def category(ask):
    spec = {"name": "place", "description": "", "cardinality": "SINGLE", "associable_types": ["VirtualMachine"]}
    made = ask("POST", f"{TAGGING}/category", {"create_spec": spec})
    yield made
    ask("DELETE", f"{TAGGING}/category/id:{made}")


def tag(ask, category, name):
    spec = {"name": name, "description": "", "category_id": category}
    return ask("POST", f"{TAGGING}/tag", {"create_spec": spec})


def test_categories_and_tags(client, ask, category):
    assert category.startswith("urn:vmomi:InventoryServiceCategory:")
    assert ask("GET", f"{TAGGING}/category") == [category]
    shown = ask("GET", f"{TAGGING}/category/id:{category}")
    assert (shown["name"], shown["cardinality"]) == ("place", "SINGLE")
    made = tag(ask, category, "rack-1")
    assert ask("POST", f"{TAGGING}/tag/id:{category}?~action=list-tags-for-category") == [made]
    ask("PATCH", f"{TAGGING}/tag/id:{made}", {"update_spec": {"name": "rack-2"}})
    assert ask("GET", f"{TAGGING}/tag/id:{made}")["name"] == "rack-2"
    status, answer = client.rest("POST", f"{TAGGING}/tag", {"create_spec": {"name": "rack-2", "category_id": category}})
    assert (status, answer["type"]) == (400, "com.vmware.vapi.std.errors.already_exists")
    ask("DELETE", f"{TAGGING}/tag/id:{made}")
    status, answer = client.rest("GET", f"{TAGGING}/tag/id:{made}")
    assert (status, answer["type"]) == (404, "com.vmware.vapi.std.errors.not_found")
    assert answer["value"]["messages"][0]["default_message"]


def test_a_tag_is_attached_within_the_limits_of_its_category(client, ask, category):
    first, second = tag(ask, category, "a"), tag(ask, category, "b")
    vm = {"object_id": {"id": client.vm()._moId, "type": "VirtualMachine"}}
    host = {"object_id": {"id": client.host()._moId, "type": "HostSystem"}}
    path = f"{TAGGING}/tag-association"
    ask("POST", f"{path}/id:{first}?~action=attach", vm)
    assert ask("POST", f"{path}?~action=list-attached-tags", vm) == [first]
    assert ask("POST", f"{path}/id:{first}?~action=list-attached-objects") == [vm["object_id"]]
    several = {"object_ids": [vm["object_id"], host["object_id"]]}
    assert ask("POST", f"{path}?~action=list-attached-tags-on-objects", several) == [{**vm, "tag_ids": [first]}]
    for refused, body in ((second, vm), (first, host)):
        status, answer = client.rest("POST", f"{path}/id:{refused}?~action=attach", body)
        assert (status, answer["type"]) == (400, "com.vmware.vapi.std.errors.invalid_argument")
    result = ask("POST", f"{path}/id:{second}?~action=attach-tag-to-multiple-objects", several)
    assert (result["success"], len(result["error_messages"])) == (False, 2)
    ask("POST", f"{path}/id:{first}?~action=detach", vm)
    assert ask("POST", f"{path}?~action=list-attached-tags", vm) == []
    gone = {"object_id": {"id": "vm-1", "type": "VirtualMachine"}}
    assert client.rest("POST", f"{path}/id:{first}?~action=attach", gone)[0] == 404


def test_both_forms_are_one_api(client, ask, category):
    status, value = client.rest("GET", "/api/cis/tagging/category")
    assert (status, value) == (200, [category])
    status, value = client.rest("GET", "/api/cis/tagging/tag/none")
    assert (status, value["error_type"]) == (404, "NOT_FOUND")


def test_libraries_are_found_made_and_deleted(client, ask):
    (library,) = ask("POST", f"{CONTENT}/library?~action=find", {"spec": {"name": "images"}})
    assert ask("GET", f"{CONTENT}/library") == [library]
    assert ask("GET", f"{CONTENT}/library/id:{library}")["name"] == "images"
    store = client.find(vim.Datastore, "datastore-01")._moId
    spec = {"name": "own", "storage_backings": [{"type": "DATASTORE", "datastore_id": store}]}
    made = ask("POST", f"{CONTENT}/local-library", {"create_spec": spec})
    other = ask("POST", f"{CONTENT}/local-library", {"create_spec": spec})
    assert sorted(ask("POST", f"{CONTENT}/library?~action=find", {"spec": {"name": "own"}})) == sorted([made, other])
    ask("DELETE", f"{CONTENT}/local-library/id:{other}")
    ask("PATCH", f"{CONTENT}/local-library/id:{made}", {"update_spec": {"description": "mine"}})
    assert ask("GET", f"{CONTENT}/library/id:{made}")["description"] == "mine"
    item = ask("POST", f"{CONTENT}/library/item", {"create_spec": {"name": "new", "library_id": made, "type": "ovf"}})
    assert ask("GET", f"{CONTENT}/library/item/file?library_item_id={item}") == []
    ask("DELETE", f"{CONTENT}/library/item/id:{item}")
    ask("DELETE", f"{CONTENT}/local-library/id:{made}")
    assert ask("GET", f"{CONTENT}/local-library") == [library]


def test_items_show_their_files_and_where_they_lie(ask):
    (library,) = ask("GET", f"{CONTENT}/library")
    items = ask("GET", f"{CONTENT}/library/item?library_id={library}")
    names = {ask("GET", f"{CONTENT}/library/item/id:{one}")["name"]: one for one in items}
    files = ask("GET", f"{CONTENT}/library/item/file?library_item_id={names['ubuntu-24.04-ovf']}")
    assert [one["name"] for one in files] == ["ubuntu-24.04-ovf.ovf", "ubuntu-24.04-ovf-1.vmdk"]
    (row,) = ask("GET", f"{CONTENT}/library/item/storage?library_item_id={names['installer']}")
    assert row["storage_uris"][0].startswith("ds:///vmfs/volumes/")
    assert ask("POST", f"{CONTENT}/library/item?~action=find", {"spec": {"name": "installer"}}) == [names["installer"]]


def test_what_is_not_served_says_so_in_the_old_form(client):
    status, answer = client.rest("GET", "/rest/appliance/networking/proxy")
    assert (status, answer["type"]) == (404, "com.vmware.vapi.std.errors.operation_not_found")


@pytest.mark.parametrize("body, status", [(b"null", 200), (b"[]", 400), (b"{", 400)])
def test_a_body_of_null_is_none(client, category, body, status):
    client.rest("GET", f"{TAGGING}/category")
    path = f"{TAGGING}/tag/id:{category}?~action=list-tags-for-category"
    assert client.ask("POST", path, body, {"vmware-api-session-id": client.token})[0] == status


def test_a_map_is_a_list_of_keys_and_values_in_the_old_form(ask):
    (item,) = ask("POST", f"{CONTENT}/library/item?~action=find", {"spec": {"name": "ubuntu-24.04"}})
    shown = ask("GET", f"/rest/vcenter/vm-template/library-items/{item}")
    assert [sorted(one) for one in shown["disks"]] == [["key", "value"]]


def test_a_session_is_asked_for_in_the_form_of_before(client):
    client.rest("GET", "/rest/vcenter/vm")
    address, token = "/rest/com/vmware/cis/session?~action=get", {"vmware-api-session-id": client.token}
    status, _headers, answer = client.ask("POST", address, b"", token)
    assert status == 200
    assert json.loads(answer)["value"]["user"] == "administrator@vsphere.local"
    assert client.ask("POST", address, b"", {"vmware-api-session-id": "none"})[0] == 401
