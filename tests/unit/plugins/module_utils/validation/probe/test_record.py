"""From results of modules to the record of a validation: everything counts once, and what is missing is reported."""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import judge, suite
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import collect, probes, record, topology
from ansible_collections.aiready.vsphere.plugins.modules import validation_result

from unit.plugins.modules.described import checked
from unit.plugins.plugin_utils.validation.test_pair_watch import World

from .healthy import healthy, requested

GUESTS = ["job-01", "job-02"]
BUILT = "Horovod v0.28.1:\n\nAvailable Frameworks:\n    [ ] TensorFlow\n    [X] PyTorch\n"
BUILD = {"frameworks": ["pytorch"], "controllers": ["mpi"], "operations": ["mpi"]}
NOW = "2026-03-01T09:00:00Z"
PATHS = [
    {"a": {"name": "esx-01", "port": "vmnic2"}, "b": {"name": "leaf-01", "port": "Ethernet1"}},
    {"a": {"name": "leaf-01", "port": "Ethernet31"}, "b": {"name": "spine-01", "port": "Ethernet1"}},
]


def looks(root, name, **changes):
    """What guest_health_info reported of a guest before and after."""
    made = {}
    guest = healthy(root)
    for phase in ("before", "after"):
        found, outputs = probes.measured(requested(name=name, phase=phase, gpu=False, **changes), guest, guest.files)
        made[phase] = {"measurements": found, "outputs": outputs}
        guest.files.write("/sys/class/net/ens224/statistics/rx_bytes", "112\n")
    return made


def training(transport, **changes):
    """What training_run reported."""
    result = {
        "run": "20260301-081530-6ed2",
        "began": "2026-03-01T08:15:30Z",
        "seconds": 30.0,
        "verdict": {"state": "passed", "reason": ""},
        "throughput": {"mean": 100.0, "spread": 0.5, "iterations": 9},
        "iterations": [{"rank": 0, "iteration": one, "samples_per_s": 50.0} for one in range(5)],
        "benchmark": {},
        "ranks": [{"rank": 0, "device": "CPU"}],
        "nccl": {"networks": []},
        "build": {
            "version": "0.28.1",
            "frameworks": ["pytorch"],
            "controllers": ["mpi"],
            "operations": ["mpi"],
            "output": BUILT,
        },
        "image": {"name": "images.example.org/horovod:1", "id": "sha256:1", "digests": []},
        "hosts": [{"name": "job-01", "node": "node-0"}, {"name": "job-02", "node": "node-1"}],
        "log": "log",
        "file": "",
        **changes,
    }
    return {
        "training": {
            "after": {"result": result, "launches": [{"host": "job-01", "argv": ["mpirun", "-x", "A=b c"]}]},
            "msg": "",
        }
    }


def params(tmp_path, **changes):
    tested = World(checks=["pair.ping_mtu", "pair.iperf3"], mtu=9000)
    given = {
        "intent": {"guests": GUESTS, "data_path": "tcp", "gpus": "none", "mtu": 9000, "build": BUILD},
        "guests": {name: looks(tmp_path / name, name, rdma=False) for name in GUESTS},
        "pairs": {"measurements": tested.run()},
        "runs": [
            {"check": "cluster.hostname", "variant": "", "guests": GUESTS, "run": training("tcp")},
            *(
                {"check": "cluster.training", "variant": "1:tcp", "guests": [guest], "run": training("tcp")}
                for guest in GUESTS
            ),
            {"check": "cluster.training", "variant": "2:tcp", "guests": GUESTS, "run": training("tcp")},
        ],
        "places": {"job-01": {"host": "esx-01"}, "job-02": {"host": "esx-02"}},
        "result_dir": str(tmp_path / "results" / "one"),
        **changes,
    }
    return checked(given, validation_result.ARGUMENTS)


def reader(path):
    return "[1,0]<stdout>:node-0\n[1,1]<stdout>:node-1\n" if path == "log" else ""


