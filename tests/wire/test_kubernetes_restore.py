"""Objects of a cluster go back to what they were, unless others changed them. The requests go over the wire."""

from __future__ import annotations

import json
import os
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core import journal
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.kubernetes import noun
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore import judge, plan

from house.collection import ROOT
from rehearse import playbook

from . import kubernetes_lab

POLICY = {
    "apiVersion": "nvidia.com/v1",
    "kind": "ClusterPolicy",
    "metadata": {"name": "cluster-policy"},
    "spec": {"driver": {"version": "550.90.07", "licensingConfig": {"secretName": "one", "nlsEnabled": True}}},
}
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "type": "Opaque",
    "metadata": {"name": "one", "namespace": kubernetes_lab.NAMESPACE},
}
SPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "training"}}
TOKEN = {"token": "bm90LWEtc2VjcmV0"}


class Ended(Exception):
    """The end of a module."""


class Cluster:
    """A lab, its journal, and the module."""

    def __init__(self, server: Any, folder: Any) -> None:
        self.server, self.folder = server, folder

    def module(self, check: bool = False, **given: Any) -> dict[str, Any]:
        params = {name: one.get("default") for name, one in noun.ARGUMENTS.items()}
        params.update(given, kubeconfig=str(self.server.kubeconfig_file))
        place = journal.Place(str(self.folder / "1.jsonl"), "1", "kubernetes", "kubernetes_object", "localhost")
        answers: list[dict[str, Any]] = []

        def leave(**answer: Any) -> None:
            answers.append(answer)
            raise Ended

        module: Any = SimpleNamespace(
            params=params,
            check_mode=check,
            _diff=True,
            argument_spec=noun.ARGUMENTS,
            journal=place.as_text(),
            exit_json=leave,
            fail_json=leave,
            warn=print,
        )
        assert noun.check_params(params) == []
        request = noun.request_of(params)
        with pytest.raises(Ended):
            run(module, noun.Objects(params), [Item(request.label, request)], "kubernetes_object", single=True)
        return answers[0]

    def plan(self, **options: Any) -> dict[str, Any]:
        return plan.plan(str(self.folder), **options)

    def get(self, *where: str) -> Any:
        with self.server.cluster.lock:
            return json.loads(json.dumps(self.server.cluster.get(*where)))

    def restore(self, **options: Any) -> list[tuple[str, str]]:
        """(object, state) of each setting, after each due step was run."""
        rows = []
        for step in self.plan(**options)["steps"]:
            seen = self.module(check=True, **step["args"])
            item = seen["kubernetes_object"]
            if item["failed"]:
                rows.append((step["object"], seen["failure"]["code"]))
                continue
            states = {row.setting: row.state for row in judge.judge(step, item["changes"])}
            due = [path for path, state in states.items() if state == judge.DUE]
            rows += [(f"{step['object']} {path}", state) for path, state in states.items()]
            if due:
                one = plan.narrowed(step, due) if len(due) < len(states) else None
                made = self.module(**(one.args if one else step["args"]))
                assert not made["kubernetes_object"]["failed"], made
                assert one is None or {row["path"] for row in made["kubernetes_object"]["changes"]} == set(due)
        return rows


@pytest.fixture
def cluster(tmp_path):
    with kubernetes_lab.launch(nodes=0) as server:
        yield Cluster(server, tmp_path)


def spec(found):
    return found["spec"]


