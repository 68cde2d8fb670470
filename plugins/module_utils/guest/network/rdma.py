# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""RDMA devices of a guest from the files of its kernel; no vendor tool is needed."""

from __future__ import annotations

import ipaddress
import os
import re
from typing import TYPE_CHECKING, Any, Iterable, TypedDict

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import path_mtu
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import pci

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files

    class Gid(TypedDict):
        """One line of the table of a port."""

        index: int
        gid: str
        type: str
        interface: str | None
        address: str
        ipv4: bool

    class Port(TypedDict):
        """One port of a device."""

        port: int
        state: str | None
        physical_state: str | None
        rate_gbps: int | None
        link_layer: str | None
        interfaces: list[str]
        mtu: int | None
        path_mtu: int | None
        roce_v2_gid: Gid | None
        gids: list[Gid]

    class Device(TypedDict):
        """One RDMA device."""

        name: str
        pci_id: str | None
        module: str | None
        provider: str | None
        firmware: str | None
        node_guid: str | None
        numa_node: int | None
        device_files: list[str]
        ports: list[Port]


DEVICES = "/sys/class/infiniband"
VERBS = "/sys/class/infiniband_verbs"
# Kernel module of a device, by the report of its PCI function. The module needs its user-space library.
KINDS: dict[tuple[str | None, str | None], tuple[str, str]] = {
    ("0x15ad", "0x0820"): ("vmw_pvrdma", "vmw_pvrdma"),
    ("0x15b3", None): ("mlx5_ib", "mlx5"),
    ("0x14e4", None): ("bnxt_re", "bnxt_re"),
    ("0x8086", None): ("irdma", "irdma"),
}
SOFT = ("rdma_rxe", "rxe")
# Modules that OFED replaces and that others depend on: the loaded ones decide whether those load.
REPLACED = ("ib_core", "mlx5_core", "mlx5_ib")
MODULES = (
    *("ib_core", "ib_uverbs", "rdma_cm", "rdma_ucm", "vmw_pvrdma", "mlx5_core", "mlx5_ib"),
    *("nvidia", "nvidia_peermem", "nv_peer_mem", "gdrdrv", "rdma_rxe"),
)
PROVIDERS = ("/usr/lib64/libibverbs", "/usr/lib/x86_64-linux-gnu/libibverbs", "/usr/lib/aarch64-linux-gnu/libibverbs")
EMPTY = "0000:0000:0000:0000:0000:0000:0000:0000"


def devices(files: Files) -> list[Device]:
    """Every RDMA device of the guest."""
    return [_device(files, name) for name in files.names(DEVICES)]


def device_of(found: Iterable[Device], interface: str) -> tuple[Device, Port] | tuple[None, None]:
    """(device, port) with the RDMA of an adapter; (None, None) where it has none."""
    for device in found:
        for port in device["ports"]:
            if interface in port["interfaces"]:
                return device, port
    return None, None


def loaded(files: Files) -> list[str]:
    """The modules concerned that are loaded."""
    listed = re.findall(r"(?m)^(\w+) ", files.text("/proc/modules") or "")
    return [name for name in MODULES if name in listed or files.exists(f"/sys/module/{name}")]


def providers(files: Files) -> list[str]:
    """The halves of drivers in user space that libibverbs finds."""
    names = [name for folder in PROVIDERS for name in files.names(folder)]
    matches = [re.match(r"lib(.+)-rdmav\d+\.so", name) for name in names]
    found = [match.group(1) for match in matches if match]
    # mlx5 is a library of its own, which the other folder only links to.
    return sorted({*found})


def ofed(commands: Commands) -> str | None:
    """The version of MLNX_OFED or DOCA-OFED; None where it is not installed."""
    done = commands.run(["ofed_info", "-s"])
    return done.stdout.strip().rstrip(":") or None if done.ok else None


def outdated(files: Files, commands: Commands) -> list[str]:
    """Return loaded modules whose build differs from the one on disk, so that only a restart loads the latter."""
    return [name for name in REPLACED if files.exists(f"/sys/module/{name}") and _other_build(files, commands, name)]


def _other_build(files: Files, commands: Commands, name: str) -> bool:
    done = commands.run(["modinfo", name])
    on_disk = dict(re.findall(r"(?m)^(srcversion|version):\s+(\S+)", done.stdout)) if done.ok else None
    # A module without either has no such file: those of distributions often have no version, those of OFED have one.
    running = {field: _line(files, f"/sys/module/{name}/{field}") for field in ("srcversion", "version")}
    return on_disk is not None and any(on_disk.get(field) != reported for field, reported in running.items())


def memlock(commands: Commands, user: str) -> dict[str, int] | None:
    """Return the memlock limits of a user's login: {soft_kb, hard_kb}, -1 for unlimited; None if unknown."""
    script = "ulimit -S -l; ulimit -H -l"
    done = commands.run(["su", "-l", user, "-s", "/bin/sh", "-c", script])
    words = done.stdout.split()[-2:]
    if not done.ok or len(words) != 2:
        return None
    soft, hard = (-1 if word == "unlimited" else int(word) if word.isdecimal() else None for word in words)
    return None if soft is None or hard is None else {"soft_kb": soft, "hard_kb": hard}


