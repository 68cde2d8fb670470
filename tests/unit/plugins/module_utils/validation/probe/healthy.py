"""A guest on paper that has everything that a training needs."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import rdma
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import probes

from unit.plugins.module_utils.guest.network.test_rdma import device
from unit.plugins.module_utils.guest.network.world import Guest

SMI = """\

==============NVSMI LOG==============

Timestamp                                 : Sun Mar  1 08:15:30 2026
Driver Version                            : 550.54.15
CUDA Version                              : 12.4

Attached GPUs                             : 1
GPU 00000000:02:00.0
    Product Name                          : GRID A100-40C
    GPU UUID                              : GPU-3c2a5b10-0000-11ef-8000-000000000001
    GPU Virtualization Mode
        Virtualization Mode               : VGPU
    vGPU Software Licensed Product
        Product Name                      : NVIDIA Virtual Compute Server
        License Status                    : {licence}
    ECC Mode
        Current                           : Enabled
    ECC Errors
        Volatile
            SRAM Correctable              : 0
            SRAM Uncorrectable            : 0
            DRAM Correctable              : 0
            DRAM Uncorrectable            : 0
"""
LICENSED = "Licensed (Expiry: 2026-11-23 10:41:16 GMT)"
TOPO = """\
\tGPU0\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
GPU0\t X \tPHB\t0-7\t0\t\tN/A
NIC0\tPHB\t X \t\t\t\t

Legend:

  X    = Self

NIC Legend:

  NIC0: mlx5_0
"""
TRACKING = """\
Reference ID    : C0000202 (192.0.2.2)
Stratum         : 3
Ref time (UTC)  : Sun Mar 01 08:15:30 2026
System time     : 0.000012345 seconds slow of NTP time
Last offset     : -0.000001234 seconds
Root dispersion : 0.001 seconds
Leap status     : Normal
"""
KERNEL = "2026-03-01T08:00:00+00:00 train-01 kernel: NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.15\n"
ETHTOOL = "NIC statistics:\n     rx_discards_phy: 0\n     tx_prio3_pause: 4\n"
MODULES = "".join(f"{name} 16384 0 - Live 0x0\n" for name in ("ib_core", "ib_uverbs", "mlx5_core", "mlx5_ib", "nvidia"))
DRIVER = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build\n"
ANSWERS = {
    "nvidia-smi -q": SMI.format(licence=LICENSED),
    "nvidia-smi topo": TOPO,
    "chronyc": TRACKING,
    "journalctl": KERNEL,
    "ethtool -S": ETHTOOL,
    "su -l": "unlimited\nunlimited\n",
    "ip -4 -o addr show dev ens224": "3: ens224    inet 192.168.6.132/24 brd 192.168.6.255 scope global ens224\n",
}


def healthy(root, answers=(), without=()):
    """The guest; answers replace those of its commands, without are beginnings of those that it does not have."""
    kept = {words: answer for words, answer in {**ANSWERS, **dict(answers)}.items() if words not in without}
    guest = Guest(root, kept)
    files = guest.files
    files.write("/proc/modules", MODULES)
    files.write("/proc/driver/nvidia/version", DRIVER)
    files.write("/sys/class/net/ens224/mtu", "9000\n")
    files.write("/sys/class/net/ens224/operstate", "up\n")
    files.write("/sys/class/net/ens224/address", "00:50:56:90:00:11\n")
    files.write("/sys/class/net/ens224/statistics/rx_bytes", "12\n")
    files.write("/sys/class/net/ens224/statistics/rx_dropped", "7\n")
    files.write("/etc/os-release", 'PRETTY_NAME="Ubuntu 22.04.4 LTS"\n')
    device(files, "mlx5_0")
    files.write(f"{rdma.DEVICES}/mlx5_0/ports/1/hw_counters/out_of_sequence", "3\n")
    return guest


def requested(**changes):
    options = {
        "name": "train-01",
        "interface": "ens224",
        "mac": None,
        "address": "192.168.6.132",
        "user": None,
        "gpu": True,
        "rdma": True,
        "checks": [],
        "phase": "before",
        "simulated": [],
        "dcgm_level": 0,
        "dcgm_health": False,
        "gds": False,
        "gds_file": None,
        **changes,
    }
    return request(probes.HealthRequest, options)
