"""The files under /sys, /dev and /run/lab that a guest has because of its devices and modules."""

from __future__ import annotations

import ipaddress

from vsphere_twin.model import pci

from . import counted, drivers, hardware, memory, modules
from .calls import Answer, program

GID_ROWS = 16
SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
ETHERNET_CLASS, GPU_CLASS, OTHER_CLASS = "0x020000", "0x030200", "0x028000"
SPEEDS = {400000: "400 Gb/sec (4X NDR)", 200000: "200 Gb/sec (4X HDR)", 100000: "100 Gb/sec (4X EDR)"}
SPEEDS |= {50000: "50 Gb/sec (1X HDR)", 40000: "40 Gb/sec (4X QDR)", 25000: "25 Gb/sec (1X EDR)"}
SPEEDS |= {10000: "10 Gb/sec (1X QDR)"}


@program("lab-hardware")
def lab_hardware(world, vm, call):
    """The guest boots, or its interfaces changed, or some time went by."""
    if call.words == ["boot"]:
        memory.booted(vm, call.guest.boot, call.guest.time)
        call.guest.loaded = modules.at_boot(world, vm, call.guest)
    return Answer(**files(world, vm, call.guest))


def files(world, vm, guest):
    """Return the guest's device files for the loaded modules."""
    found = {"/run/lab/loaded": "".join(f"{one}\n" for one in guest.loaded), **memory.SOFTWARE.get(world, {})}
    for name in modules.NAMES:
        found.update(_module(vm, guest, name))
    if hardware.efi(vm):
        found[SECURE_BOOT] = f"\x06\0\0\0{chr(hardware.secure_boot(vm))}"
    found.update(_gpu_nodes(vm, guest))
    driver = drivers.loaded(vm, guest)
    found["/proc/driver/nvidia/version"] = drivers.version_file(driver) if driver else None
    trees = {"/sys/bus/pci/devices": _pci(world, vm, guest)}
    rdma = devices(world, vm, guest)
    found.update(_congestion(vm, rdma))
    for number in range(len(rdma)):
        found[f"/dev/infiniband/uverbs{number}"] = {"node": f"c 231 {192 + number}"}
    for number in range(len(rdma), 8):
        found[f"/dev/infiniband/uverbs{number}"] = None
    found["/dev/infiniband/rdma_cm"] = {"node": "c 10 122"} if "rdma_ucm" in guest.loaded else None
    for folder, content in (
        ("/sys/class/infiniband", {k: v for one in rdma for k, v in (one.files() | counted.files(one)).items()}),
        ("/sys/class/infiniband_verbs", {k: v for n, one in enumerate(rdma) for k, v in one.verbs(n).items()}),
    ):
        if "ib_core" in guest.loaded and content:
            trees[folder] = content
        else:
            found[folder] = None
    _configfs(rdma, guest, found, trees)
    return {"files": found, "trees": trees}


