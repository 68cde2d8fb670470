"""The role kubernetes measures several nodes with jobs, one after the other, and writes them to the report."""

from __future__ import annotations

import json

import pytest

from unit.plugins.plugin_utils.kubernetes import job_outputs

from . import kubernetes_lab
from .test_kubernetes import SITE
from .test_kubernetes_pairs import role

TRAINING = {**SITE["training"], "engine": "horovod", "limits": {"wall_s": 60}}
VALIDATION = {
    "nodes": [2],
    "osu": {"bandwidth": ["osu_bw"]},
    "thresholds": {"cluster.nccl": {"low": 10}},
    "skip": {"guest.licence": "The operator of this lab installs no driver."},
}


def launcher(pod, container):
    """The training fails, and the other jobs print their figures. That of a killed run hangs."""
    if container["command"] == ["sleep"]:
        return None, ""
    if "/opt/aiready/synthetic.py" in container["command"]:
        return 1, "CUDA error: out of memory\n"
    return job_outputs.launcher(pod, container)


def left(lab):
    """A job that a killed run left, with the GPUs of a node."""
    worker = {"containers": [{"name": "worker", "image": "a/b:1", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}
    launcher_ = {"containers": [{"name": "launcher", "image": "a/b:1", "command": ["sleep"]}]}
    replicas = {"Launcher": {"template": {"spec": launcher_}}, "Worker": {"template": {"spec": worker}, "replicas": 1}}
    metadata = {"name": "aiready-check-old", "labels": {"aiready.vsphere/check": "job"}}
    spec = {"mpiReplicaSpecs": replicas, "runPolicy": {"cleanPodPolicy": "None"}}
    lab.cluster.create("mpijobs", {"metadata": metadata, "spec": spec}, "aiready")


# About 60 modules take more time than all other tests of these jobs.
@pytest.mark.turn(5, of=6)
def test_jobs_measure_several_nodes(tmp_path):
    with kubernetes_lab.launch() as lab, kubernetes_lab.working(lab):
        lab.world.programs["launcher"] = launcher
        lab.cluster.create("namespaces", {"metadata": {"name": "aiready"}})
        left(lab)
        checks = {"image": "images.example.org/measure:1", "jobs": True, "limit_s": 60}
        finished = role(lab, tmp_path, checks, training=TRAINING, validation=VALIDATION, kubernetes={"training": {}})
        assert finished.status != 0
        file = tmp_path / "results" / "validation.json"
        assert file.exists(), finished.output
        rows = {row["id"]: row for row in json.loads(file.read_text())["checks"]}
        assert (rows["cluster.nccl tcp"]["verdict"], rows["cluster.nccl tcp"]["measured"]) == ("pass", 10.6)
        pairs = ("train-01 > train-02", "train-02 > train-01")
        assert {rows[f"pair.mpi_bw {pair}"]["measured"] for pair in pairs} == {9.604, 8.804}
        assert rows["cluster.training 2:tcp"]["verdict"] == "fail"
        assert "The GPU has too little free memory" in rows["cluster.training 2:tcp"]["why"]
        evidence = (tmp_path / "results" / rows["cluster.nccl tcp"]["evidence"]).read_text()
        assert "all_reduce_perf" in evidence
        assert "busbw" in evidence
        assert [lab.cluster.list(plural, "aiready") for plural in ("mpijobs", "pods")] == [[], []]