def test_fields_and_objects_go_back(cluster):
    before = spec(cluster.get("clusterpolicies", "cluster-policy"))
    secret = {"definition": SECRET, "secret_data": TOKEN}
    assert cluster.module(check=True, **secret)["changed"]
    assert cluster.get("secrets", "one", "gpu-operator") is None
    made = [cluster.module(**secret), cluster.module(definition=POLICY, force=True), cluster.module(definition=SPACE)]
    assert [one["changed"] for one in made] == [True, True, True], made
    assert cluster.module(definition=POLICY)["changed"] is False
    assert TOKEN["token"] not in json.dumps(made) + (cluster.folder / "1.jsonl").read_text()
    assert [one["object"] for one in cluster.plan()["cannot"]] == ["Namespace training"]
    rows = cluster.restore(delete_namespaces=True)
    assert rows == [
        ("ClusterPolicy cluster-policy spec.driver.licensingConfig.nlsEnabled", "due"),
        ("ClusterPolicy cluster-policy spec.driver.licensingConfig.secretName", "due"),
        ("ClusterPolicy cluster-policy spec.driver.version", "due"),
        ("Secret gpu-operator/one exists", "due"),
        ("Namespace training exists", "due"),
    ]
    assert spec(cluster.get("clusterpolicies", "cluster-policy")) == before
    assert cluster.get("secrets", "one", "gpu-operator") is None
    assert cluster.plan(delete_namespaces=True)["steps"] == []
    # Restore owns no field that a run of the stage would conflict with.
    again = cluster.module(definition=POLICY)
    assert (again["changed"], again["kubernetes_object"]["failed"]) == (True, False), again


def test_what_others_changed_stays(cluster):
    cluster.module(definition=SECRET, secret_data=TOKEN)
    cluster.module(definition=POLICY, force=True)
    cluster.module(definition=SPACE)
    with cluster.server.cluster.lock:
        own = cluster.server.cluster
        policy = own.get("clusterpolicies", "cluster-policy")
        driver = {**policy["spec"]["driver"], "version": "570.1"}
        own.change("clusterpolicies", policy, "kubectl-edit", spec={**policy["spec"], "driver": driver})
        own.labelled("secrets", own.get("secrets", "one", "gpu-operator"), {"team": "x"}, "kubectl-label")
        own.create("configmaps", {"metadata": {"name": "theirs"}}, "training")
    states = dict(cluster.restore(delete_namespaces=True))
    assert states == {
        "ClusterPolicy cluster-policy spec.driver.licensingConfig.nlsEnabled": "due",
        "ClusterPolicy cluster-policy spec.driver.licensingConfig.secretName": "due",
        "ClusterPolicy cluster-policy spec.driver.version": "changed since by another",
        "Secret gpu-operator/one": "kubernetes_object_changed",
        "Namespace training": "kubernetes_namespace_not_empty",
    }
    driver = spec(cluster.get("clusterpolicies", "cluster-policy"))["driver"]
    assert driver["version"] == "570.1"
    assert "licensingConfig" not in driver


def test_another_object_of_the_same_name_stays(cluster):
    cluster.module(definition=SECRET, secret_data=TOKEN)
    with cluster.server.cluster.lock:
        own = cluster.server.cluster
        own.remove("secrets", own.get("secrets", "one", "gpu-operator"))
        own.create("secrets", {"metadata": {"name": "one"}}, "gpu-operator", "aiready.vsphere")
    assert cluster.restore() == [("Secret gpu-operator/one", "kubernetes_object_replaced")]
    refused = cluster.module(definition=POLICY)
    assert refused["failure"]["status"]["reason"] == "Conflict", refused


def restore(tmp_path, site, start):
    """The output of the playbook from this run on, and whether it succeeded."""
    local = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
    where, file = tmp_path / "hosts.json", tmp_path / "variables.json"
    where.write_text(json.dumps({"all": {"hosts": {"localhost": local}}}))
    file.write_text(json.dumps({"site": site, "aiready_journal": str(tmp_path), "restore_from": start}))
    path, env = ROOT / "playbooks" / "restore.yml", playbook.environment(tmp_path)
    ended = playbook.run(path, "-e", f"@{file}", env=env, inventory=where)
    return " ".join(ended.output.split()), ended.status == 0


def changed_guests(folder, name):
    """A run that changed a guest, in the journal."""
    place = journal.Place(str(folder / f"{name}.jsonl"), name, "guests", "guest_roce", "train-1")
    journal.visit(place.as_text())


