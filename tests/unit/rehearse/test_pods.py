"""Containers of pods: their environment and memory, and the proof that their ranks trained together."""

from __future__ import annotations

import json

import pytest

from rehearse import pods
from rehearse.failure import RehearsalFailed


def said(*events):
    return "\n".join(f"[1,0]<stdout>:AIREADY {json.dumps(one)}" for one in events)


def rank(number, host):
    return {"event": "rank", "rank": number, "host": host}


def end(number, weights="a", last=0.6):
    return {"event": "end", "rank": number, "weights": weights, "loss_first": 2.3, "loss_last": last}


GOOD = (rank(0, "w-0"), rank(1, "w-1"), end(0), end(1))


def test_ranks_trained_together():
    assert pods.trained(said(*GOOD)) == "loss 2.300 to 0.600, weights of 2 ranks on 2 pods equal"


@pytest.mark.parametrize(
    "events, failure",
    [
        (GOOD[:3], "did not train together"),
        ((GOOD[0], rank(1, "w-0"), *GOOD[2:]), "did not train together"),
        ((*GOOD[:3], end(1, weights="b")), "did not train together"),
        ((*GOOD[:2], end(0, last=2.4), end(1, last=2.4)), "The loss did not fall: 2.3 to 2.4."),
    ],
)
def test_ranks_did_not_train_together(events, failure):
    with pytest.raises(RehearsalFailed, match=failure):
        pods.trained(said(*events))


def test_environment_has_fields_of_the_pod():
    name = "batch.kubernetes.io/job-completion-index"
    pod = {"metadata": {"name": "p", "annotations": {name: "1"}}}
    rank_of = {"fieldRef": {"fieldPath": f"metadata.annotations['{name}']"}}
    own = {"fieldRef": {"fieldPath": "metadata.name"}}
    env = [{"name": "A", "value": "b"}, {"name": "R", "valueFrom": rank_of}, {"name": "P", "valueFrom": own}]
    assert pods.environment(pod, {"env": env}) == {"A": "b", "R": "1", "P": "p"}


@pytest.mark.parametrize("size, expected", [("2Gi", 2**31), ("64Mi", 2**26), ("100", 100), ("", None)])
def test_shared_memory_is_that_of_the_volume(size, expected):
    volumes = [{"name": "shm", "emptyDir": {"medium": "Memory", **({"sizeLimit": size} if size else {})}}]
    container = {"volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}]}
    assert pods.shared_memory({"volumes": volumes}, container) == expected
