# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Checks of one guest. Pure."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import (
    Found,
    listing,
    mapping,
    number,
    short,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.spread import where
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import modules, topology

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import About

LICENSED = "Licensed"
# Source of the expected address of the data path, and the key of the measured ones for the dependent checks.
FIXED, NOT_FIXED, ADDRESSES = "site.guests.data_addresses", "the site sets no address", "addresses"
# States that the kernel reports for an interface without a link.
NO_LINK = ("down", "lowerlayerdown", "notpresent")
# Kernel modules that a data path needs in its guests.
NEEDED = {
    "pvrdma": ("ib_core", "ib_uverbs", "vmw_pvrdma"),
    "sriov": ("ib_core", "ib_uverbs", "mlx5_core", "mlx5_ib"),
    "passthrough": ("ib_core", "ib_uverbs", "mlx5_core", "mlx5_ib"),
}
# The interface MTU from which the largest RDMA path MTU fits, and that path MTU.
JUMBO, LARGEST_PATH_MTU = 4200, 4096
NVLINK = "NVLink between all GPUs"
NEAR_ENOUGH = cast("int", topology.rank("PHB"))
UNLICENSED = "its performance is reduced after a grace period, so the measured figures do not hold"


def kernel(values: Mapping[str, Any], about: About) -> Found:
    """Whether the guest is reachable."""
    return Found(values.get("kernel") or None, expected="an answer", source="the site")


def clock(values: Mapping[str, Any], about: About) -> Found:
    """Whether the clock is synchronised."""
    if values.get("synchronised") is False:
        offset = number(values.get("offset_s"))
        measured = "not synchronised" if offset is None else round(abs(offset) * 1000, 3)
        cause = f"chrony of {_me(about)} follows no time server: check chronyc sources"
        return Found(measured, compared=False).fail("The clock is not synchronised.", cause, "clock")
    offset = number(values.get("offset_s"))
    known = offset is not None and values.get("synchronised") is True
    return Found(round(abs(cast("float", offset)) * 1000, 3) if known else None)


def address(values: Mapping[str, Any], about: About) -> Found:
    """Whether the interface of the data path has a link and the address of the site; with DHCP, any address."""
    name, found = values.get("interface") or "The interface", [str(one) for one in listing(values.get("addresses"))]
    wanted = mapping(about.intent["addresses"]).get(_guest(about))
    text = f"a link and {wanted}" if wanted else "a link and an IPv4 address"
    if not values:
        return Found(None, expected=text)
    answer = Found(", ".join(found) or "none", expected=text, source=FIXED if wanted else NOT_FIXED)
    if values.get("state") in NO_LINK:
        cause = f"{name} of {_me(about)} is not connected, or its network is down"
        answer.fail(f"{name} has no link.", cause, "no_link")
    if not found:
        cause = f"{name} of {_me(about)} gets no address: check DHCP, the template and site.guests.data_addresses"
        answer.fail(f"{name} has no IPv4 address.", cause, "no_address")
    elif wanted and wanted not in found:
        why = f"{name} has {', '.join(found)} instead of {wanted}."
        answer.fail(why, f"the address of {_me(about)}", "no_address")
    about.below.setdefault(ADDRESSES, {})[_guest(about)] = found
    if not values.get("state") and not answer.remarks:
        return Found(None, expected=text, note=f"The kernel does not report whether {name} has a link.")
    return answer


def mtu(values: Mapping[str, Any], about: About) -> Found:
    """Whether the interface of the data path has the MTU of the site."""
    found, wanted = number(values.get("mtu")), about.intent["mtu"]
    answer = Found(found, low=wanted, expected=f"{wanted} bytes" if wanted else "", source="the site")
    if not wanted:
        answer.free = "The site requires no MTU."
    if found is not None and wanted and found < wanted:
        name = values.get("interface") or "The interface"
        answer.fail(
            f"{name} has an MTU of {short(found)} instead of {short(wanted)} bytes.",
            f"{name} of {_me(about)}",
            "mtu_local",
        )
    return answer


