# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import bios_plan, bios_state
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.bios_state import Job

from .servers import DELL_RULES, registry_of, rule, state, term

JOB = Job("/jobs/1", "JID_1", False)


def plan(now, functions=None, attributes=None, vendor="dell", conflicts="refuse", rules=()):
    """The state that is wanted, and the changes that lead to it as {path: (before, after, needs)}."""
    registry = registry_of(vendor, rules)
    requested_one = bios_plan.requests("bmc-01", now, vendor, registry, functions or {}, attributes or {})
    wanted = bios_plan.want("bmc-01", now, vendor, registry, requested_one, conflicts)
    changes = bios_plan.compare(now, wanted)
    return wanted, {change.path: (change.before, change.after, change.needs) for change in changes}


def refusal(*args, **kwargs):
    with pytest.raises(OperatorError) as reported:
        plan(*args, **kwargs)
    return reported.value


def test_only_what_differs_is_staged():
    wanted, changes = plan(state(), {"virtualization": "enabled", "sriov": "enabled"})
    assert changes == {"bios.SriovGlobalEnable": ("Disabled", "Enabled", "reboot")}
    assert wanted.staged == {"SriovGlobalEnable": "Enabled"}
    assert bios_state.pending(wanted) == [{"what": "bios.SriovGlobalEnable", "needs": "reboot"}]


def test_what_is_staged_already_is_pending_and_no_change():
    now = state(staged={"SriovGlobalEnable": "Enabled"}, scheduled=True, jobs=(JOB,))
    wanted, changes = plan(now, {"sriov": "enabled"})
    assert changes == {}
    assert wanted == now


def test_values_that_are_staged_without_a_job_are_scheduled():
    now = state(staged={"SriovGlobalEnable": "Enabled"})
    wanted, changes = plan(now, {"sriov": "enabled"})
    assert changes == {"bios.job": (None, "scheduled", None)}
    assert wanted.scheduled is True


def test_values_of_others_that_no_job_applies_are_not_scheduled():
    assert plan(state(staged={"MmioAbove4Gb": "Enabled"}), {"virtualization": "enabled"})[1] == {}


@pytest.mark.parametrize("conflicts", ["refuse", "replace"])
def test_a_job_that_is_running_stops_everything(conflicts):
    now = state(scheduled=True, jobs=(Job("/jobs/1", "JID_1", True),))
    reported = refusal(now, {"sriov": "enabled"}, conflicts=conflicts)
    assert reported.failure["code"] == "bios_job_running"
    assert "JID_1" in reported.message


def test_values_that_are_shown_as_active_while_their_job_is_open_are_still_pending():
    # https://github.com/dsx-ai-factory/libredfish/pull/25
    now = state(active={"SriovGlobalEnable": "Enabled"}, scheduled=True, jobs=(Job("/jobs/1", "JID_1", True),))
    wanted, changes = plan(now, {"sriov": "enabled"})
    assert changes == {}
    assert bios_state.pending(wanted) == [{"what": "bios.job", "needs": "reboot"}]


def test_a_value_that_somebody_staged_otherwise_is_refused_by_both_values():
    now = state("hpe", staged={"PciResourcePadding": "Medium"})
    reported = refusal(now, {"above_4g": "enabled"}, vendor="hpe")
    assert reported.failure == documented("staged_otherwise", subject="bmc-01", attributes=["PciResourcePadding"])
    assert "PciResourcePadding is staged as Medium, requested is High" in reported.message
    assert plan(now, {"above_4g": "enabled"}, vendor="hpe", conflicts="replace")[1] == {
        "bios.PciResourcePadding": ("Medium", "High", "reboot")
    }


def test_a_staged_value_that_is_taken_back_waits_for_nothing():
    now = state("hpe", staged={"Sriov": "Enabled", "PciResourcePadding": "High"})
    wanted, changes = plan(now, {"sriov": "disabled"}, vendor="hpe", conflicts="replace")
    assert changes == {"bios.Sriov": ("Enabled", "Disabled", None)}
    assert wanted.staged == {"PciResourcePadding": "High"}


