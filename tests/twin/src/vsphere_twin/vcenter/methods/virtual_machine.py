"""The methods of a VM."""

from __future__ import annotations

import secrets

from pyVmomi import vim, vmodl

from vsphere_twin.model import (
    cloning,
    customization,
    devices,
    instant_clones,
    kept,
    power,
    provision,
    reconfigure,
    relocation,
    snapshots,
)

from .. import vm_privileges
from ..projections.host_system import thumbprint
from ..registry import method
from .tasking import begin, resolved

KIND = "VirtualMachine"
SNAPSHOT = "VirtualMachineSnapshot"
TICKETS = vim.VirtualMachine.TicketType.values
INTERACT = "VirtualMachine.Interact."
# The privilege for each type of ticket (API reference, AcquireTicket).
PRIVILEGES = {
    "device": f"{INTERACT}DeviceConnection",
    "guestControl": f"{INTERACT}GuestControl",
    "webmks": f"{INTERACT}ConsoleInteract",
    "webRemoteDevice": f"{INTERACT}DeviceConnection",
}


@method(KIND, "PowerOnVM_Task")
def power_on(call, this, host=None):
    wanted = resolved(call, host)
    return begin(call, "PowerOnVM_Task", this, lambda: power.power_on(call.world, this, wanted))


@method(KIND, "PowerOffVM_Task")
def power_off(call, this):
    return begin(call, "PowerOffVM_Task", this, lambda: power.power_off(call.world, this))


@method(KIND, "ResetVM_Task")
def reset(call, this):
    return begin(call, "ResetVM_Task", this, lambda: power.reset(call.world, this))


@method(KIND, "SuspendVM_Task")
def suspend(call, this):
    return begin(call, "SuspendVM_Task", this, lambda: power.suspend(call.world, this))


@method(KIND, "ShutdownGuest")
def shutdown_guest(call, this):
    power.shut_down_guest(call.world, this)


@method(KIND, "RebootGuest")
def reboot_guest(call, this):
    power.reboot_guest(call.world, this)


@method(KIND, "PutUsbScanCodes")
def put_usb_scan_codes(call, this, spec):
    """The number of codes that the keyboard took: all; nothing reads them."""
    if this.power != "poweredOn":  # the fault is [unsure]: the API reference lists none
        raise devices.wrong_power(this)
    if not spec.keyEvents:
        raise vmodl.fault.InvalidArgument(
            msg="A specified parameter was not correct: spec.keyEvents", invalidProperty="spec.keyEvents"
        )
    return len(spec.keyEvents)


@method(KIND, "AcquireTicket")
def acquire_ticket(call, this, ticketType):
    """A ticket for one connection; nothing listens behind its address."""
    kept.require_one_of(ticketType, TICKETS, "ticketType")
    if ticketType not in PRIVILEGES:  # not since 8.0, and never without its service in the guest [unsure: the fault]
        raise vmodl.fault.NotSupported(msg=f"The operation is not supported on the object: {ticketType}.")
    call.require_privilege(PRIVILEGES[ticketType], this)
    if this.power != "poweredOn":
        raise devices.wrong_power(this)
    host, key = this.host, secrets.token_hex(8)
    url = f"wss://{host.name}:443/ticket/{key}" if ticketType.startswith("web") else None
    return vim.VirtualMachine.Ticket(
        ticket=key, cfgFile=this.home, host=host.name, port=443, sslThumbprint=thumbprint(host), url=url
    )


@method(KIND, "ReconfigVM_Task")
def reconfig(call, this, spec):
    vm_privileges.reconfigure(call, this, spec)
    return begin(call, "ReconfigVM_Task", this, lambda: reconfigure.reconfigure(call.world, this, spec))


@method(KIND, "UpgradeVM_Task")
def upgrade(call, this, version=None):
    return begin(call, "UpgradeVM_Task", this, lambda: reconfigure.upgrade(call.world, this, version))


@method(KIND, "CloneVM_Task")
def clone(call, this, folder, name, spec):
    vm_privileges.clone(call, this, call.resolve(folder), spec)
    return cloning.start(call.world, this, call.resolve(folder), name, spec, call.session.user)


