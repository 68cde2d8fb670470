from __future__ import annotations

from ..contract import Row
from ..nics import network_lab, see

MANAGEMENT = ("VirtualVmxnet3", "VM Network", True, {})
ADDRESS = "00:50:56:01:02:03"


def sriov(portgroup="pg-sriov", connected=True, **more):
    return ("VirtualSriovEthernetCard", portgroup, connected, {"mtu change": False, **more})


def one(*adapters):
    return {"train-01": sorted([MANAGEMENT, *adapters], key=str)}


def requested(*entries, **more):
    return {"name": "train-01", "adapters": list(entries), **more}


VF = {"portgroup": "pg-sriov"}
GONE = {"name": "train-01", "state": "absent"}

ROWS = [
    Row(
        module="sriov_nic",
        name="a port that the host chooses, and then another port group",
        seed=network_lab(),
        create=requested(VF),
        modify=requested({"portgroup": "pg-sriov-2", "guest_mtu_change": True}),
        delete=GONE,
        observe=see("train-01"),
        created=one(sriov()),
        modified=one(sriov("pg-sriov-2", **{"mtu change": True})),
        deleted=one(),
    ),
    Row(
        module="sriov_nic",
        name="a fleet on both ports of the switch",
        seed=network_lab({}, {}),
        create={"vms": [{"name": "train-01"}, {"name": "train-02"}], "adapters": [VF]},
        modify={
            "vms": [
                {"name": "train-01", "adapters": [{**VF, "mac": ADDRESS}]},
                {"name": "train-02", "adapters": [VF, {**VF, "connected": False}]},
            ]
        },
        delete={"vms": [{"name": "train-01"}, {"name": "train-02"}], "state": "absent"},
        observe=see("train-01", "train-02"),
        created={name: sorted([MANAGEMENT, sriov()], key=str) for name in ("train-01", "train-02")},
        modified={
            "train-01": sorted([MANAGEMENT, sriov(mac=ADDRESS)], key=str),
            "train-02": sorted([MANAGEMENT, sriov(), sriov(connected=False)], key=str),
        },
        deleted={name: [MANAGEMENT] for name in ("train-01", "train-02")},
    ),
    Row(
        module="sriov_nic",
        name="a running VM on a standard switch, by a power cycle",
        seed=network_lab(
            {"power": "on", "tools": "none"},
            hosts=(
                {
                    "module_options": {"nmlx5_core": "max_vfs=0,8,8"},
                    "nics": {"vmnic0": {"uplink_of": None}, "vmnic3": {"uplink_of": "vSwitch0"}},
                },
            ),
        ),
        create=requested({"portgroup": "VM Network"}, power="cycle"),
        modify=requested({"portgroup": "VM Network", "guest_mtu_change": True}, power="cycle"),
        delete={**GONE, "power": "cycle"},
        observe=see("train-01"),
        created=one(sriov("VM Network")),
        modified=one(sriov("VM Network", **{"mtu change": True})),
        deleted=one(),
    ),
]

EXAMPLES_SEED = network_lab({}, {"host": "esx-02"}, {}, hosts=({}, {}))
