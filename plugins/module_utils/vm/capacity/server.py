# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Ask vCenter 9.0 or newer for the capacity of a host or a cluster. The only part that sends requests.

DirectPathProfileManagerQueryCapacity with a device configuration needs no stored profile (pyVmomi 9.1.1.0).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Iterable, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import release
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim, vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain, vendor_messages
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.model import Numbers, Wanted

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Data
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

HOST, CLUSTER = "HostSystem", "ClusterComputeResource"
_SINCE, _FIRST = "vSphere 9.0", (9,)


@dataclass(frozen=True)
class Reported:
    """The answer of vCenter for one device: numbers, or the reason why there are none."""

    numbers: Numbers | None = None
    why: str = ""


def why_not(vcenter: VCenter) -> str:
    """Return the reason why this vCenter cannot be asked; empty if it can."""
    if getattr(vcenter.content, "directPathProfileManager", None) is not None:
        return ""
    about = vcenter.content.about
    if release.numbers(about.version) < _FIRST:
        return f"vCenter {about.version} reports no capacity, {_SINCE} and newer do"
    return f"vCenter {about.version} or the installed pyVmomi has no DirectPathProfileManager ({_SINCE})"


def ask(vcenter: VCenter, kind: str, moid: str, wanted: Sequence[Wanted]) -> dict[Wanted, Reported]:
    """Return the answer for each device on one host or cluster, from one request."""
    manager, kinds = vcenter.content.directPathProfileManager, vim.DirectPathProfileManager
    ref = vcenter.managed(kind, moid)
    target = kinds.TargetHost(host=ref) if kind == HOST else kinds.TargetCluster(cluster=ref)
    query = [kinds.CapacityQueryByDeviceConfig(deviceConfig=_config(one)) for one in wanted]
    try:
        answers = manager.DirectPathProfileManagerQueryCapacity(target=target, querySpec=query)
    except vim.fault.NoPermission as fault:
        return dict.fromkeys(wanted, Reported(why=f"the user lacks the privilege {fault.privilegeId}"))
    except vmodl.MethodFault as fault:
        return dict.fromkeys(wanted, Reported(why=explain(fault, "", "").found))
    return {**dict.fromkeys(wanted, Reported(why="vCenter gave no answer")), **_by_device(answers or (), wanted)}


def _config(one: Wanted) -> Data:
    kinds = vim.DirectPathProfileManager
    if one.profile:
        return kinds.VmiopDirectPathConfig(vgpuProfile=one.profile)
    direct = vim.vm.device.VirtualPCIPassthrough
    allowed = direct.AllowedDevice(vendorId=int(one.vendor_id, 16), deviceId=int(one.device_id, 16))
    backing = direct.DynamicBackingInfo(deviceName="", allowedDevice=[allowed], customLabel=one.label or None)
    return kinds.DynamicDirectPathConfig(dynamicDirectPathBacking=backing)


def _by_device(answers: Iterable[Data], wanted: Sequence[Wanted]) -> Mapping[Wanted, Reported]:
    """The order of the answers is not documented, so each is recognised by the device that it names."""
    found: dict[Wanted, Reported] = {}
    for answer in answers:
        known = isinstance(answer, vim.DirectPathProfileManager.CapacityInfo)
        config = answer.profile.deviceConfig if known else answer.querySpec.deviceConfig
        one = _wanted_of(config)
        if one in wanted:
            found[one] = Reported(_numbers(answer)) if known else Reported(why=_unknown(answer))
    return found


def _wanted_of(config: Data) -> Wanted:
    profile = getattr(config, "vgpuProfile", "")
    if profile:
        return Wanted(profile)
    backing = config.dynamicDirectPathBacking
    allowed = backing.allowedDevice[0]
    return Wanted("", f"{allowed.vendorId & 0xFFFF:04x}", f"{allowed.deviceId & 0xFFFF:04x}", backing.customLabel or "")


def _numbers(answer: Data) -> Numbers:
    return Numbers(answer.consumed, answer.remaining, answer.max, answer.unusedReservation)


def _unknown(answer: Data) -> str:
    texts = [text for fault in answer.faultList or () for text in vendor_messages(fault)[:1] or [fault._wsdlName]]
    return "vCenter does not know the number" + (f": {' / '.join(texts)}" if texts else "")
