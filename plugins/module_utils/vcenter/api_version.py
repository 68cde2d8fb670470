# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Which API version to speak: the newest that both sides know, asked from the server."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import trouble
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import VmomiSupport

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.wire import Target

PATH = "/sdk/vimServiceVersions.xml"
# vCenter 7.0 Update 2. Modules and the REST services need its features.
OLDEST = (7, 0, 2)
_NUMBERS = re.compile(r"\d+(\.\d+)+\Z")


def numbers(text: str) -> tuple[int, ...]:
    """8.0.3.0 as (8, 0, 3, 0); an empty tuple for a version that is not a release."""
    return tuple(int(part) for part in text.split(".")) if _NUMBERS.match(text or "") else ()


def newest_known() -> str:
    """Return the newest release that this pyVmomi supports."""
    return max(_spoken(), key=numbers)


def negotiate(target: Target, status: int, body: bytes) -> str:
    """Return the pyVmomi name of the version to use, from the server's own report."""
    offered = _offered(target, status, body)
    spoken = _spoken()
    common = [text for text in offered if text in spoken]
    best = max(common, key=numbers) if common else ""
    if numbers(best) < OLDEST:
        newest = max(offered, key=numbers) if offered else "none"
        raise OperatorError(
            target.name,
            f"has no usable vSphere API of version {'.'.join(str(part) for part in OLDEST)} or newer",
            f"The server supports up to {newest}, and the installed pyVmomi up to {max(spoken, key=numbers)}",
            "Use vCenter 7.0 Update 2 or newer" if numbers(newest) < OLDEST else "Use a newer pyVmomi",
            "api_version",
        )
    return spoken[best]


def _spoken() -> dict[str, str]:
    """pyVmomi's names by release."""
    return {
        text: name
        for name, text in VmomiSupport.versionIdMap.items()
        if VmomiSupport.nsMap.get(name) == "vim25" and numbers(text)
    }


def _offered(target: Target, status: int, body: bytes) -> list[str]:
    if status != 200:
        raise trouble.not_vsphere(target, f"it answers with HTTP status {status}")
    try:
        root = ElementTree.fromstring(body)
    except ElementTree.ParseError as error:
        raise trouble.not_vsphere(target, f"its list of API versions is not XML ({error})") from error
    offered = []
    for namespace in root.iter("namespace"):
        if namespace.findtext("name") == "urn:vim25":
            offered += [entry.text or "" for entry in namespace.iter("version")]
    if not offered:
        raise trouble.not_vsphere(target, "it lists no version of urn:vim25")
    return [text for text in offered if numbers(text)]
