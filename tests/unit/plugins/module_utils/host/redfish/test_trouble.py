# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import ssl
from http.client import RemoteDisconnected

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import trouble
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.address import Address
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.wire import Answer, NotJson

DELL = {
    "error": {
        "code": "Base.1.12.GeneralError",
        "message": "A general error has occurred. See ExtendedInfo for more information",
        "@Message.ExtendedInfo": [
            {"MessageId": "IDRAC.2.8.SYS428", "Message": "Unable to set the attributes.  The job is   scheduled"},
            {"MessageId": "IDRAC.2.8.SYS428", "Message": "Unable to set the attributes. The job is scheduled."},
        ],
    }
}
ILO = {"error": {"@Message.ExtendedInfo": [{"MessageId": "iLO.2.14.UnsupportedOperation", "MessageArgs": ["X"]}]}}
PLACEHOLDER = {"error": {"@Message.ExtendedInfo": [{"Message": "The value %1 is not %2", "MessageArgs": ["a", "b"]}]}}


@pytest.mark.parametrize(
    "body, said",
    [
        (DELL, ["Unable to set the attributes. The job is scheduled."]),
        (ILO, ["iLO.2.14.UnsupportedOperation X."]),
        (PLACEHOLDER, ["The value a is not b."]),
        ({"error": {"message": "only this"}}, ["only this."]),
        (
            {"error": {"code": "1", "message": {"lang": "en-us", "value": "The URI is invalid"}}},
            ["The URI is invalid."],
        ),
        ({"error": "Unauthorized"}, ["Unauthorized."]),
        ({"@Message.ExtendedInfo": {"Message": "no list"}}, ["no list."]),
        ({"error": {"@Message.ExtendedInfo": [None, {"MessageId": 5, "MessageArgs": "x"}]}}, ["5."]),
        ({}, []),
    ],
    ids=[
        "dell",
        "ilo-without-text",
        "placeholders",
        "message-alone",
        "old-idrac",
        "a-text",
        "no-list",
        "numbers",
        "nothing",
    ],
)
def test_what_a_bmc_says_is_reported_once_and_as_sentences(body, said):
    assert trouble.sentences(Answer(400, body)) == said


@pytest.mark.parametrize(
    "status, code",
    [(401, "bmc_login_refused"), (403, "bmc_privilege_missing"), (503, "bmc_busy"), (400, "bmc_rejects")],
)
def test_a_refusal_has_a_code_by_which_machines_report_it(status, code):
    reported = trouble.refused("bmc-01", "x was wanted", Answer(status, DELL))
    assert reported.failure["code"] == code
    assert reported.failure["messages"] == ["Unable to set the attributes. The job is scheduled."]


@pytest.mark.parametrize(
    "error, code, words",
    [
        (TimeoutError("timed out"), "bmc_timeout", "60 seconds"),
        (ssl.SSLError("The handshake operation timed out"), "bmc_timeout", "60 seconds"),
        (ConnectionRefusedError(111, "Connection refused"), "bmc_refused", "bmc-01"),
        (ConnectionResetError(104, "Connection reset by peer"), "bmc_unreachable", "Connection reset by peer"),
        (RemoteDisconnected(), "bmc_unreachable", "RemoteDisconnected"),
        (NotJson("text/html"), "not_redfish", "text/html"),
    ],
    ids=["timeout", "timeout of a handshake", "refused", "reset", "without a word", "a web page"],
)
def test_a_connection_that_fails_is_reported_with_its_cause(error, code, words):
    reported = trouble.explain(error, Address("bmc-01", 443), 60)
    assert reported.code == code
    assert words in reported.message


def test_a_lost_answer_leaves_open_what_the_bmc_did():
    reported = trouble.fate_unknown(Address("bmc-01", 443), "POST /redfish/v1/Systems/1", "It hung up")
    assert (type(reported), reported.code) == (trouble.FateUnknown, "bmc_fate_unknown")
    assert "POST /redfish/v1/Systems/1" in reported.message
