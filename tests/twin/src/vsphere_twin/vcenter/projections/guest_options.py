"""GuestOsDescriptor: the guest operating systems that virtual hardware is offered for."""

from __future__ import annotations

import functools

from pyVmomi import vim

from .shape import make

DEVICE = vim.vm.device
CONTROLLERS = (DEVICE.ParaVirtualSCSIController, DEVICE.VirtualAHCIController, DEVICE.VirtualNVMEController)
# (identifier, family, full name): guests of training VMs, and some unsuitable ones.
GUESTS = (
    ("ubuntu64Guest", "linuxGuest", "Ubuntu Linux (64-bit)"),
    ("ubuntuGuest", "linuxGuest", "Ubuntu Linux (32-bit)"),
    ("debian12_64Guest", "linuxGuest", "Debian GNU/Linux 12 (64-bit)"),
    ("rhel8_64Guest", "linuxGuest", "Red Hat Enterprise Linux 8 (64-bit)"),
    ("rhel9_64Guest", "linuxGuest", "Red Hat Enterprise Linux 9 (64-bit)"),
    ("rockylinux_64Guest", "linuxGuest", "Rocky Linux (64-bit)"),
    ("sles15_64Guest", "linuxGuest", "SUSE Linux Enterprise 15 (64-bit)"),
    ("other5xLinux64Guest", "linuxGuest", "Other 5.x or later Linux (64-bit)"),
    ("windows2019srv_64Guest", "windowsGuest", "Microsoft Windows Server 2019 (64-bit)"),
    ("otherGuest64", "otherGuestFamily", "Other (64-bit)"),
)


@functools.lru_cache(maxsize=None)
def descriptors(cpus, memory_mb):
    """Return the guest options of a hardware version with these limits; the recommendations are [unsure]."""
    return tuple(_descriptor(*guest, cpus, memory_mb) for guest in GUESTS)


def _descriptor(identifier, family, name, cpus, memory_mb):
    return make(
        vim.vm.GuestOsDescriptor,
        id=identifier,
        family=family,
        fullName=name,
        supportedMaxCPUs=cpus,
        numSupportedPhysicalSockets=cpus,
        numSupportedCoresPerSocket=cpus,
        supportedMinMemMB=256,
        supportedMaxMemMB=memory_mb,
        recommendedMemMB=2048,
        supportedDiskControllerList=list(CONTROLLERS),
        recommendedDiskController=DEVICE.ParaVirtualSCSIController,
        supportedNumDisks=256,
        recommendedDiskSizeMB=16384,
        recommendedCdromController=DEVICE.VirtualAHCIController,
        supportedEthernetCard=[DEVICE.VirtualVmxnet3, DEVICE.VirtualE1000e],
        recommendedEthernetCard=DEVICE.VirtualVmxnet3,
        supportedFirmware=["bios", "efi"],
        recommendedFirmware="efi",
        supportLevel="supported",
        supportedForCreate=True,
    )
