"""Depots over the REST API: what can be imported, and what is needed by an image."""

from __future__ import annotations

import pytest

from vsphere_twin.model import depot
from vsphere_twin.rest import depots as depot_routes


@pytest.fixture
def fetched(monkeypatch):
    """What the addresses of depots hold; only the transport is replaced."""
    content = {}

    class Body:
        def __init__(self, address):
            self.address = address

        def __enter__(self):
            return self

        def __exit__(self, *_exception):
            return None

        def read(self):
            return content[self.address]

    def opened(address, timeout):
        if address not in content:
            raise OSError("no route to host")
        return Body(address)

    monkeypatch.setattr(depot_routes.urllib.request, "urlopen", opened)
    return content


def test_a_depot_is_imported_from_an_address(client, fetched):
    fetched["http://depot.example/a.zip"] = depot.build(version="535.129.03")
    spec = {"source_type": "PULL", "location": "http://depot.example/a.zip", "description": "a"}
    task = client.task("POST", "/api/esx/settings/depots/offline?vmw-task=true", spec)
    content = client.ask("GET", f"/api/esx/settings/depots/offline/{task['result']}/content")
    (bundle,) = content["metadata_bundles"]["NVIDIA"]
    versions = bundle["independent_components"]["NVD-AIE-800"]["versions"]
    assert [one["display_version"] for one in versions] == ["535.129.03"]
    (listed,) = client.ask("GET", "/api/esx/settings/depot-content/components?names=NVD-AIE-800")
    assert len(listed["versions"]) == 3
    refusal = client.refused("POST", "/api/esx/settings/depots/offline?vmw-task=true", spec)
    assert refusal == (400, "ALREADY_EXISTS")


@pytest.mark.parametrize(
    "location, error",
    [
        ("http://depot.example/gone.zip", "RESOURCE_INACCESSIBLE"),
        ("http://depot.example/torn.zip", "INVALID_ARGUMENT"),
        ("file:///a.zip", "RESOURCE_INACCESSIBLE"),
    ],
)
def test_an_address_that_does_not_serve_fails_the_import(client, fetched, location, error):
    fetched["http://depot.example/torn.zip"] = b"torn"
    before = set(client.ask("GET", "/api/esx/settings/depots/offline"))
    spec = {"source_type": "PULL", "location": location}
    task = client.task("POST", "/api/esx/settings/depots/offline?vmw-task=true", spec)
    assert task["status"] == "FAILED"
    assert task["error"]["error_type"] == error
    assert set(client.ask("GET", "/api/esx/settings/depots/offline")) == before


def test_a_depot_that_an_image_needs_is_not_deleted(client):
    client.commit(NVD_AIE_800="550.54.16-1OEM.800.1.0.20613240")
    path = "/api/esx/settings/depots/offline/{}?vmw-task=true"
    assert client.refused("DELETE", path.format(1))[1] == "NOT_ALLOWED_IN_CURRENT_STATE"
    assert client.task("DELETE", path.format(2))["status"] == "SUCCEEDED"
    assert set(client.ask("GET", "/api/esx/settings/depots/offline")) == {"1"}


def test_a_depot_is_not_taken_from_an_upload_that_nobody_serves(client):
    spec = {"source_type": "PUSH", "file_id": "1", "location": "http://depot.example/a.zip"}
    assert client.refused("POST", "/api/esx/settings/depots/offline?vmw-task=true", spec) == (400, "INVALID_ARGUMENT")
