"""Steps that restore the objects of a cluster."""

from __future__ import annotations

from dataclasses import asdict, replace
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore import clusters, judge, plan
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.report import report
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import (
    DONE,
    FAILED,
    PLANNED,
    Cannot,
    Entry,
    Made,
)

CREATED = Made("exists", False, True)


def entry(kind, *changes, uid="1", state=DONE, **request):
    definition = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "a"}, "spec": {"x": 2}}
    given = {"definition": definition, **request}
    ids = {"uid": uid} if uid else {}
    return Entry("1", "1", "1", "kubernetes", "kubernetes_object", "localhost", f"{kind} a", ids, given, changes, state)


def steps(*entries, vms=False, namespaces=False):
    return clusters.permitted(clusters.INVERSE["kubernetes_object"](entries), vms, namespaces)


def test_a_created_object_is_deleted_by_its_uid():
    (one,) = steps(entry("ConfigMap", CREATED, Made("spec.x", None, 2)), entry("ConfigMap", Made("spec.x", 2, 3)))
    assert (one.args["state"], one.args["uid"], one.whole, one.back) == ("absent", "1", True, {"exists": False})
    assert "spec" not in one.args["definition"]
    (lost,) = steps(entry("ConfigMap", CREATED, uid="", state=PLANNED))
    assert isinstance(lost, Cannot)
    assert steps(entry("ConfigMap", CREATED), entry("ConfigMap", Made("exists", True, False))) == []


def test_an_earlier_object_gets_its_fields_back():
    restored = entry("ClusterPolicy", Made("spec.x", 3, 1), values={"spec.x": 1})
    (one,) = steps(entry("ClusterPolicy", Made("spec.x", 1, 2)), restored, entry("ClusterPolicy", Made("spec.x", 1, 3)))
    assert (one.args["values"], one.args["definition"]["spec"], one.left) == ({"spec.x": 1}, {"x": 2}, {"spec.x": 3})
    (lost,) = steps(entry("Secret", Made("data.x", "[not shown]", "[not shown]")))
    assert lost.why == "The journal has no content of secrets."


def test_values_of_an_object_that_was_created_again_stay():
    first = entry("ClusterPolicy", Made("spec.x", 1, 2), uid="A")
    (one,) = steps(first, entry("ClusterPolicy", Made("spec.x", 3, 2), uid="B"))
    assert (one.args["values"], one.args["uid"]) == ({"spec.x": 3}, "B")
    (one,) = steps(entry("ClusterPolicy", CREATED, uid="A"), entry("ClusterPolicy", Made("spec.x", 3, 2), uid="B"))
    assert (one.args["values"], one.whole) == ({"spec.x": 3}, False)


FIELD = "spec.driver.licensingConfig.secretName"


def secret(name, *changes, **ids):
    definition = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "gpu-operator"}}
    return replace(entry("Secret", *changes, definition=definition), label=f"Secret {name}", ids={"uid": name}, **ids)


def test_a_deleted_secret_is_not_named_again(tmp_path, monkeypatch):
    """Run 2 renewed the licence token: the policy names the secret two, and the role deleted the secret one."""
    policy = [entry("ClusterPolicy", Made(FIELD, None, "one")), entry("ClusterPolicy", Made(FIELD, "one", "two"))]
    policy[1] = replace(policy[1], run="2", changes=(*policy[1].changes, Made("spec.x", 1, 2)))
    made = [policy[0], secret("one", CREATED)]
    made += [policy[1], secret("two", CREATED, run="2"), secret("one", Made("exists", True, False), run="2")]
    journal = SimpleNamespace(runs=["1", "2"], entries=made, problems=[], tasks=[])
    monkeypatch.setattr(plan, "read", lambda folder: journal)
    found = plan.plan(str(tmp_path), "2")
    assert [(one["object"], one["back"]) for one in found["steps"]] == [("ClusterPolicy a", {"spec.x": 1})]
    assert found["steps"][0]["args"]["values"] == {"spec.x": 1}
    lost = {one["object"]: one["why"] for one in found["cannot"]}
    assert "deleted the secret one after the licence token was renewed" in lost["ClusterPolicy a"]
    assert "The ClusterPolicy still names the secret" in lost["Secret two"]
    # From the first run on, the policy names none again.
    whole = plan.plan(str(tmp_path))
    assert {one["object"] for one in whole["steps"]} == {"ClusterPolicy a", "Secret two"}
    assert whole["cannot"] == []


