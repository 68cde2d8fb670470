# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Vendor faults in one readable sentence: type, vendor message, object, and the fix if it is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vmodl


def explain(fault: vmodl.MethodFault, label: str, wanted: str) -> OperatorError:
    """Return an OperatorError for a vendor fault; wanted states the failure of the labelled object."""
    row = next((_ADVICE[name] for name in _lineage(fault) if name in _ADVICE), None)
    service = _missing_service(fault)
    if service:
        row = ("service_missing", f"This server has no {service}: check its version, and whether the host answers")
    code, todo = row if row is not None else ("vsphere_fault", "")
    messages = vendor_messages(fault)
    found = f"vCenter answered {fault._wsdlName}"
    details = _details(fault)
    if details:
        found += f" ({', '.join(details)})"
    if messages:
        found += f": {' / '.join(messages)}"
    return OperatorError(
        label, wanted, found, todo, code, fault=fault._wsdlName, vendor_message=" / ".join(messages), **_named(fault)
    )


# Kinds that users create and remove. All others are services of the server or of a host, which always exist.
_REMOVABLE = (
    *(
        "VirtualMachine",
        "VirtualApp",
        "HostSystem",
        "ComputeResource",
        "ClusterComputeResource",
        "ResourcePool",
        "Folder",
    ),
    *("Datacenter", "Datastore", "StoragePod", "Network", "OpaqueNetwork", "DistributedVirtualPortgroup", "Task"),
    *(
        "DistributedVirtualSwitch",
        "VmwareDistributedVirtualSwitch",
        "VirtualMachineSnapshot",
        "ListView",
        "ContainerView",
    ),
    *(
        "PropertyFilter",
        "PropertyCollector",
        "HttpNfcLease",
        "EventHistoryCollector",
        "TaskHistoryCollector",
        "HostProfile",
    ),
)


def _missing_service(fault: vmodl.MethodFault) -> str:
    """The kind of a service that the server does not have; running again would never help."""
    gone = getattr(fault, "obj", None) if fault._wsdlName == "ManagedObjectNotFound" else None
    kind = getattr(gone, "_wsdlName", "")
    return "" if kind in _REMOVABLE else kind


def vendor_messages(fault: vmodl.MethodFault | None) -> list[str]:
    """Every message in a fault, its details and its causes: outermost first, without repetitions."""
    messages: list[str] = []
    seen = set()
    while fault is not None and id(fault) not in seen:
        seen.add(id(fault))
        texts = [getattr(fault, "msg", None), getattr(fault, "reason", None)]
        texts += [entry.message for entry in getattr(fault, "faultMessage", None) or ()]
        for text in (entry.strip() for entry in texts if entry):
            if text and text not in messages:
                messages.append(text)
        fault = getattr(fault, "faultCause", None)
    return messages


def _lineage(fault: vmodl.MethodFault) -> list[str]:
    """The fault's type name and those of its ancestors, nearest first."""
    return [kind.__dict__.get("_wsdlName", kind.__name__) for kind in type(fault).__mro__]


def _details(fault: vmodl.MethodFault) -> list[str]:
    """The useful typed fields of a fault, as text."""
    return [text.format(value) for text, value in _fields(fault).values()]


def _named(fault: vmodl.MethodFault) -> dict[str, str]:
    """The machine-readable side of the same fields."""
    return {name: value for name, (text, value) in _fields(fault).items()}


def _fields(fault: vmodl.MethodFault) -> dict[str, tuple[str, str]]:
    values = {name: (text, getattr(fault, name, None)) for name, text in _FIELDS}
    return {name: (text, _shown(value)) for name, (text, value) in values.items() if _is_set(value)}


def _is_set(value: object) -> bool:
    return value is not None and (hasattr(value, "_GetMoId") or str(value) != "")


def _shown(value: object) -> str:
    return value._GetMoId() if hasattr(value, "_GetMoId") else str(value)


_FIELDS = (
    ("privilegeId", "privilege {}"),
    ("object", "on {}"),
    ("obj", "object {}"),
    ("property", "property {}"),
    ("invalidProperty", "property {}"),
    ("deviceIndex", "device number {} of the request"),
    ("name", "name {}"),
    ("file", "file {}"),
    ("host", "host {}"),
    ("existingState", "it is {}"),
    ("requestedState", "{} was requested"),
    ("argument", "argument {}"),
    ("datastore", "datastore {}"),
    ("unreserved", "{} left"),
    ("requested", "{} requested"),
)

