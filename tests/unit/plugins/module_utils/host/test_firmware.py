# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import firmware, mlxconfig

DEVICES = [
    mlxconfig.MstDevice("mt4125_pciconf0", "ConnectX6DX", "0000:3a:00.0", "vmnic2"),
    mlxconfig.MstDevice("/dev/mst/mt4129_pciconf0", "ConnectX7", "0000:b1:00.0", ""),
]


def key(name, current="False(0)", after=None, default="False(0)", **more):
    return mlxconfig.Key(name, default, current, after or current, **more)


def adapter(*keys):
    return firmware.Adapter(DEVICES[0], {one.name: one for one in keys})


def plan(now, settings, needs="cold_power_cycle"):
    wanted = firmware.want("vmnic2", now, settings)
    return firmware.compare(now, wanted, sorted(settings), needs)


@pytest.mark.parametrize("requested", ["vmnic2", "0000:3a:00.0", "3A:00.0", "mt4125_pciconf0"])
def test_an_adapter_is_named_by_port_address_or_mst_name(requested):
    assert firmware.meant(DEVICES, [requested, requested]) == DEVICES[:1]


def test_a_name_on_linux_may_be_written_without_its_folder():
    assert firmware.meant(DEVICES, ["mt4129_pciconf0"]) == DEVICES[1:]


def test_all_are_all_and_unknown_names_are_reported_with_what_is_there():
    assert firmware.meant(DEVICES, ["all"]) == DEVICES
    with pytest.raises(OperatorError) as refused:
        firmware.meant(DEVICES, ["vmnic9", "vmnic2", "mt4123_pciconf0"])
    assert refused.value.subject == "vmnic9, mt4123_pciconf0"
    assert "mt4125_pciconf0 (0000:3a:00.0, vmnic2)" in refused.value.message


def test_a_parameter_is_set_for_the_next_start_and_waits_for_it():
    (change,) = plan(adapter(key("ATS_ENABLED")), {"ATS_ENABLED": True})
    assert (change.before, change.after, change.needs) == ("False(0)", "True(1)", "cold_power_cycle")
    assert firmware.assignments([change]) == ["ATS_ENABLED=1"]


def test_what_is_set_already_is_pending_and_no_change():
    now = adapter(key("ATS_ENABLED", after="True(1)"))
    assert plan(now, {"ATS_ENABLED": "true"}) == []
    assert firmware.pending(now, ["ATS_ENABLED"], "reboot") == [{"what": "ATS_ENABLED", "needs": "reboot"}]


def test_going_back_to_what_runs_waits_for_nothing():
    (change,) = plan(adapter(key("ATS_ENABLED", after="True(1)")), {"ATS_ENABLED": False})
    assert (change.after, change.needs) == ("False(0)", None)


def test_numbers_and_defaults():
    now = adapter(key("NUM_OF_VFS", "8", default="0"))
    assert [change.after for change in plan(now, {"NUM_OF_VFS": 16})] == ["16"]
    assert [change.after for change in plan(now, {"NUM_OF_VFS": None})] == ["0"]
    assert plan(now, {"NUM_OF_VFS": 8}) == []


def test_a_word_is_written_as_the_user_wrote_it_and_proved_by_its_code():
    now = adapter(key("LINK_TYPE_P1", "IB(1)", default="IB(1)"))
    (change,) = plan(now, {"LINK_TYPE_P1": 2})
    assert firmware.assignments([change]) == ["LINK_TYPE_P1=2"]
    shown = adapter(key("LINK_TYPE_P1", "IB(1)", after="ETH(2)"))
    assert firmware.compare(shown, firmware.want("", now, {"LINK_TYPE_P1": 2}), ["LINK_TYPE_P1"], "x") == []


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"ATS_ENABLED": True}, "no parameter ATS_ENABLED"),
        ({"SRIOV_ENABLE": True}, "(near it: SRIOV_EN)"),
        ({"SAFE_MODE_ENABLE": False}, "can only be read"),
    ],
)
def test_what_the_firmware_does_not_have_is_refused(settings, words):
    with pytest.raises(OperatorError) as refused:
        plan(adapter(key("SRIOV_EN"), key("SAFE_MODE_ENABLE", read_only=True)), settings)
    assert words in refused.value.message
    assert "Update the firmware" in refused.value.message


@pytest.mark.parametrize("current, reported", [("False(0)", True), ("True(1)", False)])
def test_parameters_that_the_firmware_hides_are_hinted_at(current, reported):
    with pytest.raises(OperatorError) as refused:
        plan(adapter(key("ADVANCED_PCI_SETTINGS", current)), {"ATS_ENABLED": True})
    assert ("only after ADVANCED_PCI_SETTINGS was set" in refused.value.message) is reported


def test_two_spellings_of_one_value_wait_for_nothing():
    assert firmware.pending(adapter(key("ATS_ENABLED", "True(1)", "1")), ["ATS_ENABLED"], "reboot") == []


def test_a_request_takes_the_spelling_that_the_tool_shows_for_what_runs():
    now = adapter(key("CQE_COMPRESSION", "AGGRESSIVE(1)", "BALANCED(0)", default="BALANCED(0)"))
    (change,) = plan(now, {"CQE_COMPRESSION": "aggressive"})
    assert (change.after, change.needs) == ("AGGRESSIVE(1)", None)


def test_a_default_that_is_not_reported_cannot_be_requested():
    with pytest.raises(OperatorError, match="does not show the default of NUM_OF_VFS"):
        plan(adapter(key("NUM_OF_VFS", "8", default="")), {"NUM_OF_VFS": None})


def test_each_network_device_of_a_function_names_it():
    dpu = mlxconfig.MstDevice("mt41692_pciconf0", "BlueField3", "0000:03:00.0", "pf0hpf,p0")
    assert firmware.meant([*DEVICES, dpu], ["p0"]) == firmware.meant([*DEVICES, dpu], ["pf0hpf"]) == [dpu]


def test_what_the_firmware_does_not_report_waits_for_nothing_and_is_no_default():
    now = adapter(mlxconfig.Key("SRIOV_EN", "", "", "True(1)"))
    assert firmware.pending(now, ["SRIOV_EN"], "reboot") == []
    with pytest.raises(OperatorError, match="does not show the default of SRIOV_EN"):
        plan(now, {"SRIOV_EN": None})
