"""Content libraries over REST, and the VMs that come out of them."""

from __future__ import annotations

import base64
import json

import pytest

from vsphere_twin.model import inventory, seed
from vsphere_twin.rest.api import Api
from vsphere_twin.rest.guest_os import rest_name
from vsphere_twin.vcenter.dispatch import Dispatcher

SEED = {
    "users": {"someone": "Secret1!"},
    "customizations": [{"name": "linux", "hostname": "node-7", "nics": ["192.0.2.7/24"]}],
    "datacenters": [
        {
            "name": "lab",
            "datastores": [{"name": "disk", "capacity_gb": 1000}, {"name": "other", "capacity_gb": 500}],
            "networks": [{"name": "VM Network"}],
            "switches": [{"name": "dvs", "portgroups": [{"name": "train", "vlan": 7}]}],
            "vm_folders": ["jobs"],
            "clusters": [{"name": "gpu", "hosts": [{"name": "esx-1"}, {"name": "esx-2"}]}],
            "vms": [{"name": "base", "template": True, "firmware": "efi", "networks": ["VM Network"], "disk_gb": 40}],
            "libraries": [
                {
                    "name": "images",
                    "datastore": "disk",
                    "items": [
                        {"name": "ubuntu", "from": "base"},
                        {"name": "ubuntu-ovf", "type": "ovf", "from": "base", "eula": "Pay."},
                        {"name": "free-ovf", "type": "ovf", "from": "base"},
                        {"name": "installer", "type": "iso"},
                    ],
                },
                {"name": "mirror", "subscribed": True, "items": [{"name": "ubuntu", "from": "base"}]},
            ],
        }
    ],
}


class Client:
    def __init__(self):
        self.world = seed.from_data(SEED)
        self.api = Api(Dispatcher(self.world))
        secret = base64.b64encode(b"someone:Secret1!").decode()
        self.headers = {
            "vmware-api-session-id": self.ask("POST", "session", headers={"Authorization": f"Basic {secret}"})
        }

    def answer(self, method, path, body=None, headers=None):
        data = b"" if body is None else json.dumps(body).encode()
        answer = self.api.handle(method, f"/api/{path}", headers or self.headers, data)
        return answer.status, json.loads(answer.data or b"null")

    def ask(self, *arguments, **more):
        status, value = self.answer(*arguments, **more)
        assert status < 300, value
        return value

    def refused(self, *arguments):
        status, value = self.answer(*arguments)
        return status, value["error_type"], value["messages"][0]["default_message"]

    def id_of(self, name="images"):
        (found,) = self.ask("POST", "content/library?action=find", {"name": name})
        return found

    def item(self, name, library="images"):
        wanted = {"name": name, "library_id": self.id_of(library)}
        (found,) = self.ask("POST", "content/library/item?action=find", wanted)
        return found

    def at(self, path):
        return inventory.find_by_path(self.world, path)

    def placement(self, **more):
        return {"folder": self.at("lab/vm/jobs").moid, "cluster": self.at("lab/host/gpu").moid, **more}

    def target(self, **more):
        pool = self.at("lab/host/gpu/Resources").moid
        return {"resource_pool_id": pool, "folder_id": self.at("lab/vm/jobs").moid, **more}

    def deploy(self, name, body):
        return "POST", f"vcenter/vm-template/library-items/{self.item(name)}?action=deploy", body

    def ovf(self, name, spec, action="deploy", **target):
        body = {"target": self.target(**target), **({"deployment_spec": spec} if spec is not None else {})}
        return "POST", f"vcenter/ovf/library-item/{self.item(name)}?action={action}", body


@pytest.fixture
def client():
    return Client()


def test_libraries_are_listed_by_kind_and_found_by_name(client):
    both = client.ask("GET", "content/library")
    assert len(both) == 2
    assert client.ask("GET", "content/local-library") == [client.id_of("Images")]
    assert client.ask("GET", "content/subscribed-library") == [client.id_of("mirror")]
    one = client.ask("GET", f"content/library/{client.id_of()}")
    assert (one["name"], one["type"]) == ("images", "LOCAL")
    assert client.ask("POST", "content/library?action=find", {"name": "none"}) == []