def test_a_scheduled_job_is_not_touched_unless_the_task_says_so():
    now = state(staged={"MmioAbove4Gb": "Enabled"}, scheduled=True, jobs=(JOB,))
    reported = refusal(now, {"sriov": "enabled"})
    assert reported.failure["code"] == "bios_job_scheduled"
    assert reported.failure["jobs"] == ["JID_1"]
    wanted, changes = plan(now, {"sriov": "enabled"}, conflicts="replace")
    assert list(changes) == ["bios.SriovGlobalEnable"]
    assert wanted.staged == {"MmioAbove4Gb": "Enabled", "SriovGlobalEnable": "Enabled"}


@pytest.mark.parametrize("rules", [(), DELL_RULES], ids=["by-our-table", "by-the-registry"])
class TestDellProfile:
    """SysProfile decides over C-states."""

    def test_the_performance_profile_brings_them_along(self, rules):
        wanted, changes = plan(state(), {"power_profile": "performance", "c_states": "disabled"}, rules=rules)
        assert list(changes) == ["bios.SysProfile"]
        assert wanted.staged == {"SysProfile": "PerfOptimized"}

    def test_they_cannot_be_set_under_another_profile(self, rules):
        reported = refusal(state(), {"c_states": "disabled"}, rules=rules)
        assert reported.failure["code"] == "attribute_locked"
        assert reported.failure["attributes"] == ["ProcCStates", "ProcC1E"]
        assert "SysProfile" in reported.message

    def test_they_can_be_set_with_custom(self, rules):
        wanted, changes = plan(state(), {"c_states": "disabled"}, {"sysprofile": "custom"}, rules=rules)
        assert wanted.staged == {"SysProfile": "Custom", "ProcCStates": "Disabled", "ProcC1E": "Disabled"}

    def test_a_profile_that_sets_the_opposite_is_refused(self, rules):
        reported = refusal(state(), {"power_profile": "performance", "c_states": "enabled"}, rules=rules)
        assert reported.failure["code"] == "attribute_locked"
        assert "ProcCStates=Enabled (for c_states)" in reported.message

    def test_an_active_profile_that_did_not_bring_them_is_reported_and_not_believed(self, rules):
        reported = refusal(state(active={"SysProfile": "PerfOptimized"}), {"c_states": "disabled"}, rules=rules)
        assert reported.failure["code"] == "attribute_locked"


def test_hpes_workload_profile_is_set_free_beside_what_it_governs():
    wanted, dummy = plan(state("hpe"), {"c_states": "disabled"}, vendor="hpe")
    assert wanted.staged == {
        "MinProcIdlePkgState": "NoState",
        "MinProcIdlePower": "NoCStates",
        "WorkloadProfile": "Custom",
    }


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param((), id="the profile may overwrite it"),
        pytest.param([rule("Sriov", "GrayOut", True, term("WorkloadProfile", "NEQ", "Custom"))], id="it locks it"),
    ],
)
def test_hpes_workload_profile_is_set_free_beside_a_switch(rules):
    wanted, dummy = plan(state("hpe"), {"sriov": "enabled"}, vendor="hpe", rules=rules)
    assert wanted.staged == {"Sriov": "Enabled", "WorkloadProfile": "Custom"}
    named = {"WorkloadProfile": "Virtualization-MaxPerformance"}
    wanted, dummy = plan(state("hpe"), {"sriov": "enabled"}, named, vendor="hpe")
    assert wanted.staged == {"Sriov": "Enabled", **named}
    enabled = {"WorkloadProfile": "Virtualization-MaxPerformance", "Sriov": "Enabled"}
    assert plan(state("hpe", enabled), {"sriov": "enabled"}, vendor="hpe", rules=rules)[1] == {}


def test_a_named_workload_profile_stays_where_it_has_brought_what_is_wanted():
    done = {
        "WorkloadProfile": "Virtualization-MaxPerformance",
        "PowerRegulator": "StaticHighPerf",
        "EnergyPerfBias": "MaxPerf",
    }
    assert plan(state("hpe", done), {"power_profile": "performance"}, vendor="hpe")[1] == {}


def test_a_named_workload_profile_and_a_setting_that_it_decides_over_do_not_go_together():
    named = {"WorkloadProfile": "Virtualization-MaxPerformance"}
    reported = refusal(state("hpe"), {"c_states": "disabled"}, named, vendor="hpe")
    assert reported.failure["code"] == "attribute_locked"
    assert "only with WorkloadProfile=Custom, and WorkloadProfile is Virtualization-MaxPerformance" in reported.message


