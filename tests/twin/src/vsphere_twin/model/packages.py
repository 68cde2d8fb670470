"""Packages of a twin's hosts and depots: ESXi packages of NVIDIA, NVIDIA Networking and VMware."""

from __future__ import annotations

from dataclasses import dataclass

from .seed_file import SeedError
from .vib import Vib

# Files that every NVIDIA host driver installs; two families that claim the same files cannot be on one host.
DRIVER_FILES = (
    "usr/lib/vmware/vmkmod/nvidia",
    "usr/bin/nvidia-smi",
    "usr/lib64/vmware/plugin/libnvidia-vgx.so",
)
# Built for: suffix of the version, the kernel interface it needs, the oldest release.
# The interface per release is general knowledge, not from a vendor's table [unsure].
TARGETS = {
    "702": ("1OEM.702.0.0.17630552", "vmkapi_2_8_0_0", "7.0.2"),
    "800": ("1OEM.800.1.0.20613240", "vmkapi_2_10_0_0", "8.0.0"),
    # No package for ESX 9 was seen: its names follow those for 8.0 [unsure].
    "900": ("1OEM.900.0.0.24755229", "vmkapi_2_13_0_0", "9.0.0"),
}
# Published depots: (release, version) -> build number at the end of the file's name.
BUILDS = {
    ("702", "510.47.03"): "19298122",
    ("800", "525.105.14"): "21506612",
    ("800", "550.54.16"): "23471877",
}
# VIB, component and display name per family; NVIDIA AI Enterprise names as installed systems show them, those of the
# graphics family by habit [unsure].
COMPUTE_TITLE, GRAPHICS_TITLE = "NVIDIA AI Enterprise vGPU driver for VMWare ESX", "NVIDIA vGPU driver for VMWare ESX"
NAMES = {
    ("nvaie", "702"): (
        "NVIDIA-AIE_ESXi_7.0.2_Driver",
        "NVD-AIE",
        f"{COMPUTE_TITLE}-7.0.2",
    ),
    ("nvaie", "800"): (
        "NVD-AIE_ESXi_8.0.0_Driver",
        "NVD-AIE-800",
        f"{COMPUTE_TITLE}-8.0.0",
    ),
    ("nvaie", "900"): (
        "NVD-AIE_ESXi_9.0.0_Driver",
        "NVD-AIE-900",
        f"{COMPUTE_TITLE}-9.0.0",
    ),
    ("graphics", "702"): ("NVIDIA-VMware_ESXi_7.0.2_Driver", "NVD-VGPU", f"{GRAPHICS_TITLE}-7.0.2"),
    ("graphics", "800"): ("NVD-VMware_ESXi_8.0.0_Driver", "NVD-VGPU-800", f"{GRAPHICS_TITLE}-8.0.0"),
    ("graphics", "900"): ("NVD-VMware_ESXi_9.0.0_Driver", "NVD-VGPU-900", f"{GRAPHICS_TITLE}-9.0.0"),
}
FAMILY_OF = {names[0]: family for (family, _release), names in NAMES.items()}
DAEMON = "nvdgpumgmtdaemon"


@dataclass(frozen=True)
class Component:
    """A component: the unit of vSphere Lifecycle Manager, here of the VIBs that belong together."""

    name: str
    version: str
    display_name: str
    vendor: str
    vibs: tuple  # ids
    display_version: str = ""
    acceptance: str = "partner"

    @property
    def id(self):
        return f"{self.name}_{self.version}"


def driver(family, version, release="800"):
    """The host driver of a family: its VIB and its component."""
    suffix, interface, oldest = TARGETS[release]
    vib_name, component_name, display = NAMES[family, release]
    full = f"{version}-{suffix}"
    vib = Vib(
        name=vib_name,
        version=full,
        vendor="NVIDIA",
        summary=display,
        acceptance="accepted",
        requires=(("esx-version", ">=", oldest), (interface, "", "")),
        files=DRIVER_FILES,
    )
    return [vib], [_component(component_name, display, version, [vib])]


def daemon(version="525.105.14-0.0.0000", release="800"):
    """The GPU management daemon, which NVIDIA ships as a depot of its own."""
    vib = Vib(
        name=DAEMON,
        version=version,
        vendor="NVIDIA",
        summary="NVIDIA GPU monitoring and management daemon",
        acceptance="accepted",
        requires=(("esx-version", ">=", TARGETS[release][2]),),
        files=("usr/lib/vmware/nvdGpuMgmtDaemon/bin/nvdGpuMgmtDaemon", "etc/init.d/nvdGpuMgmtDaemon"),
    )
    return [vib], [_component("nvd-gpu-mgmt-daemon", vib.summary, version, [vib])]


