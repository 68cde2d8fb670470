# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""nouveau, the open driver that binds a GPU before NVIDIA's can: check whether it is blocked. Pure."""

from __future__ import annotations

import re
from typing import Sequence

FILE = "/etc/modprobe.d/blacklist-nouveau.conf"
TEXT = "blacklist nouveau\noptions nouveau modeset=0\n"
FOLDERS = ("/etc/modprobe.d", "/run/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d")
# Rebuild of the initramfs, which has its own list of modules.
REBUILDS = (("update-initramfs", ["update-initramfs", "-u"]), ("dracut", ["dracut", "--force"]))


def blocked(texts: Sequence[str], command_line: str = "") -> bool:
    """Return whether files of modprobe or the kernel command line block nouveau and disable its mode setting."""
    lines = [" ".join(line.split("#")[0].split()) for text in texts for line in text.splitlines()]
    words = command_line.split()
    lists = [word.split("=", 1)[1].split(",") for word in words if re.match(r"(rd\.driver|modprobe)\.blacklist=", word)]
    kept = "blacklist nouveau" in lines or any("nouveau" in names for names in lists)
    return kept and ("options nouveau modeset=0" in lines or "nouveau.modeset=0" in words)
