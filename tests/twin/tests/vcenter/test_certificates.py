"""Every server of a twin has a certificate of its own, and one authority vouches for all of them."""

from __future__ import annotations

import ipaddress

import pytest
from cryptography import x509

from vsphere_twin.vcenter.certificates import issue, server_context


@pytest.fixture(name="chain")
def _chain(tmp_path):
    server_context(tmp_path)
    return issue(tmp_path, "registry.pem", ("10.1.2.3", "images.example"))


def test_another_server_is_vouched_for_by_the_same_authority(chain):
    authority = x509.load_pem_x509_certificate((chain.parent / "ca.pem").read_bytes())
    issued = x509.load_pem_x509_certificate(chain.read_bytes())
    assert issued.issuer == authority.subject
    assert issued.verify_directly_issued_by(authority) is None


def test_its_certificate_is_for_its_own_names_alone(chain):
    names = x509.load_pem_x509_certificate(chain.read_bytes()).extensions.get_extension_for_class(
        x509.SubjectAlternativeName
    )
    assert [str(name.value) for name in names.value] == [str(ipaddress.ip_address("10.1.2.3")), "images.example"]


@pytest.mark.parametrize("file", ["ca.key", "server.pem", "registry.pem"])
def test_keys_are_nobody_elses(chain, file):
    assert (chain.parent / file).stat().st_mode & 0o077 == 0
