"""State of NVIDIA's driver in a guest, with its devices, and the causes of failures."""

from __future__ import annotations

from vsphere_twin.model import gpu_errors

from . import hardware, memory

# Allowed pairs (NVIDIA vGPU release notes): the same branch, the branch before, or the long-term branch before.
BRANCHES = (450, 460, 470, 510, 525, 535, 550, 570, 580, 590)
LONG_TERM = (450, 470, 535)
GRID = "grid"


def installed(guest):
    """The driver package of a guest, or None."""
    return guest.installed.get("nvidia-driver")


def built(guest):
    """Return the data of the module that was built for the running kernel, or None."""
    facts = guest.installed.get("nvidia-module", {})
    return facts if installed(guest) is not None and facts.get("kernel") == guest.kernel else None


def loaded(vm, guest):
    """The driver that runs: the one that was installed when its module was loaded, whatever came later; or None."""
    if "nvidia" not in guest.loaded:
        memory.of(vm).driver = None
    elif memory.of(vm).driver is None:
        memory.of(vm).driver = installed(guest)
    return memory.of(vm).driver


def version_file(driver):
    """/proc/driver/nvidia/version of a loaded driver, with a build that is the same for all."""
    version = driver["version"]
    if driver.get("open"):
        first = f"Open Kernel Module for x86_64  {version}  Release Build  (root@lab)"
    else:
        first = f"x86_64 Kernel Module  {version}  Tue Mar  5 22:23:56 UTC 2024"
    return f"NVRM version: NVIDIA UNIX {first}\nGCC version:  gcc version 12.2.0 (Debian 12.2.0-14) \n"


def exports_memory(driver):
    """Whether the driver gives memory of a GPU to adapters as DMA-BUF: the open modules, and no vGPU [unsure]."""
    return bool(driver.get("open")) and driver.get("flavour") != GRID


def branch(version):
    """550 of 550.54.15, or 0."""
    text = str(version).partition(".")[0]
    return int(text) if text.isdigit() else 0


def pair_allowed(host, guest):
    """Return whether a guest driver gets its vGPU from a host driver."""
    host, guest = branch(host), branch(guest)
    if guest == host:
        return True
    if guest > host or host not in BRANCHES or guest not in BRANCHES:
        return False
    if BRANCHES.index(host) - BRANCHES.index(guest) == 1:
        return True
    terms = [one for one in LONG_TERM if one <= host]
    return guest in LONG_TERM and host in LONG_TERM and terms[-2:-1] == [guest]


def usable(vm, guest):
    """Return the GPUs that the loaded driver works with; others are treated as missing."""
    driver = loaded(vm, guest)
    if driver is None:
        return []
    cards = [one for one in hardware.gpus_of(vm) if _works(vm, driver, one)]
    return [one for one in cards if not gpu_errors.lost(vm, one.index)]


def load_problem(vm, guest):
    """Return the message of a module that finds no device of its own, or None."""
    if "nouveau" in guest.loaded or not hardware.gpus_of(vm):
        return "No such device"
    return None


def _works(vm, driver, gpu):
    if gpu.profile is None:
        return True
    # A vGPU needs the driver of NVIDIA's vGPU software, of a release that goes with the host's.
    return driver.get("flavour") == GRID and pair_allowed(hardware.host_driver(vm), driver["version"])
