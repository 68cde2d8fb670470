# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The GPUs that a task selects, and their state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import identify
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.inventory import pci_address
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.nvidia_smi import TODO, subject
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Rules
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.state import State

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.remote import Remote
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.gpu import MigGpu
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.inventory import FoundGpu, Inventory
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.nvidia_smi import NvidiaSmi
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.state import Instance


def choose(inventory: Inventory, names: Sequence[str], every: bool = False, lost: str = "refuse") -> list[FoundGpu]:
    """Return the named GPUs, in the order of the host, each once; all: those with MIG support, or every one.

    lost: whether `all` is an error if GPUs do not answer, or selects the others (ignore).
    """
    chosen: set[int]
    unknown: list[str]
    chosen, unknown = set(), []
    for name in names:
        matching = _matching(inventory, name, every)
        if not matching and not _means_all(name):
            unknown.append(name)
        skipped = lost == "ignore" and _means_all(name)
        chosen.update(gpu.index for gpu in matching if not (skipped and gpu.trouble))
    missing = inventory.missing
    if missing and any(str(name).strip().isdecimal() for name in names):
        # Without the GPUs that no longer answer, the indices differ from those of nvidia-smi.
        raise _lost(inventory, names, "an index may name another GPU", "Name the GPUs by UUID or PCI address")
    if missing and lost == "refuse" and any(_means_all(name) for name in names):
        raise _lost(
            inventory,
            names,
            "`all` does not cover the whole host",
            "Set `lost_gpus: ignore` to continue with the GPUs that answer, or name them by UUID or PCI address",
        )
    if unknown:
        raise OperatorError(
            "the host",
            f"cannot find the GPUs {', '.join(unknown)}",
            f"Its GPUs are: {'; '.join(_reported(gpu) for gpu in inventory.gpus)}",
            "Name them by index, UUID, PCI address or model, or use all for those that support MIG. The driver of the "
            "host does not list a GPU in passthrough mode",
            "gpu_not_found",
            unknown=unknown,
        )
    return [gpu for gpu in inventory.gpus if gpu.index in chosen]


def lost_gpus(inventory: Inventory) -> str:
    """Return one sentence that names the GPUs without an answer; empty if all answer."""
    missing = inventory.missing
    if not missing:
        return ""
    return f"{len(inventory.gpus)} of {len(inventory.gpus) + len(missing)} GPUs answer. Missing: {', '.join(missing)}"


def _lost(inventory: Inventory, names: Sequence[str], consequence: str, fix: str) -> OperatorError:
    return OperatorError(
        "the host",
        f"cannot select the GPUs {', '.join(names)}",
        f"{lost_gpus(inventory)}, so {consequence}",
        f"{fix}. Check the kernel log of the host for Xid 79, and reset the host to restore a lost GPU",
        "gpu_lost",
        missing=inventory.missing,
    )


def ids(gpu: FoundGpu) -> dict[str, Any]:
    """The fields that identify a GPU in the result."""
    return {"name": gpu.name, "index": gpu.index, "uuid": gpu.uuid, "pci": gpu.pci}


def is_esxi(remote: Remote) -> bool:
    """Return whether the target is an ESXi host."""
    return remote.run(["uname", "-s"]).stdout.strip() == "VMkernel"


def mode_needs(esxi: bool, gpu: FoundGpu | None = None, entry: MigGpu | None = None) -> str:
    """The step that makes a pending mode active. ESXi offers no GPU reset, and most VMs must not reset theirs."""
    in_vm = gpu is not None and gpu.passed_through and (entry is None or entry.enable_needs_gpu_reset)
    return "reboot" if esxi or in_vm else "gpu_reset"


class Reader:
    """Reads states of GPUs over one nvidia-smi."""

    def __init__(self, smi: NvidiaSmi, inventory: Inventory, esxi: bool) -> None:
        self._smi = smi
        self._inventory = inventory
        self._esxi = esxi
        self._rules: dict[int, Rules] = {}

    def state(self, gpu: FoundGpu, fresh: bool = False) -> State:
        """The mode and instances of a GPU; fresh: the inventory is older than the last change."""
        if gpu.trouble:
            raise OperatorError(
                subject(gpu),
                "cannot read its MIG mode",
                f"nvidia-smi reports: {gpu.trouble}",
                TODO["gpu_lost"],
                "mode_unknown",
            )
        mode, pending = self._smi.mode(gpu) if fresh else (gpu.mig, gpu.mig_pending)
        if mode is None:
            raise OperatorError(
                subject(gpu),
                "does not support MIG",
                "nvidia-smi reports no MIG mode for it",
                "Remove it from gpus, or use all for the GPUs that support MIG",
                "not_mig_capable",
            )
        instances = self._smi.instances(gpu) if mode else ()
        rules = self._rules_of(gpu, instances)
        return State(
            rules=rules,
            mode=mode,
            mode_next=mode if pending is None else pending,
            instances=instances,
            mode_needs=mode_needs(self._esxi, gpu, rules.gpu),
            processes=gpu.processes,
        )

    def _rules_of(self, gpu: FoundGpu, instances: Iterable[Instance]) -> Rules:
        if gpu.index not in self._rules:
            known = identify.identify(gpu.device_id, gpu.name)
            table = identify.device_table(
                gpu, known, *self._smi.profiles(gpu), instances, self._inventory.driver_branch
            )
            self._rules[gpu.index] = Rules(table, self._inventory.driver_branch)
        return self._rules[gpu.index]


def _matching(inventory: Inventory, name: str, every: bool) -> list[FoundGpu]:
    text = str(name).strip()
    if _means_all(text) and every:
        return list(inventory.gpus)
    if _means_all(text):
        return [gpu for gpu in inventory.gpus if gpu.mig is not None or gpu.trouble]
    if text.isdecimal():
        return [gpu for gpu in inventory.gpus if gpu.index == int(text)]
    address = pci_address(text)
    if address is not None:
        return [gpu for gpu in inventory.gpus if gpu.pci == address]
    entry = identify.by_model(text)
    return [
        gpu
        for gpu in inventory.gpus
        if gpu.uuid.lower() == text.lower()
        or identify.plain_name(gpu.name) == identify.plain_name(text)
        or (text.lower() == getattr(entry, "key", None) and entry == _entry(gpu))
    ]


def _means_all(name: str) -> bool:
    return str(name).strip().lower() == "all"


def _entry(gpu: FoundGpu) -> MigGpu | None:
    return identify.identify(gpu.device_id, gpu.name)


def _reported(gpu: FoundGpu) -> str:
    return f"{gpu.index} {gpu.name} at {gpu.pci}"
