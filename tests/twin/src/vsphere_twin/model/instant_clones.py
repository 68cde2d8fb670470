"""Instant clones: copies of a running VM that run at once, on the same host (vSphere 6.7 and later)."""

from __future__ import annotations

from pyVmomi import vim

from . import inventory, kept, tasks
from .cloning import NEW_CHILD, Copy

PASSTHROUGH = vim.vm.device.VirtualPCIPassthrough
# Fields of the location that an instant clone can have; disks follow the source (API reference, InstantCloneSpec).
LOCATION = ("folder", "pool", "datastore", "deviceChange", "host")


def start(world, source, folder, spec, user=""):
    """InstantClone: a task, and the VM that it makes."""
    work = _InstantCopy(world, source, folder, spec.name, clone_spec(source, spec))
    task = tasks.start(world, "InstantClone_Task", source, work.finish, user=user, exclusive=False)
    task.on_failure = work.undo
    work.begin(task)
    return task


def clone_spec(source, spec):
    """The request as one for a copy that runs on the host of its source."""
    kept.refuse_unserved(spec.location, LOCATION)
    location = vim.vm.RelocateSpec(
        pool=spec.location.pool, datastore=spec.location.datastore, deviceChange=list(spec.location.deviceChange or [])
    )
    location.host = spec.location.host or inventory.reference(source.host)
    config = vim.vm.ConfigSpec(uuid=spec.biosUuid, extraConfig=list(spec.config or []))
    location.diskMoveType = NEW_CHILD
    return vim.vm.CloneSpec(location=location, config=config, powerOn=True, template=False)


class _InstantCopy(Copy):
    needs_snapshot = False

    def _started(self, task):
        source, host = self._source, self._spec.location.host
        if source.power != "poweredOn":
            raise vim.fault.InvalidPowerState(
                msg="The attempted operation cannot be performed in the current state.",
                existingState=source.power,
                requestedState="poweredOn",
            )
        if host._moId != source.host.moid:
            raise kept.wrong("spec.location.host")
        for device in source.devices:
            if isinstance(device, PASSTHROUGH):  # memory of a device is not copied
                label = device.deviceInfo.label if device.deviceInfo is not None else "PCI device"
                cause = vim.fault.DeviceNotSupported(msg=f"Device '{label}' is not supported.", device=label)
                raise vim.fault.DisallowedMigrationDeviceAttached(msg=cause.msg, fault=cause)
        return super()._started(task)
