from __future__ import annotations

from twin_labs.host_lab import ESX, host, seed

from ..contract import Row

HOST = {"host": ESX, "devices": ["vmk1"]}


def mtu(twin):
    """MTU of adapters, of the switch and of its port in the model; what does not concern the MTU is beside it."""
    found = host(twin)
    adapters = {nic.device: (nic.mtu, tuple(nic.services)) for nic in found.vmkernel}
    (uplink,) = [nic for nic in found.nics if nic.device == "vmnic2"]
    return adapters, uplink.switch.mtu, uplink.mtu


def shown(adapter, switch):
    return {"vmk0": (1500, ("management", "vmotion")), "vmk1": (adapter, ())}, switch, switch


ROWS = [
    Row(
        module="vmkernel_mtu",
        name="with the switch below, which is never lowered",
        seed=seed(),
        create={**HOST, "switch": "raise", "mtu": 4200},
        modify={**HOST, "switch": "raise"},
        delete={**HOST, "mtu": 1500},
        observe=mtu,
        created=shown(4200, 4200),
        modified=shown(9000, 9000),
        deleted=shown(1500, 9000),
    ),
    Row(
        module="vmkernel_mtu",
        name="on a switch that is large enough",
        seed=seed(mtu=9000),
        create={**HOST},
        modify={**HOST, "mtu": 8000},
        delete={**HOST, "mtu": 1500},
        observe=mtu,
        created=shown(9000, 9000),
        modified=shown(8000, 9000),
        deleted=shown(1500, 9000),
    ),
]

# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = seed()
EXAMPLES_UNDO = ("Reset the MTU to the default of ESXi",)
