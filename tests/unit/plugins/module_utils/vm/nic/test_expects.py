# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic import expects

from .worlds import adapter, state

OTHERS = [("train-03", "esx-02"), ("train-02", "esx-01"), ("train-04", None)]


@pytest.mark.parametrize(
    "kind, rdma, path, transport, fallback, driver",
    [
        ("pvrdma", False, "pvrdma", "rdma", "tcp", "vmw_pvrdma"),
        ("sriov", True, "sriov", "rdma", None, "mlx5_core"),
        ("sriov", False, "sriov", "tcp", None, None),
        ("vmxnet3", False, "tcp", "tcp", None, "vmxnet3"),
    ],
)
def test_each_path_has_its_transport_and_only_pvrdma_falls_back_silently(kind, rdma, path, transport, fallback, driver):
    reported = expects.of(kind, state(), 1, rdma, [])
    assert (reported["path"], reported["transport"], reported["fallback"]) == (path, transport, fallback)
    assert reported["guest_driver"] == driver


def test_vms_of_the_same_host_are_no_peers():
    reported = expects.of("pvrdma", state(adapter(protocol="rocev2")), 1, False, OTHERS)
    assert reported["peers"] == ["train-03", "train-04"]
    assert reported["proves_nothing"] == ["train-02"]
    assert reported["roce"] == ["rocev2"]
