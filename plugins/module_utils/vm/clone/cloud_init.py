# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Guestinfo settings for cloud-init's VMware data source, built from metadata and userdata."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Iterator, Mapping, TypedDict

if TYPE_CHECKING:

    class CloudInit(TypedDict, total=False):
        """The option cloud_init."""

        # A dictionary or a text, which problems() checks.
        metadata: object
        userdata: str | None


PREFIX = "guestinfo."
_PARTS = ("metadata", "userdata", "vendordata")
_IDENTITY = ("instance-id", "local-hostname")
_KEY_AT_LINE_START = r"^[\"']?{}[\"']?\s*:"


def problems(requested: CloudInit) -> Iterator[str]:
    """Yield the problems of a cloud_init option, one sentence each."""
    metadata, userdata = requested.get("metadata"), requested.get("userdata")
    if metadata is not None and not isinstance(metadata, (dict, str)):
        yield f"cloud_init.metadata is a {type(metadata).__name__}; it must be a dictionary or a text."
    if isinstance(metadata, str) and metadata.lstrip().startswith("{") and _parsed(metadata) is None:
        yield "cloud_init.metadata looks like JSON, but is not valid JSON; correct it."
    if userdata is not None and not userdata.strip():
        yield "cloud_init.userdata is empty; set it or remove it."


def settings(requested: CloudInit, name: str) -> dict[str, str]:
    """The extraConfig entries, as {key: value}, for a new VM of this name."""
    found = {}
    metadata = _metadata(requested.get("metadata"), name)
    for part, text in (("metadata", metadata), ("userdata", requested.get("userdata"))):
        if text is not None:
            found[f"{PREFIX}{part}"] = base64.b64encode(text.encode("utf-8")).decode("ascii")
            found[f"{PREFIX}{part}.encoding"] = "base64"
    return found


def parts_set(extra: Mapping[str, str]) -> tuple[str, ...]:
    """Return which of metadata, userdata and vendordata a VM has, by its settings in lower case; never their
    content.
    """
    return tuple(part for part in _PARTS if extra.get(f"{PREFIX}{part}"))


def _metadata(requested: object, name: str) -> str:
    """Metadata with an identity: without an instance-id of its own, a clone would pass for its template."""
    identity = dict(zip(_IDENTITY, (name, host_name(name))))
    if requested is None:
        return json.dumps(identity)
    text = str(requested)
    data = requested if isinstance(requested, dict) else _parsed(text)
    if data is not None:
        return json.dumps(dict(identity, **data))
    missing = [
        f"{key}: {json.dumps(value)}"
        for key, value in identity.items()
        if not re.search(_KEY_AT_LINE_START.format(key), text, re.MULTILINE)
    ]
    return "\n".join([text.rstrip("\n"), *missing]) + "\n"


def host_name(name: str) -> str:
    """A host name (RFC 1123) from the name of a VM."""
    label = re.sub(r"[^a-z0-9.-]+", "-", name.lower()).strip("-.")
    return label[:63].rstrip("-.") or "localhost"


def _parsed(text: str) -> dict[str, object] | None:
    """The dictionary in a JSON text; None for any other text."""
    try:
        data = json.loads(text)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None
