"""What tests may do to guests from outside, and see of their ways."""

from __future__ import annotations

import json
import urllib.request

import pytest

from twin_labs.guest_pair import Pair
from vsphere_twin.control import ControlServer
from vsphere_twin.launch import running


@pytest.fixture
def pair():
    return Pair(second={"rulesets": {}})


def test_an_error_of_a_gpu(pair):
    with running(pair.world) as twin:
        twin.control.gpu_error(vm="job-01", number=48)
        with pytest.raises(ValueError, match="There is no running VM 'job-09'"):
            twin.control.gpu_error(vm="job-09", number=48)
    assert ": 48, " in pair.guests[0].run("dmesg")[1]
    assert "Xid" not in pair.guests[1].run("dmesg")[1]


def test_what_guests_would_measure_is_reported_over_http_too(pair):
    with running(pair.world) as twin:
        server = ControlServer(twin.control)
        server.start()
        try:
            request = urllib.request.Request(f"{server.url}/ways", headers={"Authorization": f"Bearer {server.token}"})
            with urllib.request.urlopen(request) as answer:
                rows = json.load(answer)
        finally:
            server.stop()
    assert [(one["from"], one["to"], one["rdma"], one["gbps"]) for one in rows] == [
        ("job-01", "job-02", False, 18.0),
        ("job-02", "job-01", False, 18.0),
    ]
    assert rows[0]["why"] == ["esx-02.lab.example: the firewall ruleset pvrdma is closed"]
