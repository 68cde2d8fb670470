"""Stream-optimised virtual disks (VMware Virtual Disk Format 5.0): empty ones, and checks of uploads."""

from __future__ import annotations

SECTOR = 512
GRAIN = 128  # sectors
PER_TABLE = 512  # grains of one table
MAGIC, FOOTER, DIRECTORY = b"KDMV", 3, 2


def empty(size):
    """A disk of so many bytes without any data: header, grain directory, footer and end of the stream."""
    sectors = -(-size // SECTOR)
    tables = -(-sectors // (GRAIN * PER_TABLE))
    directory = _padded(bytes(4 * tables))
    at_end = 2**64 - 1  # the header refers to the footer
    return b"".join(
        (
            _header(sectors, at_end),
            _marker(DIRECTORY, len(directory) // SECTOR),
            directory,
            _marker(FOOTER, 1),
            _header(sectors, 2),
            bytes(SECTOR),
        )
    )


def problem(first, last, size, capacity):
    """The reason why a host rejects an upload, from its first and its last sector; empty for a good one."""
    if first[:4] != MAGIC or len(first) < SECTOR:
        return "The file is no stream-optimized VMDK."
    sectors = int.from_bytes(first[12:20], "little")
    if sectors * SECTOR > capacity:
        return f"The VMDK has {sectors * SECTOR} bytes, and the disk has {capacity} bytes."
    if size % SECTOR or last.strip(b"\0"):
        return "The VMDK ends before the end-of-stream marker."
    return ""


def _header(sectors, directory):
    numbers = ((3, 4), (0x30001, 4), (sectors, 8), (GRAIN, 8), (0, 8), (0, 8), (PER_TABLE, 4), (0, 8), (directory, 8))
    text = MAGIC + b"".join(number.to_bytes(size, "little") for number, size in numbers)
    text += GRAIN.to_bytes(8, "little") + b"\0\n \r\n" + (1).to_bytes(2, "little")  # compressed by DEFLATE
    return _padded(text)


def _marker(kind, sectors):
    return _padded(sectors.to_bytes(8, "little") + bytes(4) + kind.to_bytes(4, "little"))


def _padded(data):
    return data.ljust(-(-len(data) // SECTOR) * SECTOR, b"\0")
