"""Hosts for tests of the host driver: in maintenance mode, with depots on their datastore."""

from __future__ import annotations

import time

from pyVim.task import WaitForTask
from pyVmomi import vim

from vsphere_twin.model import depot, packages
from vsphere_twin.model import vib as vibs

from .observe import client

ESX = "esx-01.example.com"
OTHER = "esx-02.example.com"
VIB = "NVD-AIE_ESXi_8.0.0_Driver"
PACKAGES = (
    ("nvaie", "525.105.14"),
    ("nvaie", "550.54.16"),
    ("nvaie", "570.124.03"),
    ("graphics", "550.54.16"),
)


def depot_name(version="550.54.16", family="nvaie", release="800"):
    return depot.file_name(family, version, release)


def stored(version="550.54.16", family="nvaie", release="800"):
    """A depot as a task names it."""
    return f"[datastore-01] depots/{depot_name(version, family, release)}"


def seed(image="baselines", release="8.0.3", vms=(), hosts=1, files=(), **host):
    """A data centre whose first host has an A100 and, unless said otherwise, no driver."""
    first = {
        "name": ESX,
        "maintenance": True,
        "state": "factory",
        "gpus": [{"board": "a100_pcie_40gb"}],
        "boot_seconds": 0.1,
        **host,
    }
    depots = [{"depot": {"family": family, "version": version, "release": "800"}} for family, version in PACKAGES]
    return {
        "release": release,
        "users": {"administrator@vsphere.local": "VMware1!"},
        "datacenters": [
            {
                "name": "lab",
                "datastores": [{"name": "datastore-01", "capacity_gb": 100, "files": [*depots, *files]}],
                "networks": [{"name": "VM Network"}],
                "clusters": [
                    {
                        "name": "gpu",
                        "image": image,
                        "hosts": [{**first, "name": name} for name in (ESX, OTHER)[:hosts]],
                    }
                ],
                "vms": [{"name": name, "host": ESX, "power": "on", "memory_gb": 4} for name in vms],
            }
        ],
    }


def ready(version="550.54.16", family="nvaie", **more):
    """The same with a driver that runs."""
    return seed(state="ready", driver={"family": family, "version": version}, **more)


def machine(twin, name=ESX):
    """The host in the model."""
    return next(host for host in twin.world.of_kind("HostSystem") if host.name == name)


def software(twin, name=ESX):
    """What of NVIDIA's the model's host has installed, and which driver it runs."""
    host = machine(twin, name)
    with twin.world.lock:
        return {
            "vibs": sorted(vib.id for vib in host.software.vibs() if packages.family_of(vib) != "none"),
            "components": sorted(one.id for one in host.software.components() if one.name.startswith("NVD-")),
            "acceptance": host.software.acceptance,
            "runs": (host.driver.family, host.driver.version or None),
        }


def installed(version="550.54.16", runs=("none", None), family="nvaie"):
    """The same, as a test expects it."""
    (vib,), (component,) = packages.driver(family, version)
    return {
        "vibs": [vib.id],
        "components": [component.id],
        "acceptance": "PartnerSupported",
        "runs": runs,
    }


def bare(runs=("none", None)):
    return {"vibs": [], "components": [], "acceptance": "PartnerSupported", "runs": runs}


def reboot(twin, name=ESX):
    """Restart a host as an administrator would, and wait until it is back."""
    host = machine(twin, name)
    boots = host.boots
    with client(twin) as service:
        WaitForTask(vim.HostSystem(host.moid, service._stub).RebootHost_Task(force=False))
    deadline = time.monotonic() + 120
    while host.boots == boots or host.connection != "connected":
        assert time.monotonic() < deadline, f"{name} did not come back"
        time.sleep(0.02)


def single_vib(version="550.54.16"):
    """The bytes of the driver's VIB alone."""
    (vib,), _components = packages.driver("nvaie", version)
    return vibs.write(vib)
