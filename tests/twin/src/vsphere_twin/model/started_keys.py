"""Keys of extraConfig that the start of a VM writes: the slots of its adapters, and its PCI devices.

Which keys vCenter shows is general knowledge [unsure]. An SR-IOV adapter has a slot but no key [unsure]. A capture of
a real site compares them with rules 20 and 21 of the calibration.
"""

from __future__ import annotations

from pyVmomi import vim

from . import slots

FIRST_ADAPTER = 4000


def write(vm):
    """Add the keys of the devices that the VM has. A key that is there stays, as a device keeps its slot."""
    made = {
        f"ethernet{card.key - FIRST_ADAPTER}.pciSlotNumber": str(number)
        for card, number in zip(vm.nics, slots.of(vm), strict=False)
        if not isinstance(card, vim.vm.device.VirtualSriovEthernetCard)
    }
    devices = [one for one in vm.devices if isinstance(one, vim.vm.device.VirtualPCIPassthrough)]
    made.update({f"pciPassthru{number}.present": "TRUE" for number in range(len(devices))})
    for key, value in made.items():
        if vm.setting(key) is None:
            vm.extra[key] = value
