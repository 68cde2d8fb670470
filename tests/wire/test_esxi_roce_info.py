"""esxi_roce_info on hosts that are not as they should be, and what it costs."""

from __future__ import annotations

import copy

import pytest

from twin_labs.host_lab import ESX, OTHER, esx, host

from .host_troubles import go_away
from .rows.esxi_roce_info import RIGHT, fabric, ready


def ports(answer, name=ESX):
    (found,) = [one for one in answer["hosts"] if one["name"] == name]
    return {port["name"]: port for port in found["ports"]}


@pytest.fixture
def look(twin, drive):
    """What the module answers about a data centre."""

    def run(seed, change=lambda running: None, **params):
        running = twin(seed=seed)
        change(running)
        answer = drive(running)("esxi_roce_info", **params)
        assert not answer["failed"], answer["msg"]
        return answer, running

    return run


def test_a_host_that_does_not_answer_is_reported_and_keeps_no_other_from_being_reported(look):
    answer, _running = look(fabric(ready(), ready(OTHER)), lambda running: go_away(running, ESX))
    away, there = answer["hosts"]
    assert (away["connection"], there["connection"]) == ("notResponding", "connected")
    assert away["not_read"] == ["The host is notResponding. Only values that vCenter has stored are known."]
    assert ports(answer)["vmnic2"]["pfc"] is None
    assert ports(answer, OTHER)["vmnic2"]["pfc"] == [3]


def test_options_that_wait_for_a_restart_are_pending_and_not_reported_as_acting(twin, drive):
    running = twin(seed=fabric(ready(), ready(OTHER)))
    module = drive(running)
    done = module("esxi_module_options", host=ESX, module="nmlx5_core", options={"pfctx": "0x10", "pfcrx": "0x10"})
    assert done["changed"]
    port = ports(module("esxi_roce_info", hosts=[ESX]))["vmnic2"]
    assert sorted(port["pending"]) == ["nmlx5_core.pfcrx", "nmlx5_core.pfctx"]
    assert (port["pfc"], port["pfc_sends"]) == ([3], [3])


def test_one_direction_alone_is_reported_as_such(look):
    one_sided = {**RIGHT, "nmlx5_core": "pfctx=0x08 pfcrx=0x00 trust_state=2"}
    answer, _running = look(fabric(esx(module_options=one_sided), ready(OTHER)))
    port = ports(answer)["vmnic2"]
    assert (port["pfc_sends"], port["pfc_obeys"], port["pfc"]) == ([3], [], [])


def test_link_level_pause_is_reported(look):
    def pause(running):
        host(running).nics[2].pause_rx = True

    answer, _running = look(fabric(esx(), ready(OTHER)), pause)
    assert [port["name"] for port in ports(answer).values() if port["pause"]] == ["vmnic2"]


@pytest.mark.parametrize("mode, sees", [("both", True), ("listen", True), ("advertise", False), ("none", False)])
def test_a_port_hears_of_its_switch_where_its_own_switch_listens(look, mode, sees):
    seed = copy.deepcopy(fabric(ready(), ready(OTHER)))
    seed["datacenters"][0]["switches"][0]["lldp"] = mode
    answer, _running = look(seed)
    assert bool(ports(answer)["vmnic2"]["lldp"]) is sees


def test_a_port_without_rdma_has_no_flow_control_of_its_own(look):
    answer, _running = look(fabric(ready(), ready(OTHER)))
    port = ports(answer)["vmnic0"]
    assert (port["rdma"], port["pfc"], port["trust"], port["dscp"]) == (None, None, None, None)


def test_hosts_are_found_and_read_in_three_requests_however_many_there_are(look):
    names = [f"esx-{number:02}.example.com" for number in range(1, 9)]
    _answer, running = look(fabric(*(ready(name) for name in names)), lambda running: running.requests.clear())
    assert running.requests["RetrievePropertiesEx"] == 3
    assert running.requests["QueryNetworkHint"] == len(names)


def test_a_host_that_is_not_there_is_an_error_that_names_those_near_it(twin, drive):
    answer = drive(twin(seed=fabric()))("esxi_roce_info", hosts=["esx-1"])
    assert answer["failed"]
    assert answer["failure"]["code"] == "host_not_found"
