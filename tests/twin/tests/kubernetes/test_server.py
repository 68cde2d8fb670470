"""The API server over HTTPS: certificates, watches, kubeconfig."""

from __future__ import annotations

import base64
import json
import ssl
import threading
import urllib.request

import pytest
import yaml

from vsphere_twin.kubernetes.launch import launch_cluster
from vsphere_twin.kubernetes.service import ADMIN_TOKEN

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture(scope="module")
def server():
    with launch_cluster() as running:
        yield running


def opened(server, path, token=ADMIN_TOKEN, files=()):
    """The response of the server to a GET."""
    context = ssl.create_default_context(cafile=server.directory / "ca.pem")
    if files:
        context.load_cert_chain(*files)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return urllib.request.urlopen(urllib.request.Request(server.url + path, headers=headers), context=context)


def test_the_kubeconfig_has_all_that_a_client_needs(server):
    found = yaml.safe_load(server.kubeconfig_file.read_text())
    cluster, user = found["clusters"][0]["cluster"], found["users"][0]["user"]
    assert (cluster["server"], user["token"]) == (server.url, ADMIN_TOKEN)
    assert base64.b64decode(cluster["certificate-authority-data"]) == (server.directory / "ca.pem").read_bytes()


def test_a_client_certificate_logs_in(server, tmp_path):
    certificate, key = server.client_certificate("root", ("system:masters",))
    (tmp_path / "c.pem").write_text(certificate)
    (tmp_path / "k.pem").write_text(key)
    with opened(server, MAPS, "", (tmp_path / "c.pem", tmp_path / "k.pem")) as response:
        assert json.load(response)["kind"] == "ConfigMapList"


def test_a_watch_reports_changes_as_they_come(server):
    with opened(server, f"{MAPS}?watch=true&labelSelector=a&timeoutSeconds=30") as response:
        body = {"metadata": {"name": "seen", "labels": {"a": "b"}}}
        thread = threading.Thread(target=server.cluster.create, args=("configmaps", body, "default"))
        thread.start()
        event = json.loads(response.readline())
        thread.join()
    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "seen")


def test_a_watch_ends_with_a_bookmark(server):
    path = f"{MAPS}?watch=true&resourceVersion={server.cluster.revision}&allowWatchBookmarks=true&timeoutSeconds=1"
    with opened(server, path) as response:
        event = json.loads(response.readline())
    assert (event["type"], event["object"]["kind"]) == ("BOOKMARK", "ConfigMap")
