"""The variables and conditions of the role kubernetes, as Ansible works them out."""

from __future__ import annotations

import pytest

from unit.roles.variables import tasks_of, value_of

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
