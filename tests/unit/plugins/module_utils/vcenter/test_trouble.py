# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
import threading
from http.client import BadStatusLine, HTTPException, RemoteDisconnected
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import certificate, transport, trouble
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.wire import Wire
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from unit.plugins.module_utils.vcenter.fakes import FakeClock, target


def issue(directory: Path, names=("localhost",), days=30, common_name="vc.example"):
    """A self-signed certificate and its key as files, and the certificate itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.COUNTRY_NAME, "DE"),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Lab GmbH"),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
        ]
    )
    alternatives = [x509.DNSName(name) for name in names] + [x509.IPAddress(ipaddress.ip_address("192.0.2.7"))]
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=60))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .sign(key, hashes.SHA256())
    )
    directory.mkdir(exist_ok=True)
    (directory / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (directory / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return made


class Peer:
    """A TCP server whose every connection is given to a function."""

    def __init__(self, serve):
        self._serve = serve
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(0.1)
        self.port = self._socket.getsockname()[1]
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *failure):
        self._ended.set()
        self._thread.join()
        self._socket.close()

    def _run(self):
        while not self._ended.is_set():
            try:
                connection, dummy = self._socket.accept()
            except TimeoutError:
                continue
            with connection:
                self._serve(connection)


def https(directory: Path, answer: bytes, heard: list | None = None):
    """Serve one answer per connection over TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "cert.pem", directory / "key.pem")

    def serve(connection):
        try:
            with context.wrap_socket(connection, server_side=True) as channel:
                request = channel.recv(65536)
                if heard is not None:
                    heard.append(request)
                channel.sendall(answer)
        except OSError:
            return

    return Peer(serve)


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"


def fetch(to):
    wire = Wire(to)
    try:
        return transport.persist(lambda: wire.fetch("/x"), wire, "x", repeatable=True, clock=FakeClock())
    finally:
        wire.drop()


def failing(to) -> OperatorError:
    with pytest.raises(trouble.NoConnection) as caught:
        fetch(to)
    return caught.value


def local(port, **changes):
    return target(**{"host": "localhost", "port": port, "timeout_s": 5, **changes})


def test_a_certificate_that_the_file_of_authorities_holds_is_trusted(tmp_path):
    issue(tmp_path)
    with https(tmp_path, OK) as peer:
        assert fetch(local(peer.port, ca_file=str(tmp_path / "cert.pem"))) == (200, b"hi")


def test_an_untrusted_certificate_is_shown_with_the_way_to_trust_it(tmp_path):
    made = issue(tmp_path)
    with https(tmp_path, OK) as peer:
        error = failing(local(peer.port))
    assert error.code == "certificate_untrusted"
    shown = certificate.fingerprint(made.public_bytes(serialization.Encoding.DER))
    for part in ("subject C=DE, O=Lab GmbH, CN=vc.example", "issuer C=DE", shown, "`ca_file`"):
        assert part in error.message


def test_validation_holds_for_localhost_and_sends_nothing_to_an_untrusted_server(tmp_path):
    issue(tmp_path)
    heard = []
    with https(tmp_path, OK, heard) as peer:
        failing(local(peer.port))
    assert not [request for request in heard if request]


def test_a_certificate_for_another_name_lists_the_names_it_is_for(tmp_path):
    issue(tmp_path, names=("vc1.example", "vc2.example"))
    with https(tmp_path, OK) as peer:
        error = failing(local(peer.port, ca_file=str(tmp_path / "cert.pem")))
    assert error.code == "certificate_hostname"
    assert "vc1.example, vc2.example, 192.0.2.7" in error.message


def test_an_expired_certificate_is_called_so(tmp_path):
    issue(tmp_path, days=-1)
    with https(tmp_path, OK) as peer:
        assert failing(local(peer.port, ca_file=str(tmp_path / "cert.pem"))).code == "certificate_expired"


def test_without_validation_any_certificate_will_do_but_not_two_different_ones(tmp_path):
    issue(tmp_path / "old")
    issue(tmp_path / "new")
    with https(tmp_path / "old", OK) as peer:
        wire = Wire(local(peer.port, validate_certs=False))
        assert wire.fetch("/x")[0] == 200
    heard = []
    with https(tmp_path / "new", OK, heard) as peer:
        wire.drop()
        moved = Wire(local(peer.port, validate_certs=False))
        moved.pin = wire.shown
        with pytest.raises(trouble.CertificateChanged):
            moved.fetch("/x")
        moved.drop()
    assert not [request for request in heard if request]


@pytest.mark.parametrize("content", [None, "", "no certificate"], ids=["absent", "empty", "text"])
def test_a_file_of_authorities_that_cannot_be_used_is_named(tmp_path, content):
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    with pytest.raises(OperatorError, match=str(path)) as caught:
        Wire(target(ca_file=str(path)))
    assert caught.value.code == "ca_file"


