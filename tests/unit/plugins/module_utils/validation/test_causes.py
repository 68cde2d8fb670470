"""The silent failures: each is caught on the right check, by its name, with the narrowest place that can be known."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import rounds

from .world import World, not_right, row_of


def causes(reported):
    return [(one["code"], one["place"]) for one in reported["causes"]]


def touch(lab, guest, ends=(0, 1)):
    """The pairs with a guest at one of these ends: 0 is who sends, 1 who receives."""
    return [pair for pair in rounds.ordered_pairs(lab.guests) if guest in [pair[end] for end in ends]]


def test_pvrdma_of_one_host_that_fell_back_to_tcp():
    lab = World(4, "pvrdma")
    for pair in touch(lab, "job-03"):
        lab.set("pair.write_lat", pair, usec=31.0)
        lab.set("pair.write_bw", pair, gbps=18.0)
        lab.set("pair.write_bw_both", pair, gbps=19.0)
    reported = lab.judged()
    assert causes(reported) == [("pvrdma_tcp", "job-03")]
    row = row_of(reported, "pair.write_bw job-01 > job-03")
    assert row["verdict"] == "fail"
    assert row["cause"].startswith("PVRDMA fell back to TCP: job-03 (esx-03 vmnic2, leaf-02 Ethernet1). Check on esx")
    # What stands on it is not run, and the others are not blamed.
    assert row_of(reported, "pair.write_bw_both job-01 > job-03")["verdict"] == "not_run"
    assert row_of(reported, "cluster.nccl rdma")["verdict"] == "not_run"
    assert row_of(reported, "pair.write_bw job-01 > job-02")["verdict"] == "pass"


@pytest.mark.parametrize("count, place", [(2, "job-01 - job-02"), (4, "all")])
def test_pvrdma_that_fell_back_everywhere(count, place):
    lab = World(count, "pvrdma")
    lab.set("pair.write_lat", usec=31.0)
    lab.set("pair.write_bw", gbps=18.0)
    assert causes(lab.judged()) == [("pvrdma_tcp", place)]


def test_latency_alone_is_no_fall_back():
    lab = World(4, "pvrdma")
    lab.set("pair.write_lat", ("job-01", "job-02"), usec=20.0)
    reported = lab.judged()
    row = row_of(reported, "pair.write_lat job-01 > job-02")
    assert (causes(reported), row["verdict"]) == ([("latency", "job-01 > job-02")], "warn")
    assert "bandwidth is good: check CPU power management" in row["cause"]


def test_nccl_on_sockets():
    lab = World(4, "sriov")
    lab.set("cluster.nccl", transport="tcp", busbw=3.0, no_device=True, on_sockets=lab.guests, gpudirect=None)
    reported = lab.judged()
    row = row_of(reported, "cluster.nccl rdma")
    assert (row["verdict"], causes(reported)) == ("fail", [("nccl_sockets", "")])
    assert "it found no RDMA device" in row["why"]


@pytest.mark.parametrize(
    "settings, no_device, words",
    [
        ({"NCCL_IB_DISABLE": "1"}, False, "; NCCL_IB_DISABLE is set for the run"),
        ({"NCCL_IB_HCA": "=mlx5_7"}, True, "; no RDMA device matches NCCL_IB_HCA, =mlx5_7"),
        ({"NCCL_IB_DISABLE": "0", "NCCL_IB_HCA": "=mlx5_0"}, False, ""),
    ],
    ids=["off", "another device", "not to blame"],
)
def test_the_environment_of_a_run_keeps_nccl_on_sockets(settings, no_device, words):
    lab = World(2, "sriov")
    lab.set("cluster.nccl", transport="tcp", settings=settings, no_device=no_device, on_sockets=lab.guests)
    assert row_of(lab.judged(), "cluster.nccl rdma")["cause"] == f"NCCL on sockets{words}"


def test_a_network_of_nccl_that_nobody_knows_is_named():
    lab = World(2, "sriov")
    lab.set("cluster.nccl", transport=None, networks=["AWS Libfabric"])
    assert row_of(lab.judged(), "cluster.nccl rdma")["why"].startswith("NCCL used AWS Libfabric, an unknown network")


def test_one_guest_whose_nccl_went_on_sockets_is_named():
    lab = World(4, "sriov")
    lab.set("cluster.nccl", transport="mixed", on_sockets=["job-02"])
    assert row_of(lab.judged(), "cluster.nccl rdma")["cause"].startswith("NCCL on sockets: job-02 (esx-02 vmnic2")


def loss(lab, guest, gbps=28.6):
    """What a port without the right class does: under load, packets to it are dropped."""
    for pair in touch(lab, guest, (1,)):
        lab.set("pair.write_bw", pair, gbps=gbps)


@pytest.mark.parametrize("path", ["pvrdma", "sriov", "passthrough"])
def test_pfc_mismatch_by_bandwidth_against_latency(path):
    lab = World(4, path)
    loss(lab, "job-02")
    reported = lab.judged()
    assert causes(reported) == [("loss", "job-02")]
    cause = row_of(reported, "pair.write_bw job-01 > job-02")["cause"]
    assert "while latency is good" in cause
    assert "job-02 (esx-02 vmnic2, leaf-01 Ethernet2), only when it receives" in cause


def test_pfc_mismatch_by_counters_and_settings():
    lab = World(4, "sriov")
    loss(lab, "job-02", 84.0)
    lab.set("fabric.counters", ("leaf-01", "Ethernet2"), changed={"roce_drops": 900})
    lab.set("guest.counters", "job-02", changed={"out_of_sequence": 77})
    words = "leaf-01 Ethernet2 puts DSCP 26 into priority 1, while esx-02 vmnic2 pauses priority 3."
    port = {"name": "leaf-01", "port": "Ethernet2"}
    lab.set("fabric.settings", disagreements=[{"severity": "error", "code": "dscp_map", "msg": words, "a": port}])
    reported = lab.judged()
    assert row_of(reported, "fabric.counters leaf-01 Ethernet2")["verdict"] == "fail"
    cause = row_of(reported, "pair.write_bw job-01 > job-02")["cause"]
    assert "packets are dropped at leaf-01 Ethernet2" in cause
    assert words in cause


def test_a_run_that_came_to_nothing_is_where_it_failed_first():
    lab = World(2, "sriov")
    why = "Rank 1 on job-02 failed first: it ended with 3"
    lab.set("cluster.nccl", status="failed", why=why, at="job-02", error="uvm_off")
    row = row_of(lab.judged(), "cluster.nccl rdma")
    assert row["cause"].startswith("job-02 (esx-02 vmnic2, leaf-01 Ethernet2): CUDA's unified memory is off")
    assert row["why"].startswith(f"{why}. CUDA's unified memory is off")
    assert "enable_uvm = 1" in row["why"]


def warned(code, words):
    """What the comparison of settings says that drops nothing by itself."""
    return [{"severity": "warning", "code": code, "msg": words, "a": {"name": "leaf-03", "port": "swp31"}}]


def test_loss_that_only_a_warning_of_the_settings_explains():
    lab = World(4, "pvrdma")
    loss(lab, "job-02")
    lab.set("fabric.settings", disagreements=warned("stamps_nothing", "esx-01 vmnic2 puts no DSCP of its own."))
    cause = row_of(lab.judged(), "pair.write_bw job-01 > job-02")["cause"]
    assert cause.startswith("packets are lost under load")
    assert cause.endswith("; fabric.settings reports: esx-01 vmnic2 puts no DSCP of its own.")


def test_a_cable_that_is_slow_is_no_loss():
    lab = World(2, "sriov")
    lab.set("pair.write_bw", gbps=21.7)
    lab.set("fabric.settings", disagreements=warned("slow_cable", "leaf-03 swp31 has a cable of 25 Gbit/s."))
    reported = lab.judged()
    cause = row_of(reported, "pair.write_bw job-01 > job-02")["cause"]
    assert [code for code, _place in causes(reported)] == ["slow_end"]
    assert cause.endswith("no sign of lost packets: fabric.settings reports: leaf-03 swp31 has a cable of 25 Gbit/s.")


def test_a_cable_that_is_slow_does_not_hide_settings_that_drop_packets():
    lab = World(2, "sriov")
    lab.set("pair.write_bw", gbps=21.7)
    wrong = {"severity": "error", "code": "pfc_one_sided", "key": "pfc", "msg": "leaf-01 Ethernet1 sends no pauses."}
    lab.set("fabric.settings", disagreements=[*warned("slow_cable", "A cable of 25 Gbit/s."), wrong])
    cause = row_of(lab.judged(), "pair.write_bw job-01 > job-02")["cause"]
    assert cause.startswith("packets are lost under load")
    assert cause.endswith("; fabric.settings reports: leaf-01 Ethernet1 sends no pauses.")


def test_an_end_that_is_slow_without_loss_is_reported_from_loss():
    lab = World(4, "sriov")
    for pair in touch(lab, "job-04"):
        lab.set("pair.write_bw", pair, gbps=79.5)
    reported = lab.judged()
    assert causes(reported) == [("slow_end", "job-04")]
    assert "no sign of lost packets: check the NUMA node" in row_of(reported, "pair.write_bw job-04 > job-01")["cause"]


@pytest.mark.parametrize(
    "pairs, place",
    [
        (lambda lab: touch(lab, "job-03"), "job-03"),
        (lambda lab: [pair for pair in rounds.ordered_pairs(lab.guests) if _crosses(pair)], "leaf-01 - leaf-02"),
        (lambda lab: [("job-01", "job-02"), ("job-02", "job-01")], "job-01 - job-02"),
    ],
    ids=["one guest", "between switches", "one pair"],
)
def test_mtu_1500_in_the_middle(pairs, place):
    lab = World(4, "sriov")
    for pair in pairs(lab):
        lab.set("pair.ping_mtu", pair, received=0, where="silent")
    reported = lab.judged()
    assert causes(reported) == [("mtu_path", place)]
    assert row_of(reported, "pair.write_bw job-01 > job-02")["verdict"] == (
        "not_run" if place.endswith("02") and "job" in place else "pass"
    )


def test_a_way_on_which_nothing_arrives_is_not_one_with_a_small_mtu():
    lab = World(4, "pvrdma")
    for pair in touch(lab, "job-03"):
        lab.set("pair.ping_mtu", pair, received=0, where="silent", passes=None)
    reported = lab.judged()
    row = row_of(reported, "pair.ping_mtu job-01 > job-03")
    assert (causes(reported), row["why"]) == ([("unreachable", "job-03")], "No packet of any size arrives.")
    assert row["cause"].startswith("no packet arrives: job-03 (esx-03 vmnic2, leaf-02 Ethernet1): check link, cable")


@pytest.mark.parametrize("code", ["mtu", "not_acting"])
def test_an_mtu_in_the_middle_is_where_the_settings_say(code):
    lab = World(2, "sriov")
    lab.set("pair.ping_mtu", received=0, where="silent", passes=1500)
    words = "spine-01 Eth1/3 takes 1500 bytes, while leaf-03 swp31 sends 9216."
    said = {"severity": "error", "code": code, "key": "mtu", "msg": words, "a": {"name": "spine-01", "port": "Eth1/3"}}
    other = dict(said, code="pfc_one_sided", key="pfc", msg="leaf-01 Ethernet1 sends no pauses.")
    lab.set("fabric.settings", disagreements=[other, said])
    cause = row_of(lab.judged(), "pair.ping_mtu job-01 > job-02")["cause"]
    assert cause.startswith("path MTU too small: between job-01")
    assert cause.endswith(f"; fabric.settings reports: {words}")


def _crosses(pair):
    return (pair[0] < "job-03") != (pair[1] < "job-03")


def test_a_guest_whose_own_mtu_is_too_small_is_not_the_middle():
    lab = World(3, "tcp")
    lab.set("guest.mtu", "job-02", mtu=1500)
    reported = lab.judged()
    assert causes(reported) == [("mtu_local", "job-02")]
    assert row_of(reported, "pair.ping_mtu job-01 > job-02")["verdict"] == "not_run"


def test_a_router_that_says_so_is_named():
    lab = World(2, "tcp")
    lab.set("pair.ping_mtu", where="hop", received=0, hop={"address": "192.168.50.1", "mtu": 1500})
    row = row_of(lab.judged(), "pair.ping_mtu job-01 > job-02")
    assert (row["measured"], "192.168.50.1" in row["why"]) == (1500, True)


@pytest.mark.parametrize("phase, words", [("before", "A vGPU has no licence"), ("after", "lost during the run")])
def test_an_unlicensed_vgpu_before_and_after(phase, words):
    lab = World(4, "sriov")
    lab.set("guest.licence", "job-02", phase, gpus=[{"licence": "Unlicensed (Restricted)"}])
    reported = lab.judged()
    row = row_of(reported, f"guest.licence job-02 ({phase})")
    assert (row["verdict"], words in row["why"], causes(reported)) == ("fail", True, [("unlicensed", "job-02")])
    stopped = row_of(reported, "cluster.training 4:rdma")["verdict"]
    assert stopped == ("not_run" if phase == "before" else "pass")


def esx(lab):
    return {guest: f"esx-{number:02d}" for number, guest in enumerate(lab.guests, 1)}


def test_two_vms_on_one_host():
    lab = World(4, "sriov")
    lab.set("placement.hosts", hosts={**esx(lab), "job-02": "esx-01"})
    reported = lab.judged()
    row = row_of(reported, "placement.hosts")
    assert (row["verdict"], causes(reported)) == ("fail", [("shared_host", "")])
    assert row["cause"] == "the host esx-01, which runs job-01 and job-02"


def test_more_than_the_line_is_a_shared_host_where_their_places_say_so():
    lab = World(4, "pvrdma")
    lab.topology["vms"][1]["host"] = "esx-01"
    for pair in (("job-01", "job-02"), ("job-02", "job-01")):
        lab.set("pair.write_bw", pair, gbps=138.0)
    reported = lab.judged()
    row = row_of(reported, "pair.write_bw job-01 > job-02")
    assert (row["verdict"], row["cause"]) == ("warn", "the host esx-01, which runs job-01 and job-02")
    # Both directions are of one cause.
    assert [(one["code"], len(one["rows"])) for one in reported["causes"]] == [("shared_host", 2)]


def test_one_slow_rank_by_trainings_of_each_guest_alone():
    lab = World(4, "sriov")
    for guest in lab.guests:
        rate = 1100.0 if guest == "job-03" else 1480.0
        lab.add("cluster.training", guest, "1:rdma", total=rate, iterations=[rate] * 4, device="GPU", devices=1)
    lab.train(lab.guests, "rdma", 4 * 1105.0)
    reported = lab.judged()
    assert ("slow_rank", "job-03") in causes(reported)
    me = "job-03 (esx-03 vmnic2, leaf-02 Ethernet1) computes slower than the others"
    assert row_of(reported, "cluster.training job-03 (1:rdma)")["cause"].startswith(me)
    efficiency = row_of(reported, "cluster.efficiency 4:rdma")
    assert (efficiency["verdict"], efficiency["cause"].startswith(me)) == ("warn", True)


def test_bad_scaling_over_a_good_network_points_to_a_rank():
    lab = World(4, "sriov")
    lab.train(lab.guests, "rdma", 3000.0)
    row = row_of(lab.judged(), "cluster.efficiency 4:rdma")
    assert (row["verdict"], "one slow rank" in row["cause"]) == ("warn", True)


def test_bad_scaling_over_a_bad_network_points_to_the_network():
    lab = World(4, "sriov")
    for pair in touch(lab, "job-04"):
        lab.set("pair.write_bw", pair, gbps=79.5)
    lab.train(lab.guests, "rdma", 3000.0)
    assert "job-04 (esx-04" in row_of(lab.judged(), "cluster.efficiency 4:rdma")["cause"]


def test_gpudirect_that_was_asked_for_and_is_not_used():
    lab = World(2, "sriov", gpudirect="enabled")
    lab.set("cluster.nccl", gpudirect="none", busbw=6.0)
    assert row_of(lab.judged(), "cluster.nccl rdma")["verdict"] == "fail"


def test_an_outlier_within_the_marks_is_reported_with_its_place():
    lab = World(4, "sriov")
    for pair in touch(lab, "job-01", (0,)):
        lab.set("pair.write_lat", pair, usec=4.6)
    reported = lab.judged()
    row = row_of(reported, "pair.write_lat job-01 > job-02")
    assert row["verdict"] == "warn"
    assert row["cause"].startswith("job-01 (esx-01 vmnic2, leaf-01 Ethernet1), only when it sends; bandwidth is good: ")
    assert len(not_right(reported)) == 3


@pytest.mark.parametrize("code, words", [("no_connection", "does not answer"), ("wrong_gid", "GID index has no")])
def test_a_guest_that_nobody_reaches_is_named(code, words):
    lab = World(4, "sriov")
    for pair in touch(lab, "job-02"):
        lab.set("pair.rping", pair, status="failed", why="rping failed", error=code)
    row = row_of(lab.judged(), "pair.rping job-03 > job-02")
    assert (row["cause"], words in row["why"]) == ("job-02 (esx-02 vmnic2, leaf-01 Ethernet2)", True)