def test_a_library_is_published_with_a_password(client):
    store = {"type": "DATASTORE", "datastore_id": client.at("lab/datastore/disk").moid}
    spec = {"name": "own", "storage_backings": [store]}
    info = {"published": True, "authentication_method": "BASIC", "persist_json_enabled": True}
    create = "POST", "content/local-library"
    for wrong in (info, {"published": True}, {**info, "password": "a", "user_name": "me"}, "x"):
        assert client.answer(*create, {**spec, "publish_info": wrong})[0] == 400
    assert client.answer(*create, {**spec, "storage_backings": [store, store]})[1]["error_type"] == "UNSUPPORTED"
    made = client.ask(*create, {**spec, "publish_info": {**info, "password": "one"}})
    shown = client.ask("GET", f"content/local-library/{made}")["publish_info"]
    assert shown.pop("publish_url").endswith(f"/cls/vcsp/lib/{made}/lib.json")
    assert shown == {**info, "user_name": "vcsp"}
    update = "PATCH", f"content/local-library/{made}"
    client.ask(*update, {"description": "mine", "publish_info": info})
    for change in ({"published": False}, {"authentication_method": "NONE"}, {"password": "two"}):
        status, error = client.answer(*update, {"publish_info": {**change, "current_password": "none"}})
        assert (status, error["error_type"]) == (400, "INVALID_ARGUMENT")
    client.ask(*update, {"publish_info": {"password": "two", "current_password": "one"}})
    client.ask(*update, {"publish_info": {"published": False, "current_password": "two"}})
    shown = client.ask("GET", f"content/library/{made}")
    assert (shown["description"], "publish_url" in shown["publish_info"]) == ("mine", False)
    assert client.answer("GET", f"content/subscribed-library/{made}")[1]["error_type"] == "INVALID_ELEMENT_TYPE"


def test_a_library_subscribes_to_a_published_one(client):
    source, client.headers["Host"] = client.id_of(), "vcenter.lab.example"
    info = {"published": True, "authentication_method": "BASIC", "password": "one"}
    client.ask("PATCH", f"content/local-library/{source}", {"publish_info": info})
    url = client.ask("GET", f"content/library/{source}")["publish_info"]["publish_url"]
    store = {"type": "DATASTORE", "datastore_id": client.at("lab/datastore/other").moid}
    spec = {"name": "copy", "storage_backings": [store]}
    info = {"automatic_sync_enabled": True, "on_demand": False, "authentication_method": "BASIC"}
    create = "POST", "content/subscribed-library"
    for wrong, kind in (
        (None, "INVALID_ARGUMENT"),
        (info, "INVALID_ARGUMENT"),
        ({**info, "subscription_url": url, "password": "two"}, "RESOURCE_INACCESSIBLE"),
        ({**info, "subscription_url": "https://other.example/lib.json", "password": "one"}, "RESOURCE_INACCESSIBLE"),
    ):
        assert client.answer(*create, {**spec, "subscription_info": wrong})[1]["error_type"] == kind
    info["subscription_url"] = url
    made = client.ask(*create, {**spec, "subscription_info": {**info, "password": "one"}})
    shown = client.ask("GET", f"content/subscribed-library/{made}")
    assert (shown["subscription_info"], "publish_info" in shown) == ({**info, "user_name": "vcsp"}, False)
    items = [
        client.ask("GET", f"content/library/item/{one}")
        for one in client.ask("GET", f"content/library/item?library_id={made}")
    ]
    assert [(one["name"], one["cached"]) for one in items] == [
        ("ubuntu-ovf", True),
        ("free-ovf", True),
        ("installer", True),
    ]
    update = "PATCH", f"content/subscribed-library/{made}"
    client.ask(*update, {"description": "mine", "subscription_info": info})
    moved = {"subscription_info": {"subscription_url": "https://other.example/lib.json"}}
    assert client.answer(*update, moved)[1]["error_type"] == "RESOURCE_INACCESSIBLE"
    assert client.ask("GET", f"content/library/{made}")["subscription_info"]["subscription_url"] == url


def test_items_are_listed_by_library_and_found_by_name_in_all(client):
    assert len(client.ask("GET", f"content/library/item?library_id={client.id_of()}")) == 4
    assert len(client.ask("POST", "content/library/item?action=find", {"name": "ubuntu"})) == 2
    found = client.ask("GET", f"content/library/item/{client.item('ubuntu-ovf')}")
    assert (found["name"], found["type"], found["library_id"]) == ("ubuntu-ovf", "ovf", client.id_of())
    assert client.refused("GET", "content/library/item/none")[:2] == (404, "NOT_FOUND")
    assert client.refused("GET", "content/library/item?library_id=none")[:2] == (404, "NOT_FOUND")


def test_an_item_of_a_template_reports_which_template_that_is(client):
    shown = client.ask("GET", f"vcenter/vm-template/library-items/{client.item('ubuntu')}")
    base = client.at("lab/vm/base")
    assert shown["vm_template"] == base.moid
    assert (shown["cpu"]["count"], shown["memory"]["size_MiB"]) == (base.cpus, base.memory_mb)
    assert list(shown["disks"]) == ["2000"]
    assert shown["guest_OS"] == rest_name(base.guest_id)


