# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Single checks at their limits: the verdict, the code and the figures that they report."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import (
    check_cluster,
    check_fabric,
    check_guest,
    check_pair,
    line,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import About

from .world import World

PAIR = {"from": "job-01", "to": "job-02"}
BOTH = {"guests": ["job-01", "job-02"]}


def about(check, subject, below=None, variant="", **intent):
    lab = World(2, "sriov", lossless=True, priority=3, hops=[])
    return About(check, subject, variant, {**lab.intent, **intent}, {}, below or {})


def codes(found):
    return [(remark.verdict, remark.code) for remark in found.remarks]


@pytest.mark.parametrize(
    "values, note",
    [
        ({"retransmits": 0}, ""),
        ({"retransmits": 12}, "12 segments"),
        ({"retransmits": 0, "cpu_percent": 80.0, "remote_cpu_percent": 20.0}, "80 %"),
        ({"retransmits": 0, "cpu_percent": 20.0, "remote_cpu_percent": 80.0}, "80 %"),
        ({"retransmits": 0, "cpu_percent": 0, "remote_cpu_percent": 0.5}, "0.5 %"),
        ({"retransmits": 0, "threads": False, "processes": 1, "version": "3.9"}, "3.9 uses one core"),
        ({"retransmits": 0, "threads": False, "processes": 4, "version": "3.9"}, ""),
        ({"retransmits": 0, "threads": True, "processes": 1, "version": "3.16"}, ""),
    ],
    ids=["quiet", "sent again", "sender", "receiver", "half a percent", "one core", "four processes", "threads"],
)
def test_a_figure_of_tcp_names_what_it_cost(values, note):
    found = check_pair.bandwidth({"gbps": 30.0, **values}, about("pair.iperf3", PAIR))
    assert (note in found.note, bool(found.note)) == (True, bool(note))


@pytest.mark.parametrize(
    "path_mtu, mtu, warned",
    [(4096, 9000, False), (4095, 9000, True), (1024, 9000, True), (1024, 1500, False), (None, 9000, False)],
)
def test_small_packets_of_rdma_on_a_path_for_large_ones_are_a_warning(path_mtu, mtu, warned):
    found = check_pair.bandwidth({"gbps": 90.0, "mtu": path_mtu}, about("pair.write_bw", PAIR, mtu=mtu))
    assert codes(found) == ([("warn", "path_mtu")] if warned else [])


@pytest.mark.parametrize(
    "rate, path, warned",
    [
        (100, "sriov", False),
        (99.9, "sriov", True),
        (25, "passthrough", True),
        (25, "pvrdma", False),
        (0, "sriov", False),
    ],
)
def test_a_link_below_the_speed_of_its_adapter_is_a_warning(rate, path, warned):
    port = {"state": "active", "rate_gbps": rate, "interfaces": ["ens224"]}
    values = {"devices": [{"name": "mlx5_0", "ports": [port]}], "interface": "ens224"}
    found = check_guest.rdma_device(values, about("guest.rdma_device", {"guest": "job-01"}, data_path=path))
    assert codes(found) == ([("warn", "slow_link")] if warned else [])


@pytest.mark.parametrize(
    "fixed, measured, source, failing",
    [
        ("192.0.2.1", ["192.0.2.9"], "site.guests.data_addresses", False),
        ("192.0.2.9", ["192.0.2.1"], "site.guests.data_addresses", True),
        (None, ["192.0.2.1"], "the address of the interface", False),
        (None, ["192.0.2.9"], "the address of the interface", True),
        (None, [], "the site sets no address", False),
    ],
    ids=["fixed", "fixed otherwise", "of the interface", "not of the interface", "none known"],
)
def test_a_gid_is_compared_with_the_fixed_address_or_else_with_that_of_the_interface(fixed, measured, source, failing):
    below = {check_guest.ADDRESSES: {"job-01": measured}}
    values = {"roce_v2": [{"index": 3, "address": "192.0.2.1"}]}
    asked = about("guest.gid", {"guest": "job-01"}, below, addresses={"job-01": fixed} if fixed else {})
    found = check_guest.gid(values, asked)
    assert (found.source, codes(found)) == (source, [("fail", "no_gid")] if failing else [])


def test_a_link_slower_than_that_of_other_guests_is_a_warning_at_its_pair():
    seen = {line.RATES: {"job-01": 100, "job-02": 25}}
    found = check_pair.bandwidth({"gbps": 20.0}, about("pair.write_bw", PAIR, seen, speed_gb=None))
    assert codes(found) == [("warn", "slow_link")]
    assert all(word in found.remarks[0].why for word in ("job-02", "25", "100"))


MANY = check_fabric.MANY_BYTES


