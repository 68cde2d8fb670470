from __future__ import annotations

from ..contract import GuestLook
from .guest_interface import FABRIC


def reported(answer):
    """(check, status) of each measurement, and the MTU."""
    found = {one["check"]: one for one in answer["measurements"]}
    return [(check, one["status"]) for check, one in found.items()], found["guest.mtu"]["readings"]


LOOKS = [
    GuestLook(
        module="guest_health_info",
        name="a PVRDMA adapter",
        vm=FABRIC,
        params={
            "name": "job-01",
            "interface": "ens224",
            "checks": ["guest.kernel", "guest.mtu", "guest.rdma_device"],
            "gpu": False,
        },
        reported=reported,
        reports=(
            [("guest.kernel", "done"), ("guest.mtu", "done"), ("guest.rdma_device", "done")],
            {"interface": "ens224", "mtu": 1500},
        ),
    ),
]