def release(name, run, before, after):
    request, ids = {"name": name, "namespace": "ops"}, {"name": name, "revision": int(run)}
    change, label = (Made("release", before, after),), f"Helm release {name}"
    return Entry(run, run, "1", "kubernetes", "helm_release", "localhost", label, ids, request, change)


FORWARD, BACK = ("op-1 a", "op-2 b"), ("op-2 b", "op-1 a")


@pytest.mark.parametrize(
    "changes, back",
    [
        pytest.param([FORWARD, BACK], {"status": "deployed"}, id="a rollback"),
        pytest.param([FORWARD, BACK, ("op-1 a", "op-3 c")], {"release": "op-1 a"}, id="an upgrade after a rollback"),
    ],
)
def test_a_release_that_failed_is_rolled_back(changes, back):
    made = [release("op", str(run), *change) for run, change in enumerate(changes, start=1)]
    (one,) = clusters.INVERSE["helm_release"]([*made[:-1], replace(made[-1], state=FAILED)])
    assert (one.args["content"], one.back) == ("op-1 a", back)


def test_a_release_does_not_return_to_values_with_a_deleted_secret(tmp_path, monkeypatch):
    """Run 2 renewed the licence token, which is a value of the release of the GPU Operator."""
    made = [release(name, "1", "op-1 a", "op-2 b") for name in ("gpu-operator", "network-operator")]
    made += [secret("one", CREATED)]
    made += [release(name, "2", "op-2 b", "op-2 c") for name in ("gpu-operator", "network-operator")]
    made += [secret("two", CREATED, run="2"), secret("one", Made("exists", True, False), run="2")]
    journal = SimpleNamespace(runs=["1", "2"], entries=made, problems=[], tasks=[])
    monkeypatch.setattr(plan, "read", lambda folder: journal)
    found = plan.plan(str(tmp_path), "2")
    assert [one["object"] for one in found["steps"]] == ["Helm release network-operator"]
    lost = {one["object"]: one["why"] for one in found["cannot"]}
    assert "deleted the secret one after the licence token was renewed" in lost["Helm release gpu-operator"]
    assert "still names the secret" in lost["Secret two"]
    # The revision before the first run names no secret of a run.
    objects = {one["object"] for one in plan.plan(str(tmp_path))["steps"]}
    assert objects == {"Helm release network-operator", "Helm release gpu-operator", "Secret two"}


def test_rows_of_a_cluster_that_is_gone():
    step = {"stage": "kubernetes", "host": "localhost", "object": "ConfigMap a", "back": {"exists": False}}
    rows = [*clusters.lost([step], "It is gone."), *clusters.lost([step], "Cannot read the cluster.", gone=False)]
    assert report(rows, {"problems": [], "cannot": [], "steps": [], "runs": []}, True) == [
        "cannot: ConfigMap a (kubernetes), exists. It is gone.",
        "unreachable: ConfigMap a (kubernetes), exists. Cannot read the cluster.",
    ]


def test_nodes_and_namespaces_need_a_permission():
    for kind, allowed in (("Cluster", {"vms": True}), ("Namespace", {"namespaces": True})):
        assert [type(one) for one in steps(entry(kind, CREATED))] == [Cannot]
        assert [one.whole for one in steps(entry(kind, CREATED), **allowed)] == [True]
    (one,) = steps(entry("Namespace", Made("metadata.labels.x", None, "y")))
    assert not one.whole


def test_jobs_go_before_networks_and_namespaces_last():
    kinds = ["Namespace", "ClusterPolicy", "IPPool", "MPIJob", "Cluster"]
    rows = [{"module": "kubernetes_object", "args": {"definition": {"kind": kind}}} for kind in kinds]
    rows.sort(key=clusters.rank)
    assert [clusters.kind_of(one) for one in rows] == ["MPIJob", "IPPool", "ClusterPolicy", "Namespace", "Cluster"]
    assert clusters.rank({"module": "vm_config"}) == 0


NEW_CLASS = (
    CREATED,
    Made("cpus", None, 8),
    Made("vgpu_profiles", None, ["grid_a100-40c"]),
    Made("namespaces", [], ["training"]),
    Made("extra_config.a", None, "1"),
)