def firmware_tools(version="4.22.1.11", release="800"):
    """NVIDIA's firmware tools: the kernel module needs the reboot that the host driver only recommends."""
    nmst = Vib(
        name="nmst",
        version=f"{version}-1OEM.703.0.0.18434556",
        vendor="MEL",
        summary="Mellanox firmware tools kernel module",
        requires=(("esx-version", ">=", "7.0.2"),),
        files=("usr/lib/vmware/vmkmod/nmst", "opt/mellanox/bin/mst"),
        live_install=False,
    )
    mft = Vib(
        name="mft",
        version=f"{version}-0",
        vendor="MEL",
        summary="Mellanox firmware tools",
        files=("opt/mellanox/bin/mlxconfig", "opt/mellanox/bin/flint"),
        live_install=False,
    )
    return [nmst, mft], [_component("Mellanox-nmst", nmst.summary, nmst.version, [nmst])]


def community(name="net-example", version="1.0.0-1"):
    """Return a VIB without the signature of a partner."""
    vib = Vib(
        name=name,
        version=version,
        vendor="Community",
        summary="An example of a community driver",
        acceptance="community",
        files=(f"usr/lib/vmware/vmkmod/{name}",),
    )
    return [vib], []


def named(name):
    """A package of a seed by its short name, such as nmst or nvaie-800-550.54.16."""
    makers = {"nmst": firmware_tools, "nvd-gpu-mgmt-daemon": daemon, "community": community}
    if name in makers:
        return makers[name]()
    family, dash, rest = name.partition("-")
    release, _dash, version = rest.partition("-")
    if not dash or (family, release) not in NAMES:
        known = ", ".join([*makers, *(f"{one}-{target}-<version>" for one, target in NAMES)])
        raise SeedError([f"There is no package {name}; there are {known}."])
    return driver(family, version, release)


def base(release):
    """Return the VIBs of a fresh ESXi of this release, as far as they are modelled."""
    esx = f"{release.version}-0.{release.update}.{release.build}"
    inbox = f"1vmw.{release.version.replace('.', '')}.0.0.{release.build}"
    system = [
        Vib(name, esx, "VMware", summary, "certified", files=(f"usr/lib/vmware/{name}",), live_install=False)
        for name, summary in (
            ("esx-base", "VMware ESXi base system"),
            ("esx-update", "Updates for the installer of ESXi"),
            ("esx-xserver", "X server for ESXi"),
            ("vsan", "VMware vSAN"),
            ("cpu-microcode", "CPU microcode updates"),
        )
    ]
    nmlx5 = [
        Vib(name, f"4.23.6.4-{inbox}", "VMW", summary, "certified", files=(f"usr/lib/vmware/vmkmod/{name}",))
        for name, summary in (
            ("nmlx5-core", "Network driver for Mellanox ConnectX adapters"),
            ("nmlx5-rdma", "RDMA driver for Mellanox ConnectX adapters"),
        )
    ]
    igbn = Vib(
        "igbn", f"1.11.2.0-{inbox}", "VMW", "Network driver for Intel I350", "certified",
        files=("usr/lib/vmware/vmkmod/igbn",),
    )  # fmt: skip
    components = [
        _component("ESXi", "ESXi", esx, system, "VMware"),
        _component("Mellanox-nmlx5", "Mellanox Native OFED ConnectX-4+ Drivers", nmlx5[0].version, nmlx5, "VMW"),
        _component("Intel-igbn", "Intel(R) Gigabit Ethernet driver", igbn.version, [igbn], "VMW"),
    ]
    return [*system, *nmlx5, igbn], components


def interfaces(release):
    """The kernel interfaces that a release offers to drivers; an older major's are gone [unsure]."""
    return {
        interface
        for _suffix, interface, oldest in TARGETS.values()
        if oldest.partition(".")[0] == str(release.numbers[0]) and release.at_least(*map(int, oldest.split(".")))
    }


def family_of(vib):
    """The driver family that a VIB belongs to, or none."""
    return FAMILY_OF.get(vib.name, "none")


def _component(name, display, version, vibs, vendor="NVIDIA"):
    full = vibs[0].version
    return Component(
        name=name,
        version=full,
        display_name=display,
        display_version=version.partition("-")[0],
        vendor=vendor if vibs[0].vendor != "MEL" else "MEL",
        vibs=tuple(vib.id for vib in vibs),
        acceptance=vibs[0].acceptance,
    )
