"""Tests of pairs in pods: their scripts run in a real shell with made-up programs, and the check suite judges them."""

from __future__ import annotations

import os
import re
import subprocess

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.judge import judge
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import collect
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import checks, pairs

from unit.plugins.module_utils.validation.pairs.ends import BANDWIDTH, LATENCY, TCP

from .clusters import node, requested
from .test_checks import with_checks

NODES = [node(f"gpu-0{number}") for number in range(1, 5)]
PROGRAMS = {"iperf3": TCP, "ib_write_bw": BANDWIDTH, "ib_write_lat": LATENCY, "ip": "2: net1 inet 192.168.50.3/24 x\n"}
GIDS = {
    "gids/0": "fe80:0000:0000:0000:0000:0000:0000:0001",
    "gids/5": "0000:0000:0000:0000:0000:ffff:c0a8:3203",
    **{f"gid_attrs/types/{index}": "RoCE v2" for index in (0, 5)},
    **{f"gid_attrs/ndevs/{index}": "net1" for index in (0, 5)},
}


def asked(rdma=True, **validation):
    whole = with_checks(rdma=rdma)
    whole["kubernetes"]["checks"]["pairs"] = {"image": "images.example.org/tools:1"}
    return requested({**whole, "validation": validation})


class Shell:
    """Pods as processes, with programs that print the text of a test and record their arguments."""

    def __init__(self, folder, missing=()):
        self.folder = folder
        (folder / "bin").mkdir()
        for name, text in PROGRAMS.items():
            (folder / f"{name}.txt").write_text(text)
            if name not in missing:
                program = folder / "bin" / name
                program.write_text(f"#!/bin/sh\necho {name} $* >> {folder}/calls\ncat {folder}/{name}.txt\n")
                program.chmod(0o755)
        for name, text in GIDS.items():
            file = folder / "sys/class/infiniband/mlx5_2/ports/1" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{text}\n")

    def log(self, pod):
        (container,) = pod["spec"]["containers"]
        # Its folders are below that of the test.
        script = re.sub(r"(?<![\w/])/(sys|tmp)/", rf"{self.folder}/\1/", container["command"][2])
        script = script.replace("sleep 2", "")
        (self.folder / "tmp").mkdir(exist_ok=True)
        own = {one["name"]: one.get("value", "10.0.0.7") for one in container["env"]}
        env = {**os.environ, **own, "PATH": f"{self.folder}/bin:/usr/bin:/bin"}
        return subprocess.run(["/bin/sh", "-c", script], env=env, capture_output=True, text=True, check=False).stdout

    @property
    def calls(self):
        return (self.folder / "calls").read_text().splitlines()


def ran(request, shell, nodes=2):
    """What the role stores for each step."""
    done = []
    for step in pairs.steps(request, NODES[:nodes]):
        servers = pairs.pods(request, NODES, step)
        logs = {one["metadata"]["name"]: shell.log(one) for one in servers}
        clients = pairs.pods(request, NODES, step, logs)
        logs.update({one["metadata"]["name"]: shell.log(one) for one in clients})
        found = [dict(one, status={"phase": "Succeeded"}) for one in (*servers, *clients)]
        more = {"pods": found, "events": [], "logs": logs, "unread": {}}
        done.append({"step": step, "servers": servers, "clients": clients, **more})
    return done


def judged(request, done):
    found = pairs.results(request, done)
    inputs = checks.results(request, {"made": [], "pods": [], "events": [], "logs": {}})
    inputs["intent"]["guests"] = sorted({name for one in done for pair in one["step"] for name in pair})
    whole = {**inputs, "pairs": {"measurements": found["measurements"]}}
    measurements, _files = collect.collect(whole, lambda path: "")
    rows = judge(measurements, inputs["intent"], request["checks"]["thresholds"])["rows"]
    return {row["id"]: row for row in rows if row["check"].startswith("pair.")}, found


def test_no_node_is_in_two_pairs_of_a_step():
    steps = pairs.steps(asked(), NODES)
    for step in steps:
        names = [name for pair in step for name in pair]
        assert len(names) == len(set(names)) == 4
    assert len({tuple(pair) for step in steps for pair in step}) == 12
    assert len(pairs.steps(asked(rounds=1), NODES)) == 2
    assert pairs.steps(requested(with_checks()), NODES) == []


