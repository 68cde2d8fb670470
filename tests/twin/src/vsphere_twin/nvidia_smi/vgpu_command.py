"""`nvidia-smi vgpu` of the host driver: the types that a GPU carries, those that still fit, and the vGPUs that run.

Names and order of the fields are those of the vGPU user guide [unsure: MEM]. The numbers of types and what a guest's
own driver reports (its version, its licence) are not modelled.
"""

from __future__ import annotations

import uuid

from .system import INVALID_ARGUMENT, NO_DEVICES, NOT_FOUND

BAD_ARGUMENTS = "Invalid combination of input arguments. Please run 'nvidia-smi vgpu -h' for help.\n\n"
LONG = {"--query": "-q", "--supported": "-s", "--creatable": "-c", "--id": "-i"}
ACTIONS = ("-q", "-s", "-c")


def run(system, words):
    """(text, return code)."""
    words = [LONG.get(word, word) for word in words]
    only = None
    if "-i" in words[:-1]:
        place = words.index("-i")
        only = words[place + 1]
        words = words[:place] + words[place + 2 :]
    if len(words) != 1 or words[0] not in ACTIONS:
        return BAD_ARGUMENTS, INVALID_ARGUMENT
    cards = system.chosen(only)
    if not cards:
        return NO_DEVICES, NOT_FOUND
    show = {"-q": _running, "-s": _supported, "-c": _creatable}[words[0]]
    lines = [line for card in cards for line in (f"GPU {card.bus_id}", *show(system, card))]
    return "".join(f"{line}\n" for line in lines), 0


def title(profile):
    """'grid_a100-40c' as GRID A100-40C, 'nvidia_a100x-40c' as NVIDIA A100X-40C."""
    brand, _underline, rest = profile.name.partition("_")
    return f"{brand.upper()} {rest.upper()}"


def _supported(system, card):
    return [f"    {title(one)}" for one in card.gpu.types(system.release)]


def _creatable(system, card):
    gpu = card.gpu
    return [f"    {title(one)}" for one in gpu.types(system.release) if gpu.room_for(one, system.release) is not None]


def _running(system, card):
    yield _pair(1, "Active vGPUs", len(card.gpu.residents))
    for one in card.gpu.residents:
        number = int(one.vm.moid.rpartition("-")[2])
        total = one.profile.fb_gb * 1024
        yield _pair(1, "vGPU ID", 3_251_634_000 + number * 16 + one.device_key % 16)
        yield _pair(2, "VM ID", 2_000_000 + number)
        yield _pair(2, "VM Name", one.vm.name)
        yield _pair(2, "vGPU Name", title(one.profile))
        yield _pair(2, "vGPU UUID", uuid.uuid5(uuid.UUID(one.vm.uuid), str(one.device_key)))
        yield _pair(2, "Guest Driver Version", "N/A")
        yield _pair(2, "License Status", "N/A")
        yield _pair(2, "GPU Instance ID", _instance(system, card, one))
        yield _pair(2, "Placement ID", one.start if card.gpu.vgpu_mode == "mixedSize" else "N/A")
        yield _pair(2, "Accounting Mode", "N/A")
        yield _pair(2, "ECC Mode", "Enabled")
        yield "        FB Memory Usage"
        for name, value in (("Total", total), ("Used", 0), ("Free", total)):
            yield _pair(3, name, f"{value} MiB")


def _instance(system, card, resident):
    """The GPU instance that carries a vGPU of a partitioned GPU."""
    if not card.gpu.mig_enabled:
        return "N/A"
    return next((one.id for one in system.instances(card) if one.start == resident.start), "N/A")


def _pair(depth, name, value):
    indent = "    " * depth
    return f"{indent}{name:<{38 - 4 * (depth - 1)}}: {value}"