def driver(values: Mapping[str, Any], about: About) -> Found:
    """Whether the driver works, has the requested version, and shows the GPUs."""
    found, wanted = values.get("driver") or values.get("loaded"), about.intent["driver"]
    gpus, many = listing(values.get("gpus")), about.intent["gpus_per_guest"]
    missing = number(values.get("missing")) or 0
    many = max(many, len(gpus) + missing) if missing else many
    text = f"{many} GPU{'s' if many != 1 else ''}" + (f" with driver {wanted}" if wanted else "")
    answer = Found(found or None, expected=text, source="the site")
    if found and len(gpus) < many:
        answer.fail(f"The driver shows {len(gpus)} of {many} GPUs.", f"a GPU of {_me(about)} is missing", "gpus")
    if found and wanted and found != wanted:
        answer.fail(f"The driver version is {found} instead of {wanted}.", f"the driver of {_me(about)}", "driver")
    for gpu in map(mapping, gpus):
        if gpu.get("recovery"):
            why = f"The driver requests: {gpu['recovery']}."
            answer.fail(why, f"the GPU {gpu.get('address')} of {_me(about)}", "recovery")
    if answer.measured and gpus:
        names = sorted({str(mapping(gpu).get("name")) for gpu in gpus})
        answer.note = f"{len(gpus)} x {', '.join(names)}."
    return answer


def licence(values: Mapping[str, Any], about: About) -> Found:
    """Whether every GPU that needs a licence has one."""
    gpus = [mapping(gpu).get("licence") or mapping(gpu).get("status") for gpu in listing(values.get("gpus"))]
    reported = [one for one in gpus if one] or [one for one in [values.get("status")] if one]
    if not reported:
        note = "nvidia-smi reports no licence: the GPU is no vGPU, or the driver is not the vGPU guest driver."
        return Found(None, expected=LICENSED, note=note if values.get("gpus") else "")
    worst = next((one for one in reported if one != LICENSED), LICENSED)
    if worst == LICENSED and len(reported) < len(gpus):
        return Found(
            None, expected=LICENSED, note=f"nvidia-smi reports the licence of {len(reported)} of {len(gpus)} GPUs."
        )
    answer = Found(worst, expected=LICENSED, source="NVIDIA vGPU user guide")
    if worst != LICENSED:
        lost = about.variant == "after"
        why = "The licence was lost during the run" if lost else "A vGPU has no licence"
        server = f"; its licence server is {values['server']}" if values.get("server") else ""
        cause = f"the vGPU of {_me(about)} is unlicensed{server}"
        answer.fail(f"{why}: {UNLICENSED}.", cause, "unlicensed")
    return answer


def xid(values: Mapping[str, Any], about: About) -> Found:
    """Errors of the driver in the kernel log."""
    if not isinstance(values.get("xids"), (list, tuple)):
        return Found(None, expected="none")
    xids = [mapping(one) for one in values["xids"]]
    answer = Found(len(xids), expected="none", source="NVIDIA Xid catalogue", high=0, compared=False)
    for code in sorted({str(one.get("code")) for one in xids}):
        mine = [one for one in xids if str(one.get("code")) == code]
        one = mine[0]
        times = f", {len(mine)} times" if len(mine) > 1 else ""
        device = one.get("of") or "GPU"
        why = f"Xid {code} of {device} {one.get('pci')}{times}: {one.get('means')}."
        cause = f"the {device} {one.get('pci')} of {_me(about)}"
        if one.get("kind") == "hardware":
            answer.fail(why, cause, "xid")
        else:
            answer.warn(why, cause, "xid")
    return answer


def ecc(values: Mapping[str, Any], about: About) -> Found:
    """Memory errors of the GPU. A guest often cannot see them, which proves nothing."""
    reported = [mapping(mapping(gpu).get("ecc")) for gpu in listing(values.get("gpus"))]
    known = [one for one in reported if number(one.get("uncorrected")) is not None]
    if reported and not known and not any(one.get("unread") for one in reported):
        return Found(None, skip="The ECC counters of the GPU are not visible in this guest.")
    if not reported:
        return Found(None)
    bad = sum(one["uncorrected"] for one in known)
    answer = Found(bad, expected="no uncorrected errors", source="NVIDIA", high=0, compared=False)
    if bad:
        answer.fail(
            f"{bad} uncorrected memory error{'s' if bad != 1 else ''}.", f"the GPU memory of {_me(about)}", "ecc"
        )
    if any(one.get("remap_failed") for one in known):
        answer.fail("Row remapping of the GPU memory failed.", f"the GPU memory of {_me(about)}", "ecc")
    if any(one.get("unrepairable") for one in known):
        answer.fail("The GPU memory cannot be repaired.", f"the GPU memory of {_me(about)}", "ecc")
    if any(one.get("exceeded") for one in known):
        why = "The SRAM error threshold of the GPU is exceeded."
        answer.fail(why, f"the GPU of {_me(about)}", "ecc")
    if any(one.get("pending") for one in known):
        answer.warn(
            "A repair of the GPU is pending. Reset the GPU or restart the guest.", f"the GPU of {_me(about)}", "ecc"
        )
    unread = [str(value) for one in reported for value in listing(one.get("unread"))]
    if unread and not answer.remarks:
        note = f"nvidia-smi reports unknown values: {', '.join(unread[:3])}."
        return Found(None, expected=answer.expected, note=note)
    if len(known) < len(reported) and not answer.remarks:
        note = f"nvidia-smi reports the ECC counters of {len(known)} of {len(reported)} GPUs."
        return Found(None, expected=answer.expected, note=note)
    return answer