@pytest.mark.parametrize(
    "changed, expected, words",
    [
        ({"rx_prio3_pause": 9}, [], ""),
        ({"rx_prio0_pause": 9, "tx_prio5_pause": 1, "rx_prio6_pause": 0}, [("warn", "pfc_class")], "0, 5"),
        ({"tx_vport_rdma_unicast_bytes": MANY, "tx_prio0_bytes": MANY}, [], ""),
        ({"tx_vport_rdma_unicast_bytes": MANY + 2, "tx_prio0_bytes": MANY}, [("fail", "pfc_class")], "0"),
        (
            {"tx_vport_rdma_unicast_bytes": 2 * MANY, "tx_prio0_bytes": MANY + 1, "tx_prio3_bytes": MANY - 1},
            [("fail", "pfc_class")],
            "0",
        ),
        ({"tx_vport_rdma_unicast_bytes": 2 * MANY, "tx_prio0_bytes": 3 * MANY, "tx_prio3_bytes": MANY}, [], ""),
        ({"tx_vport_rdma_unicast_bytes": 2 * MANY}, [], ""),
    ],
    ids=["ours", "pauses of others", "few bytes", "many bytes", "less than half", "half", "not counted"],
)
def test_roce_in_another_class_is_found_by_the_counters_of_its_adapter(changed, expected, words):
    values = {"changed": changed, "known": list(changed), "lost": []}
    found = check_fabric.counted(values, about("guest.counters", {"guest": "job-01"}))
    assert codes(found) == expected
    assert [words in one.why for one in found.remarks] == [True] * len(expected)


@pytest.mark.parametrize("lossless, verdict", [(True, "fail"), (False, "warn")])
def test_drops_fail_where_the_network_is_lossless(lossless, verdict):
    values = {"changed": {"rx_prio3_discards": 4}, "known": ["rx_prio3_discards"], "lost": []}
    found = check_fabric.counted(values, about("guest.counters", {"guest": "job-01"}, lossless=lossless))
    assert (found.measured, codes(found)) == (4, [(verdict, "drops")])


@pytest.mark.parametrize(
    "octets, text",
    [
        (10**9, "1 GB"),
        (10**9 - 1, "1000 MB"),
        (10**6, "1 MB"),
        (999_999, "1000 kB"),
        (1000, "1 kB"),
        (999, "999 bytes"),
        (0, "0 bytes"),
    ],
)
def test_bytes_have_the_largest_unit_that_fits(octets, text):
    assert check_fabric._bytes(octets) == text


def test_the_three_counters_that_rose_most_are_named():
    assert check_fabric._names({"b": 2, "a": 2, "c": 9, "d": 1}) == "c +9, a +2, b +2"


@pytest.mark.parametrize(
    "fixed, values, expected",
    [
        ("10.0.0.1", {"addresses": ["10.0.0.1"], "state": "up"}, []),
        ("10.0.0.1", {"addresses": ["10.0.0.2"], "state": "up"}, [("fail", "no_address")]),
        ("10.0.0.1", {"addresses": [], "state": "up"}, [("fail", "no_address")]),
        (None, {"addresses": ["10.0.0.2"], "state": "up"}, []),
        (None, {"addresses": [], "state": "up"}, [("fail", "no_address")]),
        (None, {"addresses": ["10.0.0.2"], "state": "down"}, [("fail", "no_link")]),
    ],
    ids=["fixed", "another", "none", "by DHCP", "none by DHCP", "no link"],
)
def test_an_address_of_the_data_path_is_the_fixed_one_or_any(fixed, values, expected):
    asked = about("guest.address", {"guest": "job-01"}, addresses={"job-01": fixed} if fixed else {})
    assert codes(check_guest.address({"interface": "ens224", **values}, asked)) == expected


@pytest.mark.parametrize(
    "values", [{}, {"interface": "ens224", "addresses": ["10.0.0.1"]}], ids=["nothing", "no state"]
)
def test_an_address_without_the_state_of_its_link_proves_nothing(values):
    found = check_guest.address(values, about("guest.address", {"guest": "job-01"}, addresses={}))
    assert (found.measured, "ens224" in found.note) == (None, bool(values))


@pytest.mark.parametrize(
    "hosts, size, expected, measured",
    [
        ({"job-01": 1, "job-02": 2}, None, [], "3 processes on 2 guests"),
        ({"job-01": 1, "job-02": 2}, 3, [], "3 processes on 2 guests"),
        ({"job-01": 1, "job-02": 2}, 4, [("fail", "ranks")], "3 processes on 2 guests"),
        ({"job-01": 1, "job-02": 0}, None, [("fail", "ranks")], "1 processes on 1 guests"),
        ({"job-01": 0}, None, [], None),
        ({}, 2, [], None),
    ],
)
def test_processes_run_on_every_guest(hosts, size, expected, measured):
    found = check_cluster.hostname({"hosts": hosts, "size": size}, about("cluster.hostname", BOTH))
    assert (codes(found), found.measured) == (expected, measured)
    assert "2 guests" in found.expected


