"""Everything that waits for a restart becomes one restart, and the greater one settles the smaller ones."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.host_restart import restart

from .test_host_plan import plan


def waiting(*needs, key="host"):
    """The result of a module with these pending settings."""
    return {key: {"pending": [{"what": f"thing-{number}", "needs": need} for number, need in enumerate(needs)]}}


@pytest.mark.parametrize(
    "answers, kind, reasons",
    [
        pytest.param([], "none", [], id="nothing was asked"),
        pytest.param([waiting()], "none", [], id="nothing waits"),
        pytest.param([waiting("xorg_restart")], "xorg", ["thing-0"], id="Xorg alone"),
        pytest.param(
            [waiting("xorg_restart"), waiting("reboot")], "warm", ["thing-0"], id="a restart restarts Xorg too"
        ),
        pytest.param([waiting("reboot", key="bios")], "warm", ["thing-0"], id="the BIOS"),
        pytest.param([waiting("reboot", "cold_power_cycle")], "cold", ["thing-0", "thing-1"], id="off and on"),
        pytest.param([{"gpus": [waiting("gpu_reset")["host"]]}], "warm", ["thing-0"], id="a GPU that needs a reset"),
        pytest.param([{"results": [waiting("reboot"), waiting("reboot")]}], "warm", ["thing-0"], id="a loop"),
        pytest.param([{"skipped": True, **waiting("reboot")}], "none", [], id="a task that was skipped"),
        pytest.param([waiting("power_on")], "none", [], id="what no restart of the host settles"),
    ],
)
def test_one_restart_settles_all(answers, kind, reasons):
    one = restart(answers)
    assert (one.kind, one.reasons) == (kind, reasons)
    assert one.reboot is (kind in ("warm", "cold"))


def test_gpu_is_named_by_its_address():
    gpu = {"index": 0, "pci": "0000:3b:00.0", "pending": [{"what": "mode", "needs": "reboot"}]}
    assert restart([{"gpus": [gpu]}]).reasons == ["MIG mode of the GPU 0000:3b:00.0"]


def test_reasons_for_a_cold_cycle_are_reported_apart():
    assert restart([waiting("reboot", "cold_power_cycle")]).cold_reasons == ["thing-1"]


def test_a_port_without_ats_is_the_reason_for_a_cold_cycle():
    port = {"pending": [{"what": "ATS_ENABLED", "needs": "cold_power_cycle"}]}
    assert restart([{"devices": [port]}]).cold_reasons == ["ATS_ENABLED"]


@pytest.mark.parametrize("by, restarts", [("image", True), ("baselines", False)])
@pytest.mark.parametrize("reboot", ["allow", "refuse"])
def test_a_restart_by_vcenter_for_an_image_is_planned_and_needs_permission(by, restarts, reboot):
    change = {"path": "driver", "before": "old", "after": "new", "needs": None}
    item = {"changed": True, "changes": [change], "pending": [], "after": {"managed_by": by}}
    found = plan({"driver": {"version": "580.65.05"}, "reboot": reboot}, driver={"host": item})
    assert (found["restart"]["remediated"], found["out"], found["restarts_now"]) == (restarts, restarts, False)
    assert bool(found["refusals"]) == (restarts and reboot == "refuse")
    assert any("vCenter restarts it" in line for line in found["story"]) == restarts
