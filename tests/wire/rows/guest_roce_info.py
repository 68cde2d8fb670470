from __future__ import annotations

import tempfile
from pathlib import Path

from ..contract import Look
from ..linux_host import LinuxHost

FILES = {
    "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0": "ens192",
    "/sys/class/net/ens192/mtu": "9000",
    "/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos": "106",
}
TOOLS = {
    "dcb -j pfc show dev ens192": '{"pfc_cap":8,"prio_pfc":[false,false,false,true,false,false,false,false]}',
    "dcb -j app show dev ens192": '{"dscp_prio":[[26,3," "]]}',
}


def on_linux(module, check, **params):
    """The answer of the module on a Linux system, which the twin has none of."""
    with tempfile.TemporaryDirectory(prefix="linux-") as folder:
        return LinuxHost(Path(folder), FILES, TOOLS).act(module, params, check)


def reports(_twin):
    return {"name": "ens192", "mtu": 9000, "pfc": [3], "trust": "dscp", "marks": [106]}


def reported(answer):
    (port,) = answer["guest"]["ports"]
    found = {key: port[key] for key in ("name", "mtu", "pfc", "trust")}
    return {**found, "marks": [mark["traffic_class"] for mark in port["marks"]]}


LOOKS = [
    Look(
        module="guest_roce_info",
        name="an adapter with the tools of the kernel",
        params={},
        reports=reports,
        reported=reported,
        run=on_linux,
    ),
]

# The twin has no guests: the plays of the examples find no hosts.
EXAMPLES_SEED = "small"
