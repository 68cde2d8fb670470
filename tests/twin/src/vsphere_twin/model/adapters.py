"""Network ports: their cards and firmware, RDMA, virtual functions, and paused traffic."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from . import kernel as kernels
from . import pci

MELLANOX, INTEL, BRIDGE = pci.MELLANOX, pci.INTEL, pci.BRIDGE


@dataclass(frozen=True)
class Model:
    """A network card."""

    key: str
    vendor_id: int
    device_id: int
    vendor_name: str
    name: str
    driver: str
    speed_mbps: int
    most_vfs: int = 0  # without asking a firmware's configuration

    @property
    def rdma(self):
        return self.driver == "nmlx5_core"


MODELS = {
    one.key: one
    for one in (
        Model("cx5", MELLANOX, 0x1017, "Mellanox Technologies", "MT27800 Family [ConnectX-5]", "nmlx5_core", 100000),
        Model("cx6", MELLANOX, 0x101B, "Mellanox Technologies", "MT28908 Family [ConnectX-6]", "nmlx5_core", 200000),
        Model(
            "cx6dx", MELLANOX, 0x101D, "Mellanox Technologies", "MT2892 Family [ConnectX-6 Dx]", "nmlx5_core", 100000
        ),
        Model("cx6lx", MELLANOX, 0x101F, "Mellanox Technologies", "MT2894 Family [ConnectX-6 Lx]", "nmlx5_core", 25000),
        Model("cx7", MELLANOX, 0x1021, "Mellanox Technologies", "MT2910 Family [ConnectX-7]", "nmlx5_core", 400000),
        Model("i350", INTEL, 0x1521, "Intel Corporation", "I350 Gigabit Network Connection", "igbn", 1000),
        Model(
            "x710", INTEL, 0x1572, "Intel Corporation", "Ethernet Controller X710 for 10GbE SFP+", "i40en", 10000, 64
        ),
    )
}


@dataclass
class Firmware:
    """Firmware configuration of a ConnectX port: since the last cold start, and for the next one."""

    ats: bool = False
    sriov: bool = False
    num_vfs: int = 0
    next_ats: bool = False
    next_sriov: bool = False
    next_num_vfs: int = 0
    knows_ats: bool = True  # old firmware has no such parameter
    version: str = "22.39.2048"

    @classmethod
    def of(cls, ats=False, sriov=False, num_vfs=0, **more):
        """A configuration that runs already."""
        return cls(ats, sriov, num_vfs, ats, sriov, num_vfs, **more)

    def at_cold_start(self):
        self.ats, self.sriov, self.num_vfs = self.next_ats, self.next_sriov, self.next_num_vfs


@dataclass
class RdmaDevice:
    """The RDMA face of a port, there while its RDMA module is loaded."""

    name: str
    driver: str = "nmlx5_rdma"


@dataclass
class Nic:
    """A port of a network card."""

    device: str
    mac: str
    pci: str
    model_key: str = "cx6dx"
    numa_node: int = 0
    root_port: str = ""
    parent: str = ""
    firmware: Firmware = field(default_factory=Firmware)
    mst_name: str = ""
    rdma: RdmaDevice | None = None
    switch: object = None  # the standard or distributed switch that it is an uplink of
    uplink_port: str = ""  # of a distributed switch, where a client chose one
    plugged: bool = True  # whether its own end of the cable is well
    outlet: object = None  # f() -> whether the port of a switch at the other end is up; None without a cable
    vfs: int = 0  # virtual functions since the last boot
    requested_vfs: int | None = None  # request of the API's SR-IOV configuration, unless the driver was set later
    pause_tx: bool = False
    pause_rx: bool = False
    discards: bool = False  # a broken port: it discards some of its traffic under load
    counters: Counter = field(default_factory=Counter)  # since the last boot

    @property
    def link_up(self):
        return self.plugged and (self.outlet is None or self.outlet())

    @property
    def kind(self):
        return MODELS[self.model_key]

    @property
    def driver(self):
        return self.kind.driver

    @property
    def speed_mbps(self):
        return self.kind.speed_mbps

    @property
    def vendor_id(self):
        return self.kind.vendor_id

    @property
    def device_id(self):
        return self.kind.device_id

    @property
    def model(self):
        return self.kind.name

    @property
    def mtu(self):
        """A port takes the MTU of the switch that it serves."""
        return self.switch.mtu if self.switch is not None else 1500

    @property
    def most_vfs(self):
        """Return the number of functions that the firmware would provide now."""
        if self.kind.vendor_id == MELLANOX:
            return self.firmware.num_vfs if self.firmware.sriov else 0
        return self.kind.most_vfs


# The whole tree, of which the ports are a part.
pci_devices = pci.devices


def rdma_devices(host):
    """The ports that RDMA runs on now."""
    return [nic for nic in host.nics if nic.rdma is not None]


def rdma_mtu(nic):
    """The path MTU of RoCE: the largest that fits, with headers, into the port's MTU [unsure: general knowledge]."""
    return next((size for size in (4096, 2048, 1024) if nic.mtu >= size + 104), 512)


def dcb(host, nic):
    """(mode, mask of the priorities with PFC) that the port's driver was loaded with."""
    if nic.driver != "nmlx5_core" or not host.kernel.loaded("nmlx5_core"):
        return ("Unknown", 0)
    masks = [kernels.number(host.kernel.option("nmlx5_core", name, "0")) for name in ("pfctx", "pfcrx")]
    # Only a priority that is paused in both directions is lossless [unsure: that the halves combine so].
    return ("IEEE Mode", masks[0] & masks[1])


def set_pauseparams(world, host, nic, tx, rx):
    """Set global pause: it takes effect at once, and not while PFC is on (SmartX RDMA guide)."""
    if dcb(host, nic)[1]:
        raise kernels.Refused("Unable to complete Sysinfo operation: priority flow control is enabled on the device.")
    nic.pause_tx, nic.pause_rx = bool(tx), bool(rx)
    world.touch(host, host.managers["networkSystem"])


def cold_start(host):
    """Power came back: the ports' firmware reads its configuration."""
    for nic in host.ports:
        nic.firmware.at_cold_start()


def at_boot(host):
    """The drivers make their virtual functions and RDMA devices."""
    firmware = host.bmc.functions()
    by_driver = {}
    for nic in host.ports:
        by_driver.setdefault(nic.driver, []).append(nic)
    for driver, ports in by_driver.items():
        wanted = kernels.numbers(host.kernel.option(driver, "max_vfs", ""))
        for position, nic in enumerate(ports):
            by_driver_option = wanted[position] if position < len(wanted) else 0
            asked = by_driver_option if nic.requested_vfs is None else nic.requested_vfs
            nic.vfs = min(asked, nic.most_vfs) if firmware["sriov"] and host.kernel.loaded(driver) else 0
    number_of = 0
    for nic in host.ports:
        carried = nic.kind.rdma and nic in host.nics and host.kernel.loaded("nmlx5_rdma")
        nic.rdma = RdmaDevice(f"vmrdma{number_of}") if carried else None
        nic.counters.clear()
        number_of += carried
