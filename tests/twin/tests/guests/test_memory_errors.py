"""Memory errors in `nvidia-smi -q` of a guest, as public captures of vGPUs have them."""

from __future__ import annotations

import pytest

from vsphere_twin.guests.programs import nvidia_ecc

# A vGPU RTXA6000-24Q with the driver 535.183.06, published by its owner.
A6000 = """
    ECC Errors
        Volatile
            SRAM Correctable              : N/A
            SRAM Uncorrectable Parity     : N/A
            SRAM Uncorrectable SEC-DED    : N/A
            DRAM Correctable              : 0
            DRAM Uncorrectable            : 0
        Aggregate
            SRAM Correctable              : N/A
            SRAM Uncorrectable Parity     : N/A
            SRAM Uncorrectable SEC-DED    : N/A
            DRAM Correctable              : 0
            DRAM Uncorrectable            : 0
            SRAM Threshold Exceeded       : N/A
        Aggregate Uncorrectable SRAM Sources
            SRAM L2                       : N/A
            SRAM SM                       : N/A
            SRAM Microcontroller          : N/A
            SRAM PCIE                     : N/A
            SRAM Other                    : N/A
    Retired Pages
        Single Bit ECC                    : N/A
        Double Bit ECC                    : N/A
        Pending Page Blacklist            : N/A
    Remapped Rows                         : N/A
"""


def test_a_vgpu_of_ampere_counts_errors_of_dram_alone():
    assert nvidia_ecc.block("Ampere", True, 0, 0) == A6000[1:]
    counted = nvidia_ecc.block("Ampere", True, 3, 2)
    assert counted.count("DRAM Correctable              : 3") == counted.count("DRAM Uncorrectable            : 2") == 2


@pytest.mark.parametrize("architecture, pages, remapped", [("Volta", "0", "N/A"), ("Hopper", "N/A", "0")])
def test_a_whole_gpu_remaps_rows_or_retires_pages(architecture, pages, remapped):
    text = nvidia_ecc.block(architecture, False, 0, 0)
    assert f"Single Bit ECC                    : {pages}" in text
    found = (
        "Remapped Rows                         : N/A" if remapped == "N/A" else "Correctable Error                 : 0"
    )
    assert found in text


def test_a_vgpu_of_volta_counts_single_and_double_bits():
    text = nvidia_ecc.block("Volta", True, 3, 2)
    assert text.count("Device Memory             : 3") == text.count("Device Memory             : 2") == 2
    assert "DRAM" not in text
