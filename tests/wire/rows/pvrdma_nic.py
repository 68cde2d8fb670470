from __future__ import annotations

from ..contract import Row
from ..nics import network_lab, see

MANAGEMENT = ("VirtualVmxnet3", "VM Network", True, {})
FIRST, SECOND = "00:50:56:01:02:03", "00:50:56:01:02:04"


def pvrdma(portgroup="pg-rdma", connected=True, **more):
    return ("VirtualVmxnet3Vrdma", portgroup, connected, {"protocol": "rocev2", **more})


def one(*adapters):
    return {"train-01": sorted([MANAGEMENT, *adapters], key=str)}


def requested(*entries, **more):
    return {"name": "train-01", "adapters": list(entries), **more}


RDMA = {"portgroup": "pg-rdma"}
GONE = {"name": "train-01", "state": "absent"}

ROWS = [
    Row(
        module="pvrdma_nic",
        name="one VM, moved to another port group of the switch",
        seed=network_lab(),
        create=requested(RDMA),
        modify=requested({"portgroup": "pg-rdma-2", "switch": "dvs-rdma"}),
        delete=GONE,
        observe=see("train-01"),
        created=one(pvrdma()),
        modified=one(pvrdma("pg-rdma-2")),
        deleted=one(),
    ),
    Row(
        module="pvrdma_nic",
        name="a fleet, whose addresses are then fixed",
        seed=network_lab({}, {"host": "esx-02"}, hosts=({}, {})),
        create={"vms": [{"name": "train-01"}, {"name": "train-02"}], "adapters": [RDMA]},
        modify={
            "vms": [
                {"name": "train-01", "adapters": [{**RDMA, "mac": FIRST}]},
                {"name": "train-02", "adapters": [{**RDMA, "mac": SECOND.upper()}]},
            ]
        },
        delete={"vms": [{"name": "train-01"}, {"name": "train-02"}], "state": "absent"},
        observe=see("train-01", "train-02"),
        created={name: [MANAGEMENT, pvrdma()] for name in ("train-01", "train-02")},
        modified={
            "train-01": [MANAGEMENT, pvrdma(mac=FIRST)],
            "train-02": [MANAGEMENT, pvrdma(mac=SECOND)],
        },
        deleted={name: [MANAGEMENT] for name in ("train-01", "train-02")},
    ),
    Row(
        module="pvrdma_nic",
        name="RoCE v1, and then v2",
        seed=network_lab(),
        create=requested({**RDMA, "protocol": "rocev1"}),
        modify=requested({**RDMA, "protocol": "rocev2"}),
        delete=GONE,
        observe=see("train-01"),
        created=one(pvrdma(protocol="rocev1")),
        modified=one(pvrdma()),
        deleted=one(),
    ),
    Row(
        module="pvrdma_nic",
        name="hardware that has no protocol, and a second adapter",
        seed=network_lab({"hardware_version": 21}),
        create=requested({**RDMA, "protocol": "rocev2"}),
        modify=requested(RDMA, {**RDMA, "mac": FIRST}),
        delete=GONE,
        observe=see("train-01"),
        created=one(("VirtualVmxnet3Vrdma", "pg-rdma", True, {})),
        modified=one(
            ("VirtualVmxnet3Vrdma", "pg-rdma", True, {}), ("VirtualVmxnet3Vrdma", "pg-rdma", True, {"mac": FIRST})
        ),
        deleted=one(),
    ),
    Row(
        module="pvrdma_nic",
        name="a running VM, by a power cycle",
        seed=network_lab({"power": "on", "tools": "none"}),
        create=requested(RDMA, power="cycle"),
        modify=requested({"portgroup": "pg-rdma-2", "connected": False}, power="cycle"),
        delete={**GONE, "power": "cycle"},
        observe=see("train-01"),
        created=one(pvrdma()),
        modified=one(pvrdma("pg-rdma-2", connected=False)),
        deleted=one(),
    ),
]

# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = network_lab({}, {"host": "esx-02"}, {}, hosts=({}, {}))
