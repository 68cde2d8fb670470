"""Requests that no client should send: each gets an answer of its protocol, and none is logged as a defect."""

from __future__ import annotations

import gzip
import logging
import socket
import ssl

import pytest

from .any_client import lab

ENVELOPE = (
    '<?xml version="1.0"?><Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><Body>{}</Body></Envelope>'
)
CONTENT = (
    '<RetrieveServiceContent xmlns="urn:vim25"><_this type="ServiceInstance">ServiceInstance</_this>'
    "</RetrieveServiceContent>"
)
MESSAGE = ENVELOPE.format(CONTENT)
LOGIN = '<Login xmlns="urn:vim25"><_this type="SessionManager">SessionManager</_this>{}</Login>'


@pytest.fixture(scope="module")
def client():
    with lab() as started:
        yield started


@pytest.fixture(autouse=True)
def no_defect(caplog):
    """Nothing that a client sends is a defect of the twin."""
    yield
    assert [one.getMessage() for one in caplog.records if one.levelno >= logging.ERROR] == []


def received(client, data):
    """Everything that the server sends until it ends the connection."""
    context = ssl.create_default_context(cafile=str(client.twin.ca_file))
    with (
        socket.create_connection((client.twin.host, client.twin.port), timeout=20) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as connection,
    ):
        connection.sendall(data)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def request(*headers, body=MESSAGE, line="POST /sdk HTTP/1.1"):
    lines = [line, "Host: localhost", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body.encode()


@pytest.mark.parametrize(
    "data, status",
    [
        (b"GET /sdk\r\n\r\n", b"400"),
        (request("Content-Length: abc"), b"400"),
        (request("Content-Length: -5"), b"400"),
        (request("Content-Length: 5", "Content-Length: 6"), b"400"),
        (request("Transfer-Encoding: gzip, chunked", body="0\r\n\r\n"), b"501"),
        (request("Transfer-Encoding: chunked", "Transfer-Encoding: gzip", body="0\r\n\r\n"), b"501"),
        (request(f"Content-Length: {len(MESSAGE)}", line="POST /sdk HTTP/1.0"), b"200"),
        (request(f"Content-Length: {len(MESSAGE)}", line="POST /sdk?x=1 HTTP/1.1"), b"200"),
        (request(f"Content-Length: {len(MESSAGE)}", line="POST /sdk/vimService HTTP/1.1"), b"200"),
        (request("Content-Length: 0", line="OPTIONS /sdk HTTP/1.1", body=""), b"501"),
        (request("X: " + "a" * 70_000), b"431"),
        (request(line=f"GET /nfc/{'9' * 5_000}/disk HTTP/1.1", body=""), b"404"),
    ],
)
def test_a_request_that_is_no_message_gets_a_status(client, data, status):
    assert received(client, data).split()[1] == status


def test_a_message_that_is_too_large_is_refused(client, monkeypatch):
    monkeypatch.setattr("vsphere_twin.https.MOST_MESSAGE", 10)
    assert received(client, request(f"Content-Length: {len(MESSAGE)}")).split()[1] == b"413"
    assert received(client, request(f"Content-Length: {10**12}")).split()[1] == b"413"
    chunk = f"{len(MESSAGE):x}\r\n{MESSAGE}\r\n"
    assert received(client, request("Transfer-Encoding: chunked", body=chunk)).split()[1] == b"413"


def test_head_has_the_headers_of_get(client):
    status, headers, body = client.ask("HEAD", "/sdk/vimServiceVersions.xml")
    assert (status, body) == (200, b"")
    assert headers["Content-Length"] == str(len(client.ask("GET", "/sdk/vimServiceVersions.xml")[2]))


@pytest.mark.parametrize(
    "body",
    [
        "",
        "hello",
        MESSAGE[:-5],
        ENVELOPE.format(""),
        MESSAGE.replace("schemas.xmlsoap.org", "example.com"),
        MESSAGE.replace("urn:vim25", "urn:pbm"),
        MESSAGE.replace(' xmlns="urn:vim25"', ""),
        MESSAGE.replace("RetrieveServiceContent", "Nope"),
        MESSAGE.replace('type="ServiceInstance"', 'type="AboutInfo"'),
        MESSAGE.replace(">ServiceInstance<", ">&nope;<"),
        ENVELOPE.format("<a>" * 100_000),
        ENVELOPE.format(LOGIN.format('<userName xsi:type="Nope">a</userName><password>b</password>')),
        ENVELOPE.format(LOGIN.format("<userName>a</userName>")),
        "<!DOCTYPE x [<!ENTITY a 'b'>]>" + MESSAGE[21:],
        gzip.compress(MESSAGE.encode()).decode("latin-1"),
    ],
)
def test_a_message_that_is_no_call_gets_a_fault(client, body):
    status, _headers, data = client.ask("POST", "/sdk", body.encode(), {"Content-Type": "text/xml"})
    assert status == 500
    assert b"<soapenv:Fault><faultcode>" in data
    assert b"SystemError" not in data


@pytest.mark.parametrize(
    "path, body",
    [
        ("/api/cis/tagging/category", "{bad"),
        ("/api/cis/tagging/category", "[1]"),
        ("/api/cis/tagging/category", "[" * 100_000),
        ("/api/cis/tagging/category", '{"name": 5}'),
        ("/api/cis/tagging/category", '{"name": "a", "associable_types": "VirtualMachine"}'),
        ("/api/content/local-library", '{"name": "a", "storage_backings": "x"}'),
        ("/api/content/local-library", '{"name": "a", "storage_backings": ["x"]}'),
        ("/api/cis/tagging/tag-association?action=list-attached-tags", '{"object_id": "vm-1"}'),
        ("/api/cis/tagging/tag-association?action=list-attached-tags-on-objects", '{"object_ids": ["vm-1"]}'),
        ("/api/cis/tagging/tag-association?action=list-attached-objects-on-tags", '{"tag_ids": [[]]}'),
    ],
)
def test_a_rest_request_of_the_wrong_form_is_an_invalid_argument(client, path, body):
    client.rest("GET", "/api/cis/tagging/category")
    headers = {"vmware-api-session-id": client.token, "Content-Type": "application/json"}
    status, _headers, data = client.ask("POST", path, body.encode(), headers)
    assert status == 400
    assert b'"INVALID_ARGUMENT"' in data


def test_a_defect_of_the_twin_is_answered_by_rest_too(client, monkeypatch, caplog):
    monkeypatch.setattr(client.twin.world, "tagging", None)
    status, value = client.rest("GET", "/api/cis/tagging/category")
    assert (status, value["error_type"]) == (500, "ERROR")
    assert "AttributeError" in caplog.text
    caplog.clear()