@pytest.mark.parametrize(
    "values, expected, measured",
    [
        ({"version": "0.28", "frameworks": ["pytorch"]}, [], True),
        ({"version": "0.28", "frameworks": []}, [("fail", "build")], True),
        ({"version": "0.28"}, [], True),
        ({"frameworks": ["pytorch"]}, [], False),
    ],
    ids=["sound", "no framework", "not reported", "no version"],
)
def test_a_build_without_a_version_proves_nothing(values, expected, measured):
    found = check_cluster.build(values, about("cluster.check_build", BOTH, build={}))
    assert (codes(found), found.measured is not None, found.compared) == (expected, measured, not measured)


@pytest.mark.parametrize(
    "values, expected, note",
    [
        ({"wrong": 0}, [], ""),
        ({"wrong": 2}, [("fail", "wrong")], ""),
        ({"wrong": None}, [], "not verified"),
        ({"wrong": 0, "nodes": 1}, [("fail", "ranks")], ""),
        ({"wrong": 0, "large": False, "largest_bytes": 8}, [], "8 bytes"),
    ],
    ids=["right", "wrong", "not checked", "one guest", "small"],
)
def test_a_bandwidth_of_nccl_counts_with_right_results_on_all_guests(values, expected, note):
    given = {"busbw": 10.0, "nodes": 2, "transport": "rdma", "gpudirect": "all", "large": True, **values}
    found = check_cluster.nccl(given, about("cluster.nccl", BOTH, variant="rdma", gpudirect="auto"))
    assert (codes(found), found.measured) == (expected, None if note == "8 bytes" else 10.0)
    assert (note in found.note, bool(found.note)) == (True, bool(note))


@pytest.mark.parametrize(
    "values, expected, skip",
    [
        ({}, [], "gloo reached 10 GB/s. This is not a figure of NCCL."),
        ({"wrong": 2}, [("fail", "wrong")], ""),
        ({"verdict": {"state": "failed", "reason": "Rank 1 died"}}, [("fail", "run")], ""),
    ],
    ids=["right", "wrong", "failed"],
)
def test_a_bandwidth_of_ranks_without_gpus_is_none_of_nccl(values, expected, skip):
    given = {"busbw": 10.0, "nodes": 2, "large": True, "wrong": 0, "backend": "gloo", **values}
    found = check_cluster.nccl(given, about("cluster.nccl", BOTH, variant="tcp"))
    assert (codes(found), found.measured) == (expected, None)
    assert (skip in found.skip, bool(found.skip)) == (True, bool(skip))


@pytest.mark.parametrize(
    "values, devices, device",
    [
        ({"devices": 4, "ranks": [{"device": "cpu"}]}, 4, "CPU"),
        ({"ranks": [{"device": "cuda:0"}, {"device": "cpu"}]}, 2, None),
        ({"ranks": []}, None, None),
        ({"device": "GPU", "ranks": [{"device": "cpu"}]}, 1, "GPU"),
    ],
)
def test_a_training_is_on_the_cpu_where_all_its_ranks_are(values, devices, device):
    found = check_cluster.figures(values)
    assert (found["devices"], found["device"]) == (devices, device)


@pytest.mark.parametrize("totals, total", [({"total": 5.0}, 5.0), ({"total": 0}, None), ({"total": -1.0}, None)])
def test_a_rate_of_a_training_is_more_than_nothing(totals, total):
    assert check_cluster.figures(totals)["total"] == total


@pytest.mark.parametrize(
    "values, measured, verdicts",
    [
        ({"synchronised": True, "offset_s": -0.25}, 250.0, []),
        ({"synchronised": True, "offset_s": None}, None, []),
        ({"synchronised": None, "offset_s": 0.25}, None, []),
        ({"synchronised": False, "offset_s": -0.25}, 250.0, [("fail", "clock")]),
        ({"synchronised": False}, "not synchronised", [("fail", "clock")]),
    ],
    ids=["followed", "without an offset", "unknown", "off", "off by an unknown time"],
)
def test_the_distance_of_a_clock_is_in_milliseconds(values, measured, verdicts):
    found = check_guest.clock(values, about("guest.clock", {"guest": "job-01"}))
    assert (found.measured, codes(found)) == (measured, verdicts)


