from __future__ import annotations

from ..contract import Row
from ..nics import network_lab, see

MANAGEMENT = ("VirtualVmxnet3", "VM Network", True, {})
ADDRESS = "00:50:56:01:02:03"


def vmxnet3(portgroup="pg-a", connected=True, **more):
    return ("VirtualVmxnet3", portgroup, connected, more)


def one(*adapters):
    return {"train-01": sorted([MANAGEMENT, *adapters], key=str)}


def requested(*entries, **more):
    return {"name": "train-01", "adapters": list(entries), **more}


TRAIN = {"portgroup": "pg-a"}
GONE = requested(TRAIN, state="absent")

ROWS = [
    Row(
        module="vmxnet3_nic",
        name="one VM, while it runs",
        seed=network_lab({"power": "on"}),
        create=requested(TRAIN),
        modify=requested({**TRAIN, "connected": False}),
        delete=GONE,
        observe=see("train-01"),
        created=one(vmxnet3()),
        modified=one(vmxnet3(connected=False)),
        deleted=one(),
    ),
    Row(
        module="vmxnet3_nic",
        name="an adapter that is moved with its address",
        seed=network_lab({"power": "on"}),
        create=requested({**TRAIN, "mac": ADDRESS}),
        modify=requested({"portgroup": "pg-b", "switch": "dvs-b", "mac": ADDRESS}),
        delete=requested({"portgroup": "pg-b", "switch": "dvs-b"}, state="absent"),
        observe=see("train-01"),
        created=one(vmxnet3(mac=ADDRESS)),
        modified=one(vmxnet3("pg-b", mac=ADDRESS)),
        deleted=one(),
    ),
    Row(
        module="vmxnet3_nic",
        name="a fleet with one and two adapters",
        seed=network_lab({}, {}),
        create={"vms": [{"name": "train-01"}, {"name": "train-02"}], "adapters": [TRAIN]},
        modify={"vms": [{"name": "train-01", "adapters": [TRAIN, TRAIN]}, {"name": "train-02", "adapters": [TRAIN]}]},
        delete={"vms": [{"name": "train-01"}, {"name": "train-02"}], "adapters": [TRAIN], "state": "absent"},
        observe=see("train-01", "train-02"),
        created={name: [MANAGEMENT, vmxnet3()] for name in ("train-01", "train-02")},
        modified={"train-01": [MANAGEMENT, vmxnet3(), vmxnet3()], "train-02": [MANAGEMENT, vmxnet3()]},
        deleted={name: [MANAGEMENT] for name in ("train-01", "train-02")},
    ),
]

EXAMPLES_SEED = network_lab(
    {},
    {"host": "esx-02"},
    {},
    hosts=({}, {}),
    switches=[{"name": "dvs-train", "portgroups": [{"name": "pg-train"}]}],
)
