"""One restart of a host: it is really down and back, it is not requested twice, and a missing host is reported."""

from __future__ import annotations

import pytest

from vsphere_twin.model import lifecycle

from .drive import run
from .lab import lab
from .rows.esxi_maintenance import host_system

HOST = "esx-01"


def reboot(driver, check=False, **params):
    """The module alone; its action plugin only reports of the wait."""
    return run("aiready.vsphere.esxi_reboot", {**driver.connection, **params}, check)


def host_of(running, name=HOST):
    return next(host for host in running.world.of_kind("HostSystem") if host.name == name)


def boots(running, name=HOST):
    with running.world.lock:
        return host_of(running, name).boots


@pytest.fixture
def out_of_service(twin):
    """A twin whose host is in maintenance mode."""
    return lambda **options: twin(seed=lab(maintenance=True, **options))


def test_restart_waits_until_the_host_has_booted_and_is_connected(out_of_service, drive):
    running = out_of_service()
    before = boots(running)
    answer = reboot(drive(running), host=HOST, reasons=["the driver"])
    assert not answer["failed"], answer["msg"]
    assert boots(running) == before + 1
    assert host_of(running).connection == "connected"
    assert answer["host"]["after"]["boot_time"] > answer["host"]["before"]["boot_time"]


def test_check_mode_restarts_nothing(out_of_service, drive):
    running = out_of_service()
    before = boots(running)
    answer = reboot(drive(running), host=HOST, check=True)
    assert (answer["failed"], answer["changed"], boots(running)) == (False, True, before)


def test_host_in_service_is_refused(twin, drive):
    running = twin(seed=lab())
    before = boots(running)
    answer = reboot(drive(running), host=HOST)
    assert answer["failure"]["code"] == "not_in_maintenance"
    assert "esxi_maintenance" in answer["msg"]
    assert boots(running) == before


def test_what_is_planned_of_a_host_in_service_counts_in_check_mode_alone(twin, drive):
    running = twin(seed=lab())
    before, planned = boots(running), {"in_maintenance": True}
    reported = reboot(drive(running), host=HOST, planned=planned, check=True)
    assert (reported["failed"], [change["path"] for change in reported["host"]["changes"]]) == (False, ["boot_time"])
    assert reboot(drive(running), host=HOST, planned=planned)["failure"]["code"] == "not_in_maintenance"
    assert boots(running) == before


def test_host_that_is_already_going_down_is_not_restarted_again(out_of_service, drive):
    running = out_of_service(boot_seconds=0.5)
    before = boots(running)
    with host_system(running, HOST) as host:
        host.RebootHost_Task(force=False)
    answer = reboot(drive(running), host=HOST, state="back")
    assert not answer["failed"], answer["msg"]
    assert boots(running) == before + 1


def test_lost_answer_to_the_request_restarts_once(out_of_service, drive):
    running = out_of_service()
    before = boots(running)
    running.world.faults.close_after("RebootHost_Task")
    answer = reboot(drive(running), host=HOST)
    assert not answer["failed"], answer["msg"]
    assert boots(running) == before + 1


def test_wait_outlives_sessions_that_vcenter_drops(out_of_service, drive, monkeypatch):
    running = out_of_service(boot_seconds=1)
    answered, drops = [], []

    def drop(method):
        """Each session serves one request after its login, so that the client gets on and never for long."""
        answered.append(method)
        if answered[-2:-1] == ["Login"]:
            drops.append(method)
            running.world.faults.drop_sessions()

    monkeypatch.setattr(running.world.faults, "take_closing", drop)
    answer = reboot(drive(running), host=HOST)
    assert not answer["failed"], answer["msg"]
    assert len(drops) > 6


def test_host_that_stays_away_is_reported_with_what_is_known(out_of_service, drive):
    running = out_of_service()
    running.world.faults.hang_boot(HOST)
    answer = reboot(drive(running), host=HOST, timeout_s=2)
    assert answer["failure"]["code"] == "host_not_back"
    assert "within 2 seconds" in answer["msg"]
    assert "notResponding" in answer["msg"]
    assert answer["host"]["before"]["boot_time"] in answer["msg"]
    assert "BMC reports" not in answer["msg"]


def test_the_bmc_reports_the_power_of_a_host_that_stays_away(twin, drive):
    running = twin(seed=lab(maintenance=True), faces=("redfish",))
    running.world.faults.hang_boot(HOST)
    bmc = {"bmc_address": running.bmc_endpoints[HOST], **credentials(running)}
    answer = reboot(drive(running), host=HOST, timeout_s=2, **bmc)
    assert answer["failure"]["code"] == "host_not_back"
    assert "its BMC reports the power state On" in answer["msg"]


def test_waiting_for_a_host_that_is_there_changes_nothing(twin, drive):
    answer = reboot(drive(twin(seed=lab())), host=HOST, state="back")
    assert (answer["failed"], answer["changed"]) == (False, False)


@pytest.mark.parametrize(
    "params, message",
    [
        pytest.param({"power": "cold"}, "bmc_address", id="cold without a BMC"),
        pytest.param({"timeout_s": 0}, "timeout_s is 0", id="no time"),
        pytest.param({"booted_after": "2026-01-01"}, "booted_after belongs to state=back", id="moment without a wait"),
        pytest.param({"state": "back", "booted_after": "yesterday"}, "not a time", id="no moment"),
    ],
)
def test_bad_input_is_refused_before_anything_happens(out_of_service, drive, params, message):
    running = out_of_service()
    before = boots(running)
    answer = reboot(drive(running), host=HOST, **params)
    assert answer["failed"]
    assert message in answer["msg"]
    assert boots(running) == before


def test_cold_cycle_is_off_and_on_through_the_bmc(twin, drive):
    running = twin(seed=lab(maintenance=True), faces=("redfish",))
    cold = host_of(running).cold_boots
    address = running.bmc_endpoints[HOST]
    answer = reboot(drive(running), host=HOST, power="cold", bmc_address=address, **credentials(running))
    assert not answer["failed"], answer["msg"]
    assert host_of(running).cold_boots == cold + 1


def test_host_that_a_killed_run_left_off_is_switched_on(twin, drive):
    running = twin(seed=lab(), faces=("redfish",))
    driver = drive(running)
    driver("esxi_maintenance", host=HOST)
    with running.world.lock:
        lifecycle.power_off(running.world, host_of(running))
    bmc = {"bmc_address": running.bmc_endpoints[HOST], **credentials(running)}
    answer = reboot(driver, host=HOST, state="back", **bmc)
    assert not answer["failed"], answer["msg"]
    assert host_of(running).connection == "connected"


def credentials(running):
    return {
        "bmc_username": running.bmc_username,
        "bmc_password": running.bmc_password,
        "bmc_ca_file": str(running.ca_file),
    }


@pytest.mark.parametrize("state", ["rebooted", "back"])
def test_host_that_an_administrator_has_disconnected_is_refused_without_waiting(out_of_service, drive, state):
    running = out_of_service(connection="disconnected")
    answer = reboot(drive(running), host=HOST, state=state)
    assert answer["failure"]["code"] == "host_not_connected"
    assert answer["msg"] == (
        "Host esx-01: is not connected to vCenter. vCenter reports the connection state disconnected and "
        "the power state poweredOn. Connect it in vCenter, then run again."
    )
    assert boots(running) == 0
