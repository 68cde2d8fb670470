"""python -m supervise COMMAND ...: run a command, and leave nothing of it."""

from __future__ import annotations

import sys

from .keeper import run

if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
