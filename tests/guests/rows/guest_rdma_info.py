from __future__ import annotations

from ..contract import GuestLook
from .guest_interface import FABRIC


def reported(answer):
    """(device, its module, link layer, adapter) of each port."""
    found = answer["rdma"]["devices"]
    return [(one["name"], one["module"], at["link_layer"], at["interfaces"]) for one in found for at in one["ports"]]


LOOKS = [
    GuestLook(
        module="guest_rdma_info",
        name="a PVRDMA adapter",
        vm=FABRIC,
        params={"user": "ops"},
        reported=reported,
        reports=[("vmw_pvrdma0", "vmw_pvrdma", "ethernet", ["ens224"])],
    ),
    GuestLook(
        module="guest_rdma_info",
        name="a VM without RDMA",
        params={},
        reported=reported,
        reports=[],
    ),
]
