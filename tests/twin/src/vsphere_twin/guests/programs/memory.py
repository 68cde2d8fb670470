"""Runtime state of a guest in the model: licence requests, and the names of its devices."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field

_MEMORIES = weakref.WeakKeyDictionary()
SOFTWARE = weakref.WeakKeyDictionary()  # world: {path in every guest: text}, the depot's data for guests


@dataclass
class Lease:
    """A licence that the guest has."""

    product: str
    server: str
    expires: float


@dataclass
class Memory:
    """One boot of a guest."""

    boot: str = ""
    booted_at: float = 0.0
    lease: Lease | None = None
    rdma_names: dict = field(default_factory=dict)  # key of a virtual device: the name that it got when it appeared
    driver: dict | None = None  # the package that the loaded module nvidia came from
    builds: dict = field(default_factory=dict)  # loaded module: its release of OFED, empty for the kernel's own
    mst: bool = False
    dcb: dict = field(default_factory=dict)  # {interface: flow control and DSCP map of a whole port}


def of(vm):
    """The memory of a VM's present boot."""
    return _MEMORIES.setdefault(vm, Memory())


def booted(vm, boot, now=0.0):
    """Reset the state of the earlier boot."""
    _MEMORIES[vm] = Memory(boot, now)
    return _MEMORIES[vm]