def judged(tmp_path, **changes):
    return record.record(params(tmp_path, **changes), NOW, reader)


def test_a_good_site_without_gpus_passes(tmp_path):
    made, _files, _kept = judged(tmp_path)
    bad = {row["id"]: row["why"] for row in made["checks"] if row["verdict"] not in ("pass", "skipped", "not_required")}
    assert bad == {}
    free = {row["check"] for row in made["checks"] if row["verdict"] == "not_required"}
    # What nothing is published of; two guests that are one processor do not scale.
    assert free == {"pair.iperf3", "cluster.efficiency"}
    assert made["verdict"]["state"] == "pass"
    assert [(one["nodes"], one["images_per_s"]) for one in made["trainings"]] == [(1, 100.0), (1, 100.0), (2, 100.0)]
    assert {
        "object": "job-01",
        "what": "operating system",
        "version": "Ubuntu 22.04.4 LTS",
        "simulated_parts": [],
    } in made["versions"]
    assert {"object": "image", "what": "Horovod", "version": "0.28.1", "simulated_parts": []} in made["versions"]


def test_what_was_not_measured_never_passes(tmp_path):
    made, _files, _kept = judged(tmp_path, guests={}, pairs={}, runs=[], places={})
    assert {row["verdict"] for row in made["checks"]} <= {"not_run", "skipped"}
    assert made["verdict"]["state"] == "incomplete"


def test_two_vms_on_one_host_are_reported(tmp_path):
    made, _files, _kept = judged(tmp_path, places={"job-01": {"host": "esx-01"}, "job-02": {"host": "esx-01"}})
    row = next(row for row in made["checks"] if row["check"] == "placement.hosts")
    assert row["verdict"] == "fail"
    assert "esx-01" in row["cause"]


@pytest.mark.parametrize(
    "result, why",
    [
        ({"unreachable": True, "msg": "no route\nto host"}, "job-02 does not answer: no route to host"),
        ({"failed": True, "msg": "MODULE FAILURE"}, "job-02 could not be read: MODULE FAILURE"),
    ],
)
def test_a_guest_that_was_not_looked_at_fails_its_first_check(tmp_path, result, why):
    guests = {"job-01": looks(tmp_path / "a", "job-01"), "job-02": {"before": result, "after": result}}
    found, _files = collect.collect({"guests": guests})
    assert {one["why"] for one in found if one["subject"] == {"guest": "job-02"}} == {why}


def test_counters_are_what_they_grew_by(tmp_path):
    found, files = collect.collect({"guests": {"job-01": looks(tmp_path, "job-01")}})
    (one,) = [one for one in found if one["check"] == "guest.counters"]
    assert (one["readings"]["changed"], one["variant"]) == ({"rx_bytes": 100}, "")
    assert "\nrx_bytes 12 112\n" in files[one["evidence"]]
    assert "\nout_of_sequence 3 3\n" in files[one["evidence"]]


def switch(paused):
    """What roce_qos_info reported of a switch."""
    counters = {"pauses_received": {"3": paused}, "roce_drops": 0}
    ports = {"Ethernet1": {"running": {"counters": counters}}, "Ethernet2": {}}
    return [{"name": "leaf-01", "ports": ports, "counted": {"show counters": f"paused {paused}\n"}}]


def test_ports_of_switches_are_compared_with_themselves():
    found, files = collect.collect({"switches": {"before": switch(1), "after": switch(5)}})
    one, silent = found
    assert one["subject"] == {"switch": "leaf-01", "port": "Ethernet1"}
    assert one["readings"] == {"changed": {"rx_prio3_pause": 4}, "known": ["roce_drops", "rx_prio3_pause"], "lost": []}
    assert one["command"] == ["show counters"]
    assert files[one["evidence"]].endswith("name, before, after\nroce_drops 0 0\nrx_prio3_pause 1 5\n")
    assert files["evidence/fabric.counters.leaf-01.before.txt"] == "### leaf-01: show counters\npaused 1\n"
    assert silent["readings"] == {"silent": "leaf-01 reports no counters of this port."}


