"""What the BIOS or its BMC does not take is reported with the way out; what others staged is theirs."""

from __future__ import annotations

import itertools
import socket

import pytest
import sushy
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.wire import Clock, Wire

from vsphere_twin.model import boot
from vsphere_twin.redfish import bios as twin_bios
from vsphere_twin.redfish.messages import Problem

from .lab import lab
from .rows.bios_settings import DELL, HPE, NEEDED, system, waiting

SRIOV = {"functions": {"sriov": "enabled"}}


@pytest.fixture(autouse=True)
def brisk_bmc(monkeypatch):
    """A BMC that is busy is asked again at once; how often is as it was."""
    monkeypatch.setattr(Clock, "sleep", lambda seconds: None)


@pytest.fixture
def factory(twin, drive):
    """Two servers as they come, and how to set the BIOS of one."""
    running = twin(seed="factory", faces=("redfish",))
    call = drive(running)
    return running, lambda at=DELL, **params: call("bios_settings", at=at, **params)


def server(running, name):
    (found,) = [host for host in running.world.of_kind("HostSystem") if host.name == name]
    return found


def restart(running, name):
    with running.world.lock:
        boot.boot(running.world, server(running, name), False)


@pytest.mark.parametrize("at", [DELL, HPE])
def test_settings_are_proved_on_the_active_bios_and_not_on_what_is_staged(factory, at):
    running, stage = factory
    everything = {"functions": {**NEEDED, "power_profile": "performance", "c_states": "disabled"}}
    staged = stage(at, **everything)
    assert staged["bios"]["after"]["functions"]["sriov"] == "disabled"
    assert staged["bios"]["pending"]
    restart(running, at)
    again = stage(at, **everything)
    assert (again["changed"], again["bios"]["pending"]) == (False, [])
    assert again["bios"]["after"]["functions"] == everything["functions"]
    assert all(server(running, at).bmc.functions().values())


def test_settings_that_the_bios_lost_in_the_boot_are_wanted_again(factory):
    running, stage = factory
    running.control.bmc_forget(host=DELL)
    stage(**SRIOV)
    restart(running, DELL)
    assert [change["path"] for change in stage(check=True, **SRIOV)["bios"]["changes"]] == ["bios.SriovGlobalEnable"]


def test_a_second_run_before_the_reboot_makes_no_second_job(factory):
    running, stage = factory
    stage(**SRIOV)
    again = stage(**SRIOV)
    assert (again["failed"], again["changed"]) == (False, False)
    assert again["bios"]["pending"] == [{"what": "bios.SriovGlobalEnable", "needs": "reboot"}]
    assert len(server(running, DELL).bmc.jobs) == 1


def test_a_task_leaves_no_session_behind(factory):
    running, stage = factory
    stage(**SRIOV)
    stage(attributes={"nonsense": 1})
    client = sushy.Sushy(
        running.bmc_endpoints[DELL],
        verify=str(running.ca_file),
        auth=sushy.auth.BasicAuth(running.bmc_username, running.bmc_password),
    )
    assert client.get_session_service().sessions.get_members() == []


def test_a_wrong_password_is_reported_and_not_repeated(factory):
    running, stage = factory
    reported = stage(bmc_password="guessed", **SRIOV)
    assert reported["failure"]["code"] == "bmc_login_refused"
    assert "guessed" not in str({key: value for key, value in reported.items() if key != "invocation"})


def test_a_bmc_that_the_system_does_not_trust_is_reported_by_its_certificate(factory):
    dummy, stage = factory
    reported = stage(bmc_ca_file=None, **SRIOV)
    assert reported["failure"]["code"] == "bmc_certificate_not_trusted"
    assert "SHA-256 fingerprint" in reported["msg"]
    assert "Set `bmc_ca_file` to the authority that signed it" in reported["msg"]


def test_a_certificate_for_another_name_is_refused_unless_the_task_says_so(twin, drive):
    running = twin(seed="factory", faces=("redfish",), names=("bmc.example.com",))
    stage = drive(running)
    assert stage("bios_settings", at=DELL, **SRIOV)["failure"]["code"] == "bmc_certificate_not_trusted"
    assert not stage("bios_settings", at=DELL, bmc_validate_certs=False, bmc_ca_file=None, **SRIOV)["failed"]


