"""Data of the NVIDIA driver of one machine: its version and its cards."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from vsphere_twin.model import mig

MIB = 1024
# Return codes of nvidia-smi are those of NVML (NVML API reference).
INVALID_ARGUMENT, NOT_SUPPORTED, NOT_FOUND, NOT_LOADED, LOST, IN_USE, INSUFFICIENT = 2, 3, 6, 9, 15, 19, 23
CODES = {mig.INVALID: INVALID_ARGUMENT, mig.NOT_SUPPORTED: NOT_SUPPORTED, mig.NOT_FOUND: NOT_FOUND}
CODES |= {mig.IN_USE: IN_USE, mig.INSUFFICIENT: INSUFFICIENT}
NO_DRIVER = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
    "Make sure that the latest NVIDIA driver is installed and running.\n"
)
NO_DEVICES = "No devices were found\n"


@dataclass(frozen=True)
class Card:
    """One GPU with the driver's index."""

    index: int
    gpu: object  # twin.model.gpu.Gpu
    uuid: str
    processes: tuple = ()  # (pid, type, name, MiB)

    @property
    def bus_id(self):
        """The PCI address as NVIDIA writes it: 00000000:17:00.0."""
        domain, _colon, rest = self.gpu.pci_id.partition(":")
        return f"{int(domain, 16):08X}:{rest.upper()}"

    @property
    def name(self):
        return self.gpu.board.product

    @property
    def kind(self):
        return self.gpu.kind

    @property
    def memory_mib(self):
        return self.gpu.board.memory_gb * MIB

    @property
    def used_mib(self):
        return sum(mib for _pid, _type, _name, mib in self.processes)

    def is_called(self, name):
        """Return whether `-i` selects this card: by index, UUID or PCI address."""
        if name == str(self.index) or name.lower() == self.uuid.lower():
            return True
        domain, _colon, rest = self.bus_id.partition(":")
        given = name.upper()
        return given in (self.bus_id, rest, f"{domain[-4:]}:{rest}")


@dataclass(frozen=True)
class System:
    """The driver, its cards, and the handling of a mode change."""

    version: str
    cards: tuple
    set_mode: object  # f(gpu, on) -> 'done' or why it waits; mig.Refused
    changed: object  # f(): instances were made or removed
    hypervisor: bool = False  # an ESXi host: no CUDA, and no GPU can be reset
    time: str = "Thu Nov 19 12:00:00 2026"
    release: object = None  # that of the ESXi host, on which the vGPU types depend

    @property
    def branch(self):
        return mig.branch_of(self.version)

    def chosen(self, names):
        """The cards that `-i` names, or all; None where a name fits none."""
        if names is None:
            return list(self.cards)
        found = []
        for name in names.split(","):
            card = next((one for one in self.cards if one.is_called(name.strip())), None)
            if card is None:
                return None
            found.append(card)
        return found

    def instances(self, card):
        """The GPU instances of a card in the order of the lists: by profile, those with media engines last."""
        rows = list(card.kind.profiles)
        found = mig.layout(card.gpu, self.branch)
        return sorted(found, key=lambda one: ("+me" in one.profile.name, rows.index(one.profile), one.id))


def device_uuid(card, instance, compute, branch):
    """The UUID of a MIG device: a function of GPU, GPU instance and compute instance."""
    if branch < 470:
        return f"MIG-{card.uuid}/{instance.id}/{compute.id}"
    return f"MIG-{uuid.uuid5(uuid.UUID(card.uuid.removeprefix('GPU-')), f'{instance.id}/{compute.id}')}"


def short_name(profile):
    """The name without the sign of the media engines, as compute instances and devices have it."""
    return profile.name.partition("+")[0].removesuffix("-me")


def compute_name(instance, slices):
    """'2g.10gb' for the compute instance that fills its GPU instance, '1c.2g.10gb' for a part of it."""
    name = short_name(instance.profile)
    return name if slices == instance.profile.compute_slices else f"{slices}c.{name}"
