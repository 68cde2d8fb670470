# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A daemon of a host: what is read of it, and in which order it is changed."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power import service
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power.service import Daemon, ServiceRequest, Services
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from pyVmomi import vim

REQUEST = ServiceRequest(service="TSM-SSH", state="started")
BORROWED = "aiready.vsphere.service.TSM-SSH"


class System:
    """The service system of a host, which notes what it is asked for."""

    def __init__(self, requests, fault=None):
        self.requests, self.fault = requests, fault

    def StartService(self, **asked):
        self._ask("start", asked)

    def StopService(self, **asked):
        self._ask("stop", asked)

    def _ask(self, verb, asked):
        self.requests.append((verb, asked["id"]))
        if self.fault:
            raise self.fault


def host(services=(), mark=None, fault=None):
    """The services of a host with these daemons and this note, and the requests that it gets."""
    requests = []
    values = {
        "config.service.service": [
            vim.host.Service(key=key, running=running, policy=policy, label=key, required=False, uninstallable=False)
            for key, running, policy in services
        ],
        "availableField": [vim.CustomFieldsManager.FieldDef(key=7, name=BORROWED)],
        "customValue": [vim.CustomFieldsManager.StringValue(key=7, value=mark)] if mark else [],
        "configManager": SimpleNamespace(serviceSystem=System(requests, fault)),
    }
    ref = vim.HostSystem("host-1")
    noun = Services({}, print)
    noun._found = SimpleNamespace(name="esx-01", ref=ref, row=Row(ref, values, {}))
    return noun, requests


@pytest.mark.parametrize("mark, borrowed", [(None, False), ("was stopped", True)])
def test_what_is_read_of_a_service(mark, borrowed):
    noun, _requests = host([("ntpd", False, "on"), ("TSM-SSH", True, "off")], mark)
    assert noun.look(noun._found, REQUEST) == Daemon(True, "off", borrowed)
    assert noun.look(noun._found, replace(REQUEST, service="ntpd")) == Daemon(False, "on")
    assert noun.project(Daemon(True, "off", borrowed)) == {"running": True, "policy": "off", "borrowed": borrowed}


@pytest.mark.parametrize(
    "asked, services, hint",
    [
        ("ntp", [("ntpd", True, "on"), ("TSM-SSH", True, "on")], "Did you mean ntpd?"),
        ("xyz", [("ntpd", True, "on"), ("TSM-SSH", True, "on")], "Correct `service`."),
        ("ntpd", [], "Correct `service`."),
    ],
)
def test_a_service_that_the_host_does_not_have_is_refused_with_those_that_it_has(asked, services, hint):
    noun, _requests = host(services)
    with pytest.raises(OperatorError) as refused:
        noun.look(noun._found, replace(REQUEST, service=asked))
    names = sorted(key for key, _running, _policy in services)
    assert refused.value.failure == documented("service_not_found", subject="Host esx-01", services=names)
    assert refused.value.todo == hint


@pytest.mark.parametrize(
    "now, state, wanted",
    [
        (Daemon(False), "started", Daemon(True, borrowed=True)),
        (Daemon(True), "started", Daemon(True)),
        (Daemon(True, borrowed=True), "started", Daemon(True, borrowed=True)),
        (Daemon(True, borrowed=True), "stopped", Daemon(False)),
        (Daemon(True), "stopped", Daemon(False)),
        (Daemon(True, borrowed=True), "restored", Daemon(False)),
        (Daemon(True), "restored", Daemon(True)),
        (Daemon(False), "restored", Daemon(False)),
    ],
)
def test_the_requested_state_of_a_service(now, state, wanted):
    item = Item("esx-01", replace(REQUEST, state=state), {})
    item.now = now
    assert host()[0].want(item) == wanted


@pytest.mark.parametrize(
    "now, wanted, requests",
    [
        (Daemon(False), Daemon(True, borrowed=True), [("note", "was stopped"), ("start", "TSM-SSH")]),
        (Daemon(True, borrowed=True), Daemon(False), [("stop", "TSM-SSH"), ("note", "")]),
        (Daemon(False, borrowed=True), Daemon(False), [("note", "")]),
        (Daemon(False, borrowed=True), Daemon(True, borrowed=True), [("start", "TSM-SSH")]),
        (Daemon(True), Daemon(False), [("stop", "TSM-SSH")]),
        (Daemon(True), Daemon(True), []),
    ],
)
def test_the_note_is_there_as_long_as_the_service_is_borrowed(monkeypatch, now, wanted, requests):
    noun, seen = host()

    def write(vcenter, ref, name, value):
        assert (vcenter, ref, name) == (None, noun._found.ref, "service.TSM-SSH")
        seen.append(("note", value))

    monkeypatch.setattr(service.marks, "write", write)
    item = Item("esx-01", REQUEST, {})
    item.now, item.wanted = now, wanted
    noun.change(item)
    assert (seen, item.touched) == (requests, True)


@pytest.mark.parametrize(
    "fault, code",
    [(vim.fault.InvalidState(), None), (vim.fault.NoPermission(privilegeId="Host.Config.NetService"), "no_permission")],
    ids=["somebody was quicker", "refused"],
)
def test_a_fault_of_the_service_system(fault, code):
    noun, requests = host(fault=fault)
    if code:
        with pytest.raises(OperatorError) as refused:
            noun._switch("TSM-SSH", True)
        assert refused.value.code == code
    else:
        noun._switch("TSM-SSH", True)
    assert requests == [("start", "TSM-SSH")]
