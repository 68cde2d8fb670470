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
