# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What modules about one host have in common."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.host import noun as of_host
from ansible_collections.aiready.vsphere.plugins.module_utils.host.noun import HostNoun, run_for_host
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi
from pyVmomi import vmodl

from unit.plugins.modules.described import LOGIN
from wire.drive import run


@pytest.mark.parametrize(
    "module, given, named",
    [
        ("pvrdma_host", {"host": " ", "vmknic": "vmk1"}, ["host"]),
        ("pvrdma_host", {"host": "esx-01", "vmknic": ""}, ["vmknic"]),
        ("esxi_service", {"host": "", "service": "", "state": "started"}, ["host", "service"]),
    ],
)
def test_an_empty_name_is_refused_before_vcenter_is_asked(module, given, named):
    answer = run(f"aiready.vsphere.{module}", {**LOGIN, **given})
    assert (answer["failed"], answer["failure"]["code"]) == (True, "invalid_parameters")
    assert [problem.split()[0] for problem in answer["failure"]["problems"]] == named
    assert answer["msg"] == " ".join(answer["failure"]["problems"])


def noun(managers):
    made = HostNoun({}, None)
    made._found = SimpleNamespace(name="esx-01", row={"configManager": managers})
    return made


@pytest.mark.parametrize("managers", [None, SimpleNamespace(graphicsManager=None)], ids=["none at all", "not this one"])
def test_a_manager_that_the_host_does_not_have_is_an_error(managers):
    with pytest.raises(OperatorError) as refused:
        noun(managers).manager("graphicsManager")
    assert refused.value.failure == documented("manager_missing", subject="Host esx-01")
    assert "graphicsManager" in refused.value.message


def test_a_manager_that_the_host_has_is_used():
    assert noun(SimpleNamespace(graphicsManager="it")).manager("graphicsManager") == "it"


class Ended(Exception):
    """The module has left with this answer."""


class Module:
    """A module with these parameters, which ends as Ansible's does."""

    _diff = False

    def __init__(self, **params):
        self.params = params

    def exit_json(self, **answer):
        raise Ended(json.loads(json.dumps(answer)))

    def fail_json(self, **answer):
        self.exit_json(failed=True, **answer)


class Session:
    """A session of vCenter that knows whether it was closed."""

    closed = False

    def close(self):
        self.closed = True


class Setting(HostNoun):
    """A number of the host, which is 1 until it is changed; trouble: what becomes of the change."""

    PROPERTIES = ("config.number",)
    trouble = ""

    def __init__(self, params, warn):
        super().__init__(params, warn)
        self.number = 1

    def change(self, item):
        item.touched = True
        if self.trouble != "nothing happens":
            self.number = item.wanted
        if self.trouble in ("fate_unknown", "other"):
            raise OperatorError(self.label, "its number should be another", "No answer", "Look at it", self.trouble)

    def want(self, item):
        return item.requested.number

    def compare(self, now, wanted):
        return [Change("number", now, wanted)] if now != wanted else []

    def request(self):
        return SimpleNamespace(**self._params)

    def look(self, found, requested):
        assert requested.host == "esx-01"
        return found.number(self)

    def project(self, state):
        return {"number": state}


@pytest.fixture
def session(monkeypatch):
    """The one session of this test, on a vCenter that has the host esx-01."""
    opened = Session()
    paths = ("configManager", "config.number")
    ids = {"name": "esx-01.example.com", "moid": "host-1"}
    first, second = (
        SimpleNamespace(number=lambda noun: 1, **ids),
        SimpleNamespace(number=lambda noun: noun.number, **ids),
    )

    def connect(params, warn):
        assert (params["host"], warn) == ("esx-01", print)
        return opened

    def find(vcenter, name, read):
        assert (vcenter, name, read) == (opened, "esx-01", paths)
        return first

    def read_again(vcenter, found, read):
        assert (vcenter, found, read) == (opened, first, paths)
        return second

    monkeypatch.setattr(of_host.session, "connect", connect)
    monkeypatch.setattr(of_host.hosts, "find_host", find)
    monkeypatch.setattr(of_host.hosts, "read_again", read_again)
    return opened


