"""Client certificates and kubeconfig files of a cluster."""

from __future__ import annotations

import base64
import datetime
from pathlib import Path

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from ..vcenter.certificates import AUTHORITY_KEY, LIFETIME


def client_certificate(directory: Path, user, groups=()):
    """The PEM texts (certificate, key) of a user, from the authority of ca.pem in this directory."""
    authority = x509.load_pem_x509_certificate((directory / "ca.pem").read_bytes())
    authority_key = serialization.load_pem_private_key((directory / AUTHORITY_KEY).read_bytes(), None)
    key = ec.generate_private_key(ec.SECP256R1())
    names = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    subject = x509.Name([*names, x509.NameAttribute(NameOID.COMMON_NAME, user)])
    started = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(authority.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(started)
        .not_valid_after(started + LIFETIME)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    form = serialization.PrivateFormat.PKCS8
    private = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    return certificate.public_bytes(serialization.Encoding.PEM).decode(), private.decode()


def kubeconfig(name, url, authority, token="", certificate=("", ""), namespace=""):
    """A self-contained kubeconfig as text."""
    user = {"token": token} if token else {}
    if certificate[0]:
        user = {"client-certificate-data": _encoded(certificate[0]), "client-key-data": _encoded(certificate[1])}
    context = {"cluster": name, "user": "admin", **({"namespace": namespace} if namespace else {})}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": url, "certificate-authority-data": _encoded(authority)}}],
        "users": [{"name": "admin", "user": user}],
        "contexts": [{"name": f"admin@{name}", "context": context}],
        "current-context": f"admin@{name}",
    }
    return yaml.safe_dump(content, sort_keys=False)


def _encoded(text):
    return base64.b64encode(text.encode()).decode()