@pytest.mark.parametrize(
    "wrong, gpus, expected, skipped",
    [(0, 1, [], True), (3, 1, [("fail", "wrong")], False), (0, 2, [("fail", "ranks")], False)],
    ids=["a single GPU", "wrong results", "one of two GPUs"],
)
def test_one_rank_alone_says_whether_its_gpu_computes_right_and_nothing_of_bandwidth(wrong, gpus, expected, skipped):
    asked = about("cluster.nccl", {"guests": ["job-01"]}, gpus_per_guest=gpus)
    found = check_cluster.nccl({"alone": True, "busbw": 0.0, "wrong": wrong, "nodes": 1}, asked)
    assert (codes(found), bool(found.skip), found.measured) == (expected, skipped, None)


@pytest.mark.parametrize(
    "values, code, words",
    [
        ({"transport": "rdma"}, None, ""),
        ({"transport": None}, "transport_unknown", "does not name its network"),
        ({"transport": None, "networks": ["Foo", "Bar"]}, "transport_unknown", "Foo and Bar"),
        ({"transport": "tcp"}, "nccl_sockets", "it selected the sockets"),
        ({"transport": "tcp", "no_device": True}, "nccl_sockets", "it found no RDMA device"),
        ({"transport": "mixed"}, "nccl_sockets", "partly used TCP"),
        ({"transport": "rdma", "gpudirect": "some"}, "gpudirect", "GPUDirect RDMA"),
    ],
)
def test_nccl_has_to_show_that_it_used_rdma(values, code, words):
    given = {"busbw": 10.0, "nodes": 2, "wrong": 0, "large": True, "gpudirect": "all", **values}
    found = check_cluster.nccl(given, about("cluster.nccl", BOTH, variant="rdma", gpudirect="enabled"))
    assert codes(found) == ([("fail", code)] if code else [])
    assert all(words in one.why for one in found.remarks)


@pytest.mark.parametrize(
    "settings, no_device, hosts, cause",
    [
        ({"NCCL_IB_DISABLE": "1"}, False, [], "NCCL on sockets; NCCL_IB_DISABLE is set for the run"),
        ({"NCCL_IB_DISABLE": "0"}, False, [], "NCCL on sockets"),
        ({"NCCL_IB_HCA": "mlx5_9"}, True, [], "NCCL on sockets; no RDMA device matches NCCL_IB_HCA, mlx5_9"),
        ({"NCCL_IB_HCA": "mlx5_9"}, False, [], "NCCL on sockets"),
        ({}, False, ["job-01", "job-02"], "NCCL on sockets"),
    ],
)
def test_nccl_on_sockets_names_what_keeps_it_from_rdma(settings, no_device, hosts, cause):
    given = {"busbw": 10.0, "nodes": 2, "wrong": 0, "transport": "tcp", "no_device": no_device}
    given.update(settings=settings, on_sockets=hosts)
    found = check_cluster.nccl(given, about("cluster.nccl", BOTH, variant="rdma"))
    assert [one.cause for one in found.remarks] == [cause]


def test_one_of_two_guests_on_sockets_is_named():
    given = {"busbw": 10.0, "nodes": 2, "wrong": 0, "transport": "mixed", "on_sockets": ["job-02"]}
    (remark,) = check_cluster.nccl(given, about("cluster.nccl", BOTH, variant="rdma")).remarks
    assert "job-02" in remark.cause


def rank(iteration, rate, seconds):
    return {"iteration": iteration, "samples_per_s": rate, "seconds": seconds}


def test_the_rate_of_an_iteration_is_that_of_all_ranks_together():
    ranks = [rank(0, 1, 9.0), rank(0, 2, 8.0), rank(1, 10, 1.0), rank(1, 20, 1.5), rank(2, 11, 1.0), rank(2, 21, 1.25)]
    # Of the last iteration one rank is missing.
    found = check_cluster.figures({"iterations": [*ranks, rank(3, 12, 1.0)]})
    # The first one pays for what happens once.
    assert found["rates"] == [30, 32]
    assert [(one["iteration"], one["images_per_s"], one["seconds"]) for one in found["iterations"]] == [
        (0, 3, 9.0),
        (1, 30, 1.5),
        (2, 32, 1.25),
        (3, 12, 1.0),
    ]


@pytest.mark.parametrize("left_out, rates", [(True, [20.0, 30.0]), (False, [10.0, 20.0, 30.0])])
def test_rates_of_a_run_are_the_iterations_where_it_lists_nothing_else(left_out, rates):
    found = check_cluster.figures({"iterations": [10.0, 20.0, 30.0], "first_left_out": left_out})
    assert found["rates"] == rates
    assert found["iterations"] == [
        {"iteration": place, "seconds": None, "images_per_s": rate} for place, rate in enumerate(rates)
    ]
