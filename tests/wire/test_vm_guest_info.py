"""How guests are reached, as vCenter reports it: the way in, and what is missing is said."""

from __future__ import annotations

import pytest

from .rows.vm_guest_info import NAMES, SEED, booted

FLEET = [{"name": name} for name in NAMES]


@pytest.fixture
def guests(twin, drive):
    """A data centre with guests, and vm_guest_info on it."""
    running = booted(twin(seed=SEED))
    module = drive(running)
    return running, lambda **params: module("vm_guest_info", **{"vms": FLEET, **params})


def nic(vm, kind, network):
    """The address of one adapter, by the model."""
    return next(one for one in vm["adapters"] if (one["kind"], one["network"]) == (kind, network))["addresses"][0]


def by_name(answer):
    assert not answer["failed"], answer["msg"]
    return {one["name"]: one for one in answer["vms"]}


def test_a_guest_is_reached_past_the_adapters_of_the_training(guests):
    _running, look = guests
    seen = by_name(look())
    assert seen["train-01"]["address"] == nic(seen["train-01"], "vmxnet3", "VM Network")
    assert seen["train-02"]["address"] == nic(seen["train-02"], "vmxnet3", "pg-a")
    assert seen["train-03"]["address"] is None
    assert seen["train-03"]["why_no_address"] == "The VM is off."


@pytest.mark.parametrize(
    "params, network",
    [
        ({"address_network": "VM Network"}, "VM Network"),
        ({"data_network": "pg-a"}, "VM Network"),
        ({"data_network": "VM Network"}, "pg-a"),
        ({}, "pg-a"),
    ],
    ids=["by its network", "the other one", "the first one", "the first of both"],
)
def test_of_two_plain_adapters_the_one_that_is_meant_is_taken(guests, params, network):
    _running, look = guests
    seen = by_name(look(**params))["train-02"]
    assert seen["address"] == nic(seen, "vmxnet3", network)


def test_a_network_that_a_vm_is_not_on_is_named_with_those_that_it_is_on(guests):
    _running, look = guests
    seen = by_name(look(address_network="pg-b"))["train-01"]
    assert seen["address"] is None
    assert seen["why_no_address"] == "The VM has no adapter on pg-b; its networks are: VM Network, pg-rdma."


def test_a_guest_that_does_not_answer_is_reported_as_such(guests):
    running, look = guests
    with running.world.lock:
        vm = next(one for one in running.world.of_kind("VirtualMachine") if one.name == "train-01")
        vm.tools_running = False
        vm.addresses = {}
        running.world.touch(vm)
    seen = by_name(look())["train-01"]
    assert (seen["power"], seen["tools"], seen["address"]) == ("on", False, None)
    assert seen["why_no_address"].startswith("VMware Tools do not run in the guest")


def test_the_driver_of_the_host_is_reported_where_it_is_asked_for(guests):
    _running, look = guests
    assert [one["host"]["driver"] for one in look()["vms"]] == [None] * 3
    driver = {"family": "nvaie", "version": "550.54.16"}
    assert [one["host"]["driver"] for one in look(host_driver=True)["vms"]] == [driver] * 3


def test_a_fleet_costs_two_requests_however_many_vms_there_are(guests):
    running, look = guests
    look(vms=FLEET[:1])
    for fleet in (FLEET[:1], FLEET):
        running.requests.clear()
        by_name(look(vms=fleet))
        assert running.requests == {"RetrievePropertiesEx": 2}


def test_a_vm_that_is_missing_is_an_error_or_reported_as_asked(guests):
    _running, look = guests
    fleet = [*FLEET, {"name": "train-04"}, {"name": "eval-01"}]
    answer = look(vms=fleet)
    assert answer["failed"]
    assert "VM train-04: " in answer["msg"]
    assert "VM eval-01: " in answer["msg"]
    assert answer["failure"]["code"] == "some_not_found"
    reported = look(vms=fleet, missing="report")
    assert (sorted(by_name(reported)), reported["missing"]) == (list(NAMES), ["train-04", "eval-01"])


def test_a_name_that_stands_twice_is_refused_before_anything_is_asked(guests):
    _running, look = guests
    answer = look(vms=[{"name": "train-01"}, {"name": "train-01"}])
    assert answer["failed"]
    assert answer["msg"] == "VM train-01 is listed 2 times; list it once."