@pytest.mark.parametrize(
    "simulated, marked", [(["rdma", "gpu"], True), (["rdma"], True), (["gpu"], False), ([], False)]
)
def test_the_fabric_of_a_rehearsal_is_marked_as_everything_that_rdma_goes_over(simulated, marked):
    seen = {
        "agreement": {"disagreements": [], "paths": PATHS},
        "switches": {"before": switch(1), "after": switch(5)},
        "simulated": simulated,
    }
    reported = {one["check"]: one["simulated"] for one in collect.collect(seen)[0]}
    assert reported == {"fabric.settings": marked, "fabric.counters": marked}


def test_a_site_that_leaves_out_the_comparison_of_the_fabric_is_not_incomplete_by_it(tmp_path):
    intent = {"guests": GUESTS, "data_path": "pvrdma", "gpus": "none", "mtu": 9000}
    why = "The site skips this check: site.fabric.agreement is skip."
    made, _files, _kept = judged(tmp_path, intent=intent, agreement={"why": why}, simulated=["rdma"])
    rows = {row["check"]: row for row in made["checks"] if row["check"].startswith("fabric.")}
    assert {row["verdict"] for row in rows.values()} == {"skipped"}
    assert rows["fabric.settings"]["why"] == why
    # Nothing was asked of anything, real or not.
    assert {row["simulated"] for row in rows.values()} == {False}


RUNS = {
    "it did not begin": (
        {"failed": True, "msg": "job-02: busy", "training": {"msg": "job-02: busy", "after": {}}},
        ("failed", "job-02: busy"),
    ),
    "it failed": (
        training("tcp", throughput={"mean": None}, verdict={"state": "failed", "reason": "rank 1 failed"}),
        ("failed", "rank 1 failed"),
    ),
    "it trained": (training("tcp"), ("done", "")),
}


@pytest.mark.parametrize("run, reported", RUNS.values(), ids=RUNS.keys())
def test_a_training_is_reported_as_it_went(run, reported):
    given = {"check": "cluster.training", "variant": "2:tcp", "guests": GUESTS, "run": run}
    (one,) = collect.collect({"runs": [given]}, reader)[0]
    assert (one["status"], one["why"], one["variant"]) == (*reported, "2:tcp")


@pytest.mark.parametrize("run", [{"skipped": True}, {}, {"training": {"after": {"result": None}, "msg": ""}}])
def test_a_training_that_was_not_asked_for_is_no_measurement(run):
    given = {"check": "cluster.training", "variant": "2:tcp", "guests": GUESTS, "run": run}
    assert collect.collect({"runs": [given]}, reader)[0] == []


def test_all_iterations_are_taken_from_the_file_of_the_run():
    whole = training("tcp")["training"]["after"]["result"]
    more = dict(whole, iterations=[{"rank": 0, "iteration": one, "samples_per_s": 50.0} for one in range(500)])
    run = training("tcp", file="whole")
    given = {"check": "cluster.training", "variant": "2:tcp", "guests": GUESTS, "run": run}
    (one,) = collect.collect({"runs": [given]}, lambda path: json.dumps(more) if path == "whole" else "")[0]
    assert len(one["readings"]["iterations"]) == 500


def reduced(network):
    """What nccl-tests print that came to their end."""
    half, figures = "time algbw busbw #wrong", "25000 10.74 10.74 0"
    return (
        f"[1,0]<stdout>:node-0:1:1 [0] NCCL INFO Using network {network}\n"
        f"# size count type redop root {half} {half}\n"
        f"  268435456 67108864 float sum -1 {figures} {figures}\n"
        "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 10.74\n"
    )


