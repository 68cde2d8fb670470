# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Costs of each data path of a training VM, as one table; documentation and refusals are built from it. Pure."""

from __future__ import annotations

from typing import NamedTuple, Sequence

DIRECTPATH = "frankdenneman.nl, 2023-06-06, on Dynamic DirectPath I/O"
SRIOV = "VMware vSphere 6.5 Networking, SR-IOV support"
PVRDMA = "VMware vSphere 6.7 and 8.0 Networking, PVRDMA"
NVAIE = "NVIDIA AI Enterprise user guide 5.0"
NVAIE_INFRA = "NVIDIA AI Enterprise Infra 6.2, vGPU page"
KERNEL = "the Linux driver vmw_pvrdma"
EDPIO = "VMware Cloud Foundation blog, 2026-04-20, on Enhanced DirectPath I/O"
KB_MAINTENANCE = "VMware KB 88271"
GENERAL = "general knowledge"

YES, NO, LIMITED = "yes", "no", "limited"
ALL = "all"


class Cell(NamedTuple):
    """One field of the table: the feature of the path, its condition, and whether a source confirms it."""

    answer: str
    note: str = ""
    source: str = GENERAL
    sure: bool = True

    def __str__(self) -> str:
        text = f"{self.answer}: {self.note}" if self.note else self.answer
        return text if self.sure else f"{text} [unsure]"


class Cost(NamedTuple):
    """One data path for the network or the GPU of a VM."""

    name: str
    vmotion: Cell
    ha: Cell
    drs: Cell
    snapshots: Cell
    suspend: Cell
    maintenance: Cell
    gpudirect: Cell
    memory_reservation: Cell
    needs: tuple[str, ...]


# Columns of the table, and the words of sentences for the features that a VM loses.
FEATURES = {
    "vmotion": "vMotion",
    "ha": "restarts by HA on another host",
    "drs": "placement by DRS",
    "snapshots": "snapshots",
    "suspend": "suspending",
}
COLUMNS = {
    "vmotion": "vMotion",
    "ha": "HA",
    "drs": "DRS",
    "snapshots": "snapshots",
    "suspend": "suspend",
    "maintenance": "maintenance of the host",
    "gpudirect": "GPUDirect RDMA",
    "memory_reservation": "memory reservation",
}

_DIRECT_MEMORY = Cell(ALL, source=DIRECTPATH)
_GPUDIRECT = Cell(
    LIMITED,
    "NIC and GPU under one root complex, ATS on in the NIC's firmware and in the kernel, P2P allowed in the VM",
    NVAIE,
)

