"""The variables and conditions of the role kubernetes, as Ansible works them out."""

from __future__ import annotations

import pytest

from unit.roles.variables import holds, tasks_of, value_of

ROLE = "kubernetes"
REFUSED = {"failed": True, "msg": "Max retries exceeded: Connection refused"}


def read_namespaces(**given):
    (task,) = (one for one in tasks_of(ROLE, "read") if one["name"] == "Read the namespaces")
    return value_of(ROLE, task["loop"].strip().removeprefix("{{").removesuffix("}}"), **given)


@pytest.mark.parametrize(
    "given, found",
    [
        ({}, []),
        ({"kubernetes_checks": {"namespace": "aiready"}}, ["aiready"]),
        ({"kubernetes_training": {"namespace": "own"}}, ["own"]),
        ({"kubernetes_training": {"namespace": "own"}, "kubernetes_checks": {"namespace": "own"}}, ["own"]),
    ],
    ids=["neither", "checks", "training", "both"],
)
def test_the_namespace_of_the_pods_is_read(given, found):
    """Otherwise check mode takes an existing namespace for a missing one, and leaves out what is in it."""
    assert read_namespaces(**given) == ["gpu-operator", *found]


@pytest.mark.parametrize(
    "given, gone",
    [
        ({}, True),
        ({"__kubernetes_gone": "no answer"}, False),
        ({"__kubernetes_answer": REFUSED}, False),
        ({"__kubernetes_inside_gone": "missing", "__kubernetes_secret": {"resources": []}}, True),
        ({"__kubernetes_inside_gone": "missing", "__kubernetes_secret": REFUSED}, False),
        ({"__kubernetes_inside_gone": "not ready", "__kubernetes_secret": {"resources": [{"data": {}}]}}, False),
    ],
    ids=["no section", "no Supervisor", "no API server", "no secret", "secret not read", "secret without a value"],
)
def test_only_an_answer_shows_that_a_cluster_is_gone(given, gone):
    assert value_of(ROLE, "__kubernetes_lost", **given) is gone


SITE = {"kubernetes_cluster": {"name": "a"}}
NO_SUPERVISOR = {**SITE, "__kubernetes_gone": "no answer"}


@pytest.mark.parametrize(
    "places, given, lost",
    [
        (["cluster", "vcenter"], {}, ["cluster"]),
        (["cluster", "vcenter"], NO_SUPERVISOR, ["cluster"]),
        # Nodes of the cluster use the class.
        (["supervisor", "vcenter"], NO_SUPERVISOR, ["supervisor", "vcenter"]),
        (["cluster", "supervisor", "vcenter"], {**SITE, "__kubernetes_inside_gone": "missing"}, ["cluster"]),
    ],
    ids=["no section", "no Supervisor", "no Supervisor with a cluster", "no cluster"],
)
def test_vm_classes_are_lost_only_with_the_cluster_that_uses_them(places, given, lost):
    steps = [{"place": place} for place in places]
    found = value_of(ROLE, "__kubernetes_lost_steps", kubernetes_restore=steps, **given)
    assert [one["place"] for one in found] == lost


@pytest.mark.parametrize("place, needed", [("vcenter", False), ("supervisor", True)])
def test_vm_classes_need_no_login(place, needed):
    given = {**SITE, "kubernetes_restore": [{"place": place}]}
    assert holds(ROLE, "restore", "Connect to the Supervisor", **given) is needed


def test_vm_classes_get_no_options_of_the_supervisor():
    (task,) = (one for one in tasks_of(ROLE, "restore") if one["name"] == "Restore the objects that earlier runs left")
    options = task["aiready.vsphere.restore_step"]["options"].removeprefix("{{").removesuffix("}}")
    assert value_of(ROLE, options, item={"place": "vcenter"}, **SITE) == {}


def applied(kind, name, *paths):
    changes = [{"path": path, "before": None, "after": "a"} for path in paths]
    item = {"kind": kind, "metadata": {"name": name}}
    return {"item": item, "changed": bool(paths), "kubernetes_object": {"changes": changes}}


@pytest.mark.parametrize(
    "results, before",
    [
        ([applied("Node", "gpu-01"), applied("ClusterPolicy", "cluster-policy")], []),
        ([applied("Node", "gpu-01"), applied("Node", "gpu-02", "metadata.labels.a")], ["gpu-02"]),
        # It has another name with another layout, so one that exists only got another product.
        (
            [applied("ConfigMap", "aiready-mig-config-1", "data.a"), applied("Node", "gpu-02", "metadata.a")],
            ["gpu-02"],
        ),
        ([applied("ClusterPolicy", "cluster-policy", "spec.migManager.config.name")], ["gpu-01", "gpu-02"]),
        ([applied("ClusterPolicy", "cluster-policy", "spec.driver.enabled")], []),
    ],
    ids=["nothing", "a new node", "a new product", "another layout", "something else"],
)
def test_only_nodes_that_get_another_mig_layout_wait_for_their_manager(results, before):
    """The manager of another node writes nothing, so a wait for a new state of this node would not end."""
    nodes = {"resources": [{"metadata": {"name": name}} for name in ("gpu-01", "gpu-02")]}
    given = {"__kubernetes_applied": {"results": results}, "__kubernetes_seen_nodes": nodes}
    found = value_of(ROLE, "__kubernetes_mig_before", **given)
    assert [one["metadata"]["name"] for one in found] == before