def test_nccl_is_reported_with_what_it_went_over():
    log = reduced("Socket")
    given = {"check": "cluster.nccl", "variant": "rdma", "guests": GUESTS, "run": training("rdma")}
    found, files = collect.collect({"runs": [given], "simulated": ["gpu"]}, lambda path: log if path == "log" else "")
    assert (found[0]["status"], found[0]["readings"]["busbw"], found[0]["readings"]["transport"]) == (
        "done",
        10.74,
        "tcp",
    )
    assert found[0]["simulated"]
    assert found[0]["command"] == ["mpirun", "-x", "A=b c"]
    assert files["evidence/cluster.nccl.rdma.txt"].startswith("### job-01: mpirun -x 'A=b c'\n")


# Of the built-in all_reduce, started by torchrun on two containers of the lab.
BY_TORCHRUN = """\
[default0]:# Collective test starting: all_reduce_perf, by torch.distributed
[default0]:# torch.distributed {backend}, PyTorch 1.13.0a0
[default0]:#  Rank  0 Group  0 Pid      9 on job-01 device  0 [1b:00] NVIDIA A100
[default0]:#  Rank  1 Group  0 Pid     10 on job-02 device  0 [1b:00] NVIDIA A100
[default0]:#                                                               in-place
[default0]:#       size         count      type   redop    root     time   algbw   busbw  #wrong            timestamp
[default0]:#        (B)    (elements)                               (us)  (GB/s)  (GB/s)
[default0]:    67108864      16777216     float     sum      -1  6500.00   10.32   10.32       0  2026-11-29 02:27:05
[default0]:   134217728      33554432     float     sum      -1 12400.00   10.82   10.82       0  2026-11-29 02:27:05
[default0]:# Out of bounds values : 0 OK
[default0]:# Avg bus bandwidth    : 10.57
"""
NETWORK = "[default0]:job-01:9:9 [0] NCCL INFO Using network {network}\n"


@pytest.mark.parametrize(
    "backend, network, verdict, words",
    [
        ("nccl", "IB", "pass", ""),
        ("nccl", "Socket", "fail", "TCP sockets instead of RDMA"),
        ("gloo", "", "skipped", "gloo reached 10.82 GB/s. This is not a figure of NCCL."),
    ],
)
def test_an_all_reduce_of_torchrun_is_judged_as_that_of_nccl_tests(backend, network, verdict, words):
    ranks = [{"rank": rank, "engine": f"torch.distributed {backend}"} for rank in (0, 1)]
    given = {"check": "cluster.nccl", "variant": "rdma", "guests": GUESTS, "run": training("rdma", ranks=ranks)}
    log = BY_TORCHRUN.format(backend=backend) + (NETWORK.format(network=network) if network else "")
    found, _files = collect.collect({"runs": [given]}, lambda path: log if path == "log" else "")
    reported = found[0]["readings"]
    assert (reported["busbw"], reported["bytes"], reported["wrong"], reported["nodes"]) == (10.82, 134217728, 0, 2)
    others = dict.fromkeys(set(suite.CHECKS) - {"cluster.nccl"}, "It is not asked here")
    rows = judge.judge(found, {"guests": GUESTS, "data_path": "pvrdma", "skip": others})["rows"]
    (row,) = [row for row in rows if row["check"] == "cluster.nccl"]
    assert (row["verdict"], words in row["why"]) == (verdict, True), row


DIED = {"state": "failed", "code": "rank_failed", "reason": "Rank 1 on job-02 was killed", "host": "job-02"}


@pytest.mark.parametrize(
    "run, verdict, why", [({}, "pass", ""), ({"verdict": DIED}, "fail", "Rank 1 on job-02 was killed.")]
)
def test_nccl_whose_run_failed_after_its_table_fails_and_keeps_its_figures(run, verdict, why):
    given = {"check": "cluster.nccl", "variant": "rdma", "guests": GUESTS, "run": training("rdma", **run)}
    found, files = collect.collect({"runs": [given]}, lambda path: reduced("IBext_v8") if path == "log" else "")
    others = dict.fromkeys(set(suite.CHECKS) - {"cluster.nccl"}, "It is not asked here")
    rows = judge.judge(found, {"guests": GUESTS, "data_path": "pvrdma", "skip": others})["rows"]
    (row,) = [row for row in rows if row["check"] == "cluster.nccl"]
    assert (row["verdict"], row["why"], row["measured"]) == (verdict, why, 10.74)
    assert "10.74" in files[row["evidence"]]


