from __future__ import annotations

import time

from pyVmomi import vim

from ..contract import Look
from ..lab import A100
from ..nics import network_lab
from ..observe import client

DEVICE = vim.vm.device
KINDS = (
    (DEVICE.VirtualVmxnet3Vrdma, "pvrdma"),
    (DEVICE.VirtualVmxnet3, "vmxnet3"),
    (DEVICE.VirtualSriovEthernetCard, "sriov"),
)
# A VM of each path that runs, and one that is off.
SEED = network_lab(
    {"power": "on", "adapters": [{"network": "pg-rdma", "type": "pvrdma"}]},
    {"power": "on", "networks": ["pg-a", "VM Network"], "adapters": [{"network": "pg-sriov", "type": "sriov"}]},
    {"networks": ["VM Network"]},
    hosts=({"gpus": [A100], "driver": {"family": "nvaie", "version": "550.54.16"}}, {}),
)
NAMES = ("train-01", "train-02", "train-03")


def booted(twin):
    """Once the guests of all VMs that run have come up."""
    while any(vm.power == "poweredOn" and not vm.addresses for vm in twin.world.of_kind("VirtualMachine")):
        time.sleep(0.02)
    return twin


def reports(twin):
    """The VMs as a plain client reads them, object by object."""
    booted(twin)
    with client(twin) as service:
        content = service.RetrieveContent()
        view = content.viewManager.CreateContainerView(content.rootFolder, [vim.VirtualMachine], True)
        return {vm.name: _seen(vm) for vm in view.view if vm.name in NAMES}


def _seen(vm):
    net = {entry.macAddress: entry for entry in vm.guest.net}
    return {
        "moid": vm._GetMoId(),
        "power": {"poweredOn": "on", "poweredOff": "off"}[vm.runtime.powerState],
        "guest name": vm.guest.hostName,
        "host": vm.runtime.host.name,
        "adapters": [
            (
                next(kind for type_, kind in KINDS if isinstance(card, type_)),
                card.macAddress,
                list(net[card.macAddress].ipAddress) if card.macAddress in net else [],
            )
            for card in vm.config.hardware.device
            if isinstance(card, DEVICE.VirtualEthernetCard)
        ],
        "networks": sorted(network.name for network in vm.network),
    }


def reported(answer):
    """The same from the answer."""
    return {
        one["name"]: {
            "moid": one["moid"],
            "power": one["power"],
            "guest name": one["guest_name"],
            "host": one["host"]["name"],
            "adapters": [(nic["kind"], nic["mac"], nic["addresses"]) for nic in one["adapters"]],
            "networks": sorted(nic["network"] for nic in one["adapters"]),
        }
        for one in answer["vms"]
    }


LOOKS = [
    Look(
        "vm_guest_info",
        "VMs of all paths by their names",
        {"vms": [{"name": name} for name in NAMES]},
        reports,
        reported,
        seed=SEED,
    ),
    Look(
        "vm_guest_info",
        "VMs of all paths by their inventory paths",
        {"vms": [{"path": f"/dc1/vm/training/{name}"} for name in NAMES], "host_driver": True},
        reports,
        reported,
        seed=SEED,
    ),
]

# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = SEED
