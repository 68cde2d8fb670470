"""MIG over the shell of an ESXi host: refusals, broken worlds, and what a restart does."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.table import GPUS
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.hosts import INVERSE
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.judge import judge
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import Entry, Made

from vsphere_twin.model import boot

from .lab import NVAIE, READY, lab
from .mig import A100, H100, host, partitions

HOST = "esx-01"
MIG = {**A100, "mig": True}
HALVES = {**A100, "mig": {"enabled": True, "instances": [[9, 0], [9, 4]]}}


@pytest.fixture
def shell(twin, drive):
    """shell(gpus, ...) starts a twin; calling the second of what it returns runs a module on its host."""

    def start(*gpus, **options):
        running = twin(seed=lab(*options.pop("vms", ()), gpus=gpus, **{"ssh": "running", **options}), faces=("ssh",))
        act = drive(running)
        return running, lambda module="mig_partition", **params: act(module, at=HOST, **params)

    return start


def only(answer):
    (gpu,) = answer["gpus"]
    return gpu


def layout(*entries, **params):
    return {"gpus": ["all"], "layout": list(entries), "vsphere": "instances", **params}


def restart(running):
    """Boot the host as a warm restart does."""
    with running.world.lock:
        boot.boot(running.world, host(running, HOST), False)


def test_the_request_of_many_guides_is_refused_with_a_lesson(shell):
    running, act = shell(MIG)
    answer = act(**layout(19, 14, 9, 5, 5, 2))
    assert answer["msg"] == (
        "GPU 0 at 0000:17:00.0 (NVIDIA A100-PCIE-40GB): the layout 19, 14, 9, 5, 5, 2 is impossible. "
        "Problems: 2 is not the id of a profile; 4g.20gb fits once, 2 requested; "
        "14 compute slices requested (4g.20gb 4 x 2, 3g.20gb 3, 2g.10gb 2, 1g.5gb 1), the GPU has 7; "
        "15 memory slots requested (4g.20gb 4 x 2, 3g.20gb 4, 2g.10gb 2, 1g.5gb 1), the GPU has 8. "
        "Choose one of the possible layouts: 4g.20gb + 2g.10gb + 1g.5gb (ids 5,14,19); "
        "3g.20gb + 2g.10gb + 1g.5gb (ids 9,14,19), with room for 1 more 1g.5gb; 4g.20gb + 3g.20gb (ids 5,9). "
        "The profiles of this GPU are 7g.40gb (id 0), 4g.20gb (id 5), 3g.20gb (id 9), 2g.10gb (id 14), "
        "1g.10gb (id 15), 1g.5gb (id 19), 1g.5gb+me (id 20). "
        "A reboot deletes GPU instances, so a reboot that the mode needs comes before their creation. "
        "On ESXi with vGPU, vSphere creates them itself when a VM starts."
    )
    assert partitions(running, HOST)[0]["instances"] == {}


def test_on_a_host_with_vgpu_no_instances_are_made_unless_in_words(shell):
    running, act = shell(MIG)
    answer = act(gpus=["all"], layout=["3g"])
    assert answer["failure"]["code"] == "vsphere_makes_instances"
    assert partitions(running, HOST)[0]["instances"] == {}


@pytest.mark.parametrize(
    "params, said",
    [
        ({"gpus": []}, "gpus is empty: name the GPUs, or all."),
        ({"gpus": ["0"], "mode": "disabled", "layout": ["3g"]}, "layout needs mode enabled: "),
        ({"gpus": ["0"], "mode": "on"}, "value of mode must be one of: enabled, disabled, got: on."),
        ({"gpus": ["0"], "partitions": 7}, "There is no parameter partitions. Supported parameters include: gpus, "),
        ({}, "missing required arguments: gpus."),
        (
            {"gpus": ["0"], "layout": [{"start": 4}, {"profile": "3g", "size": 4}, [9]]},
            "layout: entry 1 needs a profile by id, name or number of slices. layout: entry 2 has size, "
            "but it takes profile, start and compute. layout: entry 3 is [9], but it has to be a profile or a dict",
        ),
    ],
)
def test_wrong_parameters_are_reported_all_at_once_before_the_host_is_asked(shell, params, said):
    running, act = shell(MIG)
    answer = act(**params)
    assert answer["failed"]
    assert said in answer["msg"]
    assert answer["failure"]["code"] == "invalid_parameters"


def test_a_gpu_that_does_not_exist_is_reported_with_those_that_do(shell):
    _running, act = shell(MIG)
    answer = act(gpus=["0000:99:00.0"])
    assert "cannot find the GPUs 0000:99:00.0. Its GPUs are: 0 NVIDIA A100-PCIE-40GB at 0000:17:00.0." in answer["msg"]


def test_a_gpu_that_cannot_do_mig_is_left_out_of_all_and_an_error_by_name(shell):
    _running, act = shell(MIG, {"board": "t4", "graphics_type": "sharedDirect"})
    assert [gpu["index"] for gpu in act(gpus=["all"])["gpus"]] == [0]
    assert act(gpus=["1"])["failure"]["code"] == "not_mig_capable"


def test_a_host_without_a_gpu_for_mig_is_no_success_unless_mig_is_to_be_off(shell):
    _running, act = shell({"board": "t4", "graphics_type": "sharedDirect"})
    assert act(gpus=["all"])["failure"]["code"] == "not_mig_capable"
    answer = act(gpus=["all"], mode="disabled")
    assert (answer["failed"], answer["changed"], answer["gpus"]) == (False, False, [])


def test_a_gpu_that_was_not_named_keeps_its_instances(shell):
    running, act = shell(HALVES, HALVES)
    assert act(**layout("7g", gpus=["1"]))["changed"]
    assert set(partitions(running, HOST)[0]["instances"]) == {0, 4}
    assert set(partitions(running, HOST)[1]["instances"]) == {0}


def test_every_gpu_of_the_table_can_be_partitioned(shell):
    known = [key for key, gpu in GPUS.items() if gpu.profiles]
    gpus = [{"board": key, "graphics_type": "sharedDirect", "mig": True} for key in known]
    running, act = shell(*gpus, driver={**NVAIE, "version": "580.95.02"})
    answer = act(**layout("1g"))
    assert not answer["failed"], answer["msg"]
    assert len(answer["gpus"]) == len(known)
    assert [len(gpu["instances"]) for gpu in partitions(running, HOST)] == [1] * len(known)


def entry_of(answer, request):
    """The entry in the journal for the one GPU of an answer."""
    gpu = only(answer)
    made = tuple(Made(one["path"], one["before"], one["after"], one["needs"]) for one in gpu["changes"])
    ids = {"pci": gpu["pci"], "uuid": gpu["uuid"]}
    return Entry("1", "r1", "2026-01-01", "hosts", "mig_partition", HOST, gpu["pci"], ids, request, made)


@pytest.mark.parametrize("board", [A100, H100], ids=["A100", "H100"])
@pytest.mark.parametrize("removed", [{"mode": "disabled"}, {"layout": ["2g"]}], ids=["mode", "layout"])
def test_restore_creates_the_instances_before_the_run_after_each_restart(shell, board, removed):
    running, act = shell({**board, "mig": {"enabled": True, "instances": [[14, 4], [9, 0]]}})
    before = partitions(running, HOST)
    request = {"gpus": ["all"], "vsphere": "instances", **removed}
    (step,) = INVERSE["mig_partition"]([entry_of(act(**request), request)])
    # Each restart removes instances, and the mode of an H100. An A100 needs one for its mode.
    restart(running)
    for _round in range(2):
        states = [row.state for row in judge(asdict(step), only(act(**step.args, check=True))["changes"])]
        assert "changed since by another" not in states
        act(**step.args)
        if partitions(running, HOST)[0]["mode"]:
            break
        restart(running)
    act(**step.args)
    assert partitions(running, HOST) == before
    assert act(**step.args)["changed"] is False


def test_a_step_that_fails_puts_the_earlier_layout_back(shell):
    running, act = shell(HALVES)
    before = partitions(running, HOST)
    text = "Unable to create a GPU instance on GPU  0 using profile 5: Insufficient Resources"
    running.control.fail_command(prefix="nvidia-smi mig -cgi 5", rc=23, text=text)
    answer = act(**layout("4g", "2g", "1g"))
    assert (answer["failure"]["code"], answer["failure"]["restored"]) == ("insufficient_resources", True)
    assert "The earlier layout is restored." in answer["msg"]
    assert [gpu["mode"] for gpu in partitions(running, HOST)] == [gpu["mode"] for gpu in before]
    assert set(partitions(running, HOST)[0]["instances"]) == set(before[0]["instances"])


@pytest.mark.parametrize("command", ["-dci", "-dgi", "-cgi", "-cci"])
def test_a_run_that_loses_its_connection_is_finished_by_the_next(shell, command):
    running, act = shell(HALVES)
    running.control.drop_command(prefix=f"nvidia-smi mig {command}")
    requested = layout({"profile": "4g", "compute": ["2c", "2c"]}, {"profile": "2g", "compute": ["2c"]})
    assert act(**requested)["unreachable"]
    answer = act(**requested)
    assert not answer["failed"], answer["msg"]
    assert partitions(running, HOST)[0]["instances"] == {0: ("4g.20gb", (2, 2)), 4: ("2g.10gb", (2,))}
    assert not act(**requested)["changed"]


def test_a_vm_that_runs_on_an_instance_is_named_and_keeps_it(shell):
    vm = {**READY, "vgpus": ["grid_a100-3-20c"], "power": "on"}
    running, act = shell(MIG, vms=[vm])
    answer = act(gpus=["all"], mode="disabled")
    assert answer["failure"]["code"] == "instances_in_the_way"
    answer = act(gpus=["all"], mode="disabled", vsphere="instances")
    assert answer["failure"]["code"] == "in_use"
    assert "train-01" in answer["msg"]
    assert partitions(running, HOST)[0] == {"mode": True, "pending": True, "instances": {}}


def test_the_instances_that_vsphere_made_for_vms_are_shown_and_left_alone(shell):
    vm = {**READY, "vgpus": ["grid_a100-3-20c"], "power": "on"}
    _running, act = shell(MIG, vms=[vm])
    seen = only(act("mig_info"))
    assert [entry["profile"] for entry in seen["layout"]] == ["3g.20gb"]
    assert [process["name"] for process in seen["processes"]] == ["train-01"]
    assert only(act(gpus=["all"]))["changed"] is False
    assert only(act("mig_info")) == seen


def test_the_plan_of_a_host_in_service_is_reported_in_check_mode(shell):
    vm = {**READY, "vgpus": ["grid_a100-40c"], "power": "on"}
    _running, act = shell(A100, vms=[vm])
    planned = only(act(gpus=["all"], check=True))
    assert planned["changes"] == [{"path": "mode", "before": "disabled", "after": "enabled", "needs": "reboot"}]
    assert act(gpus=["all"])["failure"]["users"][0].startswith("train-01 ")


def test_a_switch_that_xorg_holds_is_predicted_to_wait_and_does(shell):
    running, act = shell({**H100, "graphics_type": "shared"})
    predicted = act(gpus=["all"], check=True)
    made = act(gpus=["all"])
    assert only(made)["pending"] == [{"what": "mode", "needs": "reboot"}]
    assert predicted["gpus"] == made["gpus"]
    assert partitions(running, HOST)[0]["pending"] is True
    assert only(act(gpus=["all"]))["changed"] is False


def test_after_the_reboot_nothing_waits_and_nothing_is_changed(shell):
    running, act = shell(A100)
    assert only(act(gpus=["all"]))["pending"] == [{"what": "mode", "needs": "reboot"}]
    assert only(act(gpus=["all"]))["changed"] is False
    assert only(act("mig_info"))["pending"] == [{"what": "mode", "needs": "reboot"}]
    restart(running)
    gpu = only(act(gpus=["all"]))
    assert (gpu["changed"], gpu["pending"], gpu["after"]["mode"]) == (False, [], "enabled")


def test_a_layout_waits_for_the_reboot_and_is_made_by_the_next_run(shell):
    running, act = shell(A100)
    first = only(act(**layout("3g", "4g")))
    assert first["pending"] == [{"what": "layout", "needs": "reboot"}, {"what": "mode", "needs": "reboot"}]
    assert only(act(**layout("3g", "4g")))["changed"] is False
    restart(running)
    assert only(act(**layout("3g", "4g")))["pending"] == []
    assert set(partitions(running, HOST)[0]["instances"]) == {0, 4}


def test_what_a_reboot_takes_away_is_made_again(shell):
    running, act = shell(H100)
    requested = layout("3g", "4g")
    assert only(act(**requested))["pending"] == []
    restart(running)
    # A Hopper GPU forgets its mode, and every GPU its instances.
    assert partitions(running, HOST)[0] == {"mode": False, "pending": False, "instances": {}}
    again = only(act(**requested))
    assert [change["path"] for change in again["changes"]] == ["mode", "layout"]
    assert set(partitions(running, HOST)[0]["instances"]) == {0, 4}


def test_a_host_without_driver_can_be_planned_but_not_changed(shell):
    _running, act = shell(A100, driver={"family": "none"})
    answer = act(gpus=["all"])
    assert answer["failure"]["code"] == "nvidia_smi_missing"
    assert answer["msg"].endswith("reboot; on ESXi the module nvaie_vib installs it.")
    assert act(gpus=["all"], check=True)["failed"]
    planned = only(act(gpus=["all"], check=True, model="a100_pcie_40gb"))
    assert planned["pending"] == [{"what": "mode", "needs": "reboot"}]


def test_a_host_whose_shell_is_off_is_unreachable_and_not_failed_in_another_way(shell):
    _running, act = shell(A100, ssh="stopped")
    assert act(gpus=["all"])["unreachable"]


def test_the_info_reports_what_is_in_the_way_of_a_larger_instance(shell):
    _running, act = shell({**A100, "mig": {"enabled": True, "instances": [[19, 0], [19, 1], [19, 5]]}})
    gpu = only(act("mig_info"))
    assert gpu["free"] == {
        "7g.40gb": 0, "4g.20gb": 0, "3g.20gb": 0, "2g.10gb": 1, "1g.10gb": 2, "1g.5gb": 4, "1g.5gb+me": 1,
    }  # fmt: skip
    assert gpu["blocked"] == [
        {"profile": "4g.20gb", "start": 0, "blocked_by": ["1g.5gb at 0", "1g.5gb at 1"]},
        {"profile": "3g.20gb", "start": 4, "blocked_by": ["1g.5gb at 5"]},
    ]
    assert (gpu["largest_free_region"], gpu["free_regions"]) == (3, [{"start": 2, "size": 3}, {"start": 6, "size": 2}])


def lose(running, index):
    with running.world.lock:
        gpu = host(running, HOST).gpus[index]
        gpu.lost = True
    return gpu.pci_id


def test_a_lost_gpu_is_named_and_hides_no_other(shell):
    running, act = shell(MIG, MIG)
    lost = lose(running, 1)
    answer = act("mig_info")
    assert ([gpu["index"] for gpu in answer["gpus"]], answer["missing"]) == ([0], [lost])
    refused = act(**layout("3g"))
    assert (refused["failure"]["code"], refused["failure"]["missing"]) == ("gpu_lost", [lost])
    assert partitions(running, HOST)[0]["instances"] == {}
    made = act(**layout("3g", lost_gpus="ignore"))
    assert (made["changed"], len(partitions(running, HOST)[0]["instances"])) == (True, 1)
    restart(running)
    assert len(act("mig_info")["gpus"]) == 2
