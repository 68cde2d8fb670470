# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""nvidia-smi on the host of a task: argv out, rows in. Each call names its GPU; without -i it changes all of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Callable, Container, Iterable, Sequence, TypeVar, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import inventory, listing, outcome
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.state import Compute, Instance

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.remote import Completed
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.inventory import FoundGpu, Inventory
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.listing import (
        ListedCompute,
        ListedInstance,
        ListedPlacement,
        ListedProfile,
    )
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Spot

    T = TypeVar("T")

TODO = {
    "insufficient_resources": "Check the instances on the GPU with aiready.vsphere.mig_info",
    "in_use": "Stop its users (VMs, CUDA programs, DCGM and other monitors, Xorg on ESXi) and run the task again",
    "mig_is_off": "Set mode to enabled first, and reset or restart as the result requires",
    "no_permission": "Run the task as root, or with become",
    "driver_without_mig": "Install a driver with MIG support (R450 or later)",
    "driver_not_loaded": "Install the driver for this host and reboot; on ESXi the module nvaie_vib installs it",
    "nvidia_smi_missing": "Install NVIDIA's driver on the host and reboot; on ESXi the module nvaie_vib installs it",
    "no_gpu": "Check whether the GPUs of the host are in passthrough mode",
    "driver_mismatch": "Reboot the host. The driver in the kernel is not the installed one",
    "gpu_lost": "Reset the host. The GPU has fallen off the bus",
    "reset_required": "Reset the GPU with `nvidia-smi --gpu-reset`, or reboot",
}
# Codes of a host without a working driver, as before the first installation.
NO_DRIVER = ("nvidia_smi_missing", "driver_not_loaded", "no_gpu")


class NvidiaSmi:
    """The commands of nvidia-smi that concern MIG."""

    def __init__(self, run: Callable[[Sequence[str]], Completed]) -> None:
        self._run = run

    def inventory(self) -> Inventory:
        """Return all GPUs of the driver, with their modes and processes."""
        wanted = "cannot list its GPUs"
        done = self._run(["nvidia-smi", "-q", "-x"])
        try:
            found: Inventory | None = inventory.parse(done.stdout, done.stderr)
        except ValueError:
            found = None
        if done.rc and not (found is not None and found.gpus and found.missing):
            # With a lost GPU, nvidia-smi may end with an error although it described the others.
            raise failed("the host", wanted, done, cast("str", outcome.reason(done.text, done.rc)))
        found = found or _parsed(inventory.parse, done, done.stdout, "the host", wanted)
        if not found.gpus:
            raise OperatorError("the host", wanted, "The driver reports no GPU", TODO["no_gpu"], "no_gpu")
        return found

    def mode(self, gpu: FoundGpu) -> tuple[bool | None, bool | None]:
        """(the mode now, the mode after a restart)."""
        fields = "mig.mode.current,mig.mode.pending"
        done = self._ask(
            gpu, "cannot read its MIG mode", [f"--query-gpu={fields}", "--format=csv,noheader", "-i", gpu.uuid]
        )
        return _parsed(listing.modes, done, done.text, gpu, "cannot read its MIG mode")

    def profiles(self, gpu: FoundGpu) -> tuple[list[ListedProfile], list[ListedPlacement]]:
        """Return the output of -lgip and -lgipp for this GPU."""
        wanted = "cannot read its MIG profiles"
        listed = self._ask(gpu, wanted, ["mig", "-lgip", "-i", gpu.uuid], quiet=("mig_is_off",))
        places = self._ask(gpu, wanted, ["mig", "-lgipp", "-i", gpu.uuid], quiet=("mig_is_off",))
        return (
            _parsed(listing.profiles, listed, listed.text, gpu, wanted),
            _parsed(listing.placements, places, places.text, gpu, wanted),
        )

    def instances(self, gpu: FoundGpu) -> tuple[Instance, ...]:
        """The GPU instances of the GPU, with their compute instances."""
        wanted = "cannot read its GPU instances"
        whole = self._ask(gpu, wanted, ["mig", "-lgi", "-i", gpu.uuid], quiet=("mig_is_off",))
        rows = _parsed(listing.instances, whole, whole.text, gpu, wanted)
        parts = []
        if rows:
            done = self._ask(gpu, wanted, ["mig", "-lci", "-i", gpu.uuid])
            parts = _parsed(listing.compute_instances, done, done.text, gpu, wanted)
        return tuple(
            Instance(
                row.profile_id,
                row.start,
                row.size,
                row.name,
                row.instance_id,
                tuple(_compute(part, row) for part in parts if part.gpu_instance_id == row.instance_id),
            )
            for row in rows
        )

    def set_mode(self, gpu: FoundGpu, enabled: bool) -> Completed:
        """Switch the mode. Only mode() shows if it is effective: a pending switch ends with success too."""
        return self._do(
            gpu, f"cannot {'enable' if enabled else 'disable'} MIG mode", ["-i", gpu.uuid, "-mig", str(int(enabled))]
        )

    def create(self, gpu: FoundGpu, spot: Spot, explicit: bool, with_compute: bool) -> Completed:
        """Create one GPU instance, at a requested start or at one that the driver selects."""
        profile = f"{spot.profile_id}:{spot.start}" if explicit else str(spot.profile_id)
        argv = ["mig", "-cgi", profile, *(["-C"] if with_compute else []), "-i", gpu.uuid]
        return self._do(gpu, f"cannot create a GPU instance of profile {profile}", argv)

    def create_compute(self, gpu: FoundGpu, instance_id: int | None, profile_ids: Iterable[int]) -> Completed:
        """Create compute instances in a GPU instance; without profiles, the one that fills it."""
        chosen = [",".join(str(profile_id) for profile_id in profile_ids)] if profile_ids else []
        argv = ["mig", "-cci", *chosen, "-gi", str(instance_id), "-i", gpu.uuid]
        return self._do(gpu, f"cannot create compute instances in GPU instance {instance_id}", argv)

    def destroy(self, gpu: FoundGpu, instance_id: int | None) -> Completed:
        """Remove a GPU instance, which must have no compute instances."""
        argv = ["mig", "-dgi", "-gi", str(instance_id), "-i", gpu.uuid]
        return self._do(gpu, f"cannot remove GPU instance {instance_id}", argv)

    def destroy_compute(self, gpu: FoundGpu, instance_id: int | None) -> Completed:
        """Remove all compute instances of one GPU instance."""
        argv = ["mig", "-dci", "-gi", str(instance_id), "-i", gpu.uuid]
        return self._do(gpu, f"cannot remove the compute instances of GPU instance {instance_id}", argv)

    def _ask(self, gpu: FoundGpu, wanted: str, arguments: Iterable[str], quiet: Container[str] = ()) -> Completed:
        done = self._run(["nvidia-smi", *arguments])
        why = outcome.reason(done.text, done.rc)
        if why is not None and why not in quiet:
            raise failed(subject(gpu), wanted, done, why)
        return done

    def _do(self, gpu: FoundGpu, wanted: str, arguments: Iterable[str]) -> Completed:
        done = self._run(["nvidia-smi", *arguments])
        why = outcome.reason(done.text, done.rc)
        # A pending switch prints Not Supported or in use about the reset; the mode shows it afterwards.
        if why is not None and not _pending(done):
            raise failed(subject(gpu), wanted, done, why)
        return done