def test_a_port_that_nobody_listens_on_is_refused_with_its_number():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        error = failing(target(host="127.0.0.1", port=port))
    assert error.code == "vcenter_refused"
    assert f"127.0.0.1 refuses connections on port {port}" in error.message


def test_a_port_that_speaks_no_tls_is_called_so():
    with Peer(lambda connection: connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")) as peer:
        error = failing(local(peer.port))
    assert error.code == "vcenter_tls"
    assert "`port`" in error.message


def test_a_server_that_takes_the_request_and_hangs_up_every_time_is_unreachable(tmp_path):
    issue(tmp_path)
    with https(tmp_path, b"") as peer:
        error = failing(local(peer.port, ca_file=str(tmp_path / "cert.pem")))
    assert error.code == "vcenter_unreachable"


@pytest.mark.parametrize(
    "error, code, part",
    [
        (socket.gaierror(-2, "Name or service not known"), "vcenter_unresolvable", "vc.example cannot be resolved"),
        (TimeoutError("timed out"), "vcenter_timeout", "within 60 seconds"),
        (ssl.SSLError("The handshake operation timed out"), "vcenter_timeout", "`request_timeout_s`"),
        (OSError(113, "No route to host"), "vcenter_unreachable", "No route to host"),
        (OSError("Tunnel connection failed: 407 Proxy Authentication Required"), "vcenter_unreachable", "407"),
    ],
    ids=["name", "timeout", "handshake-timeout", "route", "proxy"],
)
def test_trouble_of_the_network_is_one_readable_error(error, code, part):
    reported = trouble.explain(error, target())
    assert reported.code == code
    assert part in reported.message


def test_the_proxy_is_named_when_it_is_the_one_that_cannot_be_reached():
    to = target(proxy_host="proxy.example", proxy_port=3128)
    assert "The proxy proxy.example" in trouble.explain(ConnectionRefusedError(111, "refused"), to).message
    assert "proxy.example cannot be resolved" in trouble.explain(socket.gaierror(-2, "unknown"), to).message


def test_the_tunnel_through_a_proxy_is_asked_for_before_anything_else(tmp_path):
    heard = []

    def refuse(connection):
        heard.append(connection.recv(65536))
        connection.sendall(b"HTTP/1.1 403 Forbidden\r\n\r\n")

    with Peer(refuse) as peer:
        error = failing(target(proxy_host="127.0.0.1", proxy_port=peer.port))
    assert heard[0].startswith(b"CONNECT vc.example:443 ")
    assert "403 Forbidden" in error.message


def test_a_certificate_is_read_without_being_trusted(tmp_path):
    made = issue(tmp_path, names=("a.example",))
    read = certificate.parse(made.public_bytes(serialization.Encoding.DER))
    assert read.subject == "C=DE, O=Lab GmbH, CN=vc.example"
    assert read.names == ("a.example", "192.0.2.7")
    assert read.not_after == made.not_valid_after_utc.strftime("%Y-%m-%d")
    assert read.fingerprint.replace(":", "").lower() == made.fingerprint(hashes.SHA256()).hex()


@pytest.mark.parametrize("der", [b"", b"\x30", b"\x30\x82\xff\xff", b"hello world", bytes(200)])
def test_what_is_no_certificate_is_called_so(der):
    with pytest.raises(ValueError, match="not a certificate"):
        certificate.parse(der)


@pytest.mark.parametrize(
    "error, passing",
    [
        (HTTPException("503 Service Unavailable"), True),
        (HTTPException("404 Not Found"), False),
        (RemoteDisconnected("hung up"), True),
        (BadStatusLine("?"), True),
        (ConnectionResetError(), True),
        (ConnectionRefusedError(), False),
        (TimeoutError(), True),
        (socket.gaierror(-2, "Name or service not known"), False),
        (ssl.SSLEOFError(), True),
        (ssl.SSLError("wrong version number"), False),
        (ssl.SSLCertVerificationError(), False),
        (OSError(113, "No route to host"), False),
        (ValueError(), False),
    ],
    ids=repr,
)
def test_what_may_pass_in_a_moment_is_tried_again(error, passing):
    assert trouble.is_passing(error) is passing


@pytest.mark.parametrize(
    "error, status",
    [
        (HTTPException("503 Service Unavailable"), 503),
        (HTTPException("100 Continue"), 100),
        (HTTPException("600 what"), None),
        (HTTPException("5030"), None),
        (BadStatusLine("503"), None),
        (OSError("503"), None),
    ],
    ids=repr,
)
def test_a_status_is_read_from_the_exception_of_pyvmomi_alone(error, status):
    assert trouble.http_status(error) == status