def test_an_address_where_nobody_answers_is_reported(factory):
    dummy, stage = factory
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        reported = stage(bmc_address=f"127.0.0.1:{closed.getsockname()[1]}", **SRIOV)
    assert reported["failure"]["code"] == "bmc_refused"


def test_something_else_than_a_bmc_gets_no_password(factory):
    running, stage = factory
    reported = stage(bmc_address=f"{running.host}:{running.port}", **SRIOV)
    assert reported["failure"]["code"] == "not_redfish"


def test_a_bmc_that_is_busy_for_a_moment_is_waited_for(factory):
    running, stage = factory
    running.control.bmc_unavailable(host=DELL, count=3)
    assert stage(**SRIOV)["changed"]


def test_a_bmc_that_stays_busy_is_reported(factory):
    running, stage = factory
    running.control.bmc_unavailable(host=DELL, count=100)
    reported = stage(**SRIOV)
    assert reported["failure"]["code"] == "bmc_busy"
    assert reported["bios"]["changed"] is False


def test_a_system_that_the_bmc_does_not_have_is_reported_with_those_that_it_has(factory):
    dummy, stage = factory
    reported = stage(system_id="2", **SRIOV)
    assert reported["failure"]["code"] == "system_not_found"
    assert "The BMC has these systems: System.Embedded.1" in reported["msg"]


def test_without_its_registry_nothing_is_staged_unless_the_task_says_so(factory, monkeypatch):
    running, stage = factory

    def missing(service):
        raise Problem("ResourceMissingAtURI", "registry")

    monkeypatch.setattr(twin_bios, "registry", missing)
    reported = stage(HPE, **SRIOV)
    assert reported["failure"]["code"] == "registry_missing"
    assert "BiosAttributeRegistryU46.v1_1_90" in reported["msg"]
    assert waiting(HPE, running)["staged"] == {}
    assert not stage(HPE, registry="optional", **SRIOV)["failed"]
    assert waiting(HPE, running)["staged"] == {"Sriov": "Enabled", "WorkloadProfile": "Custom"}


def test_everything_that_is_wrong_with_attributes_is_reported_at_once_and_nothing_is_staged(factory):
    running, stage = factory
    reported = stage(attributes={"SriovGlobal": "Enabled", "SysProfile": "Fast", "MmioAbove4GB": "Enabled"})
    assert reported["failure"]["code"] == "attribute_unknown"
    assert "there is no SriovGlobal (near: SriovGlobalEnable" in reported["msg"]
    assert "SysProfile accepts one of" in reported["msg"]
    assert waiting(DELL, running) == {"staged": {}, "job": False}


def test_a_make_without_a_map_is_reported_all_functions_and_how_to_name_them(twin, drive):
    running = twin(seed=lab(state="factory", bios={"vendor": "other"}), faces=("redfish",))
    reported = drive(running)("bios_settings", at="esx-01", functions=NEEDED)
    assert reported["failure"]["code"] == "function_unmapped"
    assert reported["failure"]["functions"] == sorted(NEEDED)
    assert "name the attributes with their values under `attributes`" in reported["msg"]


def test_a_setting_that_depends_on_a_profile_is_refused_with_the_profile(factory):
    dummy, stage = factory
    reported = stage(functions={"c_states": "disabled"})
    assert reported["failure"]["code"] == "attribute_locked"
    assert "SysProfile" in reported["msg"]


def test_what_the_bmc_rejects_is_reported_in_its_own_words(factory):
    running, stage = factory
    running.control.bmc_reject(host=HPE)
    reported = stage(HPE, **SRIOV)
    assert reported["failure"]["code"] == "bmc_rejects"
    assert reported["failure"]["messages"]
    assert reported["bios"]["before"]["functions"]["sriov"] == "disabled"


def others(running, at, **attributes):
    """What somebody else stages."""
    system(running, at).bios.set_attributes(attributes, apply_time=sushy.APPLY_TIME_ON_RESET if at == DELL else None)


