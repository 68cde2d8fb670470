"""Files in the image of a guest that connect its programs to the model."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "files"
HOME = "/usr/lib/lab"
# Sources go without it: of a program outside plugins/modules, ansible-test takes a first line for other shells only.
FIRST_LINE = b"#!/usr/bin/python3 -I\n"
ASK = f"{HOME}/ask"
FILES = {  # path in the guest: (source, mode)
    ASK: (FOLDER / "ask", 0o755),
    f"{HOME}/build-nvidia": (FOLDER / "build-nvidia", 0o755),
    f"{HOME}/installed/README": (FOLDER / "installed.txt", 0o644),
    "/usr/lib/systemd/system/lab-hardware.service": (FOLDER / "lab-hardware.service", 0o644),
    "/etc/dpkg/dpkg.cfg.d/lab": (FOLDER / "dpkg.cfg", 0o644),
}
LINKS = {  # path in the guest: target
    f"{HOME}/refresh": ASK,
    f"{HOME}/lab-hardware": ASK,
    f"{HOME}/in-container/nvidia-smi": ASK,
    f"{HOME}/in-container/all_reduce_perf": ASK,
    "/etc/systemd/system/sysinit.target.wants/lab-hardware.service": "/usr/lib/systemd/system/lab-hardware.service",
}


def content(source, mode):
    """Return the guest's version of a file: programs in Python with the first line that starts them."""
    found = Path(source).read_bytes()
    return FIRST_LINE + found if mode & 0o111 and found.startswith(b'"""') else found
