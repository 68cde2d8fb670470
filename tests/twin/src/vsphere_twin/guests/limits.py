"""Limits of this machine that many guests reach, reported with the setting that raises them."""

from __future__ import annotations

INSTANCES = "fs.inotify.max_user_instances"
A_GUEST, ENOUGH = 8, 1024  # the share of a guest, and a sufficient value for many labs
PROBE = """
import ctypes, sys
library, opened = ctypes.CDLL(None), 0
while opened < int(sys.argv[1]) and library.inotify_init1(0) >= 0:
    opened += 1
print(opened)
"""


def reported(hands):
    """Return why a guest ended before it began, as a sentence to append; nothing if no limit is near.

    The guest itself prints nothing of it: there is no console yet.
    """
    left = hands.python(PROBE, str(2 * A_GUEST)).strip()
    if not left.isdigit() or int(left) >= 2 * A_GUEST:
        return ""
    limit = hands.read(f"/proc/sys/{INSTANCES.replace('.', '/')}").strip()
    return (
        f". {INSTANCES} is {limit} on this machine, of which {left} are left, and each guest takes about {A_GUEST}: "
        f"end other labs, or raise it as root with `sysctl {INSTANCES}={ENOUGH}`"
    )
