# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Expected results of a job's network test for its data path, and its limits. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import PVRDMA, VMXNET3

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import NicState


def of(
    kind: str, state: NicState, number: int, rdma: bool, others: Iterable[tuple[str, str | None]]
) -> dict[str, object]:
    """Return the expected results of a network with this number of adapters per VM; others are (name, host) of the
    other VMs of the job.

    rdma: the port under an SR-IOV adapter supports RDMA. Traffic between VMs of one host never reaches a port, so those
    pairs prove nothing.
    """
    host = state.host.name if state.host is not None else None
    reported = {
        "path": "tcp" if kind == VMXNET3 else kind,
        "adapters": number,
        "transport": "rdma" if kind == PVRDMA or rdma else "tcp",
        # The transport that silently remains if the requested one does not work.
        "fallback": "tcp" if kind == PVRDMA else None,
        "guest_driver": {PVRDMA: "vmw_pvrdma", VMXNET3: "vmxnet3"}.get(kind, "mlx5_core" if rdma else None),
        "roce": sorted({one.protocol for one in state.adapters if one.protocol}),
    }
    return dict(
        reported,
        peers=sorted(name for name, place in others if place != host),
        proves_nothing=sorted(name for name, place in others if place == host),
    )
