"""Faults of the inventory as errors of the REST API, and objects by their identifiers."""

from __future__ import annotations

import contextlib

from pyVmomi import vim, vmodl

from .errors import RestError, message

# The API names the kinds of errors of each operation, not which fault is which [unsure: partly].
KINDS = (
    (vim.fault.DuplicateName, "ALREADY_EXISTS"),
    (vim.fault.AlreadyExists, "ALREADY_EXISTS"),
    (vim.fault.AlreadyConnected, "ALREADY_EXISTS"),
    (vim.fault.FileAlreadyExists, "ALREADY_EXISTS"),
    (vim.fault.NoPermission, "UNAUTHORIZED"),
    (vim.fault.NotFound, "NOT_FOUND"),
    (vim.fault.FileNotFound, "NOT_FOUND"),
    (vmodl.fault.ManagedObjectNotFound, "NOT_FOUND"),
    (vim.fault.NoDiskSpace, "UNABLE_TO_ALLOCATE_RESOURCE"),
    (vim.fault.InsufficientResourcesFault, "UNABLE_TO_ALLOCATE_RESOURCE"),
    (vim.fault.TaskInProgress, "RESOURCE_BUSY"),
    (vim.fault.ConcurrentAccess, "RESOURCE_BUSY"),
    (vim.fault.ResourceInUse, "RESOURCE_IN_USE"),
    (vim.fault.ToolsUnavailable, "SERVICE_UNAVAILABLE"),
    (vim.fault.CpuHotPlugNotSupported, "NOT_ALLOWED_IN_CURRENT_STATE"),
    (vim.fault.MemoryHotPlugNotSupported, "NOT_ALLOWED_IN_CURRENT_STATE"),
    (vim.fault.InvalidState, "NOT_ALLOWED_IN_CURRENT_STATE"),
    (vim.fault.InvalidDeviceSpec, "INVALID_ARGUMENT"),
    (vim.fault.FileTooLarge, "INVALID_ARGUMENT"),
    (vim.fault.InvalidDatastore, "INVALID_ARGUMENT"),
    (vim.fault.InvalidDatastorePath, "INVALID_ARGUMENT"),
    (vim.fault.InvalidName, "INVALID_ARGUMENT"),
    (vim.fault.InvalidLogin, "INVALID_ARGUMENT"),
    (vim.fault.InvalidFolder, "INVALID_ARGUMENT"),
    (vmodl.fault.InvalidArgument, "INVALID_ARGUMENT"),
    (vmodl.fault.HostNotConnected, "RESOURCE_INACCESSIBLE"),
    (vmodl.fault.NotSupported, "UNSUPPORTED"),
)
NAMES = {
    "VirtualMachine": ("vm", "Virtual machine"),
    "ClusterComputeResource": ("cluster", "Cluster"),
    "Datacenter": ("datacenter", "Datacenter"),
    "Datastore": ("datastore", "Datastore"),
    "Folder": ("folder", "Folder"),
    "HostSystem": ("host", "Host"),
    "ResourcePool": ("resourcepool", "Resource pool"),
}


class Refusal(RestError):
    """A fault of the inventory: its kind, and its message with the identifier that vCenter gives it."""

    def __init__(self, fault, first=None, kind=None):
        kind = kind or next((name for cls, name in KINDS if isinstance(fault, cls)), "ERROR")
        super().__init__(kind, fault.msg or type(fault)._wsdlName, code=f"vmsg.{type(fault)._wsdlName}.summary")
        if first is not None:
            self._messages.insert(0, first)


@contextlib.contextmanager
def refused():
    """Work whose faults are errors of the API."""
    try:
        yield
    except vmodl.MethodFault as fault:
        raise Refusal(fault) from fault


class Caller:
    """The part of a call that checks of privileges need: the user's rights and the objects behind references."""

    def __init__(self, request):
        self.world, self._user = request.world, request.user

    def require_privilege(self, privilege, entity):
        """Raise UNAUTHORIZED unless the user holds a privilege."""
        if not self.world.permissions.may(self._user, privilege, entity):
            raise RestError("UNAUTHORIZED", f"Permission to perform this operation was denied: {privilege}.")

    def resolve(self, reference):
        """The object behind a reference."""
        return self.world.get(reference._moId)


def full_id(world, moid):
    """An identifier as messages write it, with that of the vCenter."""
    return f"{moid}:{world.instance_uuid}"


def find(request, moid, kind):
    """The object of a path or a specification; NOT_FOUND where there is none of this kind."""
    found = request.world.get(moid)
    if found is None or found.kind != kind or getattr(found, "unfinished", False):
        code, word = NAMES[kind]
        text = f"{word} with identifier '{full_id(request.world, moid)}' does not exist."
        code = f"com.vmware.api.vcenter.{code}.not_found"
        raise RestError("NOT_FOUND", text, code=code, args=[full_id(request.world, moid)])
    return found


def maybe(request, given, name, kind):
    """The object that a field of a structure names, or None."""
    return find(request, given[name], kind) if name in given else None


def already(word, fault):
    """ALREADY_IN_DESIRED_STATE of a power operation, with the messages of vCenter."""
    text = f"Virtual machine is already {word}."
    first = message(text, f"com.vmware.api.vcenter.vm.power.already_{word.replace(' ', '_')}")
    return Refusal(fault, first, "ALREADY_IN_DESIRED_STATE")
