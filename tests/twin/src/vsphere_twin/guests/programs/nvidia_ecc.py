"""Memory errors in `nvidia-smi -q` of a guest: a vGPU reports them too.

Public captures of vGPUs: a V100D-8C with driver 535.216.01 counts single and double bits, an RTXA6000-24Q with driver
535.183.06 counts DRAM errors, and reports N/A for SRAM and remapped rows.
"""

from __future__ import annotations

BEFORE_DRAM = ("Volta",)
# Their memory retires pages. Later memory remaps rows.
RETIRING = ("Volta", "Turing")
PARTS = ("Register File", "L1 Cache", "L2 Cache")
SOURCES = ("L2", "SM", "Microcontroller", "PCIE", "Other")


def block(architecture, vgpu, corrected, uncorrected):
    """The lines from the counters to the remapped rows."""
    if architecture in BEFORE_DRAM:
        rows = [row for scope in ("Volatile", "Aggregate") for row in _bits(scope, corrected, uncorrected)]
    else:
        rows = _dram(vgpu, corrected, uncorrected)
    pages, blacklist = (0, "No") if architecture in RETIRING else ("N/A", "N/A")
    retired = [("Single Bit ECC", pages), ("Double Bit ECC", pages), ("Pending Page Blacklist", blacklist)]
    remaps = not vgpu and architecture not in RETIRING
    remapped = [("Correctable Error", 0), ("Uncorrectable Error", 0), ("Pending", "No")]
    lines = [_title(1, "ECC Errors"), *rows, _title(1, "Retired Pages"), *(_pair(2, *row) for row in retired)]
    if not remaps:
        lines.append(_pair(1, "Remapped Rows", "N/A"))
    else:
        lines.append(_title(1, "Remapped Rows"))
        lines += [_pair(2, *row) for row in [*remapped, ("Remapping Failure Occurred", "No")]]
    return "".join(f"{line}\n" for line in lines)


def _bits(scope, corrected, uncorrected):
    yield _title(2, scope)
    for name, count, cbu in (("Single Bit", corrected, "N/A"), ("Double Bit", uncorrected, 0)):
        yield _title(3, name)
        rows = [("Device Memory", count), *((part, 0) for part in PARTS)]
        rows += [("Texture Memory", "N/A"), ("Texture Shared", "N/A"), ("CBU", cbu), ("Total", count)]
        yield from (_pair(4, *row) for row in rows)


def _dram(vgpu, corrected, uncorrected):
    sram, exceeded = ("N/A", "N/A") if vgpu else (0, "No")
    counts = [(f"SRAM {name}", sram) for name in ("Correctable", "Uncorrectable Parity", "Uncorrectable SEC-DED")]
    counts += [("DRAM Correctable", corrected), ("DRAM Uncorrectable", uncorrected)]
    for scope, rows in (
        ("Volatile", counts),
        ("Aggregate", [*counts, ("SRAM Threshold Exceeded", exceeded)]),
        ("Aggregate Uncorrectable SRAM Sources", [(f"SRAM {name}", sram) for name in SOURCES]),
    ):
        yield _title(2, scope)
        yield from (_pair(3, *row) for row in rows)


def _title(depth, text):
    return f"{'    ' * depth}{text}"


def _pair(depth, key, value):
    return f"{_title(depth, key):<42}: {value}"
