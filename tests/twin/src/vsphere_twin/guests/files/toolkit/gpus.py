"""Mount GPUs into a container: the programs of the lab, and the Python that runs them."""

import glob
import os
import re
import subprocess
import sysconfig

HOME = os.environ.get("LAB_HOME", "/usr/lib/lab")
NVIDIA_SMI = os.environ.get("LAB_NVIDIA_SMI", "/usr/bin/nvidia-smi")
LIBRARIES = f"/usr/lib/{sysconfig.get_config_var('MULTIARCH')}"
PYTHON = os.path.realpath("/usr/bin/python3")
MODULES = f"/usr/lib/{os.path.basename(PYTHON)}"
# (path in the guest, path in the container)
MOUNTS = (
    (HOME, HOME),
    ("/run/lab", "/run/lab"),
    ("/opt/lab", "/opt/lab"),
    (PYTHON, "/usr/lib/lab-python/python3"),
    (MODULES, f"/usr/lib/lab-python/lib/{os.path.basename(PYTHON)}"),
    (LIBRARIES, "/usr/lib/lab-python/libraries"),
    (f"{HOME}/toolkit/nvidia-smi", "/usr/bin/nvidia-smi"),
    # Images for trainings with NCCL bring it; those of the lab, for CPUs, have no use for it of their own.
    (f"{HOME}/toolkit/nvidia-smi", "/usr/bin/all_reduce_perf"),
)


class NoDriver(Exception):
    """Message of NVML without a driver."""


def gpus():
    """[(index, UUID, [UUIDs of its MIG devices])] of the guest, or NoDriver."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NVIDIA_", "LAB_"))}
    try:
        done = subprocess.run([NVIDIA_SMI, "-L"], capture_output=True, text=True, check=False, env=environment)
    except OSError:
        library = "libnvidia-ml.so.1: cannot open shared object file: no such file or directory"
        raise NoDriver(f"load library failed: {library}") from None
    if done.returncode == 6:
        return []
    if done.returncode != 0:
        raise NoDriver("nvml error: driver not loaded")
    found = []
    for line in done.stdout.splitlines():
        card = re.match(r"GPU (\d+): .*\(UUID: (GPU-[^)]+)\)", line)
        part = re.search(r"\(UUID: (MIG-[^)]+)\)", line)
        if card:
            found.append((card.group(1), card.group(2), []))
        elif part:
            found[-1][2].append(part.group(1))
    return found


def wanted(environment):
    """The value of NVIDIA_VISIBLE_DEVICES that asks for devices, or None."""
    for row in environment:
        name, _equals, value = row.partition("=")
        if name == "NVIDIA_VISIBLE_DEVICES":
            return None if value in ("", "void") else value
    return None


def check(value):
    """NoDriver where the guest has no driver or not the devices that a container asks for."""
    found = gpus()
    if value in ("all", "none"):
        if not found and value == "all":
            raise NoDriver("nvml error: no devices found")
        return
    names = {name for index, uuid, parts in found for name in (index, uuid, *parts, f"{index}:0")}
    for name in value.split(","):
        if name.strip() not in names:
            raise NoDriver(f"device error: {name.strip()}: unknown device")


def existing():
    """Return the mounts whose source exists."""
    return [(source, target) for source, target in MOUNTS if glob.glob(source)]
