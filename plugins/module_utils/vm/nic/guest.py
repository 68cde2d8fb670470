# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Which guest operating systems can use PVRDMA, by the identifier that a VM carries. Pure."""

from __future__ import annotations

import re

# The beginnings of vSphere's identifiers of Linux systems (VirtualMachineGuestOsIdentifier).
_LINUX = (
    "almalinux",
    "amazonlinux",
    "asianux",
    "centos",
    "coreos",
    "crxpod",
    "crxsys",
    "debian",
    "fedora",
    "flatcar",
    "fusionos",
    "genericlinux",
    "kylinlinux",
    "linuxmint",
    "mandrake",
    "mandriva",
    "miraclelinux",
    "nld",
    "oes",
    "opensuse",
    "oraclelinux",
    "other24xlinux",
    "other26xlinux",
    "other3xlinux",
    "other4xlinux",
    "other5xlinux",
    "other6xlinux",
    "other7xlinux",
    "otherlinux",
    "pardus",
    "prolinux",
    "redhat",
    "rhel",
    "rockylinux",
    "sjds",
    "sles",
    "suse",
    "turbolinux",
    "ubuntu",
    "vmwarephoton",
)
_VERSION = re.compile(r"(rhel|centos|oraclelinux)(\d+)_64guest")
# Identifiers that do not report which release of the family it is.
_SILENT = ("almalinux", "rockylinux")
# The kernel of RHEL 10 is built without vmw_pvrdma (kernel-ark: CONFIG_INFINIBAND_VMWARE_PVRDMA disabled in 2024);
# that each rebuild follows is an inference [unsure], hence a warning and no refusal.
_LAST_WITH_DRIVER = 9
# Identifiers that report next to nothing of the system inside.
_VAGUE = ("", "otherguest", "otherguest64", "otherlinux64guest", "genericlinuxguest")
_OLD_KERNELS = ("other24xlinux", "other26xlinux", "other3xlinux")


def unsuitable(guest_id: str) -> str | None:
    """Return why PVRDMA cannot work in this guest, or None."""
    known = guest_id.lower()
    if known in _VAGUE:
        return None
    if not known.startswith(_LINUX):
        return f"Its guest operating system is {guest_id}, and PVRDMA has a driver for Linux only."
    if "64" not in known and not known.startswith(("crxpod", "crxsys")):
        return f"Its guest operating system is {guest_id}, a 32-bit one, and PVRDMA needs a 64-bit Linux."
    return None


def doubt(guest_id: str) -> str | None:
    """Return why the driver may be missing in this guest, or None."""
    known = guest_id.lower()
    if known in _VAGUE:
        reported = guest_id or "unset"
        return f"its guest operating system ({reported}) does not show whether it is a Linux with the driver vmw_pvrdma"
    version = _VERSION.match(known)
    if version is not None and int(version.group(2)) > _LAST_WITH_DRIVER:
        return f"the kernel of its guest operating system ({guest_id}) comes without the driver vmw_pvrdma"
    if known.startswith("fedora"):
        return f"current kernels of its guest operating system ({guest_id}) come without the driver vmw_pvrdma"
    if known.startswith(_SILENT):
        return f"its guest operating system ({guest_id}) has the driver vmw_pvrdma only before release 10"
    if known.startswith(_OLD_KERNELS):
        return f"its guest operating system ({guest_id}) has a kernel older than 4.6, which lacks vmw_pvrdma"
    return None