# By WSDL type name; a fault without a row of its own uses the row of its nearest ancestor.
_ADVICE = {
    "InvalidLogin": (
        "wrong_password",
        "Check `username` (with its domain, such as name@vsphere.local) and `password`; "
        "vCenter locks an account after a few wrong ones",
    ),
    "PasswordExpired": ("password_expired", "Set a new password for the user in vCenter and use it here"),
    "NotAuthenticated": ("session_lost", "Run the task again. If it fails again, check what ends sessions in vCenter"),
    "NoPermission": (
        "no_permission",
        "Give the user a role that holds this privilege on the object (or on a parent, with propagation)",
    ),
    "InvalidPowerState": ("invalid_power_state", "Power the VM on or off, as this change needs, then run again"),
    "InvalidState": ("invalid_state", "Check the object's state in vCenter and correct it"),
    "TaskInProgress": ("task_in_progress", "Wait for the other task on this object to end, then run again"),
    "ConcurrentAccess": (
        "concurrent",
        "Run again to read the object anew. Another user or task changed it meanwhile",
    ),
    "InsufficientGraphicsResourcesFault": (
        "no_graphics_resources",
        "Find or free a GPU that offers this profile: check that the host's graphics type is Shared Direct, and that "
        "no GPU is held by VMs with a profile of another size",
    ),
    "InsufficientMemoryResourcesFault": (
        "no_memory",
        "Free memory on the host or in the resource pool: a VM with a vGPU reserves all of its memory",
    ),
    "InsufficientCpuResourcesFault": ("no_cpu", "Free CPU on the host or resource pool, or lower the reservation"),
    "InsufficientResourcesFault": (
        "no_resources",
        "Free resources on the host or in the cluster, or choose another one",
    ),
    "InvalidDeviceSpec": ("invalid_device", "Check that the VM's host and hardware version support the device"),
    "InvalidVmConfig": ("invalid_config", "Check that the VM's host and hardware version support the setting"),
    "GenericVmConfigFault": ("vm_config", "Correct the setting or the device that the vendor's messages name"),
    "DeviceNotSupported": ("device_not_supported", "Choose a device that the VM's host and hardware version support"),
    "VmConfigFault": ("vm_config", "Check that the VM's host supports its settings"),
    "NotSupported": ("not_supported", "Check the versions of vCenter, host and VM hardware, and the licence"),
    "RestrictedVersion": (
        "licence",
        "Use another licence. This one forbids changes through the API, as that of a free ESXi does",
    ),
    "LicenseExpired": ("licence", "Renew the vSphere licence"),
    "LicenseRestricted": ("licence", "Assign a licence that includes this feature"),
    "NotEnoughLicenses": ("licence", "Add licences or free some"),
    "FileNotFound": ("file_not_found", "Check that the file and its datastore exist and can be reached by the host"),
    "FileAlreadyExists": ("file_exists", "Remove or rename the file, or choose another name"),
    "FileLocked": ("file_locked", "Wait for the host or task that locks the file, or stop it"),
    "NoDiskSpace": ("no_disk_space", "Free space on the datastore or choose another one"),
    "FileFault": ("file", "Check the file and its datastore"),
    "HostNotConnected": ("host_not_connected", "Reconnect the host in vCenter, then run again"),
    "HostNotReachable": ("host_not_connected", "Check the host's power and its management network"),
    "HostCommunication": ("host_not_connected", "Check the host's management network and agents, then run again"),
    "NoHost": ("host_not_connected", "Check that a host for the VM exists and is connected"),
    "ManagedObjectNotFound": (
        "object_gone",
        "Run again to find the object anew. It was removed meanwhile",
    ),
    "DuplicateName": ("duplicate_name", "Choose another name, or use the object that has it"),
    "InvalidName": ("invalid_name", "Choose a name without control characters and of at most 80 characters"),
    "InvalidProperty": ("invalid_property", "Check the version of vCenter, which does not know the property"),
    "InvalidArgument": ("invalid_argument", "Check the value that the argument was given"),
    "InvalidRequest": ("invalid_request", "Check that the object's kind and the API version fit the request"),
    "MethodNotFound": ("method_not_found", "Check the version of vCenter, which does not know the method"),
    "MethodDisabled": (
        "method_disabled",
        "Wait for the task, backup or solution that has disabled the method",
    ),
    "RequestCanceled": ("cancelled", "Check why the task was cancelled before you run it again"),
    "Timedout": ("vendor_timeout", "Check what blocks the object in vCenter, then run again"),
    "ToolsUnavailable": ("tools_unavailable", "Start or install VMware Tools (open-vm-tools) in the guest"),
    "SystemError": ("vendor_error", "Check the logs of vCenter and of the host at this time"),
}