@pytest.mark.parametrize("described", [True, False])
def test_a_cluster_that_is_gone_does_not_end_restore(cluster, tmp_path, described):
    """A cluster that the site describes may answer later, so the playbook fails after its other parts."""
    # Earlier and later runs changed guests. Their record cannot return to the state between them, so they stay.
    changed_guests(tmp_path, "0")
    cluster.module(definition=SECRET, secret_data=TOKEN)
    changed_guests(tmp_path, "2")
    file = tmp_path / "kubeconfig"
    file.write_text(cluster.server.kubeconfig().replace(cluster.server.url, "https://127.0.0.1:1"))
    site = {"vms": [{"name": "train-1"}], "gpu": {"mode": "vgpu", "profile": "grid_a100-40c"}}
    shown, done = restore(tmp_path, {**site, "kubernetes": {"kubeconfig": str(file)}} if described else site, "1")
    assert "cannot: guests (guests), settings of these runs. Earlier runs changed the guests, too" in shown
    cause = "The controller cannot connect to the API server." if described else "The site has no section kubernetes"
    state = "unreachable" if described else "cannot"
    assert f"{state}: Secret gpu-operator/one (kubernetes), exists. " in shown
    assert cause in shown
    assert done is not described
    assert ("Cannot restore some settings of the Kubernetes cluster. Cannot read the cluster." in shown) is described
    assert cluster.get("secrets", "one", "gpu-operator") is not None


# Three playbooks take more than the time of all other tests here.
@pytest.mark.turn(0, of=6)
def test_the_playbook_shows_the_set_and_restores_it(tmp_path):
    def now():
        return [server.cluster.get("clusterpolicies", "cluster-policy")["spec"], len(server.cluster.list("secrets"))]

    with kubernetes_lab.launch() as server, kubernetes_lab.working(server):
        play = player(server, tmp_path)
        before = now()
        play("kubernetes")
        made = now()
        assert made[1] == before[1] + 1
        shown = play("restore", "--check", "--diff")
        assert now() == made
        assert "due: ClusterPolicy cluster-policy (kubernetes), spec.driver.licensingConfig.secretName" in shown
        done = play("restore")
        assert now() == before
        assert "restored: Secret gpu-operator/aiready-licence-" in done


def player(server, tmp_path, **operator):
    """Runs a playbook on the site of a lab, and returns its output."""

    def play(name, *arguments):
        own = {"kubeconfig": str(server.kubeconfig_file)}
        own["gpu_operator"] = {"driver": kubernetes_lab.DRIVER, **operator}
        site = {"gpu": {"mode": "vgpu", "profile": "grid_a100-40c"}, "vms": [{"name": "train-1"}], "kubernetes": own}
        given = {"site": site, "site_licence_token": "not-a-real-token", "aiready_journal": str(tmp_path / "journal")}
        given.update(kubernetes_poll_s=1, kubernetes_wait_s=20)
        local = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
        where, file = tmp_path / "hosts.json", tmp_path / "variables.json"
        where.write_text(json.dumps({"all": {"hosts": {"localhost": local}}}))
        file.write_text(json.dumps(given))
        path, env = ROOT / "playbooks" / f"{name}.yml", playbook.environment(tmp_path)
        ended = playbook.run(path, "-e", f"@{file}", *arguments, env=env, inventory=where)
        assert ended.status == 0, ended.output
        return ended.output

    return play


@pytest.mark.turn(1, of=6)
def test_a_release_that_the_playbook_installed_goes(tmp_path, monkeypatch):
    """With a program in place of Helm, because no chart is needed to test the journal."""
    program, state = tmp_path / "bin" / "helm", tmp_path / "releases.json"
    program.parent.mkdir()
    source = ROOT / "tests" / "unit" / "plugins" / "action" / "helm_program.py"
    program.write_text(f'#!/bin/sh\nHELM_STATE={state} exec {sys.executable} {source} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    with kubernetes_lab.launch() as server, kubernetes_lab.working(server):
        play = player(server, tmp_path, chart={"install": True, "ref": "/charts/gpu-operator.tgz"})
        play("kubernetes")
        assert [one["chart"] for one in json.loads(state.read_text())] == ["op-1.0.0"]
        done = play("restore")
        assert "restored: Helm release gpu-operator/gpu-operator (kubernetes), release: op-1.0.0" in done
        assert not state.exists()
