"""PCI passthrough and SR-IOV: configured and effective state."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from . import graphics, pci
from .host import show_connection, touch


def configure(world, host, entries):
    """UpdatePassthruConfig: all devices are checked before any is changed."""
    for entry in entries:
        _check(host, entry)
    for entry in entries:
        if isinstance(entry, vim.host.SriovConfig):
            _request_vfs(host, entry)
        else:
            _configure(host, entry)
    graphics.settle(host)
    _lose_management(host)
    touch(world, host)


def at_boot(host):
    """Devices are bound as they are configured."""
    for state in host.passthru.values():
        state.active, state.enhanced_active = state.enabled, state.enhanced
    _lose_management(host)


def reboot_pending(host):
    """Return whether a change is pending until the host's next boot."""
    return any(
        state.enabled != state.active or state.enhanced != state.enhanced_active for state in host.passthru.values()
    ) or any(nic.requested_vfs not in (None, nic.vfs) for nic in host.ports)


def users(host, address):
    """The running VMs that hold the device or one of its functions."""
    own = {row.address for row in pci.devices(host) if address in (row.address, row.physical_function)}
    holders = [holder.vm for taken, holder in host.claimed.items() if taken in own]
    return holders + [vm for gpu in host.gpus if gpu.pci_id == address for vm in gpu.vms() if vm not in holders]


def _check(host, entry):
    if entry.id not in host.passthru:
        raise vim.fault.NotFound(msg=f"The PCI device {entry.id} does not exist on the host.")
    if users(host, entry.id):
        raise vim.fault.ResourceInUse(
            msg=f"The resource '{entry.id}' is in use.", type=vim.host.PciDevice, name=entry.id
        )
    if isinstance(entry, vim.host.SriovConfig) and entry.sriovEnabled:
        nic = next((one for one in host.nics if one.pci == entry.id), None)
        if nic is None or not 0 < (entry.numVirtualFunction or 0) <= nic.most_vfs:
            raise vim.fault.HostConfigFault(
                msg="An error occurred during host configuration.",
                faultMessage=[_message(f"The device {entry.id} does not have {entry.numVirtualFunction} functions.")],
            )


def _configure(host, entry):
    state = host.passthru[entry.id]
    state.enabled = bool(entry.passthruEnabled)
    state.enhanced = state.enhanced and not state.enabled
    if entry.hardwareLabel is not None:
        state.label = entry.hardwareLabel or None
    # Unset means at once where the host can rebind without a restart (HostCapability, vim25 reference).
    if entry.applyNow is not False:
        state.active, state.enhanced_active = state.enabled, state.enhanced
    else:
        host.reboot_required = True


def _request_vfs(host, entry):
    nic = next(one for one in host.nics if one.pci == entry.id)
    nic.requested_vfs = entry.numVirtualFunction if entry.sriovEnabled else 0
    if nic.requested_vfs != nic.vfs:
        host.reboot_required = True


def _lose_management(host):
    """A host whose management port is given away is heard of no more [unsure: follows from who owns the port]."""
    vmk = next((one for one in host.vmkernel if "management" in one.services), None)
    if vmk is None or host.connection != "connected":
        return
    serving = [nic for nic in host.nics if nic.switch is (vmk.switch or _standard(host, vmk))]
    if not serving:
        show_connection(host, "notResponding")


def _standard(host, vmk):
    for switch in host.standard_switches:
        if any(name == vmk.portgroup for name, _vlan in switch.portgroups):
            return switch
    return host.standard_switches[0] if host.standard_switches else None


def _message(text):
    return vmodl.LocalizableMessage(key="twin.passthru", message=text)
