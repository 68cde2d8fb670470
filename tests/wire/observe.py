"""Look at the twin with a plain pyVmomi client, so that no test asks the module under test whether it worked."""

from __future__ import annotations

import contextlib
import re
import ssl
import time

from pyVim.connect import Disconnect, SmartConnect
from pyVmomi import vim

RESERVED_KEYS = ("pciPassthru", "aiready.")
# The start of a VM writes these.
OF_STARTS = re.compile(r"pciPassthru\d+\.present")


@contextlib.contextmanager
def client(twin, user="", password=""):
    """A client's service instance, of another user of vCenter if named; verified like any other."""
    service = SmartConnect(
        host=twin.host,
        port=twin.port,
        user=user or twin.username,
        pwd=password or twin.password,
        sslContext=ssl.create_default_context(cafile=str(twin.ca_file)),
    )
    try:
        yield service
    finally:
        Disconnect(service)


@contextlib.contextmanager
def virtual_machine(twin, name, user="", password=""):
    with client(twin, user, password) as service:
        content = service.RetrieveContent()
        view = content.viewManager.CreateContainerView(content.rootFolder, [vim.VirtualMachine], True)
        (machine,) = [entry for entry in view.view if entry.name == name]
        yield machine


def reserved(options):
    """The settings that are made for GPUs or by the collection."""
    return {
        option.key: option.value
        for option in options
        if option.key.startswith(RESERVED_KEYS) and not OF_STARTS.fullmatch(option.key)
    }


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
            "settings": reserved(config.extraConfig),
            "power": machine.runtime.powerState,
        }


def bystanders(twin, name):
    """What of a VM does not concern its GPUs: its other devices and settings."""
    with virtual_machine(twin, name) as machine:
        config = machine.config
        return {
            "devices": sorted(
                (device.key, type(device).__name__, device.deviceInfo.label)
                for device in config.hardware.device
                if not isinstance(device.backing, vim.vm.device.VirtualPCIPassthrough.VmiopBackingInfo)
            ),
            "settings": {
                option.key: option.value for option in config.extraConfig if not option.key.startswith("pciPassthru")
            },
            "annotation": config.annotation,
            "hardware": (config.hardware.numCPU, config.hardware.memoryMB, config.firmware),
        }


def reconfigure(twin, name, **spec):
    """Change a VM as an administrator would."""
    with virtual_machine(twin, name) as machine:
        fault = _ended(machine.ReconfigVM_Task(spec=vim.vm.ConfigSpec(**spec)))
    assert fault is None, fault.msg


def power_on(twin, name):
    """Start a VM as an administrator would; returns the words of the refusal, or None when it runs."""
    with virtual_machine(twin, name) as machine:
        fault = _ended(machine.PowerOnVM_Task())
    return None if fault is None else fault.msg


def by_hand(twin, name, do):
    """Do something with a VM as an administrator would; do(machine) answers the task."""
    with virtual_machine(twin, name) as machine:
        fault = _ended(do(machine))
    assert fault is None, fault.msg


def _ended(task):
    while task.info.state not in ("success", "error"):
        time.sleep(0.02)
    return task.info.error


def warned(answer, capsys):
    """The warnings, which go to the terminal where this process has been Ansible's controller before."""
    return f"{answer.get('warnings', '')} {' '.join(capsys.readouterr().err.split())}"
