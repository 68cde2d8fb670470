"""A few requests over real TLS: what only sockets can show."""

from __future__ import annotations

import gzip
import http.client
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request

import pytest
from pyVim.connect import Disconnect, SmartConnect
from pyVmomi import vmodl

from vsphere_twin.launch import launch, running
from vsphere_twin.vcenter.server import service_versions
from vsphere_twin.vcenter.types import version_of


@pytest.fixture
def twin(world):
    with running(world) as twin:
        yield twin


def verifying(twin):
    return ssl.create_default_context(cafile=str(twin.ca_file))


@pytest.fixture
def service(twin):
    connected = SmartConnect(
        host=twin.host, port=twin.port, user=twin.username, pwd=twin.password, sslContext=verifying(twin)
    )
    yield connected
    Disconnect(connected)


def get(twin, path, context=None, **headers):
    request = urllib.request.Request(f"https://localhost:{twin.port}{path}", headers=headers)
    return urllib.request.urlopen(request, context=context or verifying(twin))


def talk(twin):
    """Connect and say something; how far a dropped client gets is a matter of luck."""
    context = verifying(twin)
    with (
        socket.create_connection((twin.host, twin.port)) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as encrypted,
    ):
        encrypted.sendall(b"GET")


def answers(twin, context):
    """Whether the twin accepts connections; another process may have taken its port meanwhile."""
    try:
        with (
            socket.create_connection((twin.host, twin.port), timeout=20) as plain,
            context.wrap_socket(plain, server_hostname="localhost"),
        ):
            return True
    except OSError:
        return False


def until(happened, patience_s=20):
    """Whether something happens on another thread before patience ends."""
    end = time.monotonic() + patience_s
    while not happened() and time.monotonic() < end:
        time.sleep(0.02)
    return happened()


def test_client_logs_in_reads_and_logs_out(twin, service):
    assert service.content.about.apiType == "VirtualCenter"
    assert [session.user for session in twin.sessions] == [twin.username]
    Disconnect(service)
    assert twin.sessions == []


def test_certificate_is_trusted_by_its_authority_only(twin):
    assert get(twin, "/sdk/vimServiceVersions.xml").status == 200
    with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
        get(twin, "/sdk/vimServiceVersions.xml", context=ssl.create_default_context())


def test_certificate_is_for_the_names_of_the_loopback_only(twin):
    for name in ("localhost", "127.0.0.1"):
        with (
            socket.create_connection((twin.host, twin.port)) as plain,
            verifying(twin).wrap_socket(plain, server_hostname=name) as encrypted,
        ):
            assert encrypted.version() == "TLSv1.3"
    with (
        socket.create_connection((twin.host, twin.port)) as plain,
        pytest.raises(ssl.SSLCertVerificationError, match="vcenter.example"),
    ):
        verifying(twin).wrap_socket(plain, server_hostname="vcenter.example")


def test_certificate_can_be_for_another_name(world):
    with running(world, names=["vcenter.example"]) as twin:
        with pytest.raises(urllib.error.URLError, match="localhost"):
            get(twin, "/sdk/vimServiceVersions.xml")
        with socket.create_connection((twin.host, twin.port)) as plain:
            verifying(twin).wrap_socket(plain, server_hostname="vcenter.example").close()


def test_versions_end_with_the_release_of_the_server():
    text = service_versions(version_of("7.0.3.0")).decode()
    assert "<version>7.0.3.0</version><priorVersions>" in text
    assert "<version>7.0.2.0</version>" in text
    assert "8.0" not in text


def test_service_versions_name_ids_that_are_no_numbers_in_their_place():
    text = service_versions(version_of("9.1.1.0")).decode()
    assert "<version>9.1.1.0</version><priorVersions><version>m5CA1EF4D</version><version>9.1.0.0</version>" in text
    assert "m5CA1EF4D" not in service_versions(version_of("9.1.0.0")).decode()


