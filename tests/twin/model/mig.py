"""Where GPU instances may lie: memory slots and starts per profile (NVIDIA MIG user guide)."""

from __future__ import annotations

# Board family: {compute slices or '1+' for the double-memory 1g: (memory slots, starts in order of preference)}.
# The order of preference is a model that reproduces captured runs of nvidia-smi [unsure: model].
SEVEN_SLICES = {
    "1": (1, (6, 4, 5, 0, 1, 2, 3)),
    "1+": (2, (4, 0, 2, 6)),
    "2": (2, (4, 0, 2)),
    "3": (4, (4, 0)),
    "4": (4, (0,)),
    "7": (8, (0,)),
}
FOUR_SLICES = {
    "1": (1, (0, 1, 2, 3)),
    "2": (2, (0, 2)),
    "4": (4, (0,)),
}


def slots(profile):
    """Memory slots that an instance of this type takes."""
    return _rule(profile)[0]


def place(profile, taken):
    """The start of a new instance beside the (start, slots) that are taken, or None."""
    size, starts = _rule(profile)
    for start in starts:
        if all(start + size <= other or start >= other + length for other, length in taken):
            return start
    return None


def _rule(profile):
    grid = FOUR_SLICES if profile.board_slices == 4 else SEVEN_SLICES
    double = profile.slices == 1 and profile.fb_gb >= 2 * profile.smallest_gb and "1+" in grid
    return grid["1+" if double else str(profile.slices)]
