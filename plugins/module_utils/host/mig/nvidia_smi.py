# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""nvidia-smi on the host of a task: argv out, rows in. Every call names its GPU, since without -i it acts on all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Callable, Container, Iterable, Protocol, Sequence, TypeVar, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import inventory, listing, outcome
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.state import Compute, Instance

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.inventory import FoundGpu, Inventory
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.listing import (
        ListedCompute,
        ListedInstance,
        ListedPlacement,
        ListedProfile,
    )
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Spot

    class Completed(Protocol):
        """A command that ended."""

        @property
        def rc(self) -> int: ...

        @property
        def stdout(self) -> str: ...

        @property
        def stderr(self) -> str: ...

        @property
        def command(self) -> str: ...

        @property
        def text(self) -> str: ...

    class Remote(Protocol):
        """The host of a task, on which commands run."""

        def run(self, argv: Sequence[str]) -> Completed: ...

    T = TypeVar("T")

TODO = {
    "insufficient_resources": "Look at what is on the GPU with aiready.vsphere.mig_info",
    "in_use": "Stop what uses it (VMs, CUDA programs, DCGM and other monitors, on ESXi Xorg) and run the task again",
    "mig_is_off": "Enable the MIG mode first, and restart what it asks for",
    "no_permission": "Run the task as root, or with become",
    "driver_without_mig": "Install a driver that knows MIG, which is R450 or later",
    "driver_not_loaded": "Install the driver that fits the host and reboot; on ESXi the module nvaie_vib installs it",
    "nvidia_smi_missing": "Install NVIDIA's driver on the host and reboot; on ESXi the module nvaie_vib installs it",
    "no_gpu": "Look whether the host has its GPUs passed through to VMs",
    "driver_mismatch": "Reboot: the driver in the kernel is not the one that is installed",
    "gpu_lost": "The GPU has fallen off the bus, the host has to be reset",
    "reset_required": "Reset the GPU with `nvidia-smi --gpu-reset`, or reboot",
}
# What says that the host has no working driver, as before the first installation.
NO_DRIVER = ("nvidia_smi_missing", "driver_not_loaded", "no_gpu")


class NvidiaSmi:
    """The commands of nvidia-smi that concern MIG."""

    def __init__(self, run: Callable[[Sequence[str]], Completed]) -> None:
        self._run = run

    def inventory(self) -> Inventory:
        """All GPUs that the driver has, with their modes and processes."""
        wanted = "wanted the list of its GPUs"
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
            raise OperatorError("the host", wanted, "The driver has none", TODO["no_gpu"], "no_gpu")
        return found

    def mode(self, gpu: FoundGpu) -> tuple[bool | None, bool | None]:
        """(the mode now, the mode after a restart)."""
        fields = "mig.mode.current,mig.mode.pending"
        done = self._ask(gpu, "wanted its MIG mode", [f"--query-gpu={fields}", "--format=csv,noheader", "-i", gpu.uuid])
        return _parsed(listing.modes, done, done.text, gpu, "wanted its MIG mode")

    def profiles(self, gpu: FoundGpu) -> tuple[list[ListedProfile], list[ListedPlacement]]:
        """What -lgip and -lgipp print for this GPU."""
        wanted = "wanted its MIG profiles"
        listed = self._ask(gpu, wanted, ["mig", "-lgip", "-i", gpu.uuid], quiet=("mig_is_off",))
        places = self._ask(gpu, wanted, ["mig", "-lgipp", "-i", gpu.uuid], quiet=("mig_is_off",))
        return (
            _parsed(listing.profiles, listed, listed.text, gpu, wanted),
            _parsed(listing.placements, places, places.text, gpu, wanted),
        )

    def instances(self, gpu: FoundGpu) -> tuple[Instance, ...]:
        """The GPU instances that are there, with their compute instances."""
        wanted = "wanted its GPU instances"
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
        """Switch the mode. Whether that took effect is for mode() to say: a pending switch ends as a done one."""
        return self._do(gpu, f"MIG mode {'on' if enabled else 'off'}", ["-i", gpu.uuid, "-mig", str(int(enabled))])

    def create(self, gpu: FoundGpu, spot: Spot, explicit: bool, with_compute: bool) -> Completed:
        """Make one GPU instance, at a start that is asked for or chosen by the driver."""
        profile = f"{spot.profile_id}:{spot.start}" if explicit else str(spot.profile_id)
        argv = ["mig", "-cgi", profile, *(["-C"] if with_compute else []), "-i", gpu.uuid]
        return self._do(gpu, f"a GPU instance of profile {profile}", argv)

    def create_compute(self, gpu: FoundGpu, instance_id: int | None, profile_ids: Iterable[int]) -> Completed:
        """Make compute instances in a GPU instance; without profiles, the one that fills it."""
        chosen = [",".join(str(profile_id) for profile_id in profile_ids)] if profile_ids else []
        argv = ["mig", "-cci", *chosen, "-gi", str(instance_id), "-i", gpu.uuid]
        return self._do(gpu, f"compute instances in GPU instance {instance_id}", argv)

    def destroy(self, gpu: FoundGpu, instance_id: int | None) -> Completed:
        """Remove a GPU instance, which has to be without compute instances."""
        argv = ["mig", "-dgi", "-gi", str(instance_id), "-i", gpu.uuid]
        return self._do(gpu, f"GPU instance {instance_id} removed", argv)

    def destroy_compute(self, gpu: FoundGpu, instance_id: int | None) -> Completed:
        """Remove all compute instances of one GPU instance."""
        argv = ["mig", "-dci", "-gi", str(instance_id), "-i", gpu.uuid]
        return self._do(gpu, f"the compute instances of GPU instance {instance_id} removed", argv)

    def _ask(self, gpu: FoundGpu, wanted: str, arguments: Iterable[str], quiet: Container[str] = ()) -> Completed:
        done = self._run(["nvidia-smi", *arguments])
        why = outcome.reason(done.text, done.rc)
        if why is not None and why not in quiet:
            raise failed(subject(gpu), wanted, done, why)
        return done

    def _do(self, gpu: FoundGpu, wanted: str, arguments: Iterable[str]) -> Completed:
        done = self._run(["nvidia-smi", *arguments])
        why = outcome.reason(done.text, done.rc)
        # A pending switch says Not Supported or in use about the reset, and is told by the mode afterwards.
        if why is not None and not _pending(done):
            raise failed(subject(gpu), f"wanted {wanted}", done, why)
        return done


def subject(gpu: FoundGpu | str) -> str:
    """A GPU as messages name it."""
    return gpu if isinstance(gpu, str) else f"GPU {gpu.index} at {gpu.pci} ({gpu.name})"


def failed(about: str, wanted: str, done: Completed, why: str) -> OperatorError:
    """The error of a command that did not do what it should."""
    said = " ".join(done.text.split()) or "nothing"
    return OperatorError(
        about,
        wanted,
        f"`{done.command}` ended with status {done.rc} and said: {said}",
        TODO.get(why, "Run the command by hand to see more"),
        why,
        command=done.command,
        rc=done.rc,
        stdout=done.stdout,
        stderr=done.stderr,
    )


def _parsed(parse: Callable[[str], T], done: Completed, text: str, about: FoundGpu | str, wanted: str) -> T:
    """What a parser makes of an output; what it cannot read is not taken for an empty answer."""
    try:
        return parse(text)
    except ValueError as error:
        raise OperatorError(
            subject(about),
            wanted,
            f"`{done.command}` printed something else: {error}",
            "Run the command by hand to see what it says",
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