@method(KIND, "InstantClone_Task")
def instant_clone(call, this, spec):
    folder = resolved(call, spec.location.folder) or this.parent
    vm_privileges.clone(call, this, folder, instant_clones.clone_spec(this, spec))
    return instant_clones.start(call.world, this, folder, spec, call.session.user)


@method(KIND, "RelocateVM_Task")
def relocate(call, this, spec, priority=None):
    pool, datastore = resolved(call, spec.pool), resolved(call, spec.datastore)
    vm_privileges.relocate(call, this, pool, datastore, spec.deviceChange or [])
    return begin(call, "RelocateVM_Task", this, lambda: relocation.relocate(call.world, this, spec))


@method(KIND, "MigrateVM_Task")
def migrate(call, this, priority, pool=None, host=None, state=None):
    vm_privileges.relocate(call, this, resolved(call, pool), None)
    spec = vim.vm.RelocateSpec(pool=pool, host=host)

    def work():
        if state is not None and state != this.power:
            raise devices.wrong_power(this)
        relocation.relocate(call.world, this, spec)

    return begin(call, "MigrateVM_Task", this, work)


@method(KIND, "CustomizeVM_Task")
def customize(call, this, spec):
    def work():
        customization.accept(this, spec)
        this.changed()
        call.world.touch(this)

    return begin(call, "CustomizeVM_Task", this, work)


@method(KIND, "MarkAsTemplate")
def mark_as_template(call, this):
    provision.mark_as_template(call.world, this)


@method(KIND, "MarkAsVirtualMachine")
def mark_as_virtual_machine(call, this, pool, host=None):
    provision.mark_as_vm(call.world, this, call.resolve(pool), resolved(call, host))


@method(KIND, "UnregisterVM")
def unregister(call, this):
    if this.power != "poweredOff":
        raise devices.wrong_power(this)
    provision.unregister(call.world, this)


@method(KIND, "Destroy_Task")
def destroy(call, this):
    vm_privileges.require(call, [("VirtualMachine.Inventory.Delete", this)])
    return begin(call, "Destroy_Task", this, lambda: provision.destroy(call.world, this))


@method(KIND, "AnswerVM")
def answer(call, this, questionId, answerChoice):
    raise vmodl.fault.InvalidArgument(
        msg="A specified parameter was not correct: questionId", invalidProperty="questionId"
    )


@method(KIND, "CreateSnapshot_Task")
def create_snapshot(call, this, name, memory, quiesce, description=None):
    return begin(
        call, "CreateSnapshot_Task", this, lambda: snapshots.create(call.world, this, name, description, memory)
    )


@method(KIND, "CreateSnapshotEx_Task")
def create_snapshot_ex(call, this, name, memory, description=None, quiesceSpec=None):
    return begin(
        call, "CreateSnapshotEx_Task", this, lambda: snapshots.create(call.world, this, name, description, memory)
    )


@method(KIND, "RemoveAllSnapshots_Task")
def remove_all_snapshots(call, this, consolidate=None, spec=None):
    return begin(call, "RemoveAllSnapshots_Task", this, lambda: snapshots.remove_all(call.world, this))


@method(SNAPSHOT, "RemoveSnapshot_Task")
def remove_snapshot(call, this, removeChildren, consolidate=None):
    return begin(call, "RemoveSnapshot_Task", this.vm, lambda: snapshots.remove(call.world, this, bool(removeChildren)))


@method(SNAPSHOT, "RevertToSnapshot_Task")
def revert_to_snapshot(call, this, host=None, suppressPowerOn=None):
    wanted, off = resolved(call, host), bool(suppressPowerOn)
    return begin(call, "RevertToSnapshot_Task", this.vm, lambda: snapshots.revert(call.world, this, wanted, off))


@method(KIND, "RevertToCurrentSnapshot_Task")
def revert_to_current_snapshot(call, this, host=None, suppressPowerOn=None):
    wanted, off = resolved(call, host), bool(suppressPowerOn)
    return begin(
        call,
        "RevertToCurrentSnapshot_Task",
        this,
        lambda: snapshots.revert_to_current(call.world, this, wanted, off),
    )


@method(SNAPSHOT, "RenameSnapshot")
def rename_snapshot(call, this, name=None, description=None):
    this.name = name or this.name
    this.description = this.description if description is None else description
    call.world.touch(this, this.vm)
