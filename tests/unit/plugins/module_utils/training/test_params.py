"""What must not be asked for is refused with a sentence, all at once."""

from __future__ import annotations

from dataclasses import fields

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import (
    ARGUMENTS,
    LIMITS,
    LimitsRequest,
    TrainingRequest,
    check_params,
)

from .runs import params, request

HOST = {"name": "job-01", "address": "10.0.112.11"}


@pytest.mark.parametrize(
    "changes, said",
    [
        ({"hosts": []}, "hosts: at least one guest is needed."),
        ({"hosts": [HOST, HOST]}, "hosts: job-01 is listed twice."),
        ({"hosts": [{**HOST, "slots": 0}]}, "hosts: job-01 has 0 slots."),
        ({"hosts": [HOST, {"name": "job-02"}]}, "job-02 has neither the address nor the interface"),
        ({"hosts": [HOST, {**HOST, "name": "job-02"}]}, "10.0.112.11 is the address of two guests."),
        ({"hosts": [{"name": "a", "address": "fd00::1"}]}, "fd00::1 is not an IPv4 address"),
        ({"controller": "gloo"}, "only horovodrun starts gloo"),
        ({"builtin": "all_reduce"}, "With engine: horovod, use command: [all_reduce_perf] of nccl-tests"),
        ({"ssh_port": 0}, "ssh_port: 0 is not a valid port."),
        (
            {"mpi_transport": "ucx", "data_path": "pvrdma"},
            "mpi_transport: UCX has no RDMA transport for the data path pvrdma. Use sriov or passthrough, or "
            "mpi_transport: tcp.",
        ),
        (
            {"mpi_transport": "ucx", "data_path": "sriov", "launcher": "horovodrun"},
            "mpi_transport: ucx needs launcher: mpirun, but it is horovodrun.",
        ),
        ({"image": "horovod@sha512:" + "a" * 128}, "cannot be pulled. Write sha256: and 64 hexadecimal digits"),
        ({"image": f"horovod@sha256:{'A' * 64}"}, "cannot be pulled. Write sha256: and 64 hexadecimal digits"),
        ({"elastic": {"min_ranks": 1}}, "elastic: only Horovod with launcher: horovodrun"),
        ({"environment": {"NGC_API_KEY": "x"}}, "environment: NGC_API_KEY looks like a secret"),
        ({"environment": {"DB_PASSWORD": "x"}}, "environment: DB_PASSWORD looks like a secret"),
        ({"environment": {"SOURCE": "https://me:word@example.com/"}}, "environment: SOURCE looks like a secret"),
        ({"environment": {"KEY": "nvapi-1234"}}, "environment: KEY looks like a secret"),
        ({"environment": {"LD_PRELOAD": "x.so"}}, "environment: LD_PRELOAD is set by the launcher."),
        ({"environment": {"A B": "x"}}, "environment: 'A B' is not the name of a variable."),
        ({"arguments": ["--wandb-api-key=abc"]}, "command: --wandb-api-key looks like a secret"),
        ({"arguments": ["--api-key", "abc"]}, "command: --api-key looks like a secret"),
        ({"arguments": ["--hf_token", "abc"]}, "command: --hf_token looks like a secret"),
        ({"builtin": None, "command": ["env", "NGC_API_KEY=abc", "x"]}, "command: NGC_API_KEY looks like a secret"),
        ({"arguments": ["--push", "https://me:word@example.com"]}, "command: one of its words looks like a secret"),
        ({"environment": {"HF_TOKEN": "x"}}, "environment: HF_TOKEN looks like a secret"),
        ({"environment": {"AUTHTOKEN": "x"}}, "environment: AUTHTOKEN looks like a secret"),
        ({"environment": {"TOKEN_1": "x"}}, "environment: TOKEN_1 looks like a secret"),
        ({"environment": {"TOKEN_PASSWORD": 1234}}, "environment: TOKEN_PASSWORD looks like a secret"),
        ({"builtin": None, "command": []}, "command: the list is empty."),
        ({"limits": {"stall_s": 0}}, "limits: stall_s is 0, which is not a valid time."),
        ({"limits": {"wall_s": 60}}, "limits: stall_s is longer than wall_s"),
        ({"roce": {"dscp": 99}}, "roce: dscp: 99 is out of range."),
    ],
)
def test_a_wrong_request_is_refused(changes, said):
    assert said in " ".join(check_params(params(**changes)))


def test_secrets_are_not_repeated_in_the_refusal():
    arguments = ["--token=canary", "--api-key", "canary", "nvapi-canary", "https://me:canary@example.com/?x=1"]
    said = check_params(params(environment={"MY_TOKEN": "canary"}, arguments=arguments))
    assert len(said) == len(arguments)
    assert "canary" not in " ".join(said)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"launcher": "horovodrun", "controller": "gloo"},
        {"engine": "torchrun"},
        {"environment": {"NCCL_ALGO": "Ring"}},
        {"environment": {"TOKENIZERS_PARALLELISM": "false", "MAX_TOKENS": 2048, "PAD_TOKEN_ID": 0}},
        {"environment": {"HF_TOKEN_PATH": "/secrets/hf"}},
        {"arguments": ["--tokenizer=gpt2", "--max-tokens=2048", "--pad-token-id", "0", "--use_auth_token", "True"]},
        {"arguments": ["--tokenizer", "gpt2", "--max-tokens", "2048", "--api-key-file", "/secrets/key"]},
        {"arguments": ["--with-secret", "--iterations", "3"]},
        {"builtin": None, "command": ["python3", "-c", "token = print('x')"]},
        {"guests": 1},
    ],
)
def test_a_right_request_is_taken(changes):
    assert check_params(params(**changes)) == []


def test_representation_of_a_request_has_no_values_of_the_user():
    given = {
        "builtin": None,
        "command": ["train", "--canary=1"],
        "arguments": ["canary"],
        "environment": {"A": "canary"},
    }
    made = request(**given)
    assert (made.command, made.arguments, made.environment) == (given["command"], ["canary"], {"A": "canary"})
    assert "canary" not in repr(made)


def test_a_request_has_every_option():
    assert {one.name for one in fields(TrainingRequest)} == set(ARGUMENTS)
    assert request(limits={"wall_s": 900}).limits == LimitsRequest(**{**LIMITS, "wall_s": 900})
