"""What the twin's nvidia-smi prints against what real ones printed, line by line, token by token."""

from __future__ import annotations

from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[1] / "data" / "nvidia_smi"
ESXI_A100 = {"boards": ("a100_pcie_40gb",), "version": "510.47.03", "hypervisor": True}
H100 = {"boards": ("h100_sxm_80gb",), "version": "580.173.02", "pci": 0x16}
A30 = {"boards": ("a30",), "version": "535.183.01"}
CAPTURED = {
    "a100-pcie40_esxi_510.47.03__cgi-9-19-14-19": (ESXI_A100, (), "mig -cgi 9,19,14,19"),
    "a100-pcie40_esxi_510.47.03__lgi": (ESXI_A100, ("mig -cgi 9,19,14,19",), "mig -lgi"),
    "a100-pcie40_esxi_510.47.03__lgip": (ESXI_A100, (), "mig -lgip"),
    "a100-pcie40_esxi_510.47.03__lci-none": (ESXI_A100, ("mig -cgi 9",), "mig -lci"),
    "a100-pcie40_esxi_510.47.03__lci": (
        ESXI_A100,
        ("mig -cgi 9,19,14,19", "mig -cci 0 -gi 11", "mig -cci 0 -gi 12", "mig -cci 0 -gi 6", "mig -cci 0 -gi 1"),
        "mig -lci",
    ),
    "a100-pcie40_esxi_510.47.03__cci-0-in-gi-11": (ESXI_A100, ("mig -cgi 9,19",), "mig -cci 0 -gi 11"),
    "a100-pcie40_esxi_510.47.03__cci-0-in-gi-6": (ESXI_A100, ("mig -cgi 9,19,14",), "mig -cci 0 -gi 6"),
    "a100-pcie40_esxi_510.47.03__L_one-ci": (ESXI_A100, ("mig -cgi 19 -C",), "-L"),
    "a100-pcie40_esxi_510.47.03__query-mig-current_after-reboot": (
        ESXI_A100,
        (),
        "-i 0 --query-gpu=pci.bus_id,mig.mode.current --format=csv",
    ),
    "a100-pcie40_esxi_510.47.03__mig-1_pending": ({**ESXI_A100, "on": False}, (), "-i 0 -mig 1"),
    "a30_535.183.01__lgip": (A30, (), "mig -lgip"),
    "a30_535.183.01__lgipp": (A30, (), "mig -lgipp"),
    "a30_535.183.01__lgi-none": (A30, (), "mig -lgi"),
    "a30_535.183.01__lgi": (A30, ("mig -cgi 14,14,5",), "mig -lgi"),
    "a30_535.183.01__L": (A30, ("mig -cgi 14,14,5 -C",), "-L"),
    "a30_535.183.01__cgi-14-C": (A30, (), "mig -cgi 14 -C"),
    "a30_535.183.01__cgi-5-C": (A30, ("mig -cgi 14,14",), "mig -cgi 5 -C"),
    "a30_535.183.01__lcip-gi-2": (A30, ("mig -cgi 14,14,5 -C",), "mig -lcip -gi 2"),
    "h100-80__lgipp": (H100, (), "mig -lgipp"),
    "h100-80__cgi-7x19-C": (H100, (), "mig -cgi 19,19,19,19,19,19,19 -C"),
    "h100-sxm80_580.173.02_mig-2x1g__lgip": (H100, ("mig -cgi 19,19 -C",), "mig -lgip"),
    "h100-sxm80_580.173.02_mig-2x1g__lgi": (H100, ("mig -cgi 19,19 -C",), "mig -lgi"),
    "h100-sxm80_580.173.02_mig-2x1g__lci": (H100, ("mig -cgi 19,19 -C",), "mig -lci"),
    "h100-sxm80_580.173.02_mig-2x1g__L": (H100, ("mig -cgi 19,19 -C",), "-L"),
    "h100-sxm80_580.173.02_mig-off__lgip": ({**H100, "on": False}, (), "mig -lgip"),
    "h100-sxm80_580.173.02_mig-off__lgi": ({**H100, "on": False}, (), "mig -lgi"),
    "h100-sxm80_580.173.02_mig-off__lci": ({**H100, "on": False}, (), "mig -lci"),
    "h100-sxm80_580.173.02_mig-off__L": ({**H100, "on": False}, (), "-L"),
    "rtxpro6000-server_580__lgip": ({"boards": ("rtx_pro_6000_server",), "version": "580.82.07"}, (), "mig -lgip"),
    "rtxpro6000-server_580__lgi": (
        {"boards": ("rtx_pro_6000_server",), "version": "580.82.07"},
        ("mig -cgi 5,14,14",),
        "mig -lgi",
    ),
    "error__no-gpu-instances": (A30, (), "mig -lgi"),
    "error__no-compute-instances": (A30, ("mig -cgi 14",), "mig -lci"),
    "error__no-mig-enabled": ({**A30, "on": False}, (), "mig -cgi 14"),
    "error__no-mig-supported": ({"boards": ("t4",)}, (), "mig -lgip"),
    "error__cgi_insufficient-resources": (ESXI_A100, ("mig -cgi 0",), "mig -cgi 9"),
    "error__cgi_invalid-argument": (ESXI_A100, (), "mig -cgi 1"),
    "a100_r450__cgi_old-wording": ({"boards": ("a100_pcie_40gb",), "version": "450.80.02"}, (), "mig -cgi 9"),
    "mode__reset-not-supported": ({"pci": 0, "boards": ("a100_pcie_40gb",)}, (), "-i 0 --gpu-reset"),
}


@pytest.mark.parametrize("name", CAPTURED)
def test_a_captured_output_is_printed_with_the_same_tokens(machine, name):
    options, before, line = CAPTURED[name]
    options = dict(options)
    here = machine(*options.pop("boards"), **options)
    for command in before:
        assert here.run(command)[1] == 0, here.text(command)
    printed, captured = _lines(here.text(line)), _lines((SAMPLES / f"{name}.txt").read_text())
    assert [_comparable(one) for one in printed] == [_comparable(one) for one in captured]


@pytest.mark.parametrize(
    "name", [name for name in CAPTURED if name.endswith(("__lgip", "__lgi", "__lci", "lcip-gi-2"))]
)
def test_tables_are_as_wide_as_the_captured_ones(machine, name):
    options, before, line = CAPTURED[name]
    options = dict(options)
    here = machine(*options.pop("boards"), **options)
    for command in before:
        here.run(command)
    printed, captured = _lines(here.text(line)), _lines((SAMPLES / f"{name}.txt").read_text())
    assert [len(one) for one in printed] == [len(one) for one in captured]


def _lines(text):
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def _comparable(line):
    """The tokens of a line, without UUIDs, addresses, and figures in GiB, which drift with drivers."""
    words = line.split()
    if "(UUID:" in words:
        return words[: words.index("(UUID:")]
    drifting = [word for word in words if word.count(".") == 1 and word.replace(".", "").isdigit()]
    words = ["<GiB>" if word in drifting else word for word in words]
    return [word if not _is_bus_id(word) else "<bus>" for word in words]


def _is_bus_id(word):
    return word.count(":") >= 2 and word[:4] == "0000"
