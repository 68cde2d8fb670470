"""What pair_test refuses before it looks at any guest."""

from __future__ import annotations

from dataclasses import fields

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs.params import (
    ARGUMENTS,
    LIMITS,
    PORTS,
    LimitsRequest,
    PairRequest,
    PortsRequest,
    check_params,
)

from .ends import params, request

GUEST = {"name": "job-01", "address": "10.0.112.11"}
WRONG = {
    "one guest": ({"guests": [GUEST]}, "guests: a pair needs at least two guests."),
    "a guest twice": (
        {"guests": [GUEST, {**GUEST, "address": "10.0.112.12"}]},
        "guests: the guest job-01 is listed twice.",
    ),
    "an address twice": (
        {"guests": [GUEST, {**GUEST, "name": "job-02"}]},
        "guests: the address 10.0.112.11 is listed twice.",
    ),
    "no IPv4 address": (
        {"guests": [GUEST, {"name": "job-02", "address": "fe80::1"}]},
        "guests: the address fe80::1 of job-02 is not an IPv4 address.",
    ),
    "no time": ({"seconds": 0}, "seconds: 0 is too small. Use at least 1."),
    "no processes": ({"processes": 0}, "processes: 0 is too small. Use at least 1."),
    "no message": ({"sizes": [0]}, "sizes: a message size of 0 bytes is invalid. Use at least 1."),
    "no sizes": ({"latency_sizes": []}, "latency_sizes: the list is empty. Name at least one size."),
    "no checks": ({"checks": []}, "checks: the list is empty. Name at least one check."),
    "no limit": ({"limits": {"test_s": 0}}, "limits: test_s of 0 seconds is invalid. Use at least 1."),
    "no MTU": ({"mtu": 9}, "mtu: 9 is not a valid MTU. Use 68 to 65535."),
    "no traffic class": (
        {"traffic_class": 256},
        "traffic_class: 256 is not a traffic class. Use 0 to 255, four times the DSCP.",
    ),
    "ports beyond the last": (
        {"ports": {"first": 65530, "count": 20}},
        "ports: 20 ports from 65530 on exceed the range 1 to 65535.",
    ),
    "fewer ports than processes": (
        {"ports": {"count": 2}, "processes": 4},
        "ports: 4 processes need as many ports, but count is 2.",
    ),
    "a folder that others use": (
        {"work_dir": "/run"},
        "work_dir: /run is removed after the run. Name a dedicated folder, such as /run/pairs.",
    ),
}


@pytest.mark.parametrize("changes, problem", WRONG.values(), ids=WRONG.keys())
def test_what_cannot_be_meant_is_refused(changes, problem):
    assert check_params(params(**changes)) == [problem]


def test_defaults_are_not_refused():
    assert check_params(params()) == []


def test_a_request_has_every_option():
    assert {one.name for one in fields(PairRequest)} == set(ARGUMENTS)
    made = request(3, ports={"first": 20000})
    assert [guest.address for guest in made.guests] == ["10.0.112.11", "10.0.112.12", "10.0.112.13"]
    assert (made.ports, made.limits) == (PortsRequest(20000, PORTS["count"]), LimitsRequest(**LIMITS))
