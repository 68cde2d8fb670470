"""What restore does with a host, from the results of its steps in check mode."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.host_restore import plan

STEP = {"object": "esx-01", "module": "esxi_kernel_settings"}
SAME = {"item": STEP, "rows": [], "restored": {"changed": False}}
# failed_when keeps the task from failing, and Ansible then reports failed: false.
FAILED = {"item": STEP, "failed": False, "msg": "ESXi host esx-01: it does not answer."}


@pytest.mark.parametrize(
    "results, refused",
    [
        ([SAME, {"skipped": True}], []),
        ([SAME, FAILED], ["Cannot compare esxi_kernel_settings of esx-01. ESXi host esx-01: it does not answer."]),
    ],
    ids=["all compared", "one not compared"],
)
def test_a_step_that_cannot_be_compared_ends_the_run(results, refused):
    assert plan({"steps": {"results": results}}, {"name": "esx-01"})["refusals"] == refused


@pytest.mark.parametrize(
    "module, code, waits",
    [
        ("host_graphics", "graphics_impossible", True),
        ("mig_partition", "driver_not_loaded", True),
        ("mig_partition", "driver_mismatch", True),
        # The driver runs, or it is not known whether it does.
        ("mig_partition", "in_use", False),
        ("mig_partition", "no_permission", False),
        ("mig_partition", None, False),
        ("host_graphics", "no_permission", False),
        ("bios_settings", "no_gpu", False),
    ],
)
@pytest.mark.parametrize("is_due", [True, False])
def test_a_setting_of_a_gpu_waits_for_the_driver_that_restore_installs(module, code, waits, is_due):
    driver = {"item": {"object": "esx-01", "module": "nvaie_vib"}, "restored": {"changed": is_due}, "rows": []}
    # Without a code, SSH did not answer.
    failed = {**FAILED, "item": {"object": "esx-01", "module": module}, **({"failure": {"code": code}} if code else {})}
    found = plan({"steps": {"results": [driver, failed]}}, {"name": "esx-01"})
    later = waits and is_due
    assert (found["later"], bool(found["refusals"])) == ([failed["item"]] if later else [], not later)


IMAGE = {"driver": "nvaie 570", "image.NVD-AIE-800": "570"}


@pytest.mark.parametrize(
    "back, changed, restarts",
    [(IMAGE, "driver", True), (IMAGE, "image.NVD-AIE-800", False), ({"driver": "nvaie 570"}, "driver", False)],
    ids=["image", "image alone", "esxcli"],
)
@pytest.mark.parametrize("reboot", ["allow", "refuse"])
def test_a_restart_by_vcenter_needs_the_same_permission_as_any_other(back, changed, restarts, reboot):
    step = {"object": "esx-01", "module": "nvaie_vib", "back": back}
    change = {"path": changed, "before": "new", "after": "old", "needs": None}
    one = {"item": step, "restored": {"changed": True, "changes": [change], "pending": []}, "rows": []}
    found = plan({"steps": {"results": [one]}}, {"name": "esx-01", "reboot": reboot})
    why = "the driver in the image of the cluster" if restarts else ""
    assert (found["restart"]["why"], found["restarts_now"], found["out"]) == (why, False, True)
    refused = [f"esx-01 needs a restart, because of {why}, and that is not allowed. Nothing was changed. "]
    assert [text.partition("Set ")[0] for text in found["refusals"]] == (
        refused if restarts and reboot == "refuse" else []
    )


MIG = {"object": "GPU 0", "module": "mig_partition", "args": {"mode": "enabled"}, "back": {}}
RESTARTS = [{"what": "kernel.ats", "needs": "reboot"}]


def compared(step, *rows, pending=()):
    restored = {"changed": True, "changes": [], "pending": list(pending)}
    return {"item": step, "restored": restored, "rows": [{"object": step["object"], **row} for row in rows]}


@pytest.mark.parametrize(
    "mode, state, pending, repeats",
    [
        ("enabled", "due", RESTARTS, True),
        ("enabled", "already as before", RESTARTS, True),
        ("enabled", "due", [], False),
        ("enabled", "changed since by another", RESTARTS, False),
        ("disabled", "due", RESTARTS, False),
    ],
)
def test_gpu_instances_are_created_after_the_restart_that_removes_them(mode, state, pending, repeats):
    step = {**MIG, "args": {"mode": mode}}
    one = compared(step, {"setting": "layout", "state": state}, pending=pending)
    found = plan({"steps": {"results": [one]}}, {"name": "esx-01", "reboot": "allow"})
    assert found["again"] == ([step] if repeats else [])


def test_a_step_has_the_rows_of_its_last_run():
    def settings(*states):
        names = ("mode", "layout", "other")
        return [{"setting": name, "state": state} for name, state in zip(names, states, strict=True)]

    first = compared(MIG, *settings("restored", "already as before", "restored"))
    again = compared(MIG, *settings("already as before", "restored", "restored"))
    found = plan({"steps": {"results": [first]}, "again": {"results": [again]}}, {"name": "esx-01"})
    assert sorted((row["setting"], row["state"]) for row in found["rows"]) == [
        ("layout", "restored"),
        ("mode", "restored"),
        ("other", "restored"),
    ]


def test_a_setting_that_no_step_restores_is_named_before_the_first_change():
    row = {"stage": "hosts", "setting": "graphics.0.device_mode", "state": "cannot", "why": "It has no driver."}
    found = plan({"steps": {"results": [compared({**MIG, "object": "esx-01"}, row)]}}, {"name": "esx-01"})
    assert found["lost"] == ["cannot: esx-01 (hosts), graphics.0.device_mode. It has no driver."]
