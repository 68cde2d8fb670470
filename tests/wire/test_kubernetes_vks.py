"""The playbook kubernetes creates a VKS cluster on a Supervisor and configures its operator, once."""

from __future__ import annotations

import json
import re

import turns
from house.collection import ROOT
from rehearse import playbook
from vsphere_twin.kubernetes import kinds
from vsphere_twin.model.supervisor import Namespace

PRESENT = "nvidia.com/gpu.present"
SINCE = "2026-01-01T00:00:00Z"
DONE = {"type": "Ready", "status": "True", "reason": "Reconciled", "message": "", "lastTransitionTime": SINCE}
READY = {"state": "ready", "conditions": [DONE]}
USER, PASSWORD = "administrator@vsphere.local", "VMware1!"


class GpuOperator:
    """Reports a policy as ready, and the GPU of each worker."""

    def __init__(self, cluster):
        self.cluster = cluster

    def tick(self):
        late = [one for one in self.cluster.list("clusterpolicies") if one.get("status") != READY]
        for one in late:
            self.cluster.set_status("clusterpolicies", one, READY)
        changed = bool(late)
        for node in self.cluster.list("nodes"):
            metadata, status = dict(node["metadata"]), dict(node["status"])
            if "-train-" in metadata["name"] and PRESENT not in metadata["labels"]:
                metadata["labels"] = {**metadata["labels"], PRESENT: "true"}
                self.cluster.change("nodes", node, "gpu-operator", metadata=metadata)
                status["allocatable"] = {**status["allocatable"], "nvidia.com/gpu": "1"}
                self.cluster.set_status("nodes", self.cluster.get("nodes", metadata["name"]), status)
                changed = True
        return changed


def given(running, ca_file):
    """The site and the variables of the run."""
    cluster = {
        "supervisor": running.kubernetes.url.removeprefix("https://"),
        "ca_file": str(ca_file),
        "namespace": "training",
        "cluster": "gpu",
        "version": "v1.33.4",
        "storage_class": "fast",
    }
    site = {
        "gpu": {"mode": "vgpu", "profile": "grid_a100-40c"},
        "machine": {"cpus": 8, "memory_gb": 64},
        "vms": [{"prefix": "train-", "count": 2}],
        "vcenter": {
            "hostname": "127.0.0.1",
            "port": running.port,
            "username": USER,
            "ca_file": str(ca_file),
        },
        "kubernetes": {"kind": "tkgs", "vks": cluster, "wait_s": 20},
    }
    return {"site": site, "site_vcenter_password": PASSWORD, "kubernetes_poll_s": 1}


def run(running, tmp_path, *arguments, name="kubernetes"):
    file, where = tmp_path / "variables.json", tmp_path / "hosts.json"
    file.write_text(json.dumps(given(running, tmp_path / "ca.pem")))
    local = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
    where.write_text(json.dumps({"all": {"hosts": {"localhost": local}}}))
    env = {**playbook.environment(tmp_path), "AIREADY_RESULTS": str(tmp_path / "results")}
    path = ROOT / "playbooks" / f"{name}.yml"
    return playbook.run(path, "-e", f"@{file}", *arguments, env=env, inventory=where)


def prepare(running, tmp_path):
    """What the administrator of the Supervisor did: a namespace with the class of the control plane."""
    (tmp_path / "ca.pem").write_text((running.kubernetes.directory / "ca.pem").read_text())
    workloads, supervisor = running.world.workloads, running.kubernetes
    with running.world.lock:
        workloads.create(running.world.release, {"id": "best-effort-medium", "cpu_count": 2, "memory_MB": 8192})
        (cluster,) = running.world.of_kind("ClusterComputeResource")
        workloads.namespaces["training"] = made = Namespace("training", cluster.moid)
        workloads.offer(made, ["best-effort-medium"])
    spawn = supervisor.world.spawn

    def with_operator(*of_cluster):
        server = spawn(*of_cluster)
        if server.cluster.get("namespaces", "gpu-operator") is None:
            name = "clusterpolicies.nvidia.com"
            server.cluster.create("customresourcedefinitions", kinds.definitions()[name])
            server.cluster.create("namespaces", {"metadata": {"name": "gpu-operator"}})
            server.service.tick = GpuOperator(server.cluster).tick
        return server

    supervisor.world.spawn = with_operator


