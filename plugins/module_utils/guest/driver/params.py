# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The options of vgpu_guest_driver."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import source
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import version as versions

ARGUMENTS: dict[str, dict[str, Any]] = {
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "package": {"type": "str"},
    "source": {"type": "str", "choices": ["auto", "file", "url", "repository"], "default": "auto"},
    "flavour": {"type": "str", "choices": ["vgpu", "data_centre"], "default": "vgpu"},
    "version": {"type": "str"},
    "checksum": {"type": "str"},
    "ca_file": {"type": "path"},
    "host_version": {"type": "str", "default": ""},
    "gpu": {"type": "str", "choices": ["required", "optional"], "default": "required"},
    "downgrade": {"type": "str", "choices": ["refuse", "allow"], "default": "refuse"},
    "headers": {"type": "bool", "default": True},
    "install_requirements": {"type": "bool", "default": False},
    "secure_boot": {"type": "str", "choices": ["refuse", "signed"], "default": "refuse"},
    "signing_key": {"type": "path", "no_log": False},
    "signing_certificate": {"type": "path"},
    "lock_wait_s": {"type": "int", "default": 300},
}
REQUIRED_IF = [("state", "present", ["package"])]
REQUIRED_TOGETHER = [("signing_key", "signing_certificate")]
# The digests that a checksum can be of, with the number of their hexadecimal digits.
DIGESTS = {"sha256": 64, "sha384": 96, "sha512": 128}


@dataclass(frozen=True)
class DriverRequest:
    """The driver of one guest."""

    state: str
    # None with state absent alone. A URL may hold a password.
    package: str | None = field(repr=False)
    source: str
    flavour: str
    version: str | None
    checksum: str | None
    ca_file: str | None
    host_version: str
    gpu: str
    downgrade: str
    headers: bool
    install_requirements: bool
    secure_boot: str
    signing_key: str | None
    signing_certificate: str | None
    lock_wait_s: int


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Return all problems of the options."""
    problems: list[str] = []
    if params["state"] == "present":
        problems += _package(params)
    elif params["flavour"] != "vgpu":
        problems.append("`flavour` is for `state: present`. Remove it, or uninstall the data centre driver yourself.")
    for name in ("host_version", "version"):
        if params[name] and versions.parse(params[name]) is None:
            problems.append(
                f"`{name}` is {params[name]}, which is not a driver version. Use a version such as 550.54.15."
            )
    if params["lock_wait_s"] < 0:
        problems.append("`lock_wait_s` is negative. Use seconds, 0 or more.")
    return problems


def _package(params: Mapping[str, Any]) -> list[str]:
    if not params["package"].strip():
        return ["`package` is empty. Set it to a file on the guest, a URL or a package of a repository."]
    found = source.of(params["package"], params["source"], params["version"])
    problems = []
    if found.kind == source.FILE and not params["package"].startswith("/"):
        problems.append(f"`package` is {params['package']}. Use an absolute path for a file on the guest.")
    if found.kind == source.URL and not re.match(r"https?://[^/]+/", params["package"]):
        problems.append(f"`package` is {params['package']}, which is not a URL. Use a URL with http:// or https://.")
    elif found.kind == source.URL and params["package"].startswith("http://") and not params["checksum"]:
        problems.append(
            "`package` is a URL with http://. Others on the network could replace the file that the module installs "
            "as root. Use https://, or set `checksum`."
        )
    if found.kind != source.REPOSITORY and found.format is None:
        problems.append(f"`package` is {found.base}. Use a file that ends in .deb, .rpm or .run.")
    if found.kind != source.REPOSITORY and found.format and found.version is None:
        problems.append(f"Neither the name {found.base} nor `version` has the driver version. Set `version`.")
    if params["checksum"]:
        problems += _checksum(params["checksum"], found.kind)
    if params["signing_key"] and found.kind != source.REPOSITORY and found.format != "run":
        problems.append("`signing_key` is for .run files only. Packages sign their modules with the keys of DKMS.")
    return problems


def _checksum(text: str, kind: str) -> list[str]:
    if kind == source.REPOSITORY:
        return ["`checksum` is for files only. Signatures protect the packages of a repository."]
    name, _colon, digest = text.partition(":")
    if name not in DIGESTS or not re.match(rf"(?i)[0-9a-f]{{{DIGESTS[name]}}}\Z", digest):
        return [f"`checksum` is {text}. Write it as one of {', '.join(f'{kind}:<digits>' for kind in DIGESTS)}."]
    return []
