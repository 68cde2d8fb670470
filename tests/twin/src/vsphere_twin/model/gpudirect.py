"""GPUDirect RDMA: whether GPU and network port of a running VM reach each other without the detour over its memory."""

from __future__ import annotations

from dataclasses import dataclass

from . import pci, pvrdma

SETTINGS = ("pciPassthru.allowP2P", "pciPassthru.RelaxACSforP2P")
KERNEL_SETTING = "atsSupport"


@dataclass(frozen=True)
class Verdict:
    """It works, or why it does not."""

    works: bool
    reasons: tuple = ()
    apart: bool = False  # nothing is wrong but the distance between GPU and port


def verdict(world, vm):
    """Check the requirements of NVIDIA's recipe (NVIDIA AI Enterprise user guide 5.0, 4) on the host of the VM."""
    if vm.power != "poweredOn":
        return Verdict(False, ("the VM does not run",))
    reasons = [f"{key} is not TRUE" for key in SETTINGS if (vm.setting(key) or "").casefold() != "true"]
    setting = vm.host.kernel.settings.get(KERNEL_SETTING)
    if setting is None or str(setting.runtime).casefold() != "true":
        reasons.append(f"the kernel setting {KERNEL_SETTING} of {vm.host.name} is not in force")
    gpus = [gpu for gpu in vm.host.gpus if vm in gpu.vms()]
    ports = _ports(vm)
    if not gpus:
        reasons.append("the VM has no GPU")
    if not ports and pvrdma.adapters_of(vm):
        reasons.append("PVRDMA moves data through the memory of the guest, never straight from a GPU")
    elif not ports:
        reasons.append("the VM has no network port or virtual function of its own")
    # vGPUs of T4 and V100 are not on NVIDIA's list (AI Enterprise Infra 6.2, vGPU page).
    old = [gpu for gpu in gpus if not gpu.board.mixed_size and gpu.held_by is None]
    reasons += [f"{gpu.board.title} is older than Ampere" for gpu in old]
    if reasons:
        return Verdict(False, tuple(reasons))
    far, off = _pairs(vm.host, gpus, ports)
    return Verdict(not far + off, (*far, *off), apart=bool(far) and not off)


def _ports(vm):
    """The network ports that a VM has in whole or by a function."""
    held = {address for address, holder in vm.host.claimed.items() if holder.vm is vm}
    physical = {row.physical_function or row.address for row in pci.devices(vm.host) if row.address in held}
    return [nic for nic in vm.host.ports if nic.pci in physical]


def _pairs(host, gpus, ports):
    """(GPUs without a port on their own root, and with one that has no ATS in its firmware), as sentences."""
    far, off = [], []
    for gpu in gpus:
        near = [nic for nic in ports if nic.root_port == host.slots[gpu.pci_id].root]
        if not near:
            far.append(f"no port of the VM is on the root of the GPU {gpu.pci_id}")
        elif not any(nic.firmware.ats for nic in near):
            off.append(f"ATS is off in the firmware of {', '.join(nic.device for nic in near)}")
    return far, off
