"""Driver of a guest, as nvidia-smi shows it: its cards with names, licence and the fields that a vGPU lacks."""

from __future__ import annotations

import datetime
import uuid
from dataclasses import dataclass

from vsphere_twin.nvidia_smi.system import short_name

from . import drivers, licence, memory

NOT_AVAILABLE = "[N/A]"
CUDA = {
    450: "11.0",
    460: "11.2",
    470: "11.4",
    510: "11.6",
    525: "12.0",
    535: "12.2",
    550: "12.4",
    570: "12.8",
    580: "13.0",
}
# Beginning of a board's key: (architecture, compute capability).
ARCHITECTURES = (
    ("rtx_pro", "Blackwell", "12.0"),
    ("v100", "Volta", "7.0"),
    ("t4", "Turing", "7.5"),
    ("a100", "Ampere", "8.0"),
    ("a800", "Ampere", "8.0"),
    ("a30", "Ampere", "8.0"),
    ("a", "Ampere", "8.6"),
    ("l", "Ada Lovelace", "8.9"),
    ("g", "Hopper", "9.0"),
    ("h", "Hopper", "9.0"),
    ("b", "Blackwell", "10.0"),
)
RESERVED_SHARE = 15  # of the frame buffer one part in so many is the driver's own [a model]


@dataclass(frozen=True)
class View:
    """Everything that one call of nvidia-smi may show."""

    vm: object
    version: str
    cards: tuple
    now: float
    lease: object
    uptime_s: float
    cpus: int
    flavour: str

    @property
    def branch(self):
        return drivers.branch(self.version)

    @property
    def cuda(self):
        return CUDA.get(self.branch, "12.0")

    @property
    def time(self):
        moment = datetime.datetime.fromtimestamp(self.now, datetime.timezone.utc)
        return f"{moment:%a %b} {moment.day:>2} {moment:%H:%M:%S %Y}"

    def chosen(self, names):
        """The cards that -i names, or all; None where a name fits none."""
        if names is None:
            return list(self.cards)
        found = []
        for name in names.split(","):
            card = next((one for one in self.cards if is_called(one, name.strip())), None)
            if card is None:
                return None
            found.append(card)
        return found


def of(vm, call):
    """Return the view of a call; its cards are those in the container's NVIDIA_VISIBLE_DEVICES."""
    guest, state = call.guest, memory.of(vm)
    driver = drivers.installed(guest)
    cards = drivers.usable(vm, guest)
    # A container has the devices of its runtime, by name; one with devices by CDI has markers of them.
    marks = [name.removeprefix("LAB_GPU_") for name in call.env if name.startswith("LAB_GPU_")]
    visible = ",".join(marks) or call.env.get("NVIDIA_VISIBLE_DEVICES", "all")
    if visible != "all":
        cards = [one for one in cards if any(is_called(one, name.strip()) for name in visible.split(",") if name)]
    return View(
        vm=vm,
        version=driver["version"],
        cards=tuple(cards),
        now=guest.time,
        lease=licence.valid(state, guest.time),
        uptime_s=guest.time - state.booted_at if state.booted_at else 0.0,
        cpus=guest.cpus,
        flavour=driver.get("flavour", ""),
    )


def is_called(card, name):
    """Return whether -i or an environment selects this card: by index, UUID (or its beginning) or PCI address."""
    if name.isdigit():
        return int(name) == card.index
    if name.startswith("GPU-") and len(name) > 6:
        return card.uuid.lower().startswith(name.lower())
    return name.upper() in (card.bus_id, card.bus_id.partition(":")[2], card.address.upper())


def architecture(card):
    """(architecture, compute capability) of the board."""
    key = card.board.key
    if key.startswith(("rtx6000", "rtx8000")) and "ada" not in key:
        return "Turing", "7.5"
    if "ada" in key:
        return "Ada Lovelace", "8.9"
    return next(((name, cc) for start, name, cc in ARCHITECTURES if key.startswith(start)), ("N/A", "N/A"))


def memory_mib(card):
    """(total, reserved, used, free)."""
    total = card.memory_gb * 1024
    reserved = total // RESERVED_SHARE
    return total, reserved, 0, total - reserved


def mode(card):
    """The MIG mode as the guest sees it."""
    if not card.board.migs:
        return "N/A"
    return "Enabled" if card.mig else "Disabled"


def mig_name(card):
    """'3g.20gb' of the instance that the vGPU is."""
    return short_name(card.physical.kind.profile(card.profile.mig_profile_id))


def mig_uuid(card):
    """The UUID of the one MIG device of a MIG-backed vGPU."""
    return f"MIG-{uuid.uuid5(uuid.UUID(card.uuid.removeprefix('GPU-')), '0/0')}"
