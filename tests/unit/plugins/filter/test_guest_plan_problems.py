"""Inputs of a guest that cannot work together are refused with a reason."""

from __future__ import annotations

import pytest

from unit.plugins.filter.test_guest_plan import OFED, SRIOV, plan


@pytest.mark.parametrize(
    "given, words",
    [
        ({}, []),
        (OFED, []),
        ({**OFED, "data_path": "pvrdma"}, ["data path is pvrdma"]),
        ({**SRIOV, "data_path": "pvrdma", "rdma": {"gpudirect": "dmabuf"}}, ["cannot reach"]),
        ({"rdma": {"gpudirect": "dmabuf"}}, []),
        ({**SRIOV, "rdma": {"gpudirect": "peermem"}}, ["peermem and the stack is inbox"]),
        ({**OFED, "rdma": {"stack": "ofed", "gpudirect": "peermem"}}, []),
        ({"data_path": "sriov"}, ["mac is missing"]),
        ({"data_path": "sriov", "rdma": {"stack": "ignore"}}, []),
        ({"driver": {"source": "copy"}}, ["package is missing"]),
        ({"driver": {"package": "x", "signing_key": "k"}}, ["one of signing_key"]),
        ({"driver": {"package": "x", "signing_key": "k", "signing_certificate": "c"}}, []),
        ({"limits": {"memlock": "as_is"}}, []),
        ({"limits": {"memlock": 64}}, []),
        ({"limits": {"memlock": "64k"}}, ["memlock is 64k"]),
        ({"limits": {"memlock": 0}}, ["memlock is 0"]),
        ({"licence": {"token": "t"}}, []),
        ({"licence": {"token_file": "f"}}, []),
        ({"licence": {"token": "t", "token_file": "f"}}, ["exactly one of token and token_file"]),
        ({"licence": {"feature": "vcs"}}, ["exactly one of token and token_file"]),
        ({"data_path": "sriov", "limits": {"memlock": 0}}, ["mac is missing", "memlock is 0"]),
    ],
    ids=str,
)
def test_inputs_that_cannot_work_together_are_refused_with_a_reason(given, words):
    wrong = plan(given)["problems"]
    assert len(wrong) == len(words), wrong
    assert all(word in why for word, why in zip(words, wrong, strict=True)), wrong


def test_no_secret_of_the_licence_is_in_the_plan():
    assert "canary" not in str(plan({"licence": {"token": "canary"}}))
