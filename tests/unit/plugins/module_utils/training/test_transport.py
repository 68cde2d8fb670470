"""Every variable of the ranks follows from the data path and the one treatment of RoCE."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.training import transport

from .runs import ADDRESSES, gid, guests, planned, rdma


def variables(**changes):
    return {setting.name: setting.value for setting in planned(**changes).settings}


def nccl(**changes):
    return {name: value for name, value in variables(gpus="all", **changes).items() if name.startswith("NCCL_")}


def with_gpus(**changes):
    return guests(2, rdma, gpus=4, **changes)


LOG = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,NET", "NCCL_SOCKET_IFNAME": "=ens224"}
RDMA = {"NCCL_IB_HCA": "=vmw_pvrdma0", "NCCL_IB_TC": "106", "NCCL_IB_ADDR_RANGE": "10.0.112.0/24"}


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({"data_path": "tcp"}, {"NCCL_IB_DISABLE": "1"}),
        ({"data_path": "pvrdma"}, {**RDMA, "NCCL_NET_GDR_LEVEL": "LOC"}),
        ({"data_path": "pvrdma", "gpudirect": "enabled"}, {**RDMA, "NCCL_NET_GDR_LEVEL": "LOC"}),
        ({"data_path": "sriov"}, RDMA),
        ({"data_path": "sriov", "gpudirect": "enabled"}, {**RDMA, "NCCL_NET_GDR_LEVEL": "PHB"}),
        ({"data_path": "passthrough", "gpudirect": "disabled"}, {**RDMA, "NCCL_NET_GDR_LEVEL": "LOC"}),
        ({"data_path": "sriov", "roce": {"dscp": 24, "ecn": {"state": "disabled"}}}, {**RDMA, "NCCL_IB_TC": "96"}),
        (
            {"data_path": "sriov", "image": "nvcr.io/nvidia/tensorflow:21.05-tf2-py3"},
            {"NCCL_IB_HCA": "=vmw_pvrdma0", "NCCL_IB_TC": "106", "NCCL_IB_GID_INDEX": "0"},
        ),
    ],
    ids=[
        "tcp leaves RDMA devices alone",
        "pvrdma cannot reach GPUs",
        "pvrdma cannot, whoever wants it",
        "sriov leaves GPUDirect to NCCL",
        "sriov with GPUDirect allows the distance in a VM",
        "passthrough without GPUDirect",
        "the traffic class is that of the site",
        "an old NCCL is told the GID",
    ],
)
def test_nccl_is_told_what_follows_from_the_data_path(changes, expected):
    assert nccl(found=with_gpus(), **changes) == {**LOG, **expected}


def test_a_single_guest_needs_no_network():
    assert nccl(found=with_gpus(), guest_count=1) == {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,NET"}


@pytest.mark.parametrize("stall_s, check, shutdown", [(300, "100", "200"), (30, "10", "20"), (1, "1", "2")])
def test_horovod_names_missing_ranks_before_the_run_is_ended(stall_s, check, shutdown):
    told = variables(limits={"stall_s": stall_s})
    assert (told["HOROVOD_STALL_CHECK_TIME_SECONDS"], told["HOROVOD_STALL_SHUTDOWN_TIME_SECONDS"]) == (check, shutdown)


def test_without_gpus_tensors_go_by_the_controller():
    assert variables(launcher="horovodrun", controller="gloo")["HOROVOD_CPU_OPERATIONS"] == "gloo"
    assert "HOROVOD_CPU_OPERATIONS" not in variables(found=with_gpus(), gpus="all")


def test_torchrun_has_gloo_on_the_data_path_and_nothing_of_horovod():
    told = variables(engine="torchrun")
    assert told["GLOO_SOCKET_IFNAME"] == "ens224"
    assert [name for name in told if name.startswith("HOROVOD")] == []


def test_what_the_user_gives_replaces_what_was_derived():
    made = planned(environment={"NCCL_SOCKET_IFNAME": "eth9", "DEPTH": 3, "FAST": True})
    given = {setting.name: setting.value for setting in made.settings if setting.reason == "Given by the user."}
    assert given == {"NCCL_SOCKET_IFNAME": "eth9", "DEPTH": "3", "FAST": "1"}
    assert [setting.name for setting in made.settings].count("NCCL_SOCKET_IFNAME") == 1


def test_every_variable_has_a_reason_that_is_a_sentence():
    for changes in ({"data_path": "pvrdma", "gpus": "all"}, {"data_path": "tcp"}, {"engine": "torchrun"}):
        for setting in planned(found=with_gpus(), **changes).settings:
            assert setting.reason.endswith("."), setting.name


def test_mpi_stays_on_tcp_and_on_the_data_path():
    told = {parameter.name: parameter.value for parameter in transport.mpi_parameters(planned().places)}
    assert told["btl"] == "^openib"
    assert told["btl_tcp_if_include"] == told["oob_tcp_if_include"] == "ens224"


def test_mpi_is_told_the_network_where_interfaces_have_other_names():
    found = guests()
    other = {"interfaces": {"enp5s0": (9000, True)}, "addresses": {"enp5s0": [(ADDRESSES["job-02"], 24)]}}
    found["job-02"] = guests(2, **other)["job-02"]
    told = {parameter.name: parameter.value for parameter in transport.mpi_parameters(planned(found).places)}
    assert told["btl_tcp_if_include"] == "10.0.112.0/24"


def test_a_gid_tells_its_address():
    assert gid("10.0.112.11").address == "10.0.112.11"
