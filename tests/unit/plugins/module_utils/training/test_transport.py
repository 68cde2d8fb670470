"""Every variable of the ranks follows from the data path and the one treatment of RoCE."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.training import plan, transport

from .runs import ADDRESSES, IMAGE, gid, guests, planned, rdma


def variables(**changes):
    return {setting.name: setting.value for setting in planned(**changes).settings}


def nccl(**changes):
    return {name: value for name, value in variables(gpus="all", **changes).items() if name.startswith("NCCL_")}


def with_gpus(**changes):
    return guests(2, rdma, gpus=4, **changes)


LOG = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,NET", "NCCL_SOCKET_IFNAME": "=ens224"}
RDMA = {"NCCL_IB_HCA": "=vmw_pvrdma0", "NCCL_IB_TC": "106", "NCCL_IB_GID_INDEX": "0"}
BY_ADDRESS = {"NCCL_IB_HCA": "=vmw_pvrdma0", "NCCL_IB_TC": "106", "NCCL_IB_ADDR_RANGE": "10.0.112.0/24"}


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
        ({"data_path": "sriov", "image": "nvcr.io/nvidia/tensorflow:21.05-tf2-py3"}, RDMA),
    ],
    ids=[
        "tcp leaves RDMA devices alone",
        "pvrdma cannot reach GPUs",
        "pvrdma cannot, whoever wants it",
        "sriov leaves GPUDirect to NCCL",
        "sriov with GPUDirect allows the distance in a VM",
        "passthrough without GPUDirect",
        "the traffic class is that of the site",
        "an old NCCL gets the GID",
    ],
)
def test_nccl_is_reported_what_follows_from_the_data_path(changes, expected):
    assert nccl(found=with_gpus(), **changes) == {**LOG, **expected}


def test_ucx_has_the_device_and_the_traffic_class_of_the_site():
    made = planned(data_path="sriov", engine="horovod", mpi_transport="ucx", command=["osu_latency"], builtin=None)
    reported = {one.name: one.value for one in made.settings if one.name.startswith("UCX_")}
    assert reported == {
        "UCX_NET_DEVICES": "vmw_pvrdma0:1",
        "UCX_TLS": "rc,self,sm",
        "UCX_IB_TRAFFIC_CLASS": "106",
        "UCX_IB_GID_INDEX": "0",
        "UCX_LOG_LEVEL": "info",
    }
    words = " ".join(made.launches[0].argv)
    assert "--mca pml ucx" in words
    assert all(f"-x {name}" in words for name in reported)


def test_mpi_stays_on_tcp_unless_ucx_is_requested():
    assert not [name for name in variables(data_path="sriov") if name.startswith("UCX_")]


def of_image(nccl_version, indexes=(3, 3), name="images.example.com/horovod:1", **changes):
    """The plan where the image reports this version, and RoCE v2 has these places in the tables of the guests."""
    reported = {"NCCL_VERSION": nccl_version} if nccl_version else {}
    found = with_gpus(image=dict(IMAGE, environment=reported))
    for guest_name, index in zip(found, indexes, strict=True):
        found[guest_name] = rdma(
            guest_name, gpus=4, image=found[guest_name].image, gids=(gid(ADDRESSES[guest_name], index=index),)
        )
    return planned(found, data_path="sriov", gpus="all", image=name, **changes)


def of(made):
    return {setting.name: setting.value for setting in made.settings if setting.name.startswith("NCCL_IB_")}


INDEX_3 = {**RDMA, "NCCL_IB_GID_INDEX": "3"}


@pytest.mark.parametrize(
    "version, changes, expected, remarks",
    [
        ("2.16.5", {}, INDEX_3, 0),
        ("2.9.6-1+cuda11.3", {}, INDEX_3, 0),
        ("2.21.5", {}, BY_ADDRESS, 0),
        ("2.27.3-1+cuda12.9", {"indexes": (1, 3)}, BY_ADDRESS, 0),
        ("", {}, INDEX_3, 0),
        ("", {"indexes": (1, 3)}, BY_ADDRESS, 1),
        ("", {"indexes": (1, 3), "environment": {"NCCL_IB_GID_INDEX": 3}}, {**BY_ADDRESS, "NCCL_IB_GID_INDEX": "3"}, 0),
        ("2.21.5", {"environment": {"NCCL_IB_GID_INDEX": 1}}, {**BY_ADDRESS, "NCCL_IB_GID_INDEX": "1"}, 0),
        ("2.16.5", {"environment": {"NCCL_IB_GID_INDEX": 1}}, {**INDEX_3, "NCCL_IB_GID_INDEX": "1"}, 0),
        ("2.21.5", {"name": "nvcr.io/nvidia/tensorflow:21.05-tf2-py3"}, BY_ADDRESS, 0),
    ],
    ids=[
        "old",
        "old, as a package",
        "new",
        "new, with other indexes",
        "unknown",
        "unknown, with other indexes",
        "unknown, with other indexes, and the user says one",
        "new, and the user says one",
        "old, and the user says one",
        "the image itself knows better than the table of images",
    ],
)
def test_the_gid_follows_from_the_nccl_that_the_image_reports(version, changes, expected, remarks):
    made = of_image(version, **changes)
    assert of(made) == expected
    assert [("NCCL_VERSION" in remark, "indexes 1, 3" in remark) for remark in made.remarks] == [(True, True)] * remarks


def test_an_old_nccl_takes_one_index_for_all_guests_or_the_users():
    with pytest.raises(OperatorError, match="indexes 1, 3") as refused:
        of_image("2.16.5", indexes=(1, 3))
    assert refused.value.code == "gids_differ"
    assert of(of_image("2.16.5", indexes=(1, 3), environment={"NCCL_IB_GID_INDEX": 3}))["NCCL_IB_GID_INDEX"] == "3"


def test_what_is_fetched_anew_may_hold_another_nccl():
    made = of_image("2.21.5", pull="always")
    assert of(made) == INDEX_3
    looks = guests(2, rdma, image=dict(IMAGE, environment={"NCCL_VERSION": "2.21.5"}))
    again = plan.informed(made, looks)
    assert of(again) == BY_ADDRESS
    assert "NCCL_IB_GID_INDEX" not in again.launches[0].argv


@pytest.mark.parametrize(
    "version, reported, doubted",
    [("2.21.5", "2.18.5", 1), ("2.21.5", "2.21.5", 0), ("", "2.18.5", 0), ("2.21.5", None, 0)],
)
def test_a_log_that_reports_an_older_nccl_than_the_image_is_remarked(version, reported, doubted):
    assert len(list(plan.doubts(of_image(version), reported))) == doubted


def test_a_single_guest_needs_no_network():
    assert nccl(found=with_gpus(), guest_count=1) == {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,NET"}


@pytest.mark.parametrize("stall_s, check, shutdown", [(300, "100", "200"), (30, "10", "20"), (1, "1", "2")])
def test_horovod_names_missing_ranks_before_the_run_is_ended(stall_s, check, shutdown):
    reported = variables(limits={"stall_s": stall_s})
    assert (reported["HOROVOD_STALL_CHECK_TIME_SECONDS"], reported["HOROVOD_STALL_SHUTDOWN_TIME_SECONDS"]) == (
        check,
        shutdown,
    )


def test_without_gpus_tensors_go_by_the_controller():
    assert variables(launcher="horovodrun", controller="gloo")["HOROVOD_CPU_OPERATIONS"] == "gloo"
    assert "HOROVOD_CPU_OPERATIONS" not in variables(found=with_gpus(), gpus="all")


def test_torchrun_has_gloo_on_the_data_path_and_nothing_of_horovod():
    reported = variables(engine="torchrun")
    assert reported["GLOO_SOCKET_IFNAME"] == "ens224"
    assert [name for name in reported if name.startswith("HOROVOD")] == []


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
    reported = {parameter.name: parameter.value for parameter in transport.mpi_parameters(planned().places)}
    assert reported["btl"] == "^openib"
    assert reported["btl_tcp_if_include"] == reported["oob_tcp_if_include"] == "ens224"


def test_mpi_gets_the_network_where_interfaces_have_other_names():
    found = guests()
    other = {"interfaces": {"enp5s0": (9000, True)}, "addresses": {"enp5s0": [(ADDRESSES["job-02"], 24)]}}
    found["job-02"] = guests(2, **other)["job-02"]
    reported = {parameter.name: parameter.value for parameter in transport.mpi_parameters(planned(found).places)}
    assert reported["btl_tcp_if_include"] == "10.0.112.0/24"


def test_a_gid_reports_its_address():
    assert gid("10.0.112.11").address == "10.0.112.11"


def test_mpi_of_one_guest_is_reported_no_network():
    reported = {parameter.name: parameter.value for parameter in transport.mpi_parameters(planned().places[:1])}
    assert reported == {"pml": "ob1", "btl": "^openib", "btl_vader_single_copy_mechanism": "none"}
