# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What the network test of a job has to show for its data path, and what it cannot show. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import PVRDMA, VMXNET3

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import NicState


def of(kind: str, state: NicState, number: int, rdma: bool, others: Iterable[tuple[str, str | None]]) -> dict[str, Any]:
    """What a network with this number of adapters per VM has to show; others are (name, host) of the rest of the job.

    rdma: whether the port under an SR-IOV adapter does RDMA. Between VMs of one host the traffic never reaches a
    port, so that those pairs prove nothing.
    """
    host = state.host.name if state.host is not None else None
    told = {
        "path": "tcp" if kind == VMXNET3 else kind,
        "adapters": number,
        "transport": "rdma" if kind == PVRDMA or rdma else "tcp",
        # What stays, without a word, when the wanted transport does not work.
        "fallback": "tcp" if kind == PVRDMA else None,
        "guest_driver": {PVRDMA: "vmw_pvrdma", VMXNET3: "vmxnet3"}.get(kind, "mlx5_core" if rdma else None),
        "roce": sorted({one.protocol for one in state.adapters if one.protocol}),
    }
    return dict(
        told,
        peers=sorted(name for name, place in others if place != host),
        proves_nothing=sorted(name for name, place in others if place == host),
    )
