# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""API versions: the newest that server and pyVmomi know, and the comparison of versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable
from xml.etree import ElementTree

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import trouble
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import VmomiSupport

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.wire import Target

PATH = "/sdk/vimServiceVersions.xml"
# vCenter 7.0 Update 2. Modules and the REST services need its features.
OLDEST = "7.0.2.0"


def includes(spoken: str, version_id: str) -> bool:
    """Return whether a pyVmomi version has what came with a version id, such as 8.0.0.1.

    The order is pyVmomi's own, because ids are not always numbers: m5CA1EF4D is between 9.1.0.0 and 9.1.1.0. An id that
    this pyVmomi does not know came later than all that it speaks.
    """
    since = _spoken().get(version_id)
    return since is not None and _has(spoken, since)


def newest_known() -> str:
    """Return the newest version id that this pyVmomi supports."""
    return _newest(_spoken())


def negotiate(target: Target, status: int, body: bytes) -> str:
    """Return the pyVmomi name of the version to use, from the server's own report."""
    offered = _offered(target, status, body)
    spoken = _spoken()
    common = [text for text in offered if text in spoken]
    best = spoken[_newest(common)] if common else ""
    if not best or not includes(best, OLDEST):
        # The server lists its own version first.
        old = offered[0] in spoken
        raise OperatorError(
            target.name,
            f"has no usable vSphere API of version {OLDEST} or newer",
            f"The server supports up to {offered[0]}, and the installed pyVmomi up to {newest_known()}",
            "Use vCenter 7.0 Update 2 or newer" if old else "Use a newer pyVmomi",
            "api_version",
        )
    return best


def _newest(version_ids: Iterable[str]) -> str:
    """Return the version id that includes most others."""
    spoken = _spoken()
    return max(version_ids, key=lambda text: sum(_has(spoken[text], one) for one in spoken.values()))


def _has(name: str, other: str) -> bool:
    return bool(VmomiSupport.IsChildVersion(name, other))  # type: ignore[attr-defined]


def _spoken() -> dict[str, str]:
    """pyVmomi's names by version id."""
    return {
        text: name
        for name, text in VmomiSupport.versionIdMap.items()
        if text and VmomiSupport.nsMap.get(name) == "vim25"
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
            offered += [entry.text for entry in namespace.iter("version") if entry.text]
    if not offered:
        raise trouble.not_vsphere(target, "it lists no version of urn:vim25")
    return offered