def subject(gpu: FoundGpu | str) -> str:
    """A GPU as messages name it."""
    return gpu if isinstance(gpu, str) else f"GPU {gpu.index} at {gpu.pci} ({gpu.name})"


def failed(about: str, wanted: str, done: Completed, why: str) -> OperatorError:
    """The error of a command that failed."""
    said = " ".join(done.text.split()) or "no output"
    return OperatorError(
        about,
        wanted,
        f"`{done.command}` ended with status {done.rc} and printed: {said}",
        TODO.get(why, "Run the command by hand to see details"),
        why,
        command=done.command,
        rc=done.rc,
        stdout=done.stdout,
        stderr=done.stderr,
    )


def _parsed(parse: Callable[[str], T], done: Completed, text: str, about: FoundGpu | str, wanted: str) -> T:
    """The result of a parser; output that it cannot read is an error, never an empty answer."""
    try:
        return parse(text)
    except ValueError as error:
        raise OperatorError(
            subject(about),
            wanted,
            f"`{done.command}` printed unexpected output: {error}",
            "Run the command by hand and check its output",
            "unreadable_output",
            command=done.command,
            stdout=done.stdout,
            stderr=done.stderr,
        ) from error


def _pending(done: Completed) -> bool:
    return any(isinstance(effect, outcome.Switched) and effect.pending for effect in outcome.effects(done.text))


def _compute(part: ListedCompute, whole: ListedInstance) -> Compute:
    """1c.3g.20gb has one slice; without the prefix it has all of its GPU instance."""
    match = re.match(r"^(\d+)c\.", part.name) or re.match(r"^(\d+)g", whole.name)
    return Compute(int(match[1]) if match else 0, part.instance_id, part.start)
