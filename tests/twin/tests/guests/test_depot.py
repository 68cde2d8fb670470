"""The depot answers whatever is asked of it, since apt waits for ever where a connection ends without a word."""

from __future__ import annotations

import base64
import hashlib
import ssl
import urllib.error
import urllib.request

import pytest

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
        with urllib.request.urlopen(f"{depot.url}{path}", context=context, timeout=120) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code


def test_what_is_there_is_given_and_what_is_not_is_not_found(depot):
    assert [status(depot, path) for path in ("/toolkit/gpgkey", "/toolkit/other")] == [200, 404]


def test_the_fingerprint_of_its_key_is_in_its_endpoint(depot):
    assert [fingerprint(depot._signer.public)] == depot.endpoint()["key_fingerprints"]


def fingerprint(text):
    """Of the first packet of an armored key, by RFC 4880, section 12.2."""
    lines = text.decode().split("\n\n", 1)[1].splitlines()
    data = base64.b64decode("".join(line for line in lines if line[:1] not in ("=", "-")))
    head = {0x98: 2, 0x99: 3}[data[0]]  # a public key with a length of one byte, or of two
    packet = data[head : head + int.from_bytes(data[1:head])]
    return hashlib.sha1(b"\x99" + len(packet).to_bytes(2) + packet).hexdigest().upper()


def test_what_cannot_be_made_is_answered_too(depot, monkeypatch):
    def break_down(_folder):
        raise FileNotFoundError("the file of a package")

    monkeypatch.setattr(depot, "_repository", break_down)
    assert status(depot, "/debian/InRelease") == 500
