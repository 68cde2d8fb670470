# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Whether certificates of vCenter and BMCs are verified, and the setting that disables this.

Pure, except that a file of authorities which cannot be used is read for the reason.
"""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple


class Side(NamedTuple):
    """A server whose certificate is verified, and the settings for that."""

    what: str
    prefix: str
    variable: str
    ca_variable: str
    key: str


VCENTER = Side("vCenter", "", "VMWARE_VALIDATE_CERTS", "AIREADY_VCENTER_CA_FILE", "site.vcenter")
BMC = Side("the BMC", "bmc_", "AIREADY_BMC_VALIDATE_CERTS", "AIREADY_BMC_CA_FILE", "site.hosts.bmc")
DER = b"\x30"
# The words that Ansible takes for false.
_OFF = ("0", "f", "false", "n", "no", "off")


def is_off(side: Side, environment: Mapping[str, str]) -> bool:
    """Whether the environment disables verification, as AWX's own credential for vCenter does by default."""
    return str(environment.get(side.variable) or "").strip().lower() in _OFF


def source(side: Side, environment: Mapping[str, str]) -> str:
    """The setting that disables verification; empty if certificates are verified."""
    if is_off(side, environment):
        return f"the environment variable {side.variable} is {environment[side.variable]}"
    return f"{side.prefix}validate_certs is false"


def contradictions(side: Side, params: Mapping[str, Any], environment: Mapping[str, str]) -> list[str]:
    """A file of trusted authorities, and the setting that disables its use."""
    ca_file = params.get(f"{side.prefix}ca_file")
    if params.get(f"{side.prefix}validate_certs", True) or not ca_file:
        return []
    return [
        f"{side.prefix}ca_file is {ca_file}, but {source(side, environment)}, so the certificate would not be "
        f"verified. Set {side.key}.validate_certs (or {side.prefix}validate_certs of the task) to true, which has "
        f"precedence over the environment, or remove {side.prefix}ca_file."
    ]


def warning(side: Side, name: str, params: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """The warning of a task without certificate verification; empty with verification."""
    if params.get(f"{side.prefix}validate_certs", True):
        return ""
    return (
        f"The certificate of {side.what} {name} is not verified: {source(side, environment)}. An attacker on the "
        f"network can read the password. Set {side.key}.validate_certs to true and {side.key}.ca_file to the authority."
    )


def why_unusable(path: str, error: object) -> str:
    """The reason why a file has no authorities. The TLS library only reports that it found none."""
    try:
        with open(path, "rb") as opened:
            content = opened.read(65536)
    except OSError as unread:
        return str(unread)
    if b"PRIVATE KEY-----" in content and b"BEGIN CERTIFICATE-----" not in content:
        return "it holds a private key and no certificate"
    if content.startswith(DER):
        return f"it is in DER format; convert it with: openssl x509 -inform der -in {path} -out {path}.pem"
    if b"-----BEGIN " not in content:
        return "it holds no certificate in PEM format"
    return str(error)
