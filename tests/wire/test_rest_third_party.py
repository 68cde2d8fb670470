"""The twin's REST API is what clients take for one that nobody here wrote, and its images do what they say."""

from __future__ import annotations

import base64
import contextlib
import http.client
import http.server
import json
import os
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import yaml

from vsphere_twin.model import depot
from vsphere_twin.model.seed import SEEDS

ANSIBLE = Path(sys.executable).with_name("ansible")
VERSION = "550.54.16-1OEM.800.1.0.20613240"


def test_a_module_of_vmware_rest_lists_the_clusters(twin, tmp_path):
    running = twin("factory")
    (cluster,) = running.world.of_kind("ClusterComputeResource")
    environment = {
        **os.environ,
        "ANSIBLE_HOME": str(tmp_path),
        "ANSIBLE_LOCAL_TEMP": str(tmp_path / "local"),
        "ANSIBLE_LOCALHOST_WARNING": "False",
        "VMWARE_HOST": f"{running.host}:{running.port}",
        "VMWARE_USER": running.username,
        "VMWARE_PASSWORD": running.password,
        "VMWARE_VALIDATE_CERTS": "no",
    }
    done = subprocess.run(
        [ANSIBLE, "localhost", "-m", "vmware.vmware_rest.vcenter_cluster_info", "--tree", tmp_path / "said"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads((tmp_path / "said" / "localhost").read_text(encoding="utf-8"))
    (listed,) = answer["value"]
    assert (listed["cluster"], listed["name"]) == (cluster.moid, "gpu")


class Client:
    """A client of the REST API over one connection."""

    def __init__(self, running):
        context = ssl.create_default_context(cafile=str(running.ca_file))
        self.connection = http.client.HTTPSConnection(running.host, running.port, context=context)
        words = base64.b64encode(f"{running.username}:{running.password}".encode()).decode()
        self.headers = {"Authorization": f"Basic {words}"}
        token = self.ask("POST", "/api/session")
        self.headers = {"vmware-api-session-id": token}

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body)
        self.connection.request(method, path, body=data, headers=self.headers)
        answer = self.connection.getresponse()
        content = answer.read()
        assert answer.status < 300, content
        return json.loads(content) if content else None

    def close(self):
        self.ask("DELETE", "/api/session")
        self.connection.close()

    def task(self, method, path, body=None):
        name, end = self.ask(method, path, body), time.monotonic() + 60
        while True:
            info = self.ask("GET", f"/api/cis/tasks/{name}")
            if info["status"] in ("SUCCEEDED", "FAILED"):
                return info
            assert time.monotonic() < end, info
            time.sleep(0.02)


@pytest.fixture
def factory_with_image():
    """The factory seed, its cluster managed by an image."""
    data = yaml.safe_load((SEEDS / "factory.yml").read_text(encoding="utf-8"))
    for cluster in data["datacenters"][0]["clusters"]:
        cluster["image"] = "managed"
    return data


@pytest.fixture
def depot_url():
    """An address from which a depot can be fetched."""
    data = depot.build()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_arguments):
            """Quiet."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/driver.zip"
        server.shutdown()


def test_an_image_brings_a_driver_from_an_address_to_every_host(twin, factory_with_image, depot_url):
    running = twin(factory_with_image)
    with contextlib.closing(Client(running)) as one:
        (cluster,) = one.ask("GET", "/api/vcenter/cluster")
        software = f"/api/esx/settings/clusters/{cluster['cluster']}/software"
        spec = {"source_type": "PULL", "location": depot_url}
        imported = one.task("POST", "/api/esx/settings/depots/offline?vmw-task=true", spec)
        assert imported["status"] == "SUCCEEDED", imported
        draft = one.ask("POST", f"{software}/drafts")
        change = {"components_to_set": {"NVD-AIE-800": VERSION}}
        one.ask("PATCH", f"{software}/drafts/{draft}/software/components", change)
        committed = one.task("POST", f"{software}/drafts/{draft}?action=commit&vmw-task=true", {"message": "driver"})
        assert committed["status"] == "SUCCEEDED", committed
        applied = one.task("POST", f"{software}?action=apply&vmw-task=true", {"accept_eula": True})
        assert applied["result"]["status"] == "OK", applied
        one.task("POST", f"{software}?action=scan&vmw-task=true")
        assert one.ask("GET", f"{software}/compliance")["status"] == "COMPLIANT"
    assert [host.driver.version for host in running.world.of_kind("HostSystem")] == ["550.54.16"] * 2
    assert not any(host.maintenance for host in running.world.of_kind("HostSystem"))
    assert running.sessions == []