def nearness(values: Mapping[str, Any], about: About) -> Found:
    """NVLink between the GPUs where the site requires it, and the PCIe distance between GPU and network adapter."""
    peers = _peers(values, about) if about.intent["nvlink"] else None
    if peers is not None and (peers.remarks or peers.measured is None):
        return peers
    answer = _distance(values, about)
    if peers is None:
        return answer
    if answer.measured is None:
        return peers
    answer.measured, answer.expected = f"{peers.measured}; {answer.measured}", f"{peers.expected}; {answer.expected}"
    return answer


def _distance(values: Mapping[str, Any], about: About) -> Found:
    """The PCIe distance between GPU and network adapter; in a VM, the class PHB is usual."""
    nearest = mapping(values.get("nearest"))
    classes = [mapping(one).get("class") for one in nearest.values() if one]
    if nearest and not classes:
        return Found(None, skip="nvidia-smi shows no network adapter.")
    ranked = [(cast("int", topology.rank(one)), one) for one in classes if one and topology.rank(one) is not None]
    if not ranked:
        return Found(None)
    rank, word = max(ranked)
    answer = Found(word, expected="PHB or nearer", source="NVIDIA GPUDirect RDMA documentation", compared=False)
    if rank > NEAR_ENOUGH:
        cause = f"the GPU and the network adapter of {_me(about)} are on different PCIe host bridges"
        answer.warn(f"The path between GPU and network adapter has the class {word}.", cause, "numa")
    elif len(ranked) < len(nearest):
        note = f"nvidia-smi reports the distance to an adapter for {len(ranked)} of {len(nearest)} GPUs."
        return Found(None, expected=answer.expected, note=note)
    return answer


def _peers(values: Mapping[str, Any], about: About) -> Found:
    """Whether the GPUs of the guest, or of each set in it, have the NVLink connections that the site requires."""
    gpus, matrix = [str(one) for one in listing(values.get("gpus"))], mapping(values.get("matrix"))
    if not gpus:
        return Found(None, expected=NVLINK, source="site.gpu.nvlink")
    ways = {(one, other): str(mapping(matrix.get(one)).get(other)) for one, other in combinations(gpus, 2)}
    apart = {pair: word for pair, word in ways.items() if not word.startswith("NV")}
    measured = ", ".join(sorted(set(ways.values()))) or "one GPU"
    size = int(about.intent["nvlink_gpus"])
    sets = 1 < size < len(gpus)
    expected = f"{NVLINK} of a set of {size}" if sets else NVLINK
    answer = Found(measured, expected=expected, source="site.gpu.nvlink", compared=False)
    if not ways:
        cause = f"the GPUs of {_me(about)}: raise site.gpu.per_vm, or remove site.gpu.nvlink"
        answer.fail("The guest has one GPU, which has no NVLink peer.", cause, "no_nvlink")
    elif why := _lonely(gpus, ways, apart, size) if sets else _apart(ways, apart):
        joined = f"NVLink sets of {size}" if sets else "one NVLink set"
        cause = f"the GPUs of {_me(about)} are not {joined}: use a device group of the set"
        answer.fail(why, cause, "no_nvlink")
    else:
        _links(answer, mapping(values.get("links")), about)
    return answer


def _apart(ways: Mapping[tuple[str, str], str], apart: Mapping[tuple[str, str], str]) -> str:
    """Why the GPUs are not one set, empty if they are."""
    if not apart:
        return ""
    (one, other), word = next(iter(apart.items()))
    return f"{len(apart)} of {len(ways)} pairs of GPUs have no NVLink connection, such as {one} and {other} ({word})."