def test_a_template_is_deployed_to_its_place_with_its_size_and_its_name(client):
    host = client.at("lab/host/gpu/esx-2")
    body = {
        "name": "made",
        "placement": client.placement(host=host.moid),
        "vm_home_storage": {"datastore": client.at("lab/datastore/other").moid},
        "hardware_customization": {
            "cpu_update": {"num_cpus": 8, "num_cores_per_socket": 4},
            "memory_update": {"memory": 8192},
        },
        "guest_customization": {"name": "linux"},
        "powered_on": True,
    }
    made = client.world.get(client.ask(*client.deploy("ubuntu", body)))
    client.world.timeline.settle()
    assert made is client.at("lab/vm/jobs/made")
    assert (made.host, made.cpus, made.memory_mb, made.power) == (host, 8, 8192, "poweredOn")
    assert [one.name for one in made.datastores.values()] == ["other"]
    assert (made.host_name, list(made.addresses.values())) == ("node-7", ["192.0.2.7"])


def test_a_deployment_is_refused_in_the_form_of_the_api(client):
    full = {"name": "base-2", "placement": client.placement()}
    client.ask(*client.deploy("ubuntu", full))
    assert client.refused(*client.deploy("ubuntu", full))[:2] == (400, "ALREADY_EXISTS")
    lost = {**full, "placement": client.placement(cluster="domain-c9")}
    assert client.refused(*client.deploy("ubuntu", lost)) == (
        404,
        "NOT_FOUND",
        "The cluster 'domain-c9' was not found.",
    )
    assert client.refused(*client.deploy("ubuntu", {**full, "name": ""}))[1] == "INVALID_ARGUMENT"
    assert client.refused(*client.deploy("ubuntu", {**full, "placement": {}}))[1] == "INVALID_ARGUMENT"
    unknown = {**full, "name": "x", "guest_customization": {"name": "none"}}
    assert client.refused(*client.deploy("ubuntu", unknown))[:2] == (404, "NOT_FOUND")
    for store in client.world.of_kind("Datastore"):
        store.base_free = 0
    refused = client.refused(*client.deploy("ubuntu", {**full, "name": "y"}))
    assert refused == (500, "UNABLE_TO_ALLOCATE_RESOURCE", "Insufficient disk space on datastore 'other'.")
    assert client.refused(*client.deploy("free-ovf", full))[1] == "INVALID_ARGUMENT"


def test_an_ovf_reports_its_networks_and_licences_for_a_target(client):
    summary = client.ask(*client.ovf("ubuntu-ovf", None, "filter"))
    assert (summary["networks"], summary["EULAs"]) == (["VM Network"], ["Pay."])


def test_an_ovf_is_deployed_on_the_networks_and_disks_that_are_asked_for(client):
    spec = {
        "name": "made",
        "accept_all_EULA": True,
        "storage_provisioning": "thick",
        "default_datastore_id": client.at("lab/datastore/other").moid,
        "network_mappings": {"VM Network": client.at("lab/network/train").moid},
        "annotation": "from an OVF",
    }
    answer = client.ask(*client.ovf("ubuntu-ovf", spec, host_id=client.at("lab/host/gpu/esx-2").moid))
    made = client.world.get(answer["resource_id"]["id"])
    assert answer["succeeded"]
    assert (made.name, made.host.name, made.annotation) == ("made", "esx-2", "from an OVF")
    assert [one.name for one in made.networks.values()] == ["train"]
    assert made.disk_bytes == 40 * 1024**3
    assert made.power == "poweredOff"


def test_an_ovf_that_cannot_be_deployed_says_so_in_its_answer(client):
    refused = client.ask(*client.ovf("ubuntu-ovf", {"name": "made"}))
    assert not refused["succeeded"]
    assert "License" in refused["error"]["errors"][0]["error"]["messages"][0]["default_message"]
    client.ask(*client.ovf("free-ovf", {"name": "made"}))
    again = client.ask(*client.ovf("free-ovf", {"name": "made"}))
    (error,) = again["error"]["errors"]
    assert (set(error), error["error"]["error_type"]) == ({"category", "error"}, "ALREADY_EXISTS")
    assert "already exists" in error["error"]["messages"][0]["default_message"]


def test_an_ovf_outlives_the_vm_that_it_came_from(client):
    base = client.at("lab/vm/base")
    base.parent.children.pop(base.moid)
    client.world.remove(base)
    assert client.ask(*client.ovf("free-ovf", {"name": "made"}))["succeeded"]
    gone = {"name": "x", "placement": client.placement()}
    assert client.refused(*client.deploy("ubuntu", gone))[:2] == (404, "NOT_FOUND")