def test_a_job_of_somebody_else_is_refused_and_kept(factory):
    running, stage = factory
    others(running, DELL, BootMode="Bios")
    reported = stage(**SRIOV)
    assert reported["failure"]["code"] == "bios_job_scheduled"
    assert waiting(DELL, running) == {"staged": {"BootMode": "Bios"}, "job": True}


def test_a_job_is_replaced_by_one_that_also_holds_what_others_wanted(factory):
    running, stage = factory
    others(running, DELL, BootMode="Bios", MmioAbove4Gb="Enabled")
    assert stage(conflicts="replace", functions={"sriov": "enabled", "above_4g": "disabled"})["changed"]
    assert waiting(DELL, running) == {"staged": {"BootMode": "Bios", "SriovGlobalEnable": "Enabled"}, "job": True}


def test_a_value_that_somebody_else_staged_is_refused_by_its_name(factory):
    running, stage = factory
    others(running, HPE, PciResourcePadding="Disabled")
    reported = stage(HPE, functions={"above_4g": "enabled"})
    assert reported["failure"]["code"] == "staged_otherwise"
    assert "PciResourcePadding is staged as Disabled, requested is High" in reported["msg"]


def test_what_was_staged_on_an_idrac_without_a_job_is_scheduled(factory):
    running, stage = factory
    system(running, DELL).bios.set_attributes({"SriovGlobalEnable": "Enabled"})
    assert waiting(DELL, running) == {"staged": {"SriovGlobalEnable": "Enabled"}, "job": False}
    predicted, made = stage(check=True, **SRIOV), stage(**SRIOV)
    assert predicted["bios"] == made["bios"]
    assert [change["path"] for change in made["bios"]["changes"]] == ["bios.job"]
    assert waiting(DELL, running) == {"staged": {"SriovGlobalEnable": "Enabled"}, "job": True}


def test_a_run_that_ended_between_taking_back_and_staging_is_finished_by_the_next(factory):
    running, stage = factory
    stage(functions={"above_4g": "enabled"})
    both = {"functions": {"above_4g": "enabled", "sriov": "enabled"}, "conflicts": "replace"}
    running.control.bmc_reject(host=DELL)
    broken = stage(**both)
    assert broken["failed"]
    assert broken["bios"]["changed"] is True
    assert waiting(DELL, running) == {"staged": {}, "job": False}
    assert not stage(**both)["failed"]
    assert waiting(DELL, running) == {
        "staged": {"MmioAbove4Gb": "Enabled", "SriovGlobalEnable": "Enabled"},
        "job": True,
    }


class Killed(BaseException):
    """What nothing in a module catches, like SIGKILL."""


BOTH = {"functions": {"above_4g": "enabled", "sriov": "enabled"}, "conflicts": "replace"}
PREPARED = {
    DELL: {"MmioAbove4Gb": "Enabled", "SriovGlobalEnable": "Enabled"},
    HPE: {"PciResourcePadding": "High", "Sriov": "Enabled", "WorkloadProfile": "Custom"},
}


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("at", [DELL, HPE])
def test_a_run_that_is_killed_around_any_change_is_finished_by_the_next(factory, monkeypatch, at, when):
    running, stage = factory
    send, host = Wire.send, server(running, at)
    for number in itertools.count(1):
        with running.world.lock:
            host.bmc.staged.clear()
            host.bmc.jobs.clear()
        stage(at, functions={"above_4g": "enabled"})
        left = itertools.count(number, -1)

        def killed(wire, method, *args, left=left, **kwargs):
            last = method != "GET" and next(left) == 1
            answer = None if last and when == "before" else send(wire, method, *args, **kwargs)
            if last:
                raise Killed
            return answer

        with monkeypatch.context() as patched:
            patched.setattr(Wire, "send", killed)
            try:
                stage(at, **BOTH)
            except Killed:
                died = True
            else:
                died = False
        if not died:
            break
        assert not stage(at, **BOTH)["failed"], number
        assert waiting(at, running) == {"staged": PREPARED[at], "job": at == DELL}, number
    # It died at the login, at each change, and at the logout.
    assert number == (5 if at == DELL else 4)
