"""HTTP as clients of all languages speak it: bodies without a length."""

from __future__ import annotations

import http.client
import ssl

import pytest
from pyVmomi import vim

from .any_client import lab

LOGIN = (
    '<RetrieveServiceContent xmlns="urn:vim25"><_this type="ServiceInstance">ServiceInstance</_this>'
    "</RetrieveServiceContent>"
)
FILE = "/folder/{}?dcPath=lab&dsName=datastore-01"


@pytest.fixture(scope="module")
def client():
    with lab() as started:
        yield started


def pieces(*parts):
    yield from parts


@pytest.mark.parametrize("cut", [1, 40, 10_000])
def test_a_message_in_chunks_is_read(client, cut):
    body = client_message(LOGIN)
    parts = [body[start : start + cut] for start in range(0, len(body), cut)]
    status, _headers, data = client.ask(
        "POST", "/sdk", pieces(*parts), {"Transfer-Encoding": "chunked"}, encode_chunked=True
    )
    assert status == 200
    assert b"RetrieveServiceContentResponse" in data


def test_a_connection_goes_on_after_chunks(client):
    context = ssl.create_default_context(cafile=str(client.twin.ca_file))
    connection = http.client.HTTPSConnection("localhost", client.twin.port, context=context)
    try:
        for _again in range(2):
            connection.request(
                "POST", "/sdk", pieces(client_message(LOGIN)), {"Transfer-Encoding": "chunked"}, encode_chunked=True
            )
            assert connection.getresponse().read().endswith(b"Envelope>")
    finally:
        connection.close()


@pytest.mark.parametrize("size", [b"-5", b"zz", b"", b"0x10"])
def test_what_is_no_size_of_a_chunk_ends_the_connection(client, size):
    with pytest.raises((ConnectionError, OSError)):
        client.ask("POST", "/sdk", size + b"\r\nx\r\n0\r\n\r\n", {"Transfer-Encoding": "chunked"})


def test_a_file_in_chunks_is_stored(client):
    headers = {"Cookie": client.cookie, "Transfer-Encoding": "chunked"}
    path = FILE.format("chunks.bin")
    assert client.ask("PUT", path, pieces(b"one", b"two" * 50_000), headers, encode_chunked=True)[0] == 201
    assert client.ask("GET", path, headers={"Cookie": client.cookie})[2] == b"one" + b"two" * 50_000
    assert client.ask("PUT", path, pieces(b""), headers, encode_chunked=True)[0] == 200
    assert client.ask("DELETE", path, headers={"Cookie": client.cookie})[0] == 204


def test_a_file_in_chunks_that_does_not_fit_is_refused(client):
    store = client.find(vim.Datastore, "datastore-01")
    with client.twin.world.lock:
        model = client.twin.world.get(store._moId)
        kept, model.base_free = model.base_free, 100
    try:
        headers = {"Cookie": client.cookie, "Transfer-Encoding": "chunked"}
        status = client.ask("PUT", FILE.format("big.bin"), pieces(b"x" * 60, b"x" * 60), headers, encode_chunked=True)[
            0
        ]
    finally:
        model.base_free = kept
    assert status == 507


def client_message(text):
    """A SOAP message around a body."""
    return ('<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body>' + text + "</Body></Envelope>").encode()