UNFINISHED = {
    "a rank failed": (
        training(
            "rdma", verdict={"state": "failed", "reason": "Rank 1", "host": "job-02", "known": {"code": "uvm_off"}}
        ),
        {"at": "job-02", "error": "uvm_off"},
    ),
    "nobody is to blame": (training("rdma", verdict={"state": "failed", "reason": "It stalled", "host": None}), {}),
    "it did not begin": (
        {"failed": True, "training": {"msg": "No.", "after": {}, "failure": {"subject": "job-02", "code": "engine"}}},
        {"at": "job-02"},
    ),
}


@pytest.mark.parametrize("check", ["cluster.hostname", "cluster.nccl", "cluster.mpi_allreduce"])
@pytest.mark.parametrize("run, reported", UNFINISHED.values(), ids=UNFINISHED.keys())
def test_a_run_that_came_to_nothing_reports_whose_fault_it_is_and_what_is_known(check, run, reported):
    given = {"check": check, "variant": "", "guests": GUESTS, "run": run}
    found, _files = collect.collect({"runs": [given]}, lambda _path: "")
    assert (found[0]["status"], found[0]["readings"]) == ("failed", reported)


def test_the_picture_has_cables_and_vms():
    guests = {"job-01": {"host": "esx-01", "gpu": "grid_a100-40c", "nic": "vmnic2", "address": "10.0.112.11"}}
    ports = [{"name": "esx-01", "ports": [{"name": "vmnic2", "speed": 100}]}]
    switches = [{"name": "leaf-01", "platform": "sonic"}, {"name": "spine-01", "platform": "eos"}]
    made = topology.picture(guests, {"paths": PATHS}, ports, switches)
    nic = {"name": "vmnic2", "speed_gb": 100, "switch": "leaf-01", "port": "Ethernet1", "simulated": False}
    gpu = {"name": "A100 PCIe 40GB", "mig": "", "vgpus": ["grid_a100-40c"], "vm": "job-01", "simulated": False}
    assert made["hosts"] == [{"name": "esx-01", "simulated": False, "gpus": [gpu], "nics": [nic], "vms": ["job-01"]}]
    assert made["switches"][0]["peers"] == [{"port": "Ethernet31", "to": "spine-01"}]
    assert made["vms"] == [{"name": "job-01", **guests["job-01"], "simulated": False}]


def test_a_baseline_is_recorded_once_and_compared_with_later(tmp_path):
    path = tmp_path / "baseline.json"
    made, files, kept = judged(tmp_path, baseline=str(path))
    assert kept["entries"]
    record.keep(str(path), kept)
    again = record.record(params(tmp_path, baseline=str(path)), NOW, lambda name: record.read(name) or reader(name))
    assert again[2] is None
    other = {**params(tmp_path, baseline=str(path)), "site": "another"}
    grown = record.record(other, NOW, lambda name: record.read(name) or reader(name))[2]
    assert len(grown["entries"]) == 2 * len(kept["entries"])
    assert {key: one for key, one in grown["entries"].items() if key in kept["entries"]} == kept["entries"]
    assert record.write(str(tmp_path / "results" / "one"), made, files).endswith("/results/one/validation.json")
    reported = json.loads((tmp_path / "results" / "one" / "validation.json").read_text())
    assert reported == json.loads(json.dumps(made))
    kept_files = [row["evidence"] for row in reported["checks"] if row["evidence"].startswith("evidence/guest.")]
    assert kept_files
    assert all((tmp_path / "results" / "one" / name).is_file() for name in kept_files)
