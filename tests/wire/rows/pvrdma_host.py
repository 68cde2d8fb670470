from __future__ import annotations

from twin_labs.host_lab import ESX, esx, host, seed

from ..contract import Row


def pvrdma(twin):
    """The tag and the firewall of the model."""
    found = host(twin)
    return found.options["Net.PVRDMAVmknic"], found.rulesets["pvrdma"]


TWO = [
    {"device": "vmk0", "network": "Management Network", "services": ["management"]},
    {"device": "vmk1", "portgroup": "pg-rdma"},
    {"device": "vmk2", "portgroup": "pg-rdma"},
]
ROWS = [
    Row(
        module="pvrdma_host",
        name="an adapter, another one, and none",
        seed=seed(esx(vmkernel=TWO)),
        create={"host": ESX, "vmknic": "vmk1"},
        modify={"host": ESX, "vmknic": "vmk2"},
        delete={"host": ESX, "state": "absent"},
        observe=pvrdma,
        created=("vmk1", True),
        modified=("vmk2", True),
        deleted=("", False),
    ),
    Row(
        module="pvrdma_host",
        name="a firewall that is open already",
        seed=seed(esx(vmkernel=TWO, rulesets={"pvrdma": True})),
        create={"host": ESX, "vmknic": "vmk1"},
        modify={"host": ESX, "vmknic": "vmk2"},
        delete={"host": ESX, "state": "absent"},
        observe=pvrdma,
        created=("vmk1", True),
        modified=("vmk2", True),
        deleted=("", False),
    ),
]

# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = seed()
