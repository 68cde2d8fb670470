# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import smi_text

# The parts that count of what a guest with a V100D-8C printed with the driver 535.216.01, published by its owner.
GUEST = """
==============NVSMI LOG==============

Timestamp                                 : Thu Dec 19 07:31:27 2024
Driver Version                            : 535.216.01
CUDA Version                              : 12.2

Attached vGPUs                             : 1
GPU 00000000:02:00.0
    Product Name                          : GRID V100D-8C
    Product Brand                         : NVIDIA Virtual Compute Server
    MIG Mode
        Current                           : Disabled
        Pending                           : Disabled
    Serial Number                         : N/A
    GPU UUID                              : GPU-57abc772-1dd3-11b2-8fae-e31710b8f307
    GPU Virtualization Mode
        Virtualization Mode               : VGPU
        Host VGPU Mode                    : N/A
    vGPU Software Licensed Product
        Product Name                      : NVIDIA Virtual Compute Server
        License Status                    : Licensed (Expiry: 2025-3-19 7:29:4 GMT)
    PCI
        Bus                               : 0x02
        Bus Id                            : 00000000:02:00.0
    FB Memory Usage
        Total                             : 8192 MiB
        Used                              : 0 MiB
    Temperature
        GPU Current Temp                  : N/A
    Processes                             : None
"""
WHOLE = """
Driver Version                            : 550.54.15
Attached GPUs                             : 2
GPU 00000000:03:00.0
    Product Name                          : NVIDIA A100-PCIE-40GB
    GPU UUID                              : GPU-1
    MIG Mode
        Current                           : Enabled
    MIG Device
        Index                             : 0
        FB Memory Usage
            Total                         : 4864 MiB
    GPU Virtualization Mode
        Virtualization Mode               : Pass-Through
    FB Memory Usage
        Total                             : 40960 MiB
GPU 00000000:04:00.0
    Product Name                          : NVIDIA A100-40C
    vGPU Software Licensed Product
        Product Name                      : NVIDIA Virtual Compute Server
        License Status                    : Unlicensed (Restricted)
"""


def test_a_vgpu_reports_its_profile_and_its_licence():
    (gpu,) = smi_text.parse(GUEST).gpus
    assert gpu == smi_text.Gpu(
        address="00000000:02:00.0",
        name="GRID V100D-8C",
        uuid="GPU-57abc772-1dd3-11b2-8fae-e31710b8f307",
        virtualization="vgpu",
        memory_mb=8192,
        mig=False,
        product="NVIDIA Virtual Compute Server",
        licence="Licensed",
        expiry="2025-03-19T07:29:04Z",
    )
    assert gpu.licensed
    assert smi_text.parse(GUEST).driver == "535.216.01"


def test_each_gpu_is_reported_with_what_it_has():
    whole, vgpu = smi_text.parse(WHOLE).gpus
    assert (whole.virtualization, whole.mig, whole.memory_mb) == ("passthrough", True, 40960)
    assert (whole.licence, whole.product, whole.licensed) == (None, None, False)
    assert (vgpu.licence, vgpu.expiry, vgpu.memory_mb, vgpu.licensed) == ("Unlicensed (Restricted)", None, None, False)


@pytest.mark.parametrize(
    "text, trouble",
    [
        ("No devices were found\n", "no_devices"),
        (
            "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.54\n",
            "version_mismatch",
        ),
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure\n", "not_loaded"),
        ("Failed to initialize NVML: Insufficient Permissions\n", "no_permission"),
        ("Driver Version : 550.54.15\nAttached GPUs                             : 0\n", "no_devices"),
        ("", "unknown"),
        ("Failed to initialize NVML: Unknown Error\n", "no_nvml"),
        ("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please\n", "not_installed"),
        ("Unable to determine the device handle for GPU0: 0000:02:00.0: Unknown Error\n", "gpu_lost"),
        ("Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.  Reboot the system\n", "gpu_lost"),
    ],
)
def test_what_nvidia_smi_says_instead_of_gpus_has_a_code(text, trouble):
    report = smi_text.parse(text)
    assert (report.gpus, report.trouble) == ((), trouble)
    assert report.said


@pytest.mark.parametrize(
    "text, said",
    [
        ("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.10\n", 2),
        ("WARNING: infoROM is corrupted\nUnable to determine the device handle for GPU: GPU is lost.  Reboot\n it", 2),
        ("Unable to determine the device handle for GPU0000:02:00.0: GPU is lost.\r\n", 1),
    ],
)
def test_the_sentence_that_names_the_trouble_is_reported_and_not_its_rest(text, said):
    lines = [line.strip() for line in text.splitlines()]
    assert smi_text.parse(text).said == " ".join(lines[-said:])
    assert smi_text.complaint("x" * 1000) == "x" * smi_text.LONGEST


@pytest.mark.parametrize(
    "said, status, expiry",
    [
        ("Licensed (Expiry: 2022-11-23 10:41:16 GMT)", "Licensed", "2022-11-23T10:41:16Z"),
        ("Licensed (Expiry: N/A)", "Licensed", None),
        ("Unlicensed (Unrestricted)", "Unlicensed (Unrestricted)", None),
        ("Unlicensed", "Unlicensed", None),
        ("N/A", None, None),
        ("N/A (Expiry: N/A)", None, None),
        ("Licensed (Expiry: Permanent)", "Licensed", None),
    ],
)
def test_a_licence_is_its_state_and_its_end(said, status, expiry):
    text = GUEST.replace("Licensed (Expiry: 2025-3-19 7:29:4 GMT)", said)
    (gpu,) = smi_text.parse(text).gpus
    assert (gpu.licence, gpu.expiry) == (status, expiry)


@pytest.mark.parametrize(
    "lines",
    [
        "Driver Version : 610.10.01 [Deprecated; will be removed. Use KMD Version instead]\nKMD Version : 610.10.01\n",
        "KMD Version : 610.10.01\nCUDA UMD Version : 13.3\n",
    ],
)
def test_a_version_is_a_number_whatever_the_driver_says_of_its_name(lines):
    assert smi_text.parse(lines + WHOLE.replace("Driver Version ", "Other Version ")).driver == "610.10.01"


def test_drivers_before_r450_report_the_licence_under_another_name():
    (gpu,) = smi_text.parse(GUEST.replace("vGPU Software Licensed Product", "GRID Licensed Product")).gpus
    assert (gpu.licensed, gpu.product) == (True, "NVIDIA Virtual Compute Server")
