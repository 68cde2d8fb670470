"""Pods that violate the Pod Security level of their namespace are rejected with the reasons."""

from __future__ import annotations

import pytest

from vsphere_twin.kubernetes.cluster import Cluster
from vsphere_twin.kubernetes.operators import pod_security
from vsphere_twin.kubernetes.refused import Refused

from .test_operators import pod

LOCK = 'container "c" must not include "IPC_LOCK" in securityContext.capabilities.add'
HARDENED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
ROOT = 'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)'
HOST = {"volumes": [{"name": "v", "hostPath": {"path": "/dev"}}]}


def without(key):
    return {name: value for name, value in HARDENED.items() if name != key}


def rejected(level, body):
    """The status and the message of the rejection, empty if the namespace admits the pod."""
    cluster = Cluster(crds=())
    cluster.admission.append(pod_security.admit)
    cluster.labelled("namespaces", cluster.get("namespaces", "default"), {"pod-security.kubernetes.io/enforce": level})
    try:
        cluster.create("pods", body, "default")
    except Refused as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize(
    "level, context, more, reasons",
    [
        ("privileged", {"privileged": True}, {"hostNetwork": True, **HOST}, ""),
        ("baseline", {"capabilities": {"add": ["CHOWN"]}}, {}, ""),
        ("baseline", {"capabilities": {"add": ["IPC_LOCK"]}}, {}, f"non-default capabilities ({LOCK})"),
        ("baseline", {}, {"hostPID": True, **HOST}, 'host namespaces (hostPID=true), hostPath volumes (volume "v")'),
        ("restricted", HARDENED, {}, ""),
        ("restricted", without("runAsNonRoot"), {"securityContext": {"runAsNonRoot": True}}, ""),
        ("restricted", {**HARDENED, "runAsNonRoot": False}, {"securityContext": {"runAsNonRoot": True}}, ROOT),
        (
            "restricted",
            {**HARDENED, "capabilities": {"add": ["IPC_LOCK"]}},
            {},
            f'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]; {LOCK})',
        ),
        (
            "restricted",
            without("seccompProfile"),
            HOST,
            'restricted volume types (volume "v" uses restricted volume type "hostPath"), seccompProfile (pod or '
            'container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
        ),
    ],
)
def test_the_level_of_a_namespace_rejects_pods(level, context, more, reasons):
    body = pod(gpus=0, **more)
    body["spec"]["containers"][0]["securityContext"] = context
    text = f'403: pods "p" is forbidden: violates PodSecurity "{level}:latest": {reasons}'
    assert rejected(level, body) == (text if reasons else "")


def test_an_init_container_is_not_exempt():
    first = {"name": "i", "image": "i", "securityContext": {"privileged": True}}
    first["ports"] = [{"containerPort": 1, "hostPort": 1}]
    text = 'privileged (container "i" must not set securityContext.privileged=true)'
    reasons = f'hostPort (container "i" uses hostPort 1), {text}'
    assert rejected("baseline", pod(gpus=0, initContainers=[first])).partition('latest": ')[2] == reasons
