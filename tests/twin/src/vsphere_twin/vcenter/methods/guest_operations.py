"""Operations in guests: each needs running VMware Tools, and a login that the guest of the model does not have.

The faults are those of the methods' descriptions (vSphere API reference, GuestProcessManager).
"""

from __future__ import annotations

import inspect

from pyVmomi import vim

from vsphere_twin.model.devices import wrong_power

from .. import types
from ..registry import method

QUERY, MODIFY, EXECUTE = "Query", "Modify", "Execute"
OPERATIONS = {
    "GuestAuthManager": {
        "AcquireCredentialsInGuest": QUERY,
        "ReleaseCredentialsInGuest": QUERY,
        "ValidateCredentialsInGuest": QUERY,
    },
    "GuestProcessManager": {
        "ListProcessesInGuest": QUERY,
        "ReadEnvironmentVariableInGuest": QUERY,
        "StartProgramInGuest": EXECUTE,
        "TerminateProcessInGuest": EXECUTE,
    },
    "GuestFileManager": {
        "ChangeFileAttributesInGuest": MODIFY,
        "CreateTemporaryDirectoryInGuest": MODIFY,
        "CreateTemporaryFileInGuest": MODIFY,
        "DeleteDirectoryInGuest": MODIFY,
        "DeleteFileInGuest": MODIFY,
        "InitiateFileTransferFromGuest": QUERY,
        "InitiateFileTransferToGuest": MODIFY,
        "ListFilesInGuest": QUERY,
        "MakeDirectoryInGuest": MODIFY,
        "MoveDirectoryInGuest": MODIFY,
        "MoveFileInGuest": MODIFY,
    },
}


def _register(kind, name, privilege):
    def operate(call, this, vm, **_arguments):
        target = call.resolve(vm)
        call.require_privilege(f"VirtualMachine.GuestOperations.{privilege}", target)
        if target.power != "poweredOn":
            raise wrong_power(target)
        if not target.tools_running:
            raise vim.fault.GuestOperationsUnavailable(msg="The guest operations agent could not be contacted.")
        raise vim.fault.InvalidGuestLogin(
            msg="Failed to authenticate with the guest operating system using the supplied credentials."
        )

    # The dispatcher refuses arguments that a function does not name.
    names = [one.name for one in types.method_of(name, kind).params]
    keyword = inspect.Parameter.KEYWORD_ONLY
    operate.__signature__ = inspect.Signature([inspect.Parameter(one, keyword) for one in names])
    method(kind, name)(operate)


for _kind, _names in OPERATIONS.items():
    for _name, _privilege in _names.items():
        _register(_kind, _name, _privilege)
