# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The parameters of nvaie_vib: their spec and the rules between them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import names
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args

SOURCES = ("depot", "url", "file")

ARGUMENTS = dict(
    args.CONNECTION,
    state={"type": "str", "choices": ["present", "absent"], "default": "present"},
    depot={"type": "str"},
    url={"type": "str"},
    file={"type": "path"},
    datastore={"type": "str"},
    folder={"type": "str", "default": "aiready"},
    keep_upload={"type": "bool", "default": True},
    checksum={"type": "str"},
    version={"type": "str"},
    family={"type": "str", "choices": sorted(names.FAMILIES, reverse=True), "default": names.NVAIE},
    replace={"type": "bool", "default": False},
    downgrade={"type": "str", "choices": ["refuse", "allow"], "default": "refuse"},
    other_release={"type": "str", "choices": ["refuse", "allow"], "default": "refuse"},
    method={"type": "str", "choices": ["auto", "esxcli", "image"], "default": "auto"},
    task_timeout_s={"type": "int", "default": 3600},
    **args.HOST_IDENTITY,
    **args.ESXCLI_TRANSPORT,
)

INFO_ARGUMENTS = dict(args.CONNECTION, **args.HOST_IDENTITY, **args.ESXCLI_TRANSPORT)

RELATIONS = {
    "mutually_exclusive": [SOURCES],
    "required_if": [("state", "present", (*SOURCES, "version"), True)],
    "required_by": {"file": "datastore"},
}


@dataclass(frozen=True)
class DriverRequest:
    """The NVIDIA driver of one host. At most one of the three sources is set."""

    state: str
    family: str
    method: str
    replace: bool
    downgrade: str
    other_release: str
    depot: str | None
    url: str | None
    file: str | None
    version: str | None
    datastore: str | None
    folder: str
    checksum: str | None
    keep_upload: bool
    task_timeout_s: int


_CHECKSUM = re.compile(r"(sha256:)?[0-9a-fA-F]{64}\Z")
_URL = re.compile(r"https?://[^/\s]+/\S*\Z")


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Return all problems of the parameters, one sentence each."""
    problems = args.check_common(params)
    if not params["host"].strip():
        problems.append("host is empty; name the ESXi host.")
    if params["checksum"] is not None and not _CHECKSUM.match(params["checksum"]):
        problems.append("checksum must be sha256: followed by 64 hexadecimal digits.")
    if params["checksum"] is not None and params["url"] is not None:
        problems.append("checksum does not apply to url; use it with file or depot.")
    if params["url"] is not None and not _URL.match(params["url"]):
        problems.append(
            f"url is {_without_user(params['url'])}; it must begin with http:// or https:// and name a file."
        )
    if "@" in (params["url"] or "").partition("//")[2].partition("/")[0]:
        problems.append("url contains a user or a password, which the host and vCenter would show; remove them.")
    if params["datastore"] is not None and params["file"] is None:
        problems.append("datastore applies only together with file; set file or remove datastore.")
    return problems


def _without_user(url: str) -> str:
    return re.sub(r"[^/@\s]+@", "", url)
