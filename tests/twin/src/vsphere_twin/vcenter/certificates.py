"""A certificate authority for one run, and the server's certificate from it."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFETIME = datetime.timedelta(days=7)
AUTHORITY_KEY = "ca.key"  # beside ca.pem; the directory is the twin's own and goes with it


def server_context(directory: Path, names=("localhost", "127.0.0.1")):
    """A TLS context for these names and addresses; the authority's certificate is left in ca.pem."""
    authority_key, authority = _authority()
    ca_file = directory / "ca.pem"
    ca_file.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    _write_private(directory / AUTHORITY_KEY, _pem(authority_key))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(issue(directory, "server.pem", names))
    return context, ca_file


def issue(directory: Path, file: str, names) -> Path:
    """A file in this directory with one more server's key and certificate, from the authority of ca.pem there."""
    authority = x509.load_pem_x509_certificate((directory / "ca.pem").read_bytes())
    authority_key = serialization.load_pem_private_key((directory / AUTHORITY_KEY).read_bytes(), None)
    key, certificate = _server(authority_key, authority, names)
    return _write_private(directory / file, _pem(key) + certificate.public_bytes(serialization.Encoding.PEM))


def _pem(key):
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def _write_private(path, content):
    path.touch(mode=0o600)
    path.write_bytes(content)
    return path


def _authority():
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Certificate authority of the twin")])
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    builder = _builder(name, name, key).add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(usage, critical=True)
    builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    return key, builder.sign(key, hashes.SHA256())


def _server(authority_key, authority, names):
    key = ec.generate_private_key(ec.SECP256R1())
    alternatives = [_alternative(name) for name in names]
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    builder = _builder(subject, authority.subject, key)
    for extension in (
        x509.SubjectAlternativeName(alternatives),
        x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]),
        x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()),
    ):
        builder = builder.add_extension(extension, critical=False)
    return key, builder.sign(authority_key, hashes.SHA256())


def _alternative(name):
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _builder(subject, issuer, key):
    now = datetime.datetime.now(datetime.timezone.utc)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + LIFETIME)
    )
