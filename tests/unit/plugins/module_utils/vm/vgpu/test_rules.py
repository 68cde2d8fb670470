# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu import plan, rules

from unit.plugins.module_utils.gpu.worlds import A40, A100, A100_MIG, gpu, host, planned, ready, requested, vm

BASIC, SHARED, DIRECT = gpu("basic", "shared"), gpu("shared", "shared"), gpu("direct", "shared")


def refusal(now, *profiles, **options):
    """(codes, message) of the refusal, or None."""
    requested_one = requested(*profiles, **options)
    devices = plan.wanted_devices(now, requested_one.settings)
    added = plan.added_profiles(now, devices)
    try:
        rules.refuse_impossible("train-01", now, devices, added, requested_one.settings.max_per_vm)
    except OperatorError as error:
        return [problem["code"] for problem in error.data["problems"]], error.message
    return None


@pytest.mark.parametrize(
    "now, profiles",
    [
        (vm(host=host()), ["grid_a100-40c"]),
        (vm(host=host()), ["grid_a100-20c", "grid_a100-10c"]),
        (vm(host=host(offered=A100_MIG)), ["grid_a100-4-20c", "grid_a100-2-10c"]),
        (vm(host=host(version="7.0.3")), ["grid_a100-40c"] * 4),
        (vm(host=host(version="7.0.3")), ["grid_a100-20c"]),
        (vm(host=host()), ["grid_a100-5c"] * 8),
        (vm(host=host(gpus=[gpu()])), ["grid_a100-20c"] * 2),
        (vm(host=host(offered=["grid_t4-16c"]), firmware="bios"), ["grid_t4-16c"]),
        (vm(host=host(offered=["nvidia_z9-64c"])), ["nvidia_z9-64c"]),
        (vm("grid_a100-40c", host=host(offered=())), ["grid_a100-40c"]),
        (vm(host=host(gpus=())), ["grid_a100-40c"]),
        (vm(host=host(version="")), ["grid_a100-5c"] * 8),
    ],
    ids=[
        "whole GPU",
        "two sizes of one board on 8.0",
        "two MIG-backed ones on 8.0",
        "whole GPUs on 7.0",
        "one fractional on 7.0",
        "eight on 8.0",
        "two halves of one GPU",
        "T4 with BIOS firmware",
        "a board that the table lacks",
        "what is there already",
        "a host that reports nothing of its devices",
        "a host that does not report its version",
    ],
)
def test_what_works_is_not_refused(now, profiles):
    assert refusal(now, *profiles) is None