class Device:
    """An RDMA device that its driver has made, as its files and programs show it."""

    def __init__(self, vm, function, name, interface):
        self.vm = vm
        self.function = function
        self.name = name
        self.interface = interface

    @property
    def netdev(self):
        return self.interface["name"] if self.interface is not None else ""

    @property
    def active(self):
        one = self.interface
        return one is not None and one["up"] and one["carrier"] and self.function.link_up

    @property
    def guid(self):
        """The EUI-64 of the MAC address, as the drivers make it."""
        parts = [int(part, 16) for part in self.function.mac.split(":")]
        data = bytes([parts[0] ^ 2, *parts[1:3], 0xFF, 0xFE, *parts[3:]])
        return data.hex()

    @property
    def active_mtu(self):
        """The largest MTU of InfiniBand that fits, with headers, below the one of Ethernet."""
        ethernet = min(self.interface["mtu"] if self.interface else 1500, self.function.mtu)
        return next((size for size in (4096, 2048, 1024, 512) if size + 108 <= ethernet), 256)

    @property
    def gids(self):
        """(address, type) in the order of the table; none while the interface is down."""
        if self.interface is None or not self.interface["up"]:
            return []
        guid = self.guid
        default = ipaddress.IPv6Address(f"fe80::{guid[:4]}:{guid[4:8]}:{guid[8:12]}:{guid[12:]}")
        addresses = [ipaddress.ip_interface(text).ip for text in self.interface["addresses"]]
        if self.function.pvrdma and not addresses:
            return []
        mapped = [default]
        for one in addresses:
            wide = ipaddress.IPv6Address(f"::ffff:{one}") if one.version == 4 else one
            if wide not in mapped:
                mapped.append(wide)
        return [(one, version) for one in mapped for version in self.function.versions]

    @property
    def rate(self):
        return SPEEDS.get(self.function.speed_mbps, "10 Gb/sec (1X QDR)")

    @property
    def hca_type(self):
        if self.function.pvrdma:
            return "VMW_PVRDMA-1.0.1.0-k"
        return f"MT{self.function.device_id}"

    def files(self):
        """Its files below /sys/class/infiniband."""
        guid = ":".join(self.guid[at : at + 4] for at in range(0, 16, 4))
        port = f"{self.name}/ports/1"
        found = {
            f"{self.name}/node_type": "1: CA\n",
            f"{self.name}/node_desc": f"{self.vm.host_name} {self.name}\n",
            f"{self.name}/node_guid": f"{guid}\n",
            f"{self.name}/sys_image_guid": f"{guid}\n",
            f"{self.name}/fw_ver": f"{self.firmware}\n",
            f"{self.name}/hw_rev": "1\n" if self.function.pvrdma else "0\n",
            f"{self.name}/hca_type": f"{self.hca_type}\n",
            f"{self.name}/board_id": f"{self.board_id}\n",
            f"{self.name}/device": {"link": f"/sys/bus/pci/devices/{self.function.address}"},
            f"{port}/state": "4: ACTIVE\n" if self.active else "1: DOWN\n",
            f"{port}/phys_state": "5: LinkUp\n" if self.active else "3: Disabled\n",
            f"{port}/link_layer": "Ethernet\n",
            f"{port}/rate": f"{self.rate}\n",
            f"{port}/lid": "0x0\n",
            f"{port}/lid_mask_count": "0\n",
            f"{port}/sm_lid": "0x0\n",
            f"{port}/sm_sl": "0\n",
            f"{port}/cap_mask": "0x04010000\n",
            f"{port}/pkeys/0": "0xffff\n",
        }
        rows = self.gids
        for index in range(max(GID_ROWS, len(rows))):
            address = written(rows[index][0]) if index < len(rows) else ":".join(["0000"] * 8)
            found[f"{port}/gids/{index}"] = f"{address}\n"
        for index, (_address, version) in enumerate(rows):
            found[f"{port}/gid_attrs/types/{index}"] = f"{version}\n"
            found[f"{port}/gid_attrs/ndevs/{index}"] = f"{self.netdev}\n"
        return found

    def verbs(self, number):
        """Its files below /sys/class/infiniband_verbs."""
        folder = f"uverbs{number}"
        return {
            f"{folder}/ibdev": f"{self.name}\n",
            f"{folder}/abi_version": "1\n",
            f"{folder}/dev": f"231:{192 + number}\n",
            f"{folder}/device": {"link": f"/sys/bus/pci/devices/{self.function.address}"},
        }

    @property
    def firmware(self):
        return self.function.firmware or "3.0.000"

    @property
    def board_id(self):
        return "1" if self.function.pvrdma else "MT_0000000359"


def devices(world, vm, guest):
    """The RDMA devices whose drivers are loaded, in the order of the bus."""
    names = memory.of(vm).rdma_names
    functions = hardware.rdma_of(world, vm)
    present = [one for one in functions if one.module in guest.loaded]
    for key in [key for key in names if all(one.key != key for one in present)]:
        del names[key]
    found = []
    for one in present:
        if one.key not in names:
            names[one.key] = _name(one, guest, names)
        found.append(Device(vm, one, names[one.key], guest.interface(one.mac)))
    return found


def _name(function, guest, names):
    """udev names a device by its place on the bus when it appears, with rdma-core's rule; OFED leaves mlx5_0."""
    if guest.udev_rdma_names and modules.OFED not in guest.installed:
        _domain, bus, rest = function.address.split(":")
        slot, number = rest.split(".")
        return f"rocep{int(bus, 16)}s{int(slot, 16)}" + (f"f{number}" if number != "0" else "")
    stem = "vmw_pvrdma" if function.pvrdma else "mlx5_"
    return next(f"{stem}{number}" for number in range(64) if f"{stem}{number}" not in names.values())


def _module(vm, guest, name):
    folder = f"/sys/module/{name}"
    if name not in guest.loaded:
        return {folder: None}
    users = modules.users_of(guest.loaded, name)
    found = {f"{folder}/initstate": "live\n", f"{folder}/refcnt": f"{len(users)}\n"}
    found[f"{folder}/coresize"] = f"{(modules.INBOX.get(name) or modules.NVIDIA[name]).size}\n"
    version = modules.version_of(drivers.loaded(vm, guest), name, modules.builds(vm, guest)[name])
    if version:
        found[f"{folder}/version"] = f"{version}\n"
    return found


