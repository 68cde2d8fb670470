"""GPU errors of a VM since its start: messages of the driver in the kernel's log, and memory errors."""

from __future__ import annotations

import time
import weakref
from collections import Counter
from dataclasses import dataclass

LOST = (79,)  # the GPU answers nothing any more
UNCORRECTED, CORRECTED = (48, 94, 95), (92,)
TEXTS = {  # the driver's text on an event (NVIDIA's catalogue of Xid errors; the words in part [unsure])
    13: "Graphics SM Warp Exception on (GPC 0, TPC 0, SM 0): Out Of Range Address",
    31: "Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f2e_4a000000",
    43: "Ch 00000008, Reset Channel",
    45: "Ch 00000008",
    48: "DBE (Double Bit Error) ECC Error",
    63: "Row Remapper: New row marked for remapping, reset gpu to activate.",
    74: "NVLink: fatal error detected on link 0",
    79: "GPU has fallen off the bus.",
    92: "High single-bit ECC error rate",
    94: "Contained: SM (0x1). RST: No, D-RST: No",
    95: "Uncontained: LTC (0x1). RST: Yes, D-RST: No",
    119: "Timeout after 6s of waiting for RPC response from GSP!",
}
_EVENTS = weakref.WeakKeyDictionary()  # VM: (which boot, [Event])
_LINKS = weakref.WeakKeyDictionary()  # VM: (which boot, [(GPU, link, kind, number)])
_WRONG = weakref.WeakKeyDictionary()  # VM: the numbers of its GPUs that compute wrong and report nothing of it


@dataclass(frozen=True)
class Event:
    """One Xid of a GPU of a VM."""

    number: int
    gpu: int
    when: float


def report(world, vm, number, gpu=0):
    """The driver of a running VM sees an error of one of its GPUs."""
    _of(vm).append(Event(int(number), int(gpu), time.time()))
    world.touch(vm)


def events(vm):
    """Return all events since the VM started."""
    return list(_of(vm))


def lost(vm, gpu):
    """Return whether a GPU is lost until the next start."""
    return any(one.gpu == gpu and one.number in LOST for one in _of(vm))


def set_wrong(world, vm, gpu=0, wrong=True):
    """A GPU computes wrong from now on, or right again. No log and no counter reports it."""
    found = _WRONG.setdefault(vm, set())
    (found.add if wrong else found.discard)(gpu)
    world.touch(vm)


def is_wrong(vm, gpu):
    """Return whether a GPU computes wrong results."""
    return gpu in _WRONG.get(vm, ())


def memory(vm, gpu):
    """A Counter of corrected and uncorrected errors of its memory."""
    found = Counter()
    for one in _of(vm):
        if one.gpu == gpu:
            found["uncorrected"] += one.number in UNCORRECTED
            found["corrected"] += 1000 * (one.number in CORRECTED)
    return found


def add_link_errors(world, vm, kind, number, gpu=0, link=0):
    """An NVLink of a GPU counts errors: Replay, Recovery or CRC."""
    _of(vm, _LINKS).append((gpu, link, kind, number))
    world.touch(vm)


def link_errors(vm, gpu, link):
    """A Counter of the errors of one NVLink, which a start of the VM resets [unsure]."""
    found = Counter()
    for at, one, kind, number in _of(vm, _LINKS):
        found[kind] += number * ((at, one) == (gpu, link))
    return found


def _of(vm, table=_EVENTS):
    booted, found = table.get(vm, (None, None))
    if found is None or booted != vm.booted:
        found = []
        table[vm] = (vm.booted, found)
    return found
