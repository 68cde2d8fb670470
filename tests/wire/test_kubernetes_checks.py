"""The playbook kubernetes checks the nodes in pods, with the check suite and the report of guests."""

from __future__ import annotations

import json

from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.pairs import READY, SELF
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.recorded import END, RUN

from unit.plugins.module_utils.validation.pairs.ends import BANDWIDTH, LATENCY, TCP

from . import kubernetes_lab
from .test_kubernetes import NETWORK, SITE, run

CHECKS = {"image": "images.example.org/cuda:12.4", "pairs": {}}
ADDRESS = "192.168.50.3"
SLOW = "pair.write_bw train-01 to train-02"


def _server(pod, container):
    """A server that waits for its client."""
    return None, f"{SELF}address={ADDRESS} device=mlx5_0 number=1 gid=5\n{READY}\n"


def _client(pod, container):
    """A client on train-01 measures less than one on train-02."""
    slow = pod["spec"]["nodeName"] == "train-01"
    assert ADDRESS in container["command"][2]
    texts = {"pair.iperf3": TCP, "pair.write_lat": LATENCY, "pair.write_bw": "" if slow else BANDWIDTH}
    parts = [f"{RUN}{check}\n{text}{END}0\n" for check, text in texts.items()]
    return 0, f"{SELF}address=192.168.50.4 device=mlx5_1 number=1 gid=5\n{''.join(parts)}"


def play(server, tmp_path, **more):
    folder = tmp_path / "results"
    finished = run(
        server, tmp_path, "-e", f"aiready_run_folder={folder}", wait_s=10, training=None, checks=CHECKS, **more
    )
    file = folder / "validation.json"
    rows = {row["id"]: row for row in json.loads(file.read_text())["rungs"]} if file.exists() else {}
    return finished, rows


def test_nodes_are_checked_in_pods(tmp_path):
    rdma = {"network": {"path": "sriov", "nics": ["vmnic4"]}, "training": SITE["training"]}
    with kubernetes_lab.launch() as server, kubernetes_lab.working(server):
        # The licence server takes the licence of one node away.
        server.world.hardware["train-02"].licensed = False
        server.world.programs.update(server=_server, client=_client)
        finished, rows = play(server, tmp_path, more=rdma, network_operator=NETWORK)
        assert finished.status != 0
        assert rows["guest.licence train-01 (before)"]["verdict"] == "pass"
        assert "the vGPU of train-02 is unlicensed" in rows["guest.licence train-02 (before)"]["cause"]
        bad = [key for key, row in rows.items() if row["verdict"] not in ("pass", "skipped", "not_required")]
        assert bad == ["guest.licence train-02 (before)", SLOW]
        assert "ib_write_bw" in rows[SLOW]["why"]
        assert rows["pair.write_bw train-02 to train-01"]["measured"] > 1
        evidence = tmp_path / "results" / rows["pair.iperf3 train-01 to train-02"]["evidence"]
        assert f"iperf3 -J -c {ADDRESS} -B 192.168.50.4" in evidence.read_text()
        assert "guest.licence train-02 (before)" in " ".join(finished.output.split())
        assert (tmp_path / "results" / "report.html").exists()
        assert server.cluster.list("pods", "aiready") == []