def _lonely(
    gpus: Sequence[str], ways: Mapping[tuple[str, str], str], apart: Mapping[tuple[str, str], str], size: int
) -> str:
    """Why the GPUs are not sets of this size, empty if they are."""
    linked = [gpu for pair in ways if pair not in apart for gpu in pair]
    found = [gpu for gpu in gpus if linked.count(gpu) < size - 1]
    if not found:
        return ""
    have = "has" if len(found) == 1 else "have"
    what = f"no NVLink connection to all GPUs of a set of {size}"
    return f"{len(found)} of {len(gpus)} GPUs {have} {what}, such as {found[0]}."


def _links(answer: Found, links: Mapping[str, Any], about: About) -> None:
    """The state of the links: GPUs can be peers in the topology although some links are down."""
    counts = {gpu: mapping(one) for gpu, one in links.items()}
    dead = [gpu for gpu, one in counts.items() if not one.get("active")]
    partly = [gpu for gpu, one in counts.items() if one.get("active") and one.get("inactive")]
    if dead:
        cause = f"the NVLinks of {_me(about)} are down: check the NVLink bridges or the Fabric Manager of its host"
        answer.fail(f"{', '.join(dead)}: no NVLink is active.", cause, "no_nvlink")
    elif partly:
        reported = ", ".join(
            f"{gpu} {counts[gpu]['active']} of {counts[gpu]['active'] + counts[gpu]['inactive']}" for gpu in partly
        )
        cause = f"{_me(about)} has inactive NVLinks, which can be unused ones of the board: compare the other guests"
        answer.warn(f"Not all NVLinks are active: {reported}.", cause, "no_nvlink")


def gpudirect(values: Mapping[str, Any], about: About) -> Found:
    """Whether the kernel has DMA-BUF or nvidia-peermem. Without them, RDMA copies GPU memory through host memory."""
    reported = mapping(values.get("gpudirect"))
    required = about.intent["gpudirect"] == "enabled"
    text, source = "DMA-BUF or nvidia_peermem" if required else "", "site.network.gpudirect"
    if not reported or (reported.get("open_module") is None and not reported.get("peermem")):
        # Without the version file of the driver, DMA-BUF support is unknown.
        return Found(None, expected=text, note="The kernel does not report which driver is loaded." if reported else "")
    paths = ["DMA-BUF"] if reported.get("open_module") and reported.get("kernel_dmabuf") else []
    paths += [str(reported["peermem"])] if reported.get("peermem") else []
    answer = Found(", ".join(paths) or "none", expected=text, source=source)
    if not required:
        answer.free = f"The site does not require GPUDirect: {source} is {about.intent['gpudirect']}."
    elif not paths:
        lacking = "kernel 5.12 or later" if reported.get("open_module") else "the open GPU driver"
        why = f"The adapter cannot reach GPU memory. DMA-BUF needs {lacking}, and nvidia_peermem is not loaded."
        answer.fail(why, f"the GPU driver or nvidia_peermem of {_me(about)}", "gpudirect")
    return answer


def loaded(values: Mapping[str, Any], about: About) -> Found:
    """Whether the modules of the data path are loaded."""
    there = listing(values.get("modules"))
    needed = NEEDED.get(about.intent["data_path"], ())
    missing = [name for name in needed if not modules.has(there, name)]
    if not there:
        return Found(None, expected=", ".join(needed))
    answer = Found(f"{len(needed) - len(missing)} of {len(needed)}", expected=", ".join(needed), source="rdma-core")
    if missing:
        names = ", ".join(missing)
        answer.fail(
            f"Kernel modules not loaded: {names}.", f"{names} in the kernel of {_me(about)}: check modprobe", "modules"
        )
    return answer


def memlock(values: Mapping[str, Any], about: About) -> Found:
    """Whether the login of the training user may lock as much memory as the site requires: unlimited, or kB."""
    reported = mapping(values.get("memlock")) or values
    soft, hard = number(reported.get("soft_kb")), number(reported.get("hard_kb"))
    requested = str(about.intent["memlock"]).strip().lower()
    least = math.inf if requested == "unlimited" else int(requested) if requested.isdecimal() else None
    text = "unlimited" if least == math.inf else "" if least is None else f"{least} kB"
    if soft is None or hard is None:
        return Found(None, expected=text)
    found = min(math.inf if one < 0 else one for one in (soft, hard))
    measured = "unlimited" if found == math.inf else f"{found:.0f} kB"
    answer = Found(measured, expected=text, source="site.guests.limits.memlock")
    if least is None:
        answer.free = f"The site requires no limit: site.guests.limits.memlock is {requested or 'empty'}."
    elif found < least:
        why = f"The memlock limit is {measured} instead of {text}, so RDMA cannot register its memory."
        answer.fail(why, f"the memlock limit of {_me(about)}: raise it, or set site.guests.limits.memlock", "memlock")
    return answer