def answer_of(problems=(), check=True, trouble="", **params):
    module = Module(**{"host": "esx-01", "number": 2, **params})
    module.check_mode = check
    noun = Setting(module.params, print)
    noun.trouble = trouble
    with pytest.raises(Ended) as ended:
        run_for_host(module, noun, problems)
    return ended.value.args[0]


def test_the_result_of_a_host_is_that_of_the_host_alone_and_its_session_is_closed(session):
    answer = answer_of()
    assert (answer["changed"], set(answer)) == (True, {"changed", "host"})
    assert (answer["host"]["name"], answer["host"]["moid"]) == ("esx-01.example.com", "host-1")
    assert (answer["host"]["before"], answer["host"]["after"]) == ({"number": 1}, {"number": 2})
    assert session.closed


def test_the_session_is_closed_after_a_failure_too(session, monkeypatch):
    def look(self, found, requested):
        raise OperatorError("Host esx-01", "it was to be read", "It broke", "Repair it", "broken")

    monkeypatch.setattr(Setting, "look", look)
    answer = answer_of()
    assert (answer["failed"], answer["failure"]["code"]) == (True, "broken")
    assert session.closed


def test_a_host_that_vcenter_did_not_answer_for_keeps_the_name_of_the_task(monkeypatch):
    def connect(params, warn):
        raise OperatorError("vCenter", "a login was to be made", "Nobody answers", "Look at it", "unreachable")

    monkeypatch.setattr(of_host.session, "connect", connect)
    answer = answer_of()
    assert (answer["host"]["name"], answer["host"]["moid"]) == ("esx-01", None)
    assert (answer["failed"], answer["failure"]["code"]) == (True, "unreachable")


def test_all_that_is_wrong_with_the_parameters_is_one_failure_and_nobody_logs_in(session):
    answer = answer_of(["number is odd."], host=" ", service="", vmknic=None)
    problems = ["host is empty; it must name something.", "service is empty; it must name something.", "number is odd."]
    assert answer["failure"] == documented("invalid_parameters", problems=problems)
    assert (answer["msg"], session.closed) == (" ".join(problems), False)


def test_without_pyvmomi_the_module_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(_pyvmomi, "IMPORT_ERROR", "No module named pyVmomi")
    answer = answer_of()
    assert (answer["failed"], "pyVmomi" in answer["msg"], answer["exception"]) == (
        True,
        True,
        "No module named pyVmomi",
    )


@pytest.mark.parametrize("trouble", ["", "fate_unknown"], ids=["with an answer", "without"])
def test_a_change_that_shows_when_the_host_is_read_again_is_made(session, trouble):
    answer = answer_of(check=False, trouble=trouble)
    assert (answer["changed"], answer.get("failed", False)) == (True, False)
    assert (answer["host"]["before"], answer["host"]["after"]) == ({"number": 1}, {"number": 2})


def test_a_change_that_does_not_show_is_a_failure(session):
    answer = answer_of(check=False, trouble="nothing happens")
    assert (answer["failed"], answer["failure"]["code"]) == (True, "not_proved")
    assert answer["failure"]["left"] == ["number"]
    assert "still differs: number: 1 -> 2" in answer["msg"]


def test_an_error_stays_though_the_change_shows(session):
    answer = answer_of(check=False, trouble="other")
    assert (answer["failed"], answer["failure"]["code"]) == (True, "other")
    assert answer["host"]["after"] == {"number": 2}


def test_a_fault_of_vcenter_says_what_was_asked_of_the_host():
    with pytest.raises(OperatorError) as failed, noun(None).asking("its number was to be read"):
        raise vmodl.fault.NotSupported(msg="No.")
    assert failed.value.subject == "Host esx-01"
    assert "its number was to be read" in failed.value.message
