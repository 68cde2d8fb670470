"""Trouble at any request to a BMC and at any command on a shell: done once, or reported and mended by a next run."""

from __future__ import annotations

import time

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.wire import Clock

from twin_labs.host_lab import ESX, esx
from twin_labs.host_lab import host as model
from twin_labs.host_lab import seed as hosts
from vsphere_twin.launch import launch
from vsphere_twin.model.command_faults import CommandFault
from vsphere_twin.redfish import server as bmc_server
from vsphere_twin.redfish.service import Service
from vsphere_twin.shell.interpreter import HungUp

from . import drive_action
from .drive import Driver
from .lab import lab
from .mig import A100, partitions
from .nth import Nth
from .rows.bios_settings import DELL, HPE, NEEDED, waiting
from .rows.nic_firmware import TOOLS, firmware

MOST = 60


@pytest.fixture(autouse=True)
def brisk_bmc(monkeypatch):
    """Pauses between two looks at a BMC are short."""
    monkeypatch.setattr(Clock, "sleep", lambda seconds: time.sleep(min(seconds, 0.05)))


def busy(monkeypatch, nth):
    monkeypatch.setattr(bmc_server.Service, "handle", _before(Service.handle, nth, _said_busy))


def forgets_its_sessions(monkeypatch, nth):
    monkeypatch.setattr(bmc_server.Service, "handle", _before(Service.handle, nth, _log_everybody_out))


def hangs_up(monkeypatch, nth):
    monkeypatch.setattr(bmc_server._BmcHandler, "send", _before(bmc_server._BmcHandler.send, nth, _cut))


def _before(function, nth, trouble):
    """The function, with trouble at the nth call."""

    def troubled(self, *arguments):
        if nth():
            given = trouble(self)
            if given is not None:
                return given
        return function(self, *arguments)

    return troubled


def _said_busy(service):
    return service.said("ServiceTemporarilyUnavailable", 1, headers={"Retry-After": "1"})


def _log_everybody_out(service):
    service.sessions.clear()


def _cut(handler):
    handler.close_connection = True
    return True


def staged(running, at):
    """What the next boot brings, and how often it was asked for."""
    return waiting(at, running), len(model(running, at).bmc.jobs)


def power(running, at):
    return model(running, at).power


IN_DELL = dict.fromkeys(("ProcVirtualization", "SriovGlobalEnable", "MmioAbove4Gb"), "Enabled")
BMC_TASKS = {
    "an iDRAC with its job": (
        "bios_settings",
        DELL,
        {"functions": NEEDED},
        staged,
        ({"staged": IN_DELL, "job": True}, 1),
    ),
    "an iLO": (
        "bios_settings",
        HPE,
        {"functions": {"above_4g": "enabled"}},
        staged,
        ({"staged": {"PciResourcePadding": "High"}, "job": False}, 0),
    ),
    "power off": ("bmc_power", DELL, {"state": "off", "how": "forced"}, power, "poweredOff"),
}


@pytest.mark.parametrize("trouble", [busy, forgets_its_sessions, hangs_up])
@pytest.mark.parametrize("task", BMC_TASKS)
def test_trouble_with_a_bmc_at_any_request_ends_as_wanted_and_once(monkeypatch, task, trouble):
    module, at, params, observe, wanted = BMC_TASKS[task]
    resets = []
    reset = Service._reset
    monkeypatch.setattr(Service, "_reset", lambda self, body: (resets.append(body), reset(self, body))[1])
    for number in range(1, MOST):
        resets.clear()
        with launch("factory", faces=("redfish",)) as running, monkeypatch.context() as patch:
            nth = Nth(number, lambda: True)
            trouble(patch, nth)
            answer = Driver({}, running)(module, at=at, **params)
            if not nth.happened:
                break
            assert not answer["failed"], f"request {number}: {answer['msg']}"
            assert answer["changed"], f"request {number}"
            assert observe(running, at) == wanted, f"request {number}"
            assert len(resets) <= 1, f"request {number}"
    assert number > 6
    assert not nth.happened


def lost_before(_faults):
    raise HungUp


def lost_after(_faults):
    return CommandFault("", None, 0, after=True, hangs_up=True)


HALVES = {**A100, "mig": {"enabled": True, "instances": [[9, 0], [9, 4]]}}
SHELL_TASKS = {
    "mig_partition": (
        "esx-01",
        lab(gpus=[HALVES], ssh="running"),
        {"gpus": ["all"], "vsphere": "instances", "layout": [{"profile": "4g", "compute": ["2c", "2c"]}, "2g"]},
        lambda running: partitions(running, "esx-01")[0]["instances"],
        {0: ("4g.20gb", (2, 2)), 4: ("2g.10gb", ())},
    ),
    "nic_firmware": (
        ESX,
        hosts(esx(**TOOLS)),
        {"settings": {"ATS_ENABLED": True, "NUM_OF_VFS": 8}},
        firmware,
        dict.fromkeys(("vmnic2", "vmnic3"), ((True, False, 8), (False, False, 0))),
    ),
}


@pytest.mark.parametrize("trouble", [lost_before, lost_after])
@pytest.mark.parametrize("module", SHELL_TASKS)
def test_a_shell_that_is_lost_at_any_command_is_reported_and_the_next_run_ends_it(monkeypatch, module, trouble):
    at, seed, params, observe, wanted = SHELL_TASKS[module]
    for number in range(1, MOST):
        with launch(seed, faces=("ssh",)) as running:
            nth = Nth(number, lambda: trouble(None))
            with monkeypatch.context() as patch:
                patch.setattr(running.world.command_faults, "take", lambda *line, nth=nth: nth() or None)
                first = drive_action.run(running, at, module, params)
            if not nth.happened:
                break
            assert first["failed"], f"command {number}"
            # The connection reports a session that ended, the module an answer that is incomplete; never both.
            assert bool(first.get("unreachable")) is not bool(first.get("failure")), f"command {number}"
            again = drive_action.run(running, at, module, params)
            assert not again["failed"], f"command {number}: {again['msg']}"
            assert observe(running) == wanted, f"command {number}"
    assert number > 3
    assert not nth.happened
