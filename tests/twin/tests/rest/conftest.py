"""A cluster with an image behind the REST API, and a client that is logged in."""

from __future__ import annotations

import base64
import json

import pytest

from vsphere_twin.model import depot, seed, software
from vsphere_twin.rest.api import Api
from vsphere_twin.vcenter.dispatch import Dispatcher

USERS = {"one@vsphere.local": "Secret1!", "two@vsphere.local": "Secret2!"}
VERSION = "550.54.16-1OEM.800.1.0.20613240"
NEWER = "550.90.05-1OEM.800.1.0.20613240"


class Client:
    """A client that is logged in as one of the users."""

    def __init__(self, lab, user):
        self.lab = lab
        encoded = base64.b64encode(f"{user}:{USERS[user]}".encode()).decode()
        status, token = self.answer("POST", "/api/session", headers={"Authorization": f"Basic {encoded}"})
        assert status == 201
        self.headers = {"vmware-api-session-id": token}

    def answer(self, method, path, body=None, headers=None):
        data = b"" if body is None else json.dumps(body).encode()
        answer = self.lab.api.handle(method, path, headers or self.headers, data)
        return answer.status, json.loads(answer.data) if answer.data else None

    def ask(self, method, path, body=None):
        status, value = self.answer(method, path, body)
        assert status < 300, value
        return value

    def refused(self, method, path, body=None):
        status, value = self.answer(method, path, body)
        return status, value["error_type"]

    def task(self, method, path, body=None):
        name = self.ask(method, path, body)
        self.lab.world.timeline.settle()
        return self.ask("GET", f"/api/cis/tasks/{name}")

    @property
    def software(self):
        (cluster,) = self.ask("GET", "/api/vcenter/cluster")
        return f"/api/esx/settings/clusters/{cluster['cluster']}/software"

    def commit(self, **components):
        draft = self.ask("POST", f"{self.software}/drafts")
        spec = {"components_to_set": {name.replace("_", "-"): version for name, version in components.items()}}
        self.ask("PATCH", f"{self.software}/drafts/{draft}/software/components", spec)
        return self.task("POST", f"{self.software}/drafts/{draft}?action=commit&vmw-task=true", {"message": "test"})

    def apply(self, **more):
        return self.task("POST", f"{self.software}?action=apply&vmw-task=true", {"accept_eula": True, **more})

    def scan(self):
        return self.task("POST", f"{self.software}?action=scan&vmw-task=true")["result"]


class Lab:
    """Two hosts in a cluster with an image, and depots of two versions."""

    def __init__(self, image="managed", drivers=None, release="8.0.3", **center):
        driver = {"driver": drivers} if drivers else {}
        hosts = [{"name": f"esx-{number}", **driver} for number in (1, 2)]
        clusters = [{"name": "gpu", "image": image, "hosts": hosts}]
        center = {"name": "lab", "clusters": clusters, "datastores": [{"name": "disk"}], **center}
        self.world = seed.from_data({"release": release, "users": USERS, "datacenters": [center]})
        self.dispatcher = Dispatcher(self.world)
        self.api = Api(self.dispatcher)
        self.hosts = self.world.of_kind("HostSystem")
        for version in (VERSION, NEWER):
            bundle = depot.read(depot.build(version=version.partition("-")[0]))
            self.world.depots.add("", f"https://depot.example/{version}.zip", bundle, "test")

    def by_hand(self, host, version):
        """esxcli on one host, in maintenance mode."""
        (store,) = host.datastores.values()
        store.files.put("x.zip", depot.build(version=version.partition("-")[0]))
        host.maintenance, before = True, host.maintenance
        software.install(self.world, host, "/vmfs/volumes/disk/x.zip")
        host.maintenance = before


@pytest.fixture
def lab():
    return Lab()


@pytest.fixture
def client(lab):
    return Client(lab, "one@vsphere.local")


@pytest.fixture
def log_in():
    """Another user's client, or one of another lab."""
    return lambda lab, user="one@vsphere.local": Client(lab, user)


@pytest.fixture
def other_lab():
    """Labs of another kind."""
    return Lab
