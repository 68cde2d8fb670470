"""NVLinks between the GPUs of a host: by bridges between boards, or by NVSwitches between all of them."""

from __future__ import annotations

# Beginning of a board's key: its links. `nvidia-smi topo -m` prints NV12 for A100; the others are from the vendor's
# data sheets [unsure].
LINKS = (
    ("v100_sxm2", 6),
    ("a100_", 12),
    ("a800_", 8),
    ("a30", 4),
    ("a40", 4),
    ("rtx_a", 4),
    ("h100_pcie", 12),
    ("h100_nvl", 12),
    ("h100_sxm", 18),
    ("h800_", 8),
    ("h20", 18),
    ("b200", 18),
    ("b300", 18),
)
# GB/s of one link in one direction by the beginning of a key, otherwise 25 as Ampere prints it [unsure].
SPEEDS = (("b", "53.125"), ("h", "26.562"))
# NVSwitch: "groups of 2, 4, 8" of vGPUs in one VM (frankdenneman.nl, multi-GPU).
SIZES = (2, 4, 8)


def links_of(board):
    """Return the number of NVLinks of a board, 0 without."""
    return next((count for start, count in LINKS if board.key.startswith(start)), 0)


def speed_of(board):
    """Return the speed of one link as nvidia-smi prints it, in GB/s."""
    return next((speed for start, speed in SPEEDS if board.key.startswith(start)), "25")


def between(host, one, other):
    """Return the number of active links between two GPUs of a host."""
    if one is other or one.board is not other.board:
        return 0
    if host.nvswitches:
        # GPUs in passthrough mode are not supported beside NVSwitches (NVIDIA AI Enterprise 8.0).
        usable = host.fabric_manager and not (one.passthrough or other.passthrough)
        return links_of(one.board) if usable else 0
    if not one.bridge or one.bridge != other.bridge:
        return 0
    return links_of(one.board) // (sum(gpu.bridge == one.bridge for gpu in host.gpus) - 1)


def sets(host):
    """Return the GPUs that a vendor's device group may have together, each set as a list."""
    if host.nvswitches:
        linked = [gpu for gpu in host.gpus if links_of(gpu.board)]
        return [
            linked[first : first + size]
            for size in SIZES
            for first in range(0, len(linked) - size + 1, size)
            if all(between(host, linked[first], other) for other in linked[first + 1 : first + size])
        ]
    names = dict.fromkeys(gpu.bridge for gpu in host.gpus if gpu.bridge)
    return [[gpu for gpu in host.gpus if gpu.bridge == name] for name in names]
