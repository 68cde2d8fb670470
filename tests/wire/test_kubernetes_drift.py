"""The playbook drift compares the objects of a cluster with reads alone, and names who changed a field."""

from __future__ import annotations

import json

import pytest

from house.collection import ROOT
from rehearse import playbook

from . import kubernetes_lab
from .test_kubernetes import NETWORK, RDMA, SITE, TOKEN


def play(server, tmp_path, name, *arguments, **own):
    section = {**SITE["kubernetes"], "network_operator": NETWORK, "kubeconfig": str(server.kubeconfig_file), **own}
    given = {"site": {**SITE, **RDMA, "kubernetes": section}, "site_licence_token": TOKEN}
    given.update(kubernetes_poll_s=1, kubernetes_wait_s=20)
    local = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
    where, file = tmp_path / "hosts.json", tmp_path / "variables.json"
    where.write_text(json.dumps({"all": {"hosts": {"localhost": local}}}))
    file.write_text(json.dumps(given))
    env = playbook.environment(tmp_path)
    env.update(AIREADY_RESULTS=str(tmp_path / "results"), ANSIBLE_CALLBACKS_ENABLED="aiready.vsphere.record")
    if name == "kubernetes":
        env["AIREADY_RUN_FOLDER"] = str(tmp_path / "results" / "first")
    path = ROOT / "playbooks" / f"{name}.yml"
    return playbook.run(path, "-e", f"@{file}", *arguments, env=env, inventory=where)


def drift(server, tmp_path, **own):
    asked = []
    server.service.refusals.append(lambda method, path: asked.append((method, path)))
    ended = play(server, tmp_path, "drift", "--tags", "kubernetes", **own)
    server.service.refusals.pop()
    assert {method for method, _path in asked} <= {"GET"}
    folder = sorted((tmp_path / "results" / "drift").iterdir())[-1]
    return ended, json.loads((folder / "drift.json").read_text()), asked


def planted(server):
    """What others did: one field with an editor, one deleted object."""
    with server.cluster.lock:
        own = server.cluster
        policy = own.get("clusterpolicies", "cluster-policy")
        driver = {**policy["spec"]["driver"], "version": "570.1"}
        own.change("clusterpolicies", policy, "kubectl-edit", spec={**policy["spec"], "driver": driver})
        own.remove("ippools", own.get("ippools", "roce", "nvidia-network-operator"))
        (secret,) = [one for one in own.list("secrets") if one["metadata"]["name"].startswith("aiready-licence-")]
        own.remove("secrets", secret)


# Playbooks take more than the time of all unit tests of drift.
@pytest.mark.turn(2, of=6)
def test_an_untouched_cluster_has_no_drift_and_each_change_has_its_manager(tmp_path):
    with kubernetes_lab.launch() as server:
        with kubernetes_lab.working(server):
            done = play(server, tmp_path, "kubernetes")
            assert done.status == 0, done.output
        server.service.tick = lambda: False
        ended, reported, asked = drift(server, tmp_path)
        assert (ended.status, reported["status"]) == (0, "no drift"), ended.output
        assert "ClusterPolicy cluster-policy" in {row["object"] for row in reported["rows"]}
        lists = [path for _method, path in asked if path.rpartition("/")[2] == "nodes"]
        assert len(lists) == 1
        planted(server)
        ended, reported, _asked = drift(server, tmp_path)
        assert (ended.status, ended.changed) == (2, 0), ended.output
        rows = {(row["object"], row["setting"]): row for row in reported["rows"] if row["state"] == "changed since"}
        found = rows.pop(("ClusterPolicy cluster-policy", "spec.driver.version"))
        assert (found["found"], found["changed_by"], found["run"]) == ("570.1", "kubectl-edit", "first")
        assert found["changed_at"]
        assert sorted((name.partition("-licence-")[0], setting) for name, setting in rows) == [
            ("IPPool nvidia-network-operator/roce", "exists"),
            ("Secret gpu-operator/aiready", "exists"),
        ]
        assert TOKEN not in ended.output + json.dumps(reported)


@pytest.mark.turn(5, of=6)
def test_a_cluster_that_does_not_answer_is_unknown(tmp_path):
    with kubernetes_lab.launch(nodes=0) as server:
        server.kubeconfig_file.write_text(server.kubeconfig().replace(server.url, "https://127.0.0.1:1"))
        ended, reported, _asked = drift(server, tmp_path)
    assert (ended.status, reported["status"]) == (2, "unknown"), ended.output
    assert [(row["object"], row["setting"]) for row in reported["rows"]] == [("Kubernetes cluster", "settings")]
    assert "The controller cannot connect to the API server." in reported["rows"][0]["why"]