def _device(files: Files, name: str) -> Device:
    folder = f"{DEVICES}/{name}"
    vendor, product = (_line(files, f"{folder}/device/{one}") for one in ("vendor", "device"))
    module, provider = KINDS.get((vendor, product)) or KINDS.get((vendor, None)) or (None, None)
    if vendor is None and _line(files, f"{folder}/parent"):
        module, provider = SOFT
    nodes = [node for node in files.names(VERBS) if _line(files, f"{VERBS}/{node}/ibdev") == name]
    return {
        "name": name,
        "pci_id": f"{vendor[2:]}:{product[2:]}" if vendor and product else None,
        "module": module,
        "provider": provider,
        "firmware": _line(files, f"{folder}/fw_ver"),
        "node_guid": _line(files, f"{folder}/node_guid"),
        "numa_node": _numa(_line(files, f"{folder}/device/numa_node")),
        "device_files": [f"/dev/infiniband/{node}" for node in nodes if files.exists(f"/dev/infiniband/{node}")],
        "ports": [_port(files, folder, number) for number in sorted(files.names(f"{folder}/ports"), key=int)],
    }


def _port(files: Files, folder: str, number: str) -> Port:
    place = f"{folder}/ports/{number}"
    gids = [gid for gid in (_gid(files, place, index) for index in _indexes(files, place)) if gid]
    interfaces = list(dict.fromkeys(gid["interface"] for gid in gids if gid["interface"]))
    mtu = _line(files, f"/sys/class/net/{interfaces[0]}/mtu") if interfaces else None
    usable = [gid for gid in gids if gid["type"] == "roce_v2" and gid["ipv4"]]
    layer = _line(files, f"{place}/link_layer")
    return {
        "port": int(number),
        # '4: ACTIVE', '5: LinkUp'
        "state": _word(_line(files, f"{place}/state")),
        "physical_state": _word(_line(files, f"{place}/phys_state")),
        "rate_gbps": _rate(_line(files, f"{place}/rate")),
        "link_layer": layer.lower() if layer else None,
        "interfaces": interfaces,
        "mtu": int(mtu) if mtu else None,
        "path_mtu": path_mtu(int(mtu)) if mtu else None,
        "roce_v2_gid": usable[0] if usable else None,
        "gids": gids,
    }


def _indexes(files: Files, place: str) -> list[int]:
    return sorted(int(name) for name in files.names(f"{place}/gids") if name.isdecimal())


def _gid(files: Files, place: str, index: int) -> Gid | None:
    """Return one line of the table; None for an unused one, whose attributes cannot be read."""
    gid = _line(files, f"{place}/gids/{index}")
    kind = _line(files, f"{place}/gid_attrs/types/{index}")
    if not gid or gid == EMPTY or kind is None:
        return None
    address = ipaddress.IPv6Address(gid)
    mapped = address.ipv4_mapped
    return {
        "index": index,
        "gid": gid,
        "type": "roce_v2" if "v2" in kind else "roce_v1" if "v1" in kind else "ib",
        "interface": _line(files, f"{place}/gid_attrs/ndevs/{index}"),
        "address": str(mapped or address),
        "ipv4": mapped is not None,
    }


def _line(files: Files, path: str) -> str | None:
    text = files.text(path)
    return text.strip() or None if text is not None else None


def _word(text: str | None) -> str | None:
    return text.partition(":")[2].strip().lower() if text else None


def _rate(text: str | None) -> int | None:
    number = re.match(r"[\d.]+", text or "")
    return int(float(number.group())) if number else None


def _numa(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"\d+", text) else None


def numa(files: Files) -> dict[str, Any]:
    """{nodes, gpus}: the NUMA nodes that the guest sees, and those of its GPUs."""
    nodes = [int(name[4:]) for name in files.names("/sys/devices/system/node") if re.fullmatch(r"node\d+", name)]
    gpus = pci.nvidia_gpus(files) or []
    reported = [{"address": one, "node": _numa(_line(files, f"{pci.DEVICES}/{one}/numa_node"))} for one in gpus]
    return {"nodes": sorted(nodes), "gpus": reported}


def gpudirect(files: Files) -> dict[str, Any]:
    """Return the available paths between network adapter and GPU, as far as the kernel reports them."""
    module = next((name for name in ("nvidia_peermem", "nv_peer_mem") if files.exists(f"/sys/module/{name}")), None)
    version = (files.text("/proc/driver/nvidia/version") or "").lower()
    return {
        "peermem": module,
        "peermem_version": _line(files, f"/sys/module/{module}/version") if module else None,
        # DMA-BUF needs the open module; whether the vGPU exports memory is only seen when it is used.
        "open_module": "open kernel module" in version if version else None,
        "kernel_dmabuf": _kernel() >= (5, 12),
    }


def _kernel() -> tuple[int, int]:
    numbers = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return (int(numbers.group(1)), int(numbers.group(2))) if numbers else (0, 0)