def test_pods_measure_rdma_and_tcp(tmp_path):
    shell, request = Shell(tmp_path), asked(seconds=3)
    done = ran(request, shell)
    found = pairs.results(request, done)
    assert {(one["check"], one["status"], one["why"]) for one in found["measurements"]} == {
        (check, "done", "") for check in ("pair.iperf3", "pair.write_lat", "pair.write_bw")
    }
    calls = [line.split() for line in shell.calls if line.startswith("ib_write_bw")]
    common = "ib_write_bw -d mlx5_2 -i 1 -x 5 -p 18517 -F -s 1048576 --report_gbits -q 1 -D 3 --tclass=106"
    common = common.split(" ")
    assert calls[:2] == [common, [*common, "192.168.50.3"]]
    assert "ib_write_bw -d mlx5_2" in found["files"]["evidence/pair.write_bw.gpu-01.gpu-02.txt"]
    (client,) = done[0]["clients"]
    assert client["spec"]["containers"][0]["resources"] == {"limits": {"nvidia.com/roce": 1}}


def test_figures_are_rows_of_the_report(tmp_path):
    shell, request = Shell(tmp_path), asked(rdma=False, thresholds={"pair.iperf3": {"low": 6}})
    rows, _found = judged(request, ran(request, shell))
    passed = {key for key, row in rows.items() if row["verdict"] == "pass"}
    assert len(passed) == 2, rows
    assert {rows[key]["check"] for key in passed} == {"pair.iperf3"}
    assert all("10.0.0.7" in line for line in shell.calls)


def test_slow_pair_fails_by_the_thresholds_of_the_site(tmp_path):
    request = asked(rdma=False, thresholds={"pair.iperf3": {"low": 7}})
    rows, _found = judged(request, ran(request, Shell(tmp_path)))
    assert [row["verdict"] for row in rows.values() if row["check"] == "pair.iperf3"] == ["fail", "fail"]


def test_missing_program_is_named_and_not_passed(tmp_path):
    request = asked()
    rows = pairs.results(request, ran(request, Shell(tmp_path, missing=("ib_write_bw",))))["measurements"]
    bad = [one for one in rows if one["status"] != "done"]
    assert {(one["check"], one["status"]) for one in bad} == {("pair.write_bw", "missing")}
    assert "The program ib_write_bw is missing in the image images.example.org/tools:1" in bad[0]["why"]


@pytest.mark.parametrize(
    "change, words",
    [
        ({"clients": [], "pods": []}, "does not exist"),
        ({"clients": [], "logs": {}}, "its log has no complete result. It is empty"),
        ({"logs": {}}, "its log has no complete result. It is empty"),
    ],
)
def test_pod_without_a_result_is_a_failure(tmp_path, change, words):
    request = asked()
    done = [{**one, **change} for one in ran(request, Shell(tmp_path))]
    rows = pairs.results(request, done)["measurements"]
    assert len(rows) == 6
    assert {one["status"] for one in rows} == {"failed"}
    assert all(words in one["why"] for one in rows)


def test_pods_have_started():
    waiting = {"status": {"phase": "Pending"}}
    assert pairs.started([{"status": {"phase": "Running"}}, {"status": {"phase": "Failed"}}])
    assert not pairs.started([{"status": {"phase": "Running"}}, waiting])
    assert not pairs.started([])


@pytest.mark.parametrize("address", ["", "$(reboot)", "{{ 7 * 7 }}", "@device@", "1.2.3"])
def test_an_address_of_a_pod_that_is_none_does_not_start_a_client(tmp_path, address):
    request = asked()
    done = ran(request, Shell(tmp_path))
    logs = {one["servers"][0]["metadata"]["name"]: f"{pairs.SELF}address={address} device=\n" for one in done}
    for one in done:
        assert pairs.pods(request, NODES, one["step"], logs) == []
    rows = pairs.results(request, [{**one, "clients": [], "logs": logs} for one in done])["measurements"]
    assert {one["status"] for one in rows} == {"failed"}
    assert all("has no IPv4 address on net1. Check the addresses of its network" in one["why"] for one in rows)
    assert all(one["why"].endswith("contains ip, sed and head.") for one in rows)


def test_a_pod_that_remains_serves_no_other_pair():
    request = asked()
    made = [pod for step in pairs.steps(request, NODES) for pod in pairs.pods(request, NODES, step)]
    assert len({pod["metadata"]["name"] for pod in made}) == len(made) == 12


def test_servers_wait_for_clients_that_start_late(tmp_path):
    request = asked()
    done = ran(request, Shell(tmp_path))
    limit = request["checks"]["limit_s"]
    (server,), (client,) = done[0]["servers"], done[0]["clients"]
    assert client["spec"]["activeDeadlineSeconds"] == limit
    assert server["spec"]["activeDeadlineSeconds"] == 3 * limit
    assert f"timeout {2 * limit} iperf3" in server["spec"]["containers"][0]["command"][2]
