# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Known VMX keys: a table. vSphere silently accepts any key, so a misspelt one must be refused.

Sources: VNUMA the advanced virtual NUMA attributes of VMware's vSphere Resource Management guide; PAGES its chapter on
1 GB pages; COALESCE VMware's network performance pages; FD frankdenneman.nl; UG5 NVIDIA AI Enterprise User Guide 5.0;
UGI6 the vGPU page of NVIDIA AI Enterprise Infra 6.2.
"""

from __future__ import annotations

import difflib
import functools
import re
from typing import TYPE_CHECKING, Iterator, Mapping, NamedTuple, cast

if TYPE_CHECKING:
    # Result of find() for a known key.
    Found = tuple["Key", "int | None"]

USE_64BIT_MMIO = "pciPassthru.use64bitMMIO"
MMIO_SIZE = "pciPassthru.64bitMMIOSizeGB"
ALLOW_P2P = "pciPassthru.allowP2P"
RELAX_ACS = "pciPassthru.RelaxACSforP2P"
NODE_AFFINITY = "numa.nodeAffinity"
PREFER_HT = "numa.vcpu.preferHT"
HUGE_PAGES = "sched.mem.lpage.enable1GPage"


class Key(NamedTuple):
    """Data of a VMX key; <N> in its name represents the number of a device."""

    name: str
    # bool (TRUE or FALSE), flag (1 or 0), int, or choice
    kind: str
    about: str
    source: str
    choices: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None
    # The option of vm_shape that owns the key; such a key is not taken as an advanced one.
    owner: str | None = None
    # vSphere writes it by itself when its setting changes, so the key is not managed here.
    derived: bool = False


# fmt: off
KEYS = (
    # owned by options
    Key(USE_64BIT_MMIO, "bool", "memory windows of devices above 4 GB", "GPUOP, FD", owner="mmio"),
    Key(MMIO_SIZE, "int", "size of these windows for the whole VM", "FD", owner="mmio_size_gb"),
    Key(ALLOW_P2P, "bool", "a device may reach another one's memory", "UG5 4.4", owner="gpudirect"),
    Key(RELAX_ACS, "bool", "translated requests pass the PCIe switch", "UG5 4.4", owner="gpudirect"),
    Key(NODE_AFFINITY, "int", "the host's NUMA nodes for the VM", "UG5 4.2, FD", owner="numa_nodes"),
    Key("cpuid.coresPerSocket", "int", "written by vSphere from the cores per socket", "VNUMA",
        owner="cores_per_socket", derived=True),
    Key("sched.cpu.latencySensitivity", "choice", "written by vSphere from the latency sensitivity", "vSphere API",
        owner="latency_sensitivity", derived=True),
    Key("sched.cpu.min", "int", "written by vSphere from the CPU reservation", "vSphere API",
        owner="cpu_reservation_mhz", derived=True),
    Key("sched.mem.min", "int", "written by vSphere from the memory reservation", "vSphere API",
        owner="memory_reservation", derived=True),
    Key("sched.mem.minSize", "int", "written by vSphere from the memory reservation", "vSphere API",
        owner="memory_reservation", derived=True),
    # NUMA
    Key(PREFER_HT, "bool", "count hyperthreads as cores when NUMA clients are sized", "FD"),
    Key("numa.vcpu.maxPerVirtualNode", "int", "vCPUs per virtual NUMA node", "VNUMA", low=1),
    Key("numa.vcpu.maxPerMachineNode", "int", "vCPUs per NUMA node of the host", "VNUMA", low=1),
    Key("numa.vcpu.maxPerClient", "int", "vCPUs per NUMA client", "VNUMA", low=1),
    Key("numa.vcpu.min", "int", "vCPUs from which on the guest sees NUMA nodes", "VNUMA", low=1),
    Key("numa.vcpu.followcorespersocket", "flag", "virtual NUMA nodes as large as virtual sockets", "FD"),
    Key("numa.autosize", "bool", "virtual NUMA nodes as large as the host's, at each start", "VNUMA"),
    Key("numa.autosize.once", "bool", "virtual NUMA nodes sized at the first start alone", "VNUMA"),
    # memory
    Key(HUGE_PAGES, "bool", "back the guest's memory with 1 GB pages", "PAGES"),
    # vGPUs
    Key("pciPassthru<N>.cfg.enable_uvm", "flag", "CUDA unified memory", "UG5 2.7.8"),
    Key("pciPassthru<N>.cfg.enable_debugging", "flag", "CUDA debuggers; the VM cannot be moved", "UGI6"),
    Key("pciPassthru<N>.cfg.enable_profiling", "flag", "CUDA profilers; the VM cannot be moved", "UGI6"),
    Key("pciPassthru<N>.cfg.frame_rate_limiter", "flag", "frame rate limiter of the best-effort scheduler", "UGI6"),
    # network adapters
    Key("ethernet<N>.coalescingScheme", "choice", "how interrupts of a vmxnet3 adapter are gathered", "COALESCE",
        choices=("disabled", "rbc", "static", "calibrate", "adapt")),
    Key("ethernet<N>.coalescingParams", "int", "rate or number for the scheme", "COALESCE", low=1, high=100000),
    Key("ethernet<N>.pnicFeatures", "int", "receive queues of the adapter; 4 asks for RSS", "COALESCE [unsure]",
        low=0, high=8),
    Key("ethernet<N>.ctxPerDev", "int", "transmit threads of the adapter", "COALESCE [unsure]", low=1, high=3),
)
# fmt: on

_TYPO = "pciPassthru.set.usebitMMIO"
_PIN = "sched.mem.pin"
_ON, _OFF = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(re.escape(name).replace("<N>", r"(\d+)"), re.IGNORECASE)


_PATTERNS = tuple((_pattern(key.name), key) for key in KEYS)


@functools.lru_cache(maxsize=4096)
def find(name: str) -> Found | None:
    """(Key, number of the device or None) of a VMX key in any spelling of its letters, or None."""
    for pattern, key in _PATTERNS:
        found = pattern.fullmatch(name)
        if found is not None:
            return key, int(found.group(1)) if found.groups() else None
    return None


def canonical(name: str) -> str | None:
    """A known key as it is spelled here, None for one that is not known."""
    found = find(name)
    if found is None:
        return None
    key, number = found
    return key.name if number is None else key.name.replace("<N>", str(number))


def known(extra: Mapping[str, str]) -> dict[str, str]:
    """The known ones among the settings of a VM, by the names that they have here."""
    return {
        cast(str, canonical(name)): value
        for name, value in extra.items()
        if find(name) is not None and not cast("Found", find(name))[0].derived
    }


def text(key: Key, value: object) -> str | None:
    """A value as it is written for a key, or None when the key cannot have it."""
    word = str(value).strip().lower()
    if key.kind in ("bool", "flag"):
        if word not in _ON + _OFF:
            return None
        names = ("TRUE", "FALSE") if key.kind == "bool" else ("1", "0")
        return names[0] if word in _ON else names[1]
    if key.kind == "choice":
        return word if word in key.choices else None
    if isinstance(value, bool) or not word.isdecimal():
        return None
    number = int(word)
    fits = (key.low is None or number >= key.low) and (key.high is None or number <= key.high)
    return str(number) if fits else None


def same(name: str, one: str | None, other: str | None) -> bool:
    """Return whether two values of a known key mean the same; TRUE and 1 are equal."""
    key = cast("Found", find(name))[0]
    if one is None or other is None:
        return one == other
    return one == other or (text(key, one) is not None and text(key, one) == text(key, other))


def takes(key: Key) -> str:
    """Describe the valid values of a key."""
    if key.kind == "bool":
        return "TRUE or FALSE"
    if key.kind == "flag":
        return "1 or 0"
    if key.kind == "choice":
        return ", ".join(key.choices)
    if key.high is not None:
        return f"a whole number from {key.low} to {key.high}"
    return f"a whole number from {key.low} on"


def wrong_keys(settings: Mapping[str, object]) -> Iterator[str]:
    """Yield all problems of these advanced settings, one sentence each."""
    seen: dict[str, str] = {}
    for name, value in settings.items():
        problem = _wrong(name, value)
        if problem is None:
            twin = seen.setdefault(name.strip().lower(), name)
            problem = f"advanced has {twin} and {name}, which are the same key; remove one." if twin != name else None
        if problem is not None:
            yield problem


def _wrong(name: str, value: object) -> str | None:
    if name.lower() == _PIN:
        return (
            f"advanced has {name}, but import tools drop this key and vSphere sets it itself; "
            "use memory_reservation=all, which reserves and locks all memory through the API."
        )
    if name.lower() == _TYPO.lower():
        return (
            f"advanced has {name}, a misprint in several guides that vSphere ignores; "
            f"the correct key is {USE_64BIT_MMIO}, which mmio=auto sets."
        )
    if name.lower().startswith("guestinfo."):
        return f"advanced has {name}, which passes data to the guest; use the option cloud_init of vm_clone."
    if re.fullmatch(r"numa\.node[_.]?affinity", name, re.IGNORECASE) or (
        find(name) and cast("Found", find(name))[0].owner
    ):
        owner = cast("Found", find(name) or find(NODE_AFFINITY))[0].owner
        return f"advanced has {name}, which the option {owner} manages; use that option."
    if find(name) is None:
        return f"advanced has {name}, which is not a known key; {_nearest(name)}"
    key = cast("Found", find(name))[0]
    if value is not None and text(key, value) is None:
        return f"advanced sets {name} to {value!r}; it takes {takes(key)}, or null to remove it."
    return None


def _nearest(name: str) -> str:
    # A wrong key with a device number must still match a known name.
    by_shape = {key.name.lower(): key.name for key in KEYS}
    shape = re.sub(r"(pcipassthru|ethernet)(\d+|x|n)\.", r"\1<n>.", name.lower())
    near = [by_shape[one] for one in difflib.get_close_matches(shape, by_shape, n=3, cutoff=0.6)]
    if not near:
        return "the keys that vm_shape takes are listed in its documentation."
    owners = {key.name: key.owner for key in KEYS}
    return "similar keys: " + ", ".join(f"{one} (option {owners[one]})" if owners[one] else one for one in near) + "."
