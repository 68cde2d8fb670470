from __future__ import annotations

from ..contract import Look

LEAF = {
    "name": "leaf-01",
    "platform": "sonic",
    "ports": {
        "Ethernet0": {
            "trust": "dscp",
            "dscp_map": {"26": 1, "48": 6},
            "pfc_mode": "on",
            "pfc": [3, 4],
            "lossless": [3, 4],
            "mtu": 9100,
        }
    },
}
HOST = {"name": "esx-01", "ports": [{"name": "vmnic2", "rdma": "vmrdma0", "dscp": 26, "pfc": [3], "mtu": 9000}]}


def reports(_twin):
    """The stock map of SONiC, which sends RoCE to a lossy class, and the second lossless priority that it has."""
    return {"agreed": False, "codes": ["dscp_map", "pfc_more_priorities"], "ends": [("esx-01", "leaf-01")]}


def reported(answer):
    return {
        "agreed": answer["agreed"],
        "codes": [one["code"] for one in answer["disagreements"]],
        "ends": [(path["a"]["name"], path["b"]["name"]) for path in answer["paths"]],
    }


LOOKS = [
    Look(
        module="roce_agreement_info",
        name="a switch as it is delivered, behind a host that is right",
        params={
            "switches": [LEAF],
            "hosts": [HOST],
            "cables": [{"switch": "leaf-01", "port": "Ethernet0", "host": "esx-01", "nic": "vmnic2"}],
        },
        reports=reports,
        reported=reported,
    ),
]

EXAMPLES_SEED = "small"
