"""The playbook kubernetes checks the nodes in pods, with the check suite and the report of guests."""

from __future__ import annotations

import json

import pytest

from rehearse import pod_report
from rehearse.failure import RehearsalFailed

from . import kubernetes_lab
from .test_kubernetes import NETWORK, SITE, run

CHECKS = {"image": "images.example.org/cuda:12.4"}


def play(server, tmp_path, **more):
    folder = tmp_path / "results"
    finished = run(
        server, tmp_path, "-e", f"aiready_run_folder={folder}", wait_s=10, training=None, checks=CHECKS, **more
    )
    file = folder / "validation.json"
    rows = {row["id"]: row for row in json.loads(file.read_text())["checks"]} if file.exists() else {}
    return finished, rows


def test_nodes_are_checked_in_pods(tmp_path):
    rdma = {"network": {"path": "sriov", "nics": ["vmnic4"]}, "training": SITE["training"]}
    rdma["stack"] = {"dcgm": {"diag": 1}}
    with kubernetes_lab.launch() as server, kubernetes_lab.working(server):
        kubernetes_lab.restrict(server)
        # The licence server takes the licence of one node away.
        server.world.hardware["train-02"].licensed = False
        finished, rows = play(server, tmp_path, more=rdma, network_operator=NETWORK)
        assert finished.status != 0
        assert rows["guest.licence train-01 (before)"]["verdict"] == "pass"
        assert rows["guest.dcgm train-01"]["verdict"] == "pass"
        assert "the vGPU of train-02 is unlicensed" in rows["guest.licence train-02 (before)"]["cause"]
        bad = [key for key, row in rows.items() if row["verdict"] not in ("pass", "skipped")]
        assert bad == ["guest.licence train-02 (before)"]
        assert "guest.licence train-02 (before)" in " ".join(finished.output.split())
        assert (tmp_path / "results" / "report.html").exists()
        assert server.cluster.list("pods", "aiready") == []
    with pytest.raises(RehearsalFailed, match=r"guest.licence train-02 \(before\) \(fail\)"):
        pod_report.validated(tmp_path / "results", 2, real=False)
