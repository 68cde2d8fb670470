"""A pass is required, measured, based on evidence that is kept, and met; everything else gets another verdict."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import baseline, suite
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.entry import Entry, finish, guard
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import Found

from .world import ADAPTER, MOVED, World, row_of

ROW = {
    "check": "guest.mtu",
    "variant": "",
    "needs": [],
    "verdict": "pass",
    "measured": 9000,
    "evidence": "evidence/guest.mtu.txt",
    "expected": {"text": "9000 bytes", "low": 9000, "high": None, "source": "the site"},
    "why": "",
}
NOTHING = {"text": "", "low": None, "high": None, "source": ""}
GUARDED = {
    "all is there": ({}, "pass", ""),
    "nothing measured": ({"measured": None}, "not_run", "Nothing was measured."),
    "no evidence": ({"evidence": ""}, "not_run", "No evidence"),
    "nothing required": ({"expected": NOTHING}, "not_required", "This value is not required"),
    "too little": ({"measured": 1500}, "warn", "does not meet"),
    "too much": ({"expected": {**NOTHING, "high": 3}}, "warn", "does not meet"),
    "a text for a number": ({"measured": "many"}, "warn", "does not meet"),
    "a text": ({"measured": "Licensed", "expected": {**NOTHING, "text": "Licensed"}}, "pass", ""),
    "derived of rows": ({"check": "cluster.efficiency", "evidence": "", "needs": ["a"]}, "pass", ""),
    "derived of nothing": ({"check": "cluster.efficiency", "evidence": "kept"}, "not_run", "No evidence"),
    "not required without a value": ({"verdict": "not_required", "measured": ""}, "not_run", "Nothing was measured."),
    "not required without evidence": ({"verdict": "not_required", "evidence": ""}, "not_run", "No evidence"),
    "a warning without a value": ({"verdict": "warn", "measured": None}, "not_run", "Nothing was measured."),
    "a failure stays": ({"verdict": "fail", "measured": None, "evidence": ""}, "fail", ""),
}


@pytest.mark.parametrize("change, verdict, words", GUARDED.values(), ids=GUARDED.keys())
def test_the_guard_demotes_what_proves_nothing(change, verdict, words):
    row = {**copy.deepcopy(ROW), **change}
    guard(Entry(row["check"], {"guest": "job-01"}, "", row))
    assert (row["verdict"], words in row["why"]) == (verdict, True), row["why"]


@pytest.mark.parametrize(
    "before, bounds, after",
    [
        ((None, None), (1.0, 9.0), (1.0, 9.0)),
        ((2.0, 8.0), (1.0, 9.0), (2.0, 8.0)),
        ((None, 8.0), (1.0, 9.0), (1.0, 8.0)),
        ((2.0, None), (None, 0), (2.0, 0)),
    ],
)
def test_a_row_takes_each_bound_that_it_lacks_from_the_check(before, bounds, after):
    row = copy.deepcopy(ROW)
    row["expected"].update(low=before[0], high=before[1])
    entry = Entry(row["check"], {"guest": "job-01"}, "", row)
    entry.found = Found(5.0, low=bounds[0], high=bounds[1])
    finish(entry)
    assert (row["expected"]["low"], row["expected"]["high"]) == after


def test_a_run_without_evidence_passes_nowhere():
    lab = World(3, "sriov")
    for one in lab.measurements():
        one["evidence"] = ""
    reported = lab.judged()
    rows = {row["check"]: row["verdict"] for row in reported["rows"]}
    # The site requests none of these.
    unrequested = {check for check in rows if suite.of(check).option}
    assert {check for check, verdict in rows.items() if verdict == "skipped"} == unrequested
    assert {verdict for check, verdict in rows.items() if check not in unrequested} == {"not_run"}


LIMITS = {
    "unlimited": ("unlimited", (-1, -1), "pass", "unlimited"),
    "unlimited, less": ("unlimited", (8192, 8192), "fail", "8192 kB"),
    "unlimited, soft alone": ("unlimited", (8192, -1), "fail", "8192 kB"),
    "a number, less": ("16777216", (8192, 8192), "fail", "8192 kB"),
    "a number, soft alone": ("16777216", (8192, 16777216), "fail", "8192 kB"),
    "a number": ("16777216", (16777216, 16777216), "pass", "16777216 kB"),
    "a number, more": ("16777216", (-1, -1), "pass", "unlimited"),
    "as it is": ("as_is", (8192, 8192), "not_required", "8192 kB"),
    "as it is, unlimited": ("as_is", (-1, -1), "not_required", "unlimited"),
    "a number of YAML": (16777216, (8192, 8192), "fail", "8192 kB"),
}


@pytest.mark.parametrize("requested, limits, verdict, measured", LIMITS.values(), ids=LIMITS.keys())
def test_locked_memory_is_held_to_what_the_site_requires(requested, limits, verdict, measured):
    lab = World(2, "sriov", memlock=requested)
    lab.set("guest.memlock", memlock={"soft_kb": limits[0], "hard_kb": limits[1]})
    reported = lab.judged()
    row = row_of(reported, "guest.memlock job-01")
    assert (row["verdict"], row["measured"]) == (verdict, measured)
    assert row["expected"]["source"] == "site.guests.limits.memlock"
    # What is not required is in nobody's way.
    stopped = row_of(reported, "pair.rping job-01 > job-02")["verdict"] == "not_run"
    assert stopped is (verdict == "fail")


def test_what_is_not_required_is_counted_apart_and_does_not_make_a_run_incomplete():
    reported = World(2, "tcp").judged()
    counts = reported["verdict"]["counts"]
    free = [row["check"] for row in reported["rows"] if row["verdict"] == "not_required"]
    assert set(free) == {"pair.iperf3", "pair.mpi_lat", "pair.mpi_bw", "cluster.mpi_allreduce"}
    assert (reported["verdict"]["state"], counts["not_required"]) == ("pass", len(free))
    assert f"All {counts['pass']} checks passed" in reported["verdict"]["sentence"]
    assert f"{len(free)} not required" in reported["verdict"]["sentence"]


def test_a_figure_that_is_not_required_becomes_the_baseline_that_the_next_run_is_held_to():
    lab = World(2, "tcp")
    made = baseline.record(baseline.EMPTY, lab.judged()["figures"], "run-1", "2026-03-01T08:15:30Z")[0]
    row = row_of(lab.judged(baseline=made), "pair.iperf3 job-01 > job-02")
    assert (row["verdict"], row["expected"]["low"] > 0) == ("pass", True)


def test_where_nothing_is_required_the_run_proves_nothing():
    lab = World(1, "tcp", gpus="none", skip=dict.fromkeys(("cluster.hostname", "cluster.check_build"), "why"))
    reported = lab.judged()
    kept = [row for row in reported["rows"] if row["verdict"] == "pass"]
    assert kept != []


ADDRESSES = {
    "fixed and there": ({"job-01": "192.168.50.11"}, ["192.168.50.11"], "pass"),
    "fixed and among others": ({"job-01": "192.168.50.11"}, ["10.0.0.9", "192.168.50.11"], "pass"),
    "fixed and another": ({"job-01": "192.168.50.11"}, ["192.168.50.99"], "fail"),
    "fixed and none": ({"job-01": "192.168.50.11"}, [], "fail"),
    "by DHCP": ({}, ["192.168.50.99"], "pass"),
    "by DHCP and none": ({}, [], "fail"),
}


@pytest.mark.parametrize("fixed, found, verdict", ADDRESSES.values(), ids=ADDRESSES.keys())
def test_an_address_is_held_to_what_the_site_fixes(fixed, found, verdict):
    lab = World(2, "sriov")
    lab.intent["addresses"] = fixed
    lab.set("guest.address", "job-01", addresses=found)
    lab.set("guest.gid", "job-01", gid={"index": 3, "address": (found or ["0.0.0.0"])[-1]})
    row = row_of(lab.judged(), "guest.address job-01")
    assert row["verdict"] == verdict
    assert row["expected"]["source"] == ("site.guests.data_addresses" if fixed else "the site sets no address")
    assert ("192.168.50.11" in row["expected"]["text"]) is bool(fixed)


@pytest.mark.parametrize("fixed, verdict", [({"job-01": "192.168.50.11"}, "fail"), ({}, "fail")], ids=["fixed", "DHCP"])
def test_a_gid_is_of_the_address_of_the_data_path(fixed, verdict):
    lab = World(2, "sriov")
    lab.intent["addresses"] = fixed
    lab.set("guest.gid", "job-01", gid={"index": 3, "address": "10.9.9.9"})
    assert row_of(lab.judged(), "guest.gid job-01")["verdict"] == verdict


def test_a_gid_of_an_address_by_dhcp_passes():
    lab = World(2, "sriov")
    lab.intent["addresses"] = {}
    lab.set("guest.address", "job-01", addresses=["10.9.9.9"])
    lab.set("guest.gid", "job-01", gid={"index": 3, "address": "10.9.9.9"})
    row = row_of(lab.judged(), "guest.gid job-01")
    assert (row["verdict"], row["expected"]["source"]) == ("pass", "the address of the interface")


WITHOUT = [name for name in ADAPTER if name in (*MOVED, "np_cnp_sent")]
ADAPTERS = {
    "nothing dropped": ({}, "pass", "8 GB carried"),
    "bytes alone": ({"known": WITHOUT}, "not_run", "No drop counter was read."),
    "nothing moved": ({"changed": {}}, "not_run", "show no traffic"),
    "no counter of traffic": ({"changed": {}, "known": ["out_of_sequence"]}, "not_run", "reports the RDMA traffic"),
    "drops gone": ({"lost": ["rx_prio3_discards"]}, "not_run", "appeared or were reset: rx_prio3_discards"),
    "all began anew": ({"changed": {}, "known": [], "lost": ADAPTER}, "not_run", "All counters were reset"),
    "another counter began anew": ({"lost": ["rx_bytes"]}, "pass", ""),
    "drops": ({"changed": {**MOVED, "rx_prio3_discards": 4}}, "fail", "Packets were dropped"),
    "drops that nobody can count": (
        {"changed": {**MOVED, "discards_sent": 4}, "known": [*MOVED, "discards_sent"]},
        "warn",
        "do not separate RoCE from TCP",
    ),
}


@pytest.mark.parametrize("change, verdict, words", ADAPTERS.values(), ids=ADAPTERS.keys())
def test_counters_of_an_adapter_prove_only_what_they_counted(change, verdict, words):
    lab = World(2, "sriov")
    lab.set("guest.counters", "job-01", **change)
    row = row_of(lab.judged(), "guest.counters job-01")
    assert (row["verdict"], words in row["why"]) == (verdict, True), row["why"]
    assert (row["measured"] == 0) is (verdict == "pass" or "nobody" in words or verdict == "warn")


def sent(lab, octets):
    """Tests of bandwidth that report how much they sent."""
    rows = [{"bytes": 65536, "iterations": octets // 65536, "gbps": 92.0}]
    lab.set("pair.write_bw", rows=rows)


def test_traffic_has_to_fit_to_what_was_sent():
    lab = World(2, "sriov")
    sent(lab, 100 * 10**9)
    row = row_of(lab.judged(), "guest.counters job-01")
    assert (row["verdict"], row["why"]) == ("not_run", "The counters show 8 GB, but RDMA sent at least 200 GB.")
    lab.set("guest.counters", changed=dict.fromkeys(MOVED, 25 * 10**9))
    assert row_of(lab.judged(), "guest.counters job-01")["verdict"] == "pass"


def test_pvrdma_counts_no_drops_and_the_row_says_so():
    row = row_of(World(2, "pvrdma").judged(), "guest.counters job-01")
    assert (row["verdict"], row["measured"]) == ("not_required", "no drop counter")
    assert row["why"].startswith("The PVRDMA driver has no drop counter")


UNREPORTED = {
    "a link": ("guest.address", {"state": None}),
    "whether a clock is synchronised": ("guest.clock", {"synchronised": None}),
}


@pytest.mark.parametrize("check, values", UNREPORTED.values(), ids=UNREPORTED.keys())
def test_what_a_guest_does_not_report_does_not_pass(check, values):
    lab = World(2, "sriov")
    lab.set(check, "job-01", **values)
    assert row_of(lab.judged(), f"{check} job-01")["verdict"] == "not_run"


def test_a_guest_on_which_no_process_ran_did_not_start_one():
    lab = World(2, "tcp")
    lab.set("cluster.hostname", hosts={"job-01": 1, "job-02": 0})
    row = row_of(lab.judged(), "cluster.hostname")
    assert (row["verdict"], row["measured"]) == ("fail", "1 processes on 1 guests")


GPU = {"name": "A100", "licence": "Licensed", "ecc": {"uncorrected": 0}}
PAIR = "job-01 > job-02"
PARTLY = {
    "a licence of one GPU of two": ("guest.licence", "job-01 (before)", {"gpus": [GPU, {**GPU, "licence": None}]}),
    "errors of one GPU of two": ("guest.ecc", "job-01", {"gpus": [GPU, {**GPU, "ecc": {}}]}),
    "a distance of one GPU of two": ("guest.topology", "job-01", {"nearest": {"GPU0": {"class": "PHB"}, "GPU1": None}}),
    "a distance in an unknown word": (
        "guest.topology",
        "job-01",
        {"nearest": {"GPU0": {"class": "PHB"}, "GPU1": {"class": "NEAR"}}},
    ),
    "packets that were lost, and nobody says where": ("pair.ping_mtu", PAIR, {"sent": 5, "received": 1}),
    "no packet": ("pair.ping_mtu", PAIR, {"sent": 0, "received": 0}),
    "both directions in place of one": ("pair.write_bw", PAIR, {"both_directions": True}),
    "one direction in place of both": ("pair.write_bw_both", PAIR, {"both_directions": False}),
    "no time at all": ("pair.write_lat", PAIR, {"usec": 0.0}),
}


@pytest.mark.parametrize("check, of, values", PARTLY.values(), ids=PARTLY.keys())
def test_a_part_of_what_is_required_does_not_pass(check, of, values):
    lab = World(2, "sriov")
    lab.set(check, **values)
    row = row_of(lab.judged(), f"{check} {of}")
    assert (row["verdict"], row["measured"]) == ("not_run", None)


WORSE = {
    "an unlicensed GPU": ("guest.licence", "job-01 (before)", {"gpus": [GPU, {**GPU, "licence": "Unlicensed"}, {}]}),
    "an error of the memory": ("guest.ecc", "job-01", {"gpus": [{**GPU, "ecc": {"uncorrected": 4}}, {}]}),
    "a GPU that is far away": ("guest.topology", "job-01", {"nearest": {"GPU0": {"class": "SYS"}, "GPU1": None}}),
}


@pytest.mark.parametrize("check, of, values", WORSE.values(), ids=WORSE.keys())
def test_what_is_bad_is_shown_although_another_part_is_unknown(check, of, values):
    lab = World(2, "sriov")
    lab.set(check, **values)
    row = row_of(lab.judged(), f"{check} {of}")
    assert row["verdict"] == ("warn" if check == "guest.topology" else "fail")


FEWER = {
    "ranks of NCCL on one guest": ("cluster.nccl", "rdma", {"nodes": 1, "transport": "local"}, "1 of 2 guests"),
    "one rank of MPI": ("cluster.mpi_allreduce", "", {"ranks": 1}, "fewer than the 2 guests"),
}


@pytest.mark.parametrize("check, variant, values, words", FEWER.values(), ids=FEWER.keys())
def test_a_run_on_fewer_guests_is_none_of_all(check, variant, values, words):
    lab = World(2, "sriov")
    lab.set(check, **values)
    row = row_of(lab.judged(), f"{check} {variant}".strip())
    assert (row["verdict"], words in row["why"]) == ("fail", True), row["why"]