@pytest.mark.parametrize("name", ["SystemBiosVersion", "SetupPassword"])
def test_what_cannot_be_set_from_outside_is_refused(name):
    registry = registry_of("dell")
    entry = registry.attributes[name]
    reported = refusal(state(), attributes={name: "2.0"}) if not entry.values else None
    assert reported.failure["attributes"] == [name]
    assert "marks it as read-only" in reported.message


def test_all_wrong_attributes_are_reported_at_once_with_near_names_and_allowed_values():
    reported = refusal(state(), attributes={"SriovGlobalEnabled": "On", "SysProfile": "Fast"})
    assert reported.failure["code"] == "attribute_unknown"
    assert reported.failure["registry"] == "BiosAttributeRegistryT1.v1_0_0"
    assert "there is no SriovGlobalEnabled (near: SriovGlobalEnable" in reported.message
    assert "SysProfile accepts one of PerfPerWattOptimizedDapc, PerfOptimized, Custom, not Fast" in reported.message


def test_a_function_and_an_attribute_that_want_different_things_contradict_each_other():
    reported = refusal(state(), {"sriov": "enabled"}, {"SriovGlobalEnable": "Disabled"})
    assert reported.failure["code"] == "wishes_contradict"
    assert "sriov needs SriovGlobalEnable=Enabled, `attributes` has SriovGlobalEnable=Disabled" in reported.message


def test_a_function_and_an_attribute_that_want_the_same_are_one_request():
    changes = plan(state(), {"sriov": "enabled"}, {"SRIOVGLOBALENABLE": "enabled"})[1]
    assert list(changes) == ["bios.SriovGlobalEnable"]


def test_what_a_bmc_stages_along_with_a_profile_is_no_gap_and_what_it_lost_is_one():
    now = state("hpe", staged={"Sriov": "Enabled"})
    registry = registry_of("hpe")
    requested_one = bios_plan.requests("bmc-01", now, "hpe", registry, {"above_4g": "enabled"}, {})
    wanted = bios_plan.want("bmc-01", now, "hpe", registry, requested_one, "refuse")
    changes = bios_plan.compare(now, wanted)
    along = state("hpe", staged={**wanted.staged, "EnergyPerfBias": "MaxPerf"})
    assert bios_plan.missing(changes, along, wanted) == []
    lost = bios_plan.missing(changes, state("hpe", staged={"PciResourcePadding": "High"}), wanted)
    assert [(change.path, change.before, change.after) for change in lost] == [("bios.Sriov", "Disabled", "Enabled")]


def test_what_was_taken_and_is_not_there_is_reported_with_both_values():
    wanted, dummy = plan(state(), {"sriov": "enabled"})
    reported = bios_plan.not_staged("bmc-01", bios_plan.compare(state(), wanted))
    assert reported.failure["attributes"] == ["SriovGlobalEnable"]
    assert "SriovGlobalEnable is Disabled, requested is Enabled" in reported.message


def test_nothing_is_pending_where_nothing_is_staged_and_no_job_is_open():
    assert bios_state.pending(state()) == []


def test_a_password_that_cannot_be_set_is_refused_without_being_reported():
    error = refusal(state(), attributes={"SetupPassword": "hunter2"})
    assert "SetupPassword=... (for attributes): the BIOS marks" in error.message
    assert "hunter2" not in str(error.failure) + error.message


def test_a_name_that_fits_several_attributes_is_refused_with_all_of_them():
    several = [SimpleNamespace(name=name) for name in ("ProcCStates", "ProcC1E")]
    assert bios_plan._not_one(None, "Proc C", several) == "Proc C may be any of ProcCStates, ProcC1E"


@pytest.mark.parametrize("vendor", ["supermicro", "lenovo"])
def test_a_function_of_another_make_is_refused_with_its_name(vendor):
    with pytest.raises(OperatorError) as reported:
        bios_plan.requests("bmc-01", state(), vendor, registry_of("dell"), {"sriov": "enabled"}, {})
    assert (reported.value.code, reported.value.subject) == ("function_unmapped", "bmc-01")
    assert reported.value.data["functions"] == ["sriov"]
    assert "SriovGlobalEnable" in reported.value.data["candidates"]["sriov"]
