"""The commits whose gate trains with DeepSpeed and Ray: their image and their runs take minutes."""

from __future__ import annotations

# One commit out of this number, beside the ones with guests and the oldest core.
EVERY, TURN = 3, 1
