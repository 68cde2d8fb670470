"""The sites that can be rehearsed: the lab's own with PVRDMA, and one with DirectPath on vSphere 9.1."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyVmomi import vim

from e2e import dump, third_party
from vsphere_twin.model import gpudirect
from wire.observe import by_hand

from . import center, playbook
from .failure import RehearsalFailed

NAMES = ("", "directpath")
# The MTU of the distributed switch stays, see docs/restore.md.
LASTING = {
    "twin HostSystem": (*dump.HISTORY, *dump.OF_DRIVER),
    "twin VmwareDistributedVirtualSwitch": ("mtu",),
    "client HostSystem": (*third_party.OF_DRIVER, *third_party.OF_MTU),
    "client DistributedVirtualSwitch": third_party.OF_MTU,
}
LASTING_DIRECT = {"twin HostSystem": dump.HISTORY}
PORT, LABEL = "vmnic3", "aiready-0000-36"


@dataclass(frozen=True)
class Site:
    """A site: its data centre, its inventories, and the state that it leads to."""

    seed: str
    inventories: Sequence[Path]  # after that of the lab, as in docs/tutorial.md
    gpu: str
    ready: Callable[..., str]
    proof: Callable[..., str]
    lossless: Callable[..., str]
    damage: Callable[..., None]
    # Tasks that a second run changes besides the training: SSH of each host, started for the firmware of its ports.
    again: int = 0
    licence: bool = True
    # Differences after a restore, see rehearse.restored: history, and what docs/restore.md lists as not restored.
    lasting: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def arguments(self) -> list[str]:
        """The words for ansible-playbook."""
        return [word for one in self.inventories for word in ("--inventory", str(one))]


def of(name: str) -> Site:
    """The site with this name."""
    if not name:
        checks = (center.ready, center.proof, center.lossless, center.damage)
        return Site("factory", (), "an A100 as a vGPU", *checks, lasting=LASTING)
    inventories = (playbook.ROOT / "inventories" / "directpath",)
    title = "an A100 and a port by DirectPath"
    checks = (_ready, _proof, _lossless, _damage)
    return Site("factory-9.1", inventories, title, *checks, again=AGAIN, licence=False, lasting=LASTING_DIRECT)


# Two hosts, and SSH is started and stopped on each, to read the firmware of its ports (docs/hosts.md).
AGAIN = 4


def _ready(twin) -> str:
    """Check in the model that each host gives away a GPU and a port with one label, with ATS, and has no driver."""
    found = {}
    with twin.world.lock:
        hosts = list(twin.world.of_kind("HostSystem"))
        for host in hosts:
            port = next(one for one in host.ports if one.device == PORT)
            given = {at: host.passthru[at] for at in (host.gpus[0].pci_id, port.pci)}
            found[host.name] = {
                "the host driver": (host.driver.family, "none"),
                "atsSupport": (str(host.kernel.settings["atsSupport"].runtime).upper(), "TRUE"),
                "ATS in the firmware": (port.firmware.ats, True),
                "passthrough": ([one.active for one in given.values()], [True, True]),
                "the label": ([one.label for one in given.values()], [LABEL, LABEL]),
            }
    wrong = [
        f"{name}: {what} is {now}, not {wanted}"
        for name, rows in found.items()
        for what, (now, wanted) in rows.items()
        if now != wanted
    ]
    if wrong:
        raise RehearsalFailed(f"Some hosts are not ready: {'; '.join(wrong)}.")
    return f"{len(found)} hosts without a driver give away a GPU and a port with the label {LABEL}"


def _proof(twin) -> str:
    """Check in the model that the VMs run on separate hosts, each with a GPU and a port that reach each other."""
    with twin.world.lock:
        machines = [vm for vm in twin.world.of_kind("VirtualMachine") if vm.name in center.VMS]
        verdicts = {vm.name: gpudirect.verdict(twin.world, vm) for vm in machines}
        hosts = {vm.host.name for vm in machines}
    wrong = [f"{name} does not exist" for name in center.VMS if name not in verdicts]
    wrong += [f"{name}: {', '.join(one.reasons)}" for name, one in verdicts.items() if not one.works]
    if wrong or len(hosts) != len(center.VMS):
        raise RehearsalFailed(f"The GPU and the port of each VM must reach each other: {'; '.join(wrong)}, on {hosts}.")
    return f"{' and '.join(center.VMS)} run on separate hosts, and GPUDirect RDMA works in each"


def _lossless(twin) -> str:
    """Check RoCE packets between the VMs: the guests control their ports, so no host is compared."""
    ways = [way for way in twin.control.ways() if {way["from"], way["to"]} == {*center.VMS}]
    wrong = [why for way in ways for why in way["why"]]
    if wrong or not ways or any(way["loses"] or not way["rdma"] for way in ways):
        raise RehearsalFailed(f"The path between the VMs must be lossless with DSCP 26: {'; '.join(wrong[:5])}.")
    return f"DSCP 26 is lossless in {len(ways)} directions through {len(twin.switch_endpoints)} switches"


def _damage(twin) -> None:
    """Simulate a manual mistake: one VM loses its devices, the other one is gone."""
    hurt, lost = center.VMS
    for name in center.VMS:
        by_hand(twin, name, lambda machine: machine.PowerOffVM_Task())
    kind = vim.vm.device.VirtualPCIPassthrough
    by_hand(twin, hurt, lambda machine: machine.ReconfigVM_Task(_without(machine, kind)))
    by_hand(twin, lost, lambda machine: machine.Destroy_Task())


def _without(machine, kind) -> vim.vm.ConfigSpec:
    devices = [one for one in machine.config.hardware.device if isinstance(one, kind)]
    return vim.vm.ConfigSpec(
        deviceChange=[vim.vm.device.VirtualDeviceSpec(operation="remove", device=one) for one in devices]
    )