COSTS = {
    "tcp": Cost(
        name="a vmxnet3 adapter",
        vmotion=Cell(YES),
        ha=Cell(YES),
        drs=Cell(YES),
        snapshots=Cell(YES),
        suspend=Cell(YES),
        maintenance=Cell(YES, "the VM is moved away"),
        gpudirect=Cell(NO, "GPU memory is staged through memory of the VM and the TCP stack"),
        memory_reservation=Cell("none"),
        needs=("a port group",),
    ),
    "pvrdma": Cost(
        name="a PVRDMA adapter",
        vmotion=Cell(
            LIMITED,
            "until native endpoints (hardware version 18) hold connections, and with no passthrough device beside it",
            PVRDMA,
            False,
        ),
        ha=Cell(YES, source=PVRDMA),
        drs=Cell(YES, source=PVRDMA, sure=False),
        snapshots=Cell(YES, source=PVRDMA),
        suspend=Cell(YES, source=PVRDMA, sure=False),
        maintenance=Cell(YES, "the VM is moved away", PVRDMA, False),
        gpudirect=Cell(NO, "its driver registers memory of the VM only, so GPU memory is staged through it", KERNEL),
        memory_reservation=Cell(ALL, source=PVRDMA, sure=False),
        needs=(
            "a distributed switch with the RDMA adapter as its only uplink",
            "Net.PVRDMAVmknic and the firewall ruleset pvrdma on every host",
            "all peers on the same distributed switch",
            "hardware version 13, or 18 for peers without vSphere",
        ),
    ),
    "sriov": Cost(
        name="an SR-IOV adapter",
        vmotion=Cell(NO, source=SRIOV),
        ha=Cell(NO, source=SRIOV),
        drs=Cell(NO, source=SRIOV),
        snapshots=Cell(NO, source=SRIOV),
        suspend=Cell(NO, source=SRIOV),
        maintenance=Cell(NO, "the VM has to be powered off", DIRECTPATH, False),
        gpudirect=_GPUDIRECT._replace(sure=False),
        memory_reservation=Cell(ALL, source=SRIOV),
        needs=(
            "virtual functions that are active on the port",
            "interrupt vectors of the host for each function",
            "a driver for virtual functions in the guest",
        ),
    ),
    "passthrough_static": Cost(
        name="a passthrough device at a fixed address",
        vmotion=Cell(NO, source=DIRECTPATH),
        ha=Cell(NO, "the VM is bound to one slot of one host", DIRECTPATH),
        drs=Cell(NO, source=DIRECTPATH),
        snapshots=Cell(NO, source=DIRECTPATH),
        suspend=Cell(NO, source=DIRECTPATH),
        maintenance=Cell(NO, "the VM has to be powered off, and reconfigured to run elsewhere", DIRECTPATH),
        gpudirect=_GPUDIRECT,
        memory_reservation=_DIRECT_MEMORY,
        needs=("passthrough active on the host", "the VM on the host that has the device"),
    ),
    "passthrough_dynamic": Cost(
        name="a dynamic passthrough device",
        vmotion=Cell(NO, source=DIRECTPATH),
        ha=Cell(YES, "where another host has such a device free", DIRECTPATH),
        drs=Cell(LIMITED, "where the VM starts, never afterwards", DIRECTPATH),
        snapshots=Cell(NO, source=DIRECTPATH),
        suspend=Cell(NO, source=DIRECTPATH),
        maintenance=Cell(NO, "the VM has to be powered off, and may start elsewhere", DIRECTPATH),
        gpudirect=_GPUDIRECT._replace(
            note=f"{_GPUDIRECT.note}; which devices a VM gets is decided at power-on, so label those of one root alike"
        ),
        memory_reservation=_DIRECT_MEMORY,
        needs=(
            "passthrough active on the host",
            "hardware version 17, or 20 for device groups",
            "labels where several devices of one kind must not be mixed up",
        ),
    ),
    "passthrough_dvx": Cost(
        name="a device by Enhanced DirectPath I/O",
        vmotion=Cell(LIMITED, "where the host reports checkpointSupported of the class", EDPIO),
        ha=Cell(YES, "where another host has such a device free", EDPIO, False),
        drs=Cell(LIMITED, "where the VM starts, and afterwards as vMotion", EDPIO, False),
        snapshots=Cell(LIMITED, "as vMotion", EDPIO, False),
        suspend=Cell(LIMITED, "as vMotion", EDPIO),
        maintenance=Cell(LIMITED, "the VM is moved away only with vMotion", EDPIO, False),
        gpudirect=_GPUDIRECT._replace(
            note=f"{_GPUDIRECT.note}; the vendor's code decides which devices a VM gets", sure=False
        ),
        memory_reservation=_DIRECT_MEMORY._replace(sure=False),
        needs=("hardware version 20", "software of the vendor on the host that defines the class of devices"),
    ),
    "vgpu": Cost(
        name="a vGPU",
        vmotion=Cell(
            LIMITED, "with vgpu.hotmigrate.enabled, onto the same board and driver, not with unified memory", NVAIE
        ),
        ha=Cell(YES, "where another host has such a GPU free", DIRECTPATH, False),
        drs=Cell(LIMITED, "NVIDIA asks for Partially Automated or Manual", NVAIE),
        snapshots=Cell(LIMITED, "as the host says of the profile, not with unified memory", NVAIE, False),
        suspend=Cell(LIMITED, "as the host says of the profile, not with unified memory", NVAIE, False),
        maintenance=Cell(LIMITED, "DRS moves the VM away only with VgpuMMAutomationTimeoutSecs=-1", KB_MAINTENANCE),
        gpudirect=_GPUDIRECT._replace(note=f"C profiles on Ampere and newer; {_GPUDIRECT.note}", source=NVAIE_INFRA),
        memory_reservation=Cell(ALL, source=NVAIE),
        needs=("EFI firmware", "a window of 64-bit memory mapped I/O for the whole VM"),
    ),
}


def lost(path: str) -> list[str]:
    """The features of FEATURES that a VM with this path does not have at all."""
    return [column for column in FEATURES if getattr(COSTS[path], column).answer == NO]


def cost_sentence(path: str) -> str:
    """Return the costs of a path for a VM, as a sentence for a refusal or a page."""
    cost = COSTS[path]
    parts = []
    if lost(path):
        parts.append(f"it has {_listed([f'no {FEATURES[column]}' for column in lost(path)])}")
    if cost.maintenance.answer == NO:
        parts.append(f"for maintenance of its host {cost.maintenance.note}")
    if cost.memory_reservation.answer == ALL:
        parts.append("all of its memory is reserved")
    if not parts:
        return f"{_capital(cost.name)} has none of these costs for a VM."
    return f"Costs of {cost.name} for a VM: {'; '.join(parts)}."


def gpudirect_sentence(path: str) -> str:
    """Return a sentence on GPUDirect RDMA over a path, with its condition."""
    cell = COSTS[path].gpudirect
    if cell.answer == NO:
        return f"{_capital(COSTS[path].name)} does not support GPUDirect RDMA: {cell.note}."
    return f"GPUDirect RDMA over {COSTS[path].name} needs: {cell.note}."


def markdown() -> str:
    """The table for the documentation, one path per row."""
    rows = [["path", *COLUMNS.values(), "needs"], ["---"] * (len(COLUMNS) + 2)]
    for path, cost in COSTS.items():
        cells = [str(getattr(cost, column)) for column in COLUMNS]
        rows.append([f"`{path}`", *cells, "; ".join(cost.needs)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
