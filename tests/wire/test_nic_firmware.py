"""Firmware of network adapters, over the shell of a host."""

from __future__ import annotations

import pytest

from twin_labs.host_lab import ESX, esx, host, restart, seed

TOOLS = {"vibs": ["nmst"], "ssh": "running"}
ATS = {"settings": {"ATS_ENABLED": True}}


@pytest.fixture
def shell(twin, drive):
    """(the running twin, the module on its host)."""

    def start(**more):
        running = twin(seed=seed(esx(**{**TOOLS, **more})), faces=("ssh",))
        call = drive(running)
        return running, lambda check=False, **params: call("nic_firmware", check=check, at=ESX, **params)

    return start


def waiting(answer):
    return {device["name"]: [(one["what"], one["needs"]) for one in device["pending"]] for device in answer["devices"]}


def test_only_a_cold_start_brings_a_new_value_and_until_then_every_run_reports_it(shell):
    running, call = shell()
    due = {port: [("ATS_ENABLED", "cold_power_cycle")] for port in ("vmnic2", "vmnic3")}
    assert waiting(call(**ATS)) == due
    again = call(**ATS)
    assert (again["changed"], waiting(again)) == (False, due)
    restart(running)
    assert waiting(call(**ATS)) == due
    restart(running, cold=True)
    started = call(**ATS)
    assert (started["changed"], waiting(started)) == (False, {"vmnic2": [], "vmnic3": []})


def test_the_user_may_say_that_a_restart_will_do(shell):
    _running, call = shell()
    assert waiting(call(devices=["vmnic2"], activation="warm", **ATS)) == {"vmnic2": [("ATS_ENABLED", "reboot")]}


def test_without_the_tools_it_says_what_to_install(shell):
    _running, call = shell(vibs=[])
    answer = call(**ATS)
    assert (answer["failed"], answer["failure"]["code"]) == (True, "tools_missing")
    assert "On ESXi install the VIBs NMST and MFT, and restart the host" in answer["msg"]


def test_a_firmware_that_is_too_old_is_refused_by_port_and_the_others_are_reported_apart(shell):
    running, call = shell()
    old = next(nic for nic in host(running).nics if nic.device == "vmnic3")
    old.firmware.knows_ats = False
    answer = call(**ATS)
    assert answer["failed"]
    by_port = {device["name"]: device for device in answer["devices"]}
    assert by_port["vmnic3"]["failure"]["code"] == "firmware_parameter_impossible"
    assert "no parameter ATS_ENABLED" in by_port["vmnic3"]["msg"]
    assert "Update the firmware" in by_port["vmnic3"]["msg"]
    assert (by_port["vmnic2"]["failed"], by_port["vmnic2"]["changed"]) == (False, True)


def test_an_unknown_adapter_is_reported_with_those_that_are_there(shell):
    _running, call = shell()
    answer = call(devices=["mt4123_pciconf0"], **ATS)
    assert (answer["failed"], answer["failure"]["code"]) == (True, "device_not_found")
    assert "mt4125_pciconf0 (0000:3a:00.0, vmnic2)" in answer["msg"]


def test_what_mlxconfig_refuses_is_reported_in_its_own_words(shell):
    running, call = shell()
    running.control.fail_command(
        prefix="mlxconfig -d mt4125_pciconf0 -y set", rc=3, text="-E- Failed to open the device"
    )
    answer = call(devices=["vmnic2"], **ATS)
    assert (answer["failed"], answer["failure"]["code"]) == (True, "mlxconfig_failed")
    assert "-E- Failed to open the device" in answer["msg"]
    assert answer["devices"][0]["after"] == answer["devices"][0]["before"]
    assert call(devices=["vmnic2"], **ATS)["changed"]


def test_a_value_that_does_not_stay_is_an_error_however_the_command_ended(shell):
    running, call = shell()
    running.control.fail_command(prefix="mlxconfig -d mt4125_pciconf0 -y set", rc=0, text="Applying... Done!")
    answer = call(devices=["vmnic2"], **ATS)
    assert (answer["failed"], answer["failure"]["code"]) == (True, "not_proved")
    assert "Still different: ATS_ENABLED: False(0) -> True(1)" in answer["msg"]


def test_check_mode_sets_nothing(shell):
    running, call = shell()
    planned = call(check=True, settings={"SRIOV_EN": True, "NUM_OF_VFS": 8})
    assert planned["changed"]
    assert [change["after"] for change in planned["devices"][0]["changes"]] == ["8", "True(1)"]
    assert not any(nic.firmware.next_sriov for nic in host(running).nics)


@pytest.mark.parametrize(
    "params, words",
    [({}, "settings"), ({**ATS, "activation": "hot"}, "activation"), ({**ATS, "device": "vmnic2"}, "device")],
)
def test_wrong_input_is_refused_before_anything_is_run(shell, params, words):
    running, call = shell()
    running.control.fail_command(prefix="mst", text="nobody may ask")
    answer = call(**params)
    assert (answer["failed"], answer["failure"]["code"]) == (True, "invalid_parameters")
    assert words in answer["msg"]
    assert running.world.command_faults.take(ESX, "mst status -vv") is not None