@pytest.mark.parametrize("newest", ["9.1.1.0", "m5CA1EF4D", "9.1.0.0", "8.0.3.1"])
def test_client_negotiates_the_version_of_the_server(newest):
    with launch(seed={"extends": "small-9.1", "api_version": newest}) as twin:
        service = SmartConnect(
            host=twin.host, port=twin.port, user=twin.username, pwd=twin.password, sslContext=verifying(twin)
        )
        assert service._stub.versionId == f'"urn:vim25/{newest}"'
        assert service.content.about.apiVersion == newest
        assert service.content.about.build == "25370922"
        Disconnect(service)


def test_large_answer_is_compressed_only_for_who_takes_it(twin):
    connection = http.client.HTTPSConnection("localhost", twin.port, context=verifying(twin))
    body = (
        '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body>'
        '<RetrieveServiceContent xmlns="urn:vim25"><_this type="ServiceInstance">ServiceInstance</_this>'
        "</RetrieveServiceContent></soapenv:Body></soapenv:Envelope>"
    )
    answers = []
    for headers in ({}, {"Accept-Encoding": "gzip"}):
        connection.request("POST", "/sdk", body, headers)
        response = connection.getresponse()
        answers.append((response.getheader("Content-Encoding"), response.read()))
    connection.close()
    (plain_encoding, plain), (encoding, compressed) = answers
    assert (plain_encoding, encoding) == (None, "gzip")
    assert gzip.decompress(compressed) == plain


@pytest.mark.parametrize("path", ["/", "/mob"])
def test_other_addresses_do_not_exist(twin, path):
    with pytest.raises(urllib.error.HTTPError, match="404"):
        get(twin, path)


def test_unavailable_server_says_503_as_often_as_planned(twin):
    twin.control.unavailable(count=1)
    with pytest.raises(urllib.error.HTTPError, match="503"):
        get(twin, "/sdk/vimServiceVersions.xml")
    assert get(twin, "/sdk/vimServiceVersions.xml").status == 200


def test_refusing_server_drops_new_connections_until_reported_otherwise(twin):
    twin.control.refuse()
    with pytest.raises((ssl.SSLError, ConnectionError)):
        talk(twin)
    twin.control.refuse(on=False)
    assert get(twin, "/sdk/vimServiceVersions.xml").status == 200


def test_request_that_was_taken_can_end_without_an_answer(twin, service):
    twin.control.close_after(method="CreateListView")
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        service.content.viewManager.CreateListView()
    assert twin.requests["CreateListView"] == 1
    assert service.content.viewManager.CreateListView().view == []


def test_fault_of_the_twin_itself_is_a_system_error_and_is_logged(twin, service, monkeypatch, caplog):
    monkeypatch.setattr(twin.world, "release", None)
    with pytest.raises(vmodl.fault.SystemError, match="twin failed"):
        service.RetrieveContent()
    assert until(lambda: "AttributeError" in caplog.text)


def test_client_that_hangs_up_ends_its_poll(twin, service):
    collector = service.content.propertyCollector
    before = threading.active_count()
    connection = http.client.HTTPSConnection("localhost", twin.port, context=verifying(twin))
    body = (
        '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body>'
        f'<WaitForUpdatesEx xmlns="urn:vim25"><_this type="PropertyCollector">{collector._moId}</_this>'
        "</WaitForUpdatesEx></soapenv:Body></soapenv:Envelope>"
    )
    connection.request("POST", "/sdk", body, {"Cookie": service._stub.cookie})
    connection.close()
    ended = until(lambda: twin.requests["WaitForUpdatesEx"] and threading.active_count() <= before)
    assert ended, "the poll of a client that is gone goes on"


def test_stopped_twin_leaves_no_thread_and_no_port(world):
    before = set(threading.enumerate())
    with running(world) as twin:
        context = verifying(twin)
        connection = socket.create_connection((twin.host, twin.port))
        encrypted = context.wrap_socket(connection, server_hostname="localhost")
        assert answers(twin, context)
    assert encrypted.recv(1) == b""
    encrypted.close()
    assert not answers(twin, context)
    left = [thread for thread in set(threading.enumerate()) - before if thread.name.startswith("twin")]
    assert left == []
