"""The depot answers whatever is asked of it, since apt waits for ever where a connection ends without a word."""

from __future__ import annotations

import base64
import ssl
import urllib.error
import urllib.request

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.repository_keys import fingerprints

from vsphere_twin.guests.depot import Depot
from vsphere_twin.vcenter.certificates import server_context


class World:
    """Nothing of it is asked."""


@pytest.fixture
def depot(tmp_path):
    server_context(tmp_path)
    made = Depot(World(), tmp_path)
    made.start()
    yield made
    made.stop()


def status(depot, path):
    context = ssl.create_default_context(cafile=depot.ca_file)
    try:
        with urllib.request.urlopen(f"{depot.url}{path}", context=context, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code


def test_what_is_there_is_given_and_what_is_not_is_not_found(depot):
    assert [status(depot, path) for path in ("/toolkit/gpgkey", "/toolkit/other")] == [200, 404]


def test_the_fingerprint_of_its_key_is_in_its_endpoint(depot):
    made = [fingerprints(depot._signer.public), fingerprints(dearmored(depot._signer.public))]
    assert made == [depot.endpoint()["key_fingerprints"]] * 2


def dearmored(text):
    lines = text.decode().split("\n\n", 1)[1].splitlines()
    return base64.b64decode("".join(line for line in lines if line[:1] not in ("=", "-")))


def test_what_cannot_be_made_is_answered_too(depot, monkeypatch):
    def break_down(_folder):
        raise FileNotFoundError("the file of a package")

    monkeypatch.setattr(depot, "_repository", break_down)
    assert status(depot, "/debian/InRelease") == 500