def of_class(*changes, state=DONE):
    return Entry(
        "1", "1", "1", "kubernetes", "vm_class", "localhost", "VM class gpu", {}, {"name": "gpu"}, changes, state
    )


def of_classes(*entries):
    return clusters.INVERSE["vm_class"](entries)


def removal(**found):
    """What the module would change to remove the class, with these values instead of those that we left."""
    ours = {"vgpu_profiles": ["grid_a100-40c"], "namespaces": ["training"], "extra_config.a": "1"}
    values = {"exists": True, "cpus": 8, **ours, **found}
    return [{"path": path, "before": value, "after": None} for path, value in values.items() if value is not None]


@pytest.mark.parametrize(
    "found, state",
    [
        ({}, "due"),
        ({"namespaces": None}, "due"),
        ({"cpus": 16}, "kept"),
        ({"firmware": "efi"}, "kept"),
        ({"extra_config.a": None}, "kept"),
    ],
)
def test_a_created_vm_class_is_deleted_only_as_we_left_it(found, state):
    (one,) = of_classes(of_class(*NEW_CLASS))
    assert one.args == {"name": "gpu", "state": "absent", "withdraw_from": ["training"]}
    (row,) = judge.judge(plan.shown(one), removal(**found))
    assert row.state == {"due": judge.DUE, "kept": judge.KEPT}[state]
    assert judge.judge(plan.shown(one), [])[0].state == judge.ALREADY


def test_a_changed_vm_class_gets_its_earlier_settings():
    change = of_class(
        Made("cpus", 4, 8),
        Made("memory_reservation", None, 100),
        Made("devices", ["10de:20b5 (a b)", "15b3:1021"], []),
        Made("firmware", None, "efi"),
        Made("namespaces", ["a"], ["a", "training"]),
        Made("extra_config.a", "1", None),
        Made("extra_config.b", None, "1"),
    )
    lost, settings, spaces = of_classes(change)
    assert (lost.what, "vCenter cannot remove a reservation" in lost.why) == ("memory_reservation", True)
    devices = [
        {"vendor_id": "10de", "device_id": "20b5", "label": "a b"},
        {"vendor_id": "15b3", "device_id": "1021"},
    ]
    extra = {"a": "1", "b": None}
    given = {"name": "gpu", "cpus": 4, "devices": devices, "firmware": "none", "extra_config": extra}
    assert settings.args == given
    assert spaces.args == {"name": "gpu", "namespaces": [], "withdraw_from": ["training"]}
    # One setting alone, because somebody changed the others.
    one = plan.narrowed({"entries": [asdict(change)]}, ["cpus"])
    assert one.args == {"name": "gpu", "cpus": 4}


def test_vm_classes_that_a_run_deleted_or_a_restore_deleted():
    gone = of_class(Made("exists", True, False), Made("cpus", 8, None))
    assert of_classes(of_class(*NEW_CLASS), gone) == []
    (again,) = of_classes(of_class(*NEW_CLASS), gone, of_class(CREATED, Made("cpus", None, 16)))
    assert again.intact == {"cpus": [16], "namespaces": [None]}
    (lost,) = of_classes(gone, of_class(*NEW_CLASS))
    assert "deleted the object" in lost.why


def test_vm_classes_go_after_the_cluster_whose_nodes_use_them(tmp_path, monkeypatch):
    journal = SimpleNamespace(runs=["1"], entries=[of_class(*NEW_CLASS), entry("Cluster", CREATED)], problems=[])
    journal.tasks = []
    monkeypatch.setattr(plan, "read", lambda folder: journal)
    found = plan.plan(str(tmp_path), delete_vms=True)
    assert [(one["object"], one["place"]) for one in found["steps"]] == [
        ("Cluster a", "supervisor"),
        ("VM class gpu", "vcenter"),
    ]
    kept = plan.plan(str(tmp_path))
    assert (kept["steps"], [one["object"] for one in kept["cannot"]]) == ([], ["VM class gpu", "Cluster a"])
    journal.entries = journal.entries[:1]
    assert [one["object"] for one in plan.plan(str(tmp_path))["steps"]] == ["VM class gpu"]
