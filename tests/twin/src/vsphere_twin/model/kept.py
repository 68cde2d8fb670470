"""Settings that clients write and read back, and that no rule of the twin depends on; what it would drop is refused."""

from __future__ import annotations

import copy
import logging

from pyVmomi import vim, vmodl
from pyVmomi.VmomiSupport import DataObject

LOG = logging.getLogger(__name__)
CONFIG = vim.vm.ConfigSpec
MOST_SHARES = 4_000_000
ENUMERATED = {
    "swapPlacement": vim.vm.ConfigInfo.SwapPlacementType.values,
    "migrateEncryption": CONFIG.EncryptedVMotionModes.values,
    "ftEncryptionMode": CONFIG.EncryptedFtModes.values,
}
COLD = ("nestedHVEnabled", "vPMCEnabled", "cpuHotRemoveEnabled", "fixedPassthruHotPlugEnabled")
PLAIN = (
    "alternateGuestName",
    "changeTrackingEnabled",
    "consolePreferences",
    "cpuAffinity",
    "guestAutoLockEnabled",
    "locationId",
    "managedBy",
    "maxMksConnections",
    "memoryAffinity",
    "messageBusTunnelEnabled",
    "npivOnNonRdmDisks",
    "npivTemporaryDisabled",
    "powerOpInfo",
    "rebootPowerOff",
    "scheduledHardwareUpgradeInfo",
    "tools",
    "vAssertsEnabled",
    "vmOpNotificationTimeout",
    "vmOpNotificationToAppEnabled",
    "vmxStatsCollectionEnabled",
)
OF_VMS = (*PLAIN, *COLD, *ENUMERATED)
SHOWN_OF_VMS = {"powerOpInfo": "defaultPowerOps"}
# vCenter and VMware Tools write these; a specification cannot (vSphere API reference, ToolsConfigInfo).
READ_ONLY = ("toolsVersion", "toolsInstallType", "pendingCustomization", "lastInstallInfo")


def overlay(base, given):
    """Return a copy of a data object in which the fields that another one has set replace its own, at every depth.

    An unset field and an empty list of a specification leave a setting as it is (vSphere API reference, ConfigSpec).
    """
    if given is None:
        return base
    if base is None or not issubclass(type(base), type(given)):
        return given
    result = copy.copy(base)
    for info in given._GetPropertyList():
        value = getattr(given, info.name)
        if value is None or isinstance(value, list) and not value:
            continue
        before = getattr(base, info.name)
        setattr(result, info.name, overlay(before, value) if isinstance(value, DataObject) else value)
    return result


def keep(kept, spec, names):
    """Merge these fields of a specification into the kept ones."""
    for name in names:
        value = getattr(spec, name, None)
        if isinstance(value, vim.vm.AffinityInfo):
            kept[name] = value  # an empty set removes the affinity (vSphere API reference, VirtualMachineAffinityInfo)
        elif value is not None and not (isinstance(value, list) and not value):
            kept[name] = overlay(kept.get(name), value) if isinstance(value, DataObject) else value


def show(info, kept, names=None):
    """The kept settings in the configuration that the API shows; names of the fields that differ from the spec's."""
    for name, value in kept.items():
        shown = (names or {}).get(name, name)
        setattr(info, shown, overlay(getattr(info, shown), value) if isinstance(value, DataObject) else value)
    return info


def refuse_unserved(spec, served, on=()):
    """Raise NotSupported for a field of a specification that the twin would drop, unless it requests nothing.

    `on` has the boolean settings that are true and stay so; all others are false.
    """
    for info in spec._GetPropertyList():
        value = getattr(spec, info.name)
        if info.name in served or info.name.startswith("dynamic") or value is None:
            continue
        if isinstance(value, bool) and value is (info.name in on):
            continue
        if isinstance(value, list) and not value:
            continue
        what = f"{type(spec)._wsdlName}.{info.name}"
        LOG.warning("No one serves %s.", what)
        raise vmodl.fault.NotSupported(msg=f"The operation is not supported on the object: the twin has no {what}.")


def require_one_of(value, allowed, place):
    """Raise InvalidArgument for a text that is none of the values of an enumeration of the API."""
    if value is not None and value not in allowed:
        raise wrong(place)


def check_allocation(wanted, place):
    """Raise InvalidArgument for a reservation, a limit or shares that no VM and no resource pool can have."""
    reservation, limit = wanted.reservation or 0, -1 if wanted.limit is None else wanted.limit
    if reservation < 0 or limit < -1 or -1 < limit < reservation:
        raise wrong(place)
    if wanted.shares.level == vim.SharesInfo.Level.custom and not 0 < wanted.shares.shares <= MOST_SHARES:
        raise wrong(f"{place}.shares")


def wrong(place):
    """InvalidArgument for a field, in vCenter's words."""
    return vmodl.fault.InvalidArgument(msg=f"A specified parameter was not correct: {place}", invalidProperty=place)


def of_vm(vm, spec, running):
    """Keep the settings of a VM, or refuse wrong ones; return the first one that cannot change while the VM runs."""
    for name, allowed in ENUMERATED.items():
        require_one_of(getattr(spec, name), allowed, f"configSpec.{name}")
    if spec.tools is not None:
        policies = vim.vm.ToolsConfigInfo.UpgradePolicy.values
        require_one_of(spec.tools.toolsUpgradePolicy, policies, "configSpec.tools.toolsUpgradePolicy")
        for name in READ_ONLY:
            setattr(spec.tools, name, None)
    upgrade = spec.scheduledHardwareUpgradeInfo
    if upgrade is not None:
        kinds = vim.vm.ScheduledHardwareUpgradeInfo.HardwareUpgradePolicy.values
        require_one_of(upgrade.upgradePolicy, kinds, "configSpec.scheduledHardwareUpgradeInfo.upgradePolicy")
    before = {name: vm.kept.get(name, False) for name in COLD}
    keep(vm.kept, spec, OF_VMS)
    return next((name for name in COLD if running and vm.kept.get(name, False) != before[name]), None)