def rdma_device(values: Mapping[str, Any], about: About) -> Found:
    """Whether the data path has an active RDMA device with the speed of the adapter."""
    found = listing(values.get("devices"))
    interface = values.get("interface") or mapping(about.intent["interfaces"]).get(_guest(about))
    if not found and not isinstance(values.get("devices"), (list, tuple)):
        return Found(None)
    device, port = _of_interface(found, interface)
    if device is None:
        what = f"No RDMA device belongs to {interface}" if interface and found else "The guest has no RDMA device"
        return Found("none", expected="an active device").fail(f"{what}.", f"the adapter of {_me(about)}", "no_device")
    rate = number(port.get("rate_gbps"))
    words = [str(device.get("name") or "unnamed"), str(port.get("state") or "unknown")]
    measured = " ".join([*words, *([f"{short(rate)} Gb/s"] if rate else [])])
    answer = Found(measured, expected="an active device", source="the kernel")
    if port.get("state") != "active":
        answer.fail(f"The RDMA port is {words[1]}.", f"the adapter of {_me(about)}, or its cable", "port_down")
    speed = number(about.intent["speed_gb"])
    if rate and speed and rate < speed and about.intent["data_path"] != "pvrdma":
        why = f"The link runs at {short(rate)} instead of {short(speed)} Gb/s."
        answer.warn(why, f"the link of {_me(about)}", "slow_link")
    return answer


def gid(values: Mapping[str, Any], about: About) -> Found:
    """Whether the device has a RoCE v2 GID with the address of the data path."""
    reported = values.get("gid") or values.get("roce_v2_gid")
    rows = [mapping(one) for one in listing(values.get("roce_v2"))] or ([mapping(reported)] if reported else [])
    fixed = mapping(about.intent["addresses"]).get(_guest(about))
    # If the site sets no address, the address of the interface.
    expected = [fixed] if fixed else mapping(about.below.get(ADDRESSES)).get(_guest(about)) or []
    text = "a RoCE v2 GID with an IPv4 address" + (f", {' or '.join(expected)}" if expected else "")
    source = FIXED if fixed else "the address of the interface" if expected else NOT_FIXED
    if not rows:
        if not any(key in values for key in ("gid", "roce_v2_gid", "roce_v2")):
            return Found(None, expected=text)
        why = "The RDMA device has no RoCE v2 GID with an IPv4 address, so NCCL and rdma_cm cannot use it."
        cause = f"the address of {_me(about)}"
        if "roce_v1" in listing(values.get("types")) and "roce_v2" not in values["types"]:
            why, cause = f"{why} It uses RoCE v1.", f"the RoCE protocol of the adapter of {_me(about)}"
        return Found("none", expected=text, source=source).fail(why, cause, "no_gid")
    mine = [one for one in rows if (one.get("address") or one.get("ipv4")) in expected]
    row = (mine or rows)[0]
    address = row.get("address") if isinstance(row.get("address"), str) else row.get("ipv4")
    answer = Found(f"index {row.get('index')}, {address}", expected=text, source=source)
    if expected and not mine:
        answer.fail(
            f"The GID has the address {address} instead of {' or '.join(expected)}.",
            f"the address of {_me(about)}",
            "no_gid",
        )
    return answer


def _guest(about: About) -> str:
    return about.subject.get("guest", "")


def _me(about: About) -> str:
    return where(_guest(about), about.places)


def _of_interface(devices: Sequence[Any], interface: str | None) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """(device, port) of an interface; if none is named, the first device with an active port."""
    pairs = [(mapping(device), mapping(port)) for device in devices for port in listing(mapping(device).get("ports"))]
    if interface:
        pairs = [pair for pair in pairs if interface in listing(pair[1].get("interfaces"))]
    up = [pair for pair in pairs if pair[1].get("state") == "active"]
    return next(iter(up or pairs), (None, {}))


# The function that reads the values of each check.
LOOKS = {
    "guest.kernel": kernel,
    "guest.clock": clock,
    "guest.address": address,
    "guest.mtu": mtu,
    "guest.driver": driver,
    "guest.licence": licence,
    "guest.xid": xid,
    "guest.ecc": ecc,
    "guest.topology": nearness,
    "guest.gpudirect": gpudirect,
    "guest.modules": loaded,
    "guest.memlock": memlock,
    "guest.rdma_device": rdma_device,
    "guest.gid": gid,
}