def _congestion(vm, rdma):
    """The settings of congestion notifications that the kernel's own mlx5_ib shows root in debugfs.

    It makes them for ports (`cc_query_allowed`), not for virtual functions [unsure]. The values are the firmware's
    defaults; the driver has no file for the reaction to marks.
    """
    folder = "/sys/kernel/debug/mlx5"
    whole = {port.mac.lower() for port in hardware.ports_of(vm)}
    ports = [one for one in rdma if one.function.mac.lower() in whole]
    if not ports:
        return {folder: None}
    values = {"np_cnp_dscp": 48, "np_cnp_prio": 6, "np_cnp_prio_mode": 0, "np_min_time_between_cnps": 4}
    return {
        f"{folder}/{one.function.address}/cc_params/{name}": {"initial": f"{value}\n", "mode": 0o600}
        for one in ports
        for name, value in values.items()
    }


def _gpu_nodes(vm, guest):
    """The device files that the driver makes; one without a usable device has only its own."""
    found = {f"/dev/nvidia{number}": None for number in range(8)}
    found["/dev/nvidiactl"] = {"node": "c 195 255"} if "nvidia" in guest.loaded else None
    found["/dev/nvidia-uvm"] = {"node": "c 511 0"} if "nvidia_uvm" in guest.loaded else None
    for card in drivers.usable(vm, guest):
        found[f"/dev/nvidia{card.index}"] = {"node": f"c 195 {card.index}"}
    return found


def _pci(world, vm, guest):
    found = {}

    def add(address, ids, kind, driver, node=-1, extra=None):
        vendor, device = ids
        row = {"vendor": f"0x{vendor:04x}\n", "device": f"0x{device:04x}\n", "class": f"{kind}\n"}
        row["numa_node"] = f"{node}\n"
        row["modalias"] = f"pci:v{vendor:08X}d{device:08X}sv00000000sd00000000bc{kind[2:4]}sc{kind[4:6]}i{kind[6:8]}\n"
        lines = [f"DRIVER={driver}"] if driver in guest.loaded else []
        lines += [f"PCI_CLASS={int(kind, 16):X}", f"PCI_ID={vendor:04X}:{device:04X}", f"PCI_SLOT_NAME={address}"]
        row["uevent"] = "".join(f"{line}\n" for line in lines)
        if driver in guest.loaded:
            row["driver"] = {"link": f"/sys/bus/pci/drivers/{driver}"}
        found.update({f"{address}/{name}": content for name, content in {**row, **(extra or {})}.items()})

    for _position, address, device in hardware.kinds_of_nics(vm):
        add(address, (hardware.VMWARE, device), ETHERNET_CLASS, "vmxnet3")
    for one in devices(world, vm, guest):
        # A whole or virtual ConnectX function has its interface below it; that of PVRDMA is a function of its own.
        extra = {} if one.function.pvrdma or not one.netdev else {f"net/{one.netdev}/ifindex": "0\n"}
        extra[f"infiniband/{one.name}"] = {"link": f"/sys/class/infiniband/{one.name}"}
        _function(add, one.function, extra)
    known = {one.function.address for one in devices(world, vm, guest)}
    for one in hardware.rdma_of(world, vm):
        if one.address not in known:
            _function(add, one, None)
    for gpu in hardware.gpus_of(vm):
        driver = "nouveau" if "nouveau" in guest.loaded else "nvidia"
        subsystem = {
            "subsystem_vendor": f"0x{pci.NVIDIA:04x}\n",
            "subsystem_device": f"0x{gpu.board.subsystem_id:04x}\n",
        }
        add(gpu.address, (pci.NVIDIA, gpu.board.device_id), GPU_CLASS, driver, extra=subsystem)
    return found


def _function(add, function, extra):
    kind = OTHER_CLASS if function.pvrdma else ETHERNET_CLASS
    driver = function.module if function.pvrdma else "mlx5_core"
    add(function.address, (function.vendor_id, function.device_id), kind, driver, extra=extra)


def _configfs(rdma, guest, found, trees):
    """Return rdma_cm's configfs folders; here they exist at once, without a mkdir."""
    folder = "/sys/kernel/config/rdma_cm"
    if "rdma_cm" not in guest.loaded or not rdma:
        found[folder] = None
        return
    trees[folder] = {}
    for one in rdma:
        port = f"{one.name}/ports/1"
        trees[folder][f"{port}/default_roce_mode"] = {"initial": f"{one.function.versions[-1]}\n"}
        trees[folder][f"{port}/default_roce_tos"] = {"initial": "0\n"}


def written(gid):
    """A GID as the kernel writes it; Python 3.13 writes the IPv4 address within one as such."""
    text = gid.packed.hex()
    return ":".join(text[start : start + 4] for start in range(0, len(text), 4))
