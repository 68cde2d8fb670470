"""Look at the twin with a plain pyVmomi client, so that no test asks the module under test whether it worked."""

from __future__ import annotations

import contextlib
import ssl

from pyVim.connect import Disconnect, SmartConnect
from pyVmomi import vim

RESERVED_KEYS = ("pciPassthru", "aiready.")


@contextlib.contextmanager
def client(twin):
    """A client's service instance; verified like any other."""
    service = SmartConnect(
        host=twin.host,
        port=twin.port,
        user=twin.username,
        pwd=twin.password,
        sslContext=ssl.create_default_context(cafile=str(twin.ca_file)),
    )
    try:
        yield service
    finally:
        Disconnect(service)


@contextlib.contextmanager
def virtual_machine(twin, name):
    with client(twin) as service:
        content = service.RetrieveContent()
        view = content.viewManager.CreateContainerView(content.rootFolder, [vim.VirtualMachine], True)
        (machine,) = [entry for entry in view.view if entry.name == name]
        yield machine


def gpu_setup(twin, *names):
    """Everything that concerns the GPUs of these VMs, as {name: {...}}."""
    return {name: _gpu_setup(twin, name) for name in names}


def _gpu_setup(twin, name):
    with virtual_machine(twin, name) as machine:
        config = machine.config
        return {
            "profiles": sorted(
                device.backing.vgpu
                for device in config.hardware.device
                if isinstance(device.backing, vim.vm.device.VirtualPCIPassthrough.VmiopBackingInfo)
            ),
            "memory locked": bool(config.memoryReservationLockedToMax),
            "settings": {
                option.key: option.value for option in config.extraConfig if option.key.startswith(RESERVED_KEYS)
            },
            "power": machine.runtime.powerState,
        }


def power_on(twin, name):
    """Start a VM as an administrator would; returns the fault's message, or None when it runs."""
    with virtual_machine(twin, name) as machine:
        task = machine.PowerOnVM_Task()
        while task.info.state not in ("success", "error"):
            pass
        return task.info.error.msg if task.info.state == "error" else None