def test_cluster_of_a_site(twin, tmp_path):
    running = twin(faces=("kubernetes",))
    prepare(running, tmp_path)
    planned = run(running, tmp_path, "--check", "--diff")
    assert planned.status == 0, planned.output
    assert "gpu-train" in planned.output
    assert list(running.world.workloads.classes) == ["best-effort-medium"]
    first = run(running, tmp_path)
    assert first.status == 0, first.output
    (made,) = running.kubernetes.made.values()
    assert sorted(made.world.hardware) == ["gpu-control-0", "gpu-train-0", "gpu-train-1"]
    with running.world.lock:
        vms = {vm.name: len(vm.vgpus) for vm in running.world.of_kind("VirtualMachine") if vm.power == "poweredOn"}
    assert {name: count for name, count in vms.items() if name in made.world.hardware} == {
        "gpu-control-0": 0,
        "gpu-train-0": 1,
        "gpu-train-1": 1,
    }
    assert [one["metadata"]["name"] for one in made.cluster.list("clusterpolicies")] == ["cluster-policy"]
    again = run(running, tmp_path, "-v")
    assert again.status == 0, again.output
    assert "changed=0" in again.output
    assert re.findall(r"client-key-data|twin-token|twin-admin-token", first.output + again.output) == []
    if turns.due(3, of=6):  # one playbook more
        drifts(running, tmp_path, made)
    elif turns.due(5, of=6):
        goes(running, tmp_path)


def goes(running, tmp_path):
    """Restore deletes the cluster with its nodes, and then their VM class."""
    ended = run(running, tmp_path, "-e", "restore_delete_vms=true", name="restore")
    assert ended.status == 0, ended.output
    assert "restored: VM class gpu-train (kubernetes), exists" in ended.output
    with running.world.lock:
        assert list(running.world.workloads.classes) == ["best-effort-medium"]
        assert running.world.workloads.namespaces["training"].classes == ["best-effort-medium"]
        assert [vm.name for vm in running.world.of_kind("VirtualMachine") if vm.name.startswith("gpu-")] == []
    assert running.kubernetes.cluster.list("clusters") == []


def drifts(running, tmp_path, made):
    """Drift reads the Supervisor and the cluster, and names what others changed in both."""
    cluster = running.kubernetes.cluster
    with cluster.lock:
        own = cluster.get("clusters", "gpu", "training")
        spec = json.loads(json.dumps(own["spec"]))
        spec["topology"]["controlPlane"]["replicas"] = 3
        cluster.change("clusters", own, "kubectl-edit", spec=spec)
    with made.cluster.lock:
        own = made.cluster.get("namespaces", "gpu-operator")
        label = {"pod-security.kubernetes.io/enforce": "baseline"}
        made.cluster.labelled("namespaces", own, label, "kubectl-label")
    ended = run(running, tmp_path, "--tags", "kubernetes", name="drift")
    assert (ended.status, ended.changed) == (2, 0), ended.output
    (folder,) = (tmp_path / "results" / "drift").iterdir()
    rows = json.loads((folder / "drift.json").read_text())["rows"]
    found = {(row["object"], row["found"], row["changed_by"]) for row in rows if row["state"] != "as requested"}
    assert found == {
        ("Cluster training/gpu", "3", "kubectl-edit"),
        ("Namespace gpu-operator", "baseline", "kubectl-label"),
    }
    assert {"gpu-train", "ClusterPolicy cluster-policy"} <= {row["object"] for row in rows}
    assert re.findall(r"client-key-data|twin-token|twin-admin-token", ended.output) == []
