# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import power
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.system import System
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.wire import Answer

from .test_session import bmc

PATH = "/redfish/v1/Systems/1"
TARGET = f"{PATH}/Actions/ComputerSystem.Reset"


def server(*offered, **reset):
    if offered:
        reset["ResetType@Redfish.AllowableValues"] = list(offered)
    return System(PATH, {"Actions": {"#ComputerSystem.Reset": {"target": TARGET, **reset}}}, "hpe")


def asked(system, wanted, how="graceful", answers=None):
    session, wire = bmc({("POST", TARGET): Answer(204), **(answers or {})})
    power.switch(session, system, wanted, how)
    return wire.calls("POST")[-1][3]["ResetType"]


@pytest.mark.parametrize(
    "wanted, how, offered, chosen",
    [
        (power.ON, "graceful", ("On", "ForceOff"), "On"),
        (power.ON, "graceful", ("ForceOn", "ForceOff"), "ForceOn"),
        (power.OFF, "graceful", ("On", "ForceOff", "GracefulShutdown"), "GracefulShutdown"),
        (power.OFF, "forced", ("On", "ForceOff", "GracefulShutdown"), "ForceOff"),
        (power.OFF, "graceful", (), "GracefulShutdown"),
    ],
)
def test_the_reset_that_the_bmc_offers_is_asked_for(wanted, how, offered, chosen):
    assert asked(server(*offered), wanted, how) == chosen


def test_what_is_offered_may_stand_in_the_actions_description():
    info = Answer(200, {"Parameters": [{"Name": "ResetType", "AllowableValues": ["ForceOn"]}]})
    system = server(**{"@Redfish.ActionInfo": "/info"})
    assert asked(system, power.ON, answers={("GET", "/info"): info}) == "ForceOn"


def test_power_is_never_cut_where_a_shutdown_was_wanted():
    session, wire = bmc({})
    with pytest.raises(OperatorError) as reported:
        power.switch(session, server("On", "ForceOff"), power.OFF)
    assert reported.value.failure["code"] == "reset_not_offered"
    assert "Set `how: forced`, which cuts the power" in reported.value.message
    assert wire.sent == []


def test_waiting_ends_with_the_state_and_not_with_the_command():
    states = [Answer(200, {"PowerState": word}) for word in ("On", "PoweringOff", "Off")]
    session, wire = bmc({("GET", PATH): states})
    assert power.wait(session, server(), power.OFF, 60) == "Off"
    assert len(session.clock.pauses) == 2


def test_a_server_that_does_not_get_there_is_reported_with_the_last_state_seen():
    session, wire = bmc({("GET", PATH): Answer(200, {"PowerState": "PoweringOff"})})
    with pytest.raises(OperatorError) as reported:
        power.wait(session, server(), power.OFF, 30)
    assert reported.value.failure["last_state"] == "PoweringOff"
    assert "After 30 seconds its power state is PoweringOff" in reported.value.message
    assert 30 <= session.clock.at < 45


def test_waiting_without_a_limit_reads_the_state_once():
    session, wire = bmc({("GET", PATH): Answer(200, {"PowerState": "On"})})
    with pytest.raises(OperatorError) as reported:
        power.wait(session, server(), power.OFF, 0)
    assert reported.value.failure["code"] == "power_timeout"
    assert [call[1] for call in wire.calls("GET")].count(PATH) == 1
