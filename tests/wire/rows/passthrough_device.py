from __future__ import annotations

import functools

from ..contract import Row
from ..direct_lab import (
    A100,
    CLASS,
    FABRIC,
    FAR_ROOT,
    FIT,
    PORT,
    ROOT,
    SPARE,
    direct,
    enhanced,
    gpu,
    ports,
    site,
    static,
)
from ..lab import A100 as A100_BOARD
from ..lab import NVAIE, datacenter

ONE = {"name": "train-01"}
GONE = {**ONE, "state": "absent"}
VGPU = ("vgpu", "grid_a100-40c")


def vms(*names):
    return functools.partial(lambda twin: direct(twin, *names))


def has(*devices, groups=(), power="poweredOff"):
    return {"devices": sorted(devices, key=str), "groups": list(groups), "power": power}


GROUP = "Nvidia:1@grid_a100-40c%MT2892 Family [ConnectX-6 Dx]"
IN_GROUP = (VGPU + ("part 0",), ("dynamic", (PORT,), "fabric", "part 1"))
SHARED = {**A100_BOARD, "root": ROOT}
PAIR = "Nvidia:2@grid_a100-40c%NVLink"
H100 = "nvidia_h100xm-80c"
HGX = {"board": "h100_sxm_80gb", "graphics_type": "sharedDirect", "count": 8, "root": "0000:80:02.0"}
HGX_GROUP = f"Nvidia:{{}}@{H100}%NVLink"


def fixed(*addresses):
    return [{"kind": "static", "id": address} for address in addresses]


def kind(ids, label=None, **more):
    return {"kind": "dynamic", "allowed": [ids], **({"label": label} if label else {}), **more}


ROWS = [
    Row(
        module="passthrough_device",
        name="a port at an address, then another one",
        seed=site(FIT, FIT),
        create={**ONE, "devices": fixed(FABRIC)},
        modify={**ONE, "devices": fixed(SPARE)},
        delete=GONE,
        observe=vms("train-01", "train-02"),
        created={"train-01": has(static(FABRIC)), "train-02": has()},
        modified={"train-01": has(static(SPARE)), "train-02": has()},
        deleted={"train-01": has(), "train-02": has()},
    ),
    Row(
        module="passthrough_device",
        name="a GPU and ports by kind and label, beside the vGPU of another VM",
        seed=site(FIT, {**FIT, "vgpus": ["grid_a100-40c"]}),
        create={**ONE, "devices": [kind(A100), kind(PORT, "fabric")]},
        modify={**ONE, "devices": [kind("0x10DE:0x20F1"), kind(PORT, "fabric"), kind(PORT)]},
        delete={"vms": [{"name": "train-01"}, {"name": "train-02"}], "state": "absent"},
        observe=vms("train-01", "train-02"),
        created={
            "train-01": has(("dynamic", (A100,), ""), ("dynamic", (PORT,), "fabric")),
            "train-02": has(VGPU),
        },
        modified={
            "train-01": has(("dynamic", (A100,), ""), ("dynamic", (PORT,), "fabric"), ("dynamic", (PORT,), "")),
            "train-02": has(VGPU),
        },
        deleted={"train-01": has(), "train-02": has(VGPU)},
    ),
    Row(
        module="passthrough_device",
        name="a running VM, by a power cycle, with a node for its port",
        seed=site({**FIT, "power": "on", "tools": "none"}),
        create={**ONE, "devices": [kind(PORT, "fabric")], "power": "cycle"},
        modify={**ONE, "devices": [kind(PORT, "fabric", numa_node=0)], "power": "cycle"},
        delete={**GONE, "power": "cycle"},
        observe=vms("train-01"),
        created={"train-01": has(("dynamic", (PORT,), "fabric"), power="poweredOn")},
        modified={"train-01": has(("dynamic", (PORT,), "fabric", "node 0"), power="poweredOn")},
        deleted={"train-01": has(power="poweredOn")},
    ),
    Row(
        module="passthrough_device",
        name="a GPU and a port of one switch as a group, then the port alone",
        seed=site(gpus=[SHARED]),
        create={**ONE, "devices": [{"kind": "group", "group": GROUP}]},
        modify={**ONE, "devices": [kind(PORT, "fabric")]},
        delete=GONE,
        observe=vms("train-01"),
        created={"train-01": has(*IN_GROUP, groups=[GROUP])},
        modified={"train-01": has(("dynamic", (PORT,), "fabric"))},
        deleted={"train-01": has()},
    ),
    Row(
        module="passthrough_device",
        name="two GPUs of an NVLink bridge as a group, then a port alone",
        seed=site(gpus=[{**SHARED, "root": FAR_ROOT, "nvlink": "pair-1", "count": 2}]),
        create={**ONE, "devices": [{"kind": "group", "group": PAIR}]},
        modify={**ONE, "devices": [kind(PORT, "fabric")]},
        delete=GONE,
        observe=vms("train-01"),
        created={"train-01": has(VGPU + ("part 0",), VGPU + ("part 1",), groups=[PAIR])},
        modified={"train-01": has(("dynamic", (PORT,), "fabric"))},
        deleted={"train-01": has()},
    ),
    Row(
        module="passthrough_device",
        name="eight GPUs beside NVSwitches as a group, then two of them",
        seed=site(gpus=[HGX], nvswitches=4, release="9.1.0"),
        create={**ONE, "devices": [{"kind": "group", "group": HGX_GROUP.format(8)}]},
        modify={**ONE, "devices": [{"kind": "group", "group": HGX_GROUP.format(2)}]},
        delete=GONE,
        observe=vms("train-01"),
        created={"train-01": has(*(("vgpu", H100, f"part {n}") for n in range(8)), groups=[HGX_GROUP.format(8)])},
        modified={"train-01": has(*(("vgpu", H100, f"part {n}") for n in range(2)), groups=[HGX_GROUP.format(2)])},
        deleted={"train-01": has()},
    ),
    Row(
        module="passthrough_device",
        name="more than four whole GPUs, then four",
        seed=site(gpus=[gpu(root=f"0000:{n:02x}:02.0") for n in range(0x50, 0xB0, 12)], release="9.1.0"),
        create={**ONE, "devices": [kind(A100)] * 8},
        modify={**ONE, "devices": [kind(A100)] * 4},
        delete=GONE,
        observe=vms("train-01"),
        created={"train-01": has(*[("dynamic", (A100,), "")] * 8)},
        modified={"train-01": has(*[("dynamic", (A100,), "")] * 4)},
        deleted={"train-01": has()},
    ),
    Row(
        module="passthrough_device",
        name="a GPU by the class of the vendor's software, then a port",
        seed=site(gpus=[enhanced()], release="9.1.0"),
        create={**ONE, "devices": [{"kind": "dvx", "device_class": CLASS}]},
        modify={**ONE, "devices": [kind(PORT, "fabric")]},
        delete=GONE,
        observe=vms("train-01"),
        created={"train-01": has(("dvx", CLASS))},
        modified={"train-01": has(("dynamic", (PORT,), "fabric"))},
        deleted={"train-01": has()},
    ),
]

# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = {
    **site(),
    "datacenters": [
        datacenter(
            "dc1",
            [
                {
                    "name": "esx-01",
                    "driver": NVAIE,
                    "gpus": [
                        SHARED,
                        gpu(root="0000:76:02.0"),
                        gpu(root="0000:a6:02.0"),
                        {**enhanced(), "root": "0000:c6:02.0"},
                    ],
                    "nics": ports(*["fabric"] * 4),
                }
            ],
            [{"folder": "training", **FIT}] * 5,
            ["training"],
        )
    ],
}
