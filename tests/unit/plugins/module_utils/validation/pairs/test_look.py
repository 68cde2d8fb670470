"""Who takes part in tests, and by which device."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import look

from unit.plugins.module_utils.training import runs

from .ends import TOOLS, request, seen

PRINTED = """\
net lo 65536 unknown
net ens224 9000 up
addr lo 127.0.0.1/8
addr ens224 10.0.112.11/24
gid vmw_pvrdma0 1 0 0000:0000:0000:0000:0000:ffff:0a00:700b ens224 IB/RoCE_v1
gid vmw_pvrdma0 1 1 0000:0000:0000:0000:0000:ffff:0a00:700b ens224 RoCE_v2
left 20260301-081530-6ed2 dead
left 20260301-081733-01ac alive
left ../../etc dead
work ok
tool ping ping from iputils 20221126
tool ib_write_bw Version: 6.06
tool iperf3 iperf 3.12 (cJSON 1.7.15)
tool rping 44.0-2
tool timeout
"""
REQUEST = request().guests[0]


def test_what_the_script_prints_is_understood():
    found = look.parse("job-01", PRINTED)
    assert found.tools == {
        "ping": "20221126",
        "ib_write_bw": "6.06",
        "iperf3": "3.12",
        "rping": "44.0-2",
        "timeout": "",
    }
    assert found.leftovers == (("20260301-081530-6ed2", False), ("20260301-081733-01ac", True))
    assert found.version_of_iperf3 == (3, 12)
    end, why = look.end_of(REQUEST, found)
    assert (end.interface, end.mtu, end.device, end.port, end.gid_index, why) == (
        "ens224",
        9000,
        "vmw_pvrdma0",
        1,
        1,
        "",
    )


TABLE = (runs.gid("10.0.112.11", "mlx5_0", 3), runs.gid("10.0.112.11", "mlx5_1", 5))
DEVICES = {
    "the one with the address": ({}, {}, ("vmw_pvrdma0", 0, "")),
    "one by name": ({"device": "mlx5_1"}, {"gids": TABLE}, ("mlx5_1", 5, "")),
    "one by name and index": ({"device": "mlx5_1", "gid_index": 7}, {"gids": TABLE}, ("mlx5_1", 7, "")),
    "none at all": (
        {},
        {"gids": ()},
        ("", None, "job-01 has no RDMA device with a RoCE v2 GID of 10.0.112.11."),
    ),
    "only RoCE v1": (
        {},
        {"gids": (runs.gid("10.0.112.11", kind="IB/RoCE v1"),)},
        ("", None, "job-01 has no RDMA device with a RoCE v2 GID of 10.0.112.11."),
    ),
    "one by name without the address": (
        {"device": "mlx5_0"},
        {"gids": (runs.gid("10.9.9.9", "mlx5_0", 3),)},
        ("mlx5_0", None, "The RDMA device mlx5_0 of job-01 has no RoCE v2 GID of 10.0.112.11."),
    ),
    "a port that is down": (
        {},
        {"ports_down": ("vmw_pvrdma0 port 1: 1: DOWN",)},
        ("vmw_pvrdma0", 0, "On job-01 the RDMA device vmw_pvrdma0 port 1: 1: DOWN."),
    ),
}


@pytest.mark.parametrize("requested, found, reported", DEVICES.values(), ids=DEVICES.keys())
def test_device_is_the_one_by_which_the_address_is_reached(requested, found, reported):
    end, why = look.end_of(replace(REQUEST, **requested), seen("job-01", **found))
    assert (end.device, end.gid_index, why) == reported


OUT = {
    "another address": (
        seen("job-02"),
        "No interface of job-01 has the address 10.0.112.11. It has 10.0.0.9, 10.0.112.12, 127.0.0.1.",
    ),
    "no timeout": (
        seen("job-01", {"setsid": ""}),
        "The program timeout is missing on job-01. Install coreutils.",
    ),
    "no rights": (
        seen("job-01", work_dir="closed"),
        "The folder for the run is not writable on job-01. Use become, free space, or set another work_dir.",
    ),
    "no room": (
        seen("job-01", work_dir="full"),
        "The folder for the run has no free space on job-01. Use become, free space, or set another work_dir.",
    ),
    "nothing": (seen("job-01"), ""),
}


@pytest.mark.parametrize("found, why", OUT.values(), ids=OUT.keys())
def test_guest_that_cannot_take_part_says_why(found, why):
    assert look.why_not(REQUEST, found) == why


@pytest.mark.parametrize(
    "wanted, version, many", [(None, "3.12", 4), (None, "3.16", 1), (None, "4.0.1", 1), (None, "", 4), (2, "3.12", 2)]
)
def test_versions_of_iperf3_without_threads_get_several_processes(wanted, version, many):
    assert look.processes(wanted, seen("job-01", {**TOOLS, "iperf3": version})) == many


@pytest.mark.parametrize(
    "requested, found, port", [({}, (), 1), ({}, TABLE, 1), ({"port": 2}, TABLE, 2), ({"port": 2}, (), 2)]
)
def test_a_port_is_the_one_asked_for_or_the_first(requested, found, port):
    end, _why = look.end_of(replace(REQUEST, **requested), seen("job-01", gids=found))
    assert end.port == port
