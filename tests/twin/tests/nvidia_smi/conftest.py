"""One GPU and a driver, and what nvidia-smi says of them."""

from __future__ import annotations

import pytest

from vsphere_twin.model import catalogue, mig
from vsphere_twin.model.gpu import Gpu
from vsphere_twin.nvidia_smi import main
from vsphere_twin.nvidia_smi.system import Card, System


class Machine:
    """Cards of given boards under a driver of a given version."""

    def __init__(self, boards, version, on, hypervisor, pci):
        self.cards = tuple(
            Card(
                index,
                self._gpu(board, on, f"0000:{pci + 0x10 * index:02x}:00.0"),
                f"GPU-{index:08}-0000-4000-8000-{0:012}",
            )
            for index, board in enumerate(boards)
        )
        self.changes = 0
        self.system = System(version, self.cards, self._set_mode, self._changed, hypervisor)

    @property
    def gpu(self):
        return self.cards[0].gpu

    def run(self, line):
        return main.run(self.system, line.split())

    def text(self, line):
        return self.run(line)[0]

    def starts(self):
        """(profile id, start) in the order in which they were made."""
        return [(one.profile.id, one.start) for one in self.gpu.mig.instances]

    @staticmethod
    def _gpu(board, on, address):
        kind = catalogue.board(board)
        return Gpu(address, kind, active_type="sharedDirect", mig=mig.seeded(kind, on))

    def _set_mode(self, gpu, on):
        gpu.mig.pending = on
        return mig.NOT_SUPPORTED

    def _changed(self):
        self.changes += 1


@pytest.fixture
def machine():
    """machine('a30', version=...): MIG is on unless it says otherwise."""
    return lambda *boards, version="550.54.16", on=True, hypervisor=False, pci=0x0F: Machine(
        boards or ("a100_pcie_40gb",), version, on, hypervisor, pci
    )
