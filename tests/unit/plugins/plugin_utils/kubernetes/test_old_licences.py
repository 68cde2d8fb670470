"""Secrets of earlier licence tokens, and jobs that exceed their time."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import gpu_operator, state

OLD, NEW = "aiready-licence-0000000000", "aiready-licence-1111111111"


def secret(name, manager="aiready.vsphere", **labels):
    entry = {"manager": manager, "fieldsV1": {"f:data": {}}}
    metadata = {"name": name, "namespace": "gpu-operator", "uid": "1", "managedFields": [entry]}
    return {"metadata": {**metadata, "labels": {"app.kubernetes.io/managed-by": "aiready.vsphere", **labels}}}


def pod(name):
    return {"spec": {"volumes": [{"secret": {"secretName": name}}]}}


def old(secrets, pods=(NEW,), policy=NEW):
    policies = [{"spec": {"driver": {"licensingConfig": {"secretName": policy}}}}]
    found = gpu_operator.old_licences(secrets, NEW, [pod(name) for name in pods], policies)
    return [one["name"] for one in found]


def test_only_unused_secrets_of_the_role_are_old():
    assert old([secret(OLD), secret(NEW)]) == [OLD]
    assert old([secret(OLD)], pods=(NEW, OLD)) == []
    assert old([secret(OLD)], pods=()) == []
    assert old([secret(OLD)], policy=OLD) == []
    assert old([secret(OLD, "kubectl-create"), secret("theirs"), {"metadata": {"name": OLD}}]) == []


@pytest.mark.parametrize(
    "kind, spec, labels, stop",
    [
        ("MPIJob", {}, {}, {"runPolicy": {"suspend": True}}),
        ("TrainJob", {}, {}, {"suspend": True}),
        ("TrainJob", {"suspend": True}, {}, None),
        ("TrainJob", {}, {state.QUEUE: "gpus"}, None),
    ],
)
def test_a_job_that_exceeds_its_time_is_suspended(kind, spec, labels, stop):
    job = {"kind": kind, "metadata": {"name": "a", "namespace": "b", "labels": labels}, "spec": spec}
    assert state.job_stop([job]) == ({"spec": stop} if stop else {})
    assert state.job_stop([]) == {}
    seen = {"jobs": [job], "pods": [], "events": [], "suspended": bool(stop)}
    reported = " ".join(state.job_faults({"training": {"limit_s": 60}}, seen))
    if stop:
        assert "The role suspended the job, so its pods release their GPUs." in reported
    elif labels:
        assert "may hold GPUs, or start later. End it with: kubectl --namespace b delete trainjob a" in reported
    else:
        assert "The job is suspended and holds no GPUs." in reported