@pytest.mark.parametrize(
    "now, profiles, code, words",
    [
        (vm(host=host(), template=True), ["grid_a100-40c"], "template", "Clone a VM from it"),
        (vm(host=host(), connection="inaccessible"), ["grid_a100-40c"], "vm_inaccessible", "reports the VM as"),
        (vm(host=host(), power="suspended"), ["grid_a100-40c"], "suspended", "Resume it"),
        (vm(), ["grid_a100-40c"], "no_host", "does not report the host"),
        (vm(host=host(connected=False)), ["grid_a100-40c"], "host_not_connected", "esx-01 is not connected"),
        (vm(host=host()), ["A100"], "unknown_profile", "A100 is not a vGPU profile"),
        (vm(host=host()), ["GRID_A100-40C"], "unknown_profile", "grid_a100-40c"),
        (vm(host=host()), ["grid_a100-41c"], "profile_not_offered", "grid_a100-40c"),
        (vm(host=host()), ["nvidia_z9-64c"], "unknown_profile", "grid_a100-40c"),
        (vm(host=host()), ["nvidia_a40-48c"], "profile_not_offered", "no host of the cluster has such a board"),
        (
            vm(host=host(), others=[host("esx-02", offered=A40), host("esx-03")]),
            ["nvidia_a40-48c"],
            "profile_on_other_host",
            "in the same cluster esx-02 does. Move the VM",
        ),
        (
            vm(host=host(offered=()), others=[host(f"esx-{number}") for number in range(10, 19)]),
            ["grid_a100-40c"],
            "profile_on_other_host",
            "esx-10, esx-11, esx-12, esx-13 and 5 more do",
        ),
        (vm(host=host(offered=A100)), ["grid_a100-3-20c"], "profile_not_offered", "not in MIG mode"),
        (vm(host=host(offered=A100_MIG)), ["grid_a100-40c"], "profile_not_offered", "so they are in MIG mode"),
        (
            vm(host=host(offered=["nvidia_a40-48q"])),
            ["nvidia_a40-48c"],
            "profile_not_offered",
            "in place of the graphics driver",
        ),
        (
            vm(host=host(version="8.0.2", offered=A100_MIG)),
            ["grid_a100-1-10c"],
            "profile_not_offered",
            "needs ESXi 8.0.3 or newer, and the host has 8.0.2",
        ),
        (
            vm(host=host(version="", offered=A100_MIG)),
            ["grid_a100-1-10c"],
            "profile_not_offered",
            "; other profiles of this board are offered",
        ),
        (vm(host=host(offered=(), gpus=())), ["grid_a100-40c"], "host_offers_nothing", "no NVIDIA graphics device"),
        (vm(host=host(offered=(), gpus=[BASIC])), ["grid_a100-40c"], "host_offers_nothing", "no NVIDIA driver"),
        (vm(host=host(offered=(), gpus=[DIRECT])), ["grid_a100-40c"], "host_offers_nothing", "passthrough"),
        (vm(host=host(offered=(), gpus=[SHARED])), ["grid_a100-40c"], "host_offers_nothing", "not Shared Direct."),
        (
            vm(host=host(offered=(), gpus=[gpu("shared", "sharedDirect")])),
            ["grid_a100-40c"],
            "host_offers_nothing",
            "pending a restart. Restart Xorg",
        ),
        (vm(host=host(offered=())), ["grid_a100-40c"], "host_offers_nothing", "NVIDIA AI Enterprise, not graphics"),
        (
            vm(host=host(offered=(), gpus=[gpu(mode="multiInstanceGpu")])),
            ["grid_a100-40c"],
            "host_offers_nothing",
            "it is in MIG mode",
        ),
        (
            vm(host=host(offered=A100 + A40)),
            ["grid_a100-40c", "nvidia_a40-48c"],
            "mixed_boards",
            "grid_a100 and nvidia_a40",
        ),
        (vm(host=host(offered=A40)), ["nvidia_a40-48c", "nvidia_a40-48q"], "mixed_series", "C and Q"),
        (
            vm(host=host(version="7.0.3")),
            ["grid_a100-20c", "grid_a100-40c"],
            "several_fractional",
            "grid_a100-20c does not",
        ),
        (vm(host=host(version="7.0.3")), ["grid_a100-40c"] * 5, "too_many", "4 vGPUs at most on vSphere 7.0.3"),
        (vm(host=host()), ["grid_a100-4c"] * 9, "too_many", "8 vGPUs at most on vSphere 8.0.3; 9 were requested"),
        (vm(host=host(gpus=[gpu()])), ["grid_a100-40c"] * 2, "too_few_gpus", "at least 2 GPUs of one host"),
        (vm(host=host(gpus=[gpu()] * 2)), ["grid_a100-20c"] * 5, "too_few_gpus", "host esx-01 has 2"),
        (vm(host=host(gpus=[gpu()], offered=A100_MIG)), ["grid_a100-3-20c"] * 3, "too_few_gpus", "at least 2 GPUs"),
        (vm(host=host(), firmware="bios"), ["grid_a100-40c"], "firmware_bios", "cannot be changed"),
        (vm(host=host(offered=["nvidia_a16-16c"]), firmware="bios"), ["nvidia_a16-16c"], "firmware_bios", "BIOS"),
        (vm("grid_a100-40c", host=host(offered=A40)), ["grid_a100-40c", "nvidia_a40-48c"], "mixed_boards", "one board"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else None,
)
def test_what_cannot_work_is_refused_with_the_reason(now, profiles, code, words):
    codes, message = refusal(now, *profiles)
    assert codes == [code]
    assert message.startswith("VM train-01: ")
    assert words in message


def test_all_reasons_against_a_request_come_at_once():
    now = vm(host=host(version="7.0.3", offered=A100), firmware="bios")
    codes, message = refusal(now, "grid_a100-20c", "nvidia_a40-48c", "nvidia_a40-48q")
    assert codes == [
        "profile_not_offered",
        "profile_not_offered",
        "mixed_boards",
        "mixed_series",
        "several_fractional",
        "firmware_bios",
    ]


def test_a_host_that_offers_nothing_is_explained_once_for_all_profiles():
    codes, message = refusal(vm(host=host(offered=())), "grid_a100-40c", "grid_a100-20c")
    assert codes == ["host_offers_nothing"]


@pytest.mark.parametrize("limit, refused", [(8, False), (4, True)])
def test_the_number_per_vm_can_be_set(limit, refused):
    found = refusal(vm(host=host(version="7.0.3")), *["grid_a100-40c"] * 5, max_per_vm=limit)
    assert (found is not None) is refused


def test_a_running_vm_is_refused_with_the_changes_that_were_due():
    with pytest.raises(OperatorError, match=r"profiles: none -> grid_a100-40c; .*power=cycle") as refused:
        planned(vm(power="on", host=host()), requested("grid_a100-40c"))
    assert refused.value.code == "vm_running"


def test_a_running_vm_that_needs_no_change_is_not_refused_for_its_power():
    assert planned(ready("grid_a100-40c", power="on", host=host()), requested("grid_a100-40c"))[1] == []
