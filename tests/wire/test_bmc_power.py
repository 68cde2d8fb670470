"""A server is in the requested state only when its BMC reports it."""

from __future__ import annotations

import pytest

from .rows.bios_settings import DELL, HPE, system


@pytest.fixture
def factory(twin, drive):
    running = twin(seed="factory", faces=("redfish",))
    call = drive(running)
    return running, lambda at=DELL, **params: call("bmc_power", at=at, **params)


def test_a_server_that_does_not_shut_down_is_reported_and_its_power_is_not_cut(factory):
    running, power = factory
    running.control.hang_boot(host=DELL)
    power(state="off", how="forced")
    power(state="on")
    reported = power(state="off", timeout_s=1)
    assert reported["failure"]["code"] == "power_timeout"
    assert reported["failure"]["last_state"] == "On"
    assert "`how: forced` cuts the power" in reported["msg"]
    assert system(running, DELL).power_state.value == "On"


def test_a_server_that_is_off_already_is_left_alone(factory):
    running, power = factory
    power(HPE, state="off", how="forced")
    again = power(HPE, state="off")
    assert (again["failed"], again["changed"], again["server"]["after"]) == (False, False, {"power": "off"})


def test_a_time_limit_that_makes_no_sense_is_refused_before_anything_is_sent(factory):
    dummy, power = factory
    assert power(state="off", timeout_s=0)["failure"]["code"] == "invalid_parameters"
