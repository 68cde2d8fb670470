"""Kernel modules of a guest: their names, their requirements, and their refusals to load."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from . import drivers, hardware, memory

OFED = "doca-ofed"
# Modules of its own build; the kernel rejects a module whose symbols come from another build.
OF_OFED = ("ib_core", "ib_uverbs", "ib_umad", "ib_cm", "iw_cm", "rdma_cm", "rdma_ucm", "mlx5_core", "mlx5_ib")
# Modules that guests' own programs ask for, and that the real kernel under the guest has or has not.
BUILT_IN = re.compile(
    r"(overlay|bridge|br_netfilter|veth|tun|fuse|loop|configfs|efi_pstore|efivarfs|drm|dm_mod|autofs4|unix"
    r"|ipv6|ext4|llc|stp|8021q|macvlan|vxlan|aufs|zfs|af_packet|ip6?_tables|x_tables|ip6?table_\w+|xt_\w+|ipt_\w+|nf_\w+|nft_\w+|ip_vs\w*"
    r"|nfnetlink\w*|ip_set\w*|crypto-\w+|net-pf-\w+|binfmt\w+|rtc_\w+|sch_\w+|cls_\w+|act_\w+)"
)


@dataclass(frozen=True)
class Module:
    """A kernel module as modinfo reports it."""

    name: str
    size: int
    depends: tuple = ()
    description: str = ""
    licence: str = "Dual BSD/GPL"
    alias: str = ""


INBOX = {
    one.name: one
    for one in (
        Module("vmxnet3", 86016, (), "VMware vmxnet3 virtual NIC driver", "GPL v2", "pci:v000015ADd000007B0sv*"),
        Module("ib_core", 520192, (), "core kernel InfiniBand API"),
        Module("ib_uverbs", 192512, ("ib_core",), "InfiniBand userspace verbs access"),
        Module("ib_umad", 40960, ("ib_core",), "InfiniBand userspace MAD packet access"),
        Module("ib_cm", 147456, ("ib_core",), "InfiniBand CM"),
        Module("iw_cm", 61440, ("ib_core",), "iWARP CM"),
        Module("rdma_cm", 147456, ("ib_cm", "iw_cm", "ib_core"), "Generic RDMA CM Agent"),
        Module("rdma_ucm", 32768, ("rdma_cm", "ib_uverbs", "ib_core"), "RDMA Userspace Connection Manager Access"),
        Module(
            "vmw_pvrdma",
            69632,
            ("ib_uverbs", "ib_core"),
            "VMware Paravirtual RDMA driver",
            "Dual BSD/GPL",
            "pci:v000015ADd00000820sv*sd*bc*sc*i*",
        ),
        Module("mlx5_core", 2150400, (), "Mellanox 5th generation network adapters (ConnectX series) core driver"),
        Module(
            "mlx5_ib",
            503808,
            ("mlx5_core", "ib_uverbs", "ib_core"),
            "Mellanox 5th generation network adapters IB driver",
        ),
        Module("nouveau", 3162112, (), "nVidia Riva/TNT/GeForce/Quadro/Tesla/Tegra K1+", "GPL and additional rights"),
    )
}
NVIDIA = {
    one.name: one
    for one in (
        Module("nvidia", 56717312, (), "", "NVIDIA", "pci:v000010DEd*sv*sd*bc03sc02i00*"),
        Module("nvidia_modeset", 1363968, ("nvidia",), "", "NVIDIA"),
        Module("nvidia_uvm", 1794048, ("nvidia",), "", "NVIDIA"),
        Module("nvidia_drm", 114688, ("nvidia_modeset",), "", "NVIDIA"),
        Module("nvidia_peermem", 20480, ("nvidia", "ib_core"), "NVIDIA GPU peer memory", "Dual BSD/GPL"),
    )
}
NAMES = (*INBOX, *NVIDIA)


class Refused(Exception):
    """Message of the kernel that refuses a module."""


def find(guest, name):
    """The module of this name that the guest has, or None."""
    plain = name.replace("-", "_")
    if plain in NVIDIA:
        return NVIDIA[plain] if drivers.built(guest) is not None else None
    return INBOX.get(plain)


def built_in(name):
    """Return whether the module is built into the kernel, or counts as built in here."""
    return BUILT_IN.fullmatch(name) is not None


def loaded_with(vm, guest, name):
    """The modules of the guest after `modprobe name`, in the order of loading; Refused where one does not load."""
    module = find(guest, name)
    if module.name in guest.loaded:
        return list(guest.loaded)
    now = list(guest.loaded)
    for one in module.depends:
        if one not in now:
            now = loaded_with(vm, _having(guest, now), one)
    _check(vm, _having(guest, now), module)
    return [*now, module.name]


def unloaded_with(guest, name, with_unused=False):
    """The modules after `rmmod name`; Refused where others use it."""
    plain = name.replace("-", "_")
    users = users_of(guest.loaded, plain)
    if users:
        raise Refused(f"in use by: {' '.join(users)}")
    now = [one for one in guest.loaded if one != plain]
    if with_unused:
        module = INBOX.get(plain) or NVIDIA.get(plain)
        for one in module.depends if module else ():
            if one in now and not users_of(now, one):
                now.remove(one)
    return now


def users_of(loaded, name):
    """The loaded modules that need another one."""
    known = {**INBOX, **NVIDIA}
    return [one for one in loaded if name in known[one].depends]


def at_boot(world, vm, guest):
    """Return the modules that load automatically: drivers of devices on the bus, and requirements of rdma-core."""
    now = []
    wanted = ["vmxnet3"] if hardware.kinds_of_nics(vm) else []
    functions = hardware.rdma_of(world, vm)
    wanted += sorted({one.module for one in functions}, reverse=True)
    if any(one.module == "mlx5_ib" for one in functions):
        wanted.insert(0, "mlx5_core")
    if hardware.gpus_of(vm):
        # Both drivers know the device; which one gets it is decided by who is first, and nouveau mostly is.
        wanted += ["nouveau", "nvidia", "nvidia_uvm"]
    if functions and guest.udev_rdma_names:
        wanted += ["rdma_ucm", "ib_umad"]
    wanted += guest.modules_load
    for name in wanted:
        if guest.blacklisted(name) or find(guest, name) is None:
            continue
        try:
            now = loaded_with(vm, _having(guest, now), name)
        except Refused:
            continue
    return now


def build_on_disk(guest, name):
    """Return the OFED release of a module's file; empty for the kernel's own."""
    return guest.installed.get(OFED, {}).get("version", "") if name in OF_OFED else ""


def builds(vm, guest):
    """{loaded module: its build}: that of the file when it was loaded, whatever was installed later."""
    known = memory.of(vm).builds
    for name in [name for name in known if name not in guest.loaded]:
        del known[name]
    for name in guest.loaded:
        known.setdefault(name, build_on_disk(guest, name))
    return known


def version_of(driver, name, build=""):
    """The version of a module, or None; that of NVIDIA's is the driver's, and the kernel's own for RDMA have none."""
    if name in NVIDIA:
        return driver["version"] if driver is not None else None
    if build:
        return build
    return {"vmxnet3": "1.7.0.0-k", "vmw_pvrdma": "1.0.1.0-k"}.get(name)


def _check(vm, guest, module):
    if module.name in NVIDIA and hardware.secure_boot(vm) and not drivers.built(guest).get("signed"):
        raise Refused("Key was rejected by service")
    if module.name == "nvidia" and drivers.load_problem(vm, guest):
        raise Refused(drivers.load_problem(vm, guest))
    if module.name == "vmw_pvrdma" and OFED in guest.installed:
        # Built against the distribution's ib_core, it disagrees with OFED's about the symbols [unsure: derived].
        raise Refused("Invalid argument")
    if module.name == "nvidia_peermem" and OFED not in guest.installed:
        raise Refused("Invalid argument")
    build = guest.installed.get(OFED, {}).get("version", "")
    if module.name in (*OF_OFED, "nvidia_peermem"):
        # The symbols of the loaded modules have other versions than those of its build [unsure: derived].
        known = memory.of(vm).builds
        if any(known.get(one, build) != build for one in module.depends if one in OF_OFED and one in guest.loaded):
            raise Refused("Invalid argument")


def _having(guest, loaded):
    return replace(guest, loaded=list(loaded))
