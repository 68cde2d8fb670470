from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

from .asking import ask
from .device import UUID, Device


def test_an_empty_gpu_gets_its_layout_and_keeps_it():
    device = Device()
    result, _warnings = ask(device, layout=["3g", "2g", "1g", "1g"])
    assert (result["changed"], result["failed"]) == (True, False)
    assert device.layout == {0: (14, (2,)), 2: (19, (1,)), 3: (19, (1,)), 4: (9, (3,))}
    commands = len(device.commands)
    again, _warnings = ask(device, layout=["1g", "3g", "1g", "2g"])
    assert (again["changed"], len(device.commands)) == (False, commands)


def test_check_mode_asks_for_nothing_and_predicts_the_layout():
    device = Device()
    predicted, _warnings = ask(device, check=True, layout=["3g", "1g"])
    assert device.commands == []
    made, _warnings = ask(device, layout=["3g", "1g"])
    assert predicted == made


def test_every_command_names_its_gpu_and_every_removal_its_instance():
    device = Device()
    device.put(9, 0, 3)
    ask(device, layout=["7g"])
    ask(device, mode="disabled")
    assert {argv[argv.index("-i") + 1] for argv in device.commands} == {UUID}
    of_instances = [argv for argv in device.commands if {"-dgi", "-dci", "-cci"} & set(argv)]
    assert of_instances != []
    assert [argv for argv in of_instances if "-gi" not in argv] == []


def test_what_fits_stays_untouched():
    device = Device()
    kept = device.put(9, 4, 3)
    device.put(19, 0, 1)
    ask(device, layout=["3g", "4g"])
    assert device.instances[kept] == [9, 4, [3]]
    assert set(device.layout) == {0, 4}


def test_compute_instances_are_made_as_wanted_and_changed_in_place():
    device = Device()
    number = device.put(9, 4, 3)
    result, _warnings = ask(device, layout=[{"profile": "3g", "compute": ["1c", "2c"]}])
    assert result["changed"]
    assert device.instances[number] == [9, 4, [2, 1]]
    result, _warnings = ask(device, layout=[{"profile": "3g", "compute": ["2c", "1c"]}])
    assert not result["changed"]
    result, _warnings = ask(device, layout=[{"profile": "3g", "compute": []}])
    assert device.instances[number] == [9, 4, []]


def test_success_that_did_nothing_is_no_success():
    device = Device()
    device.refusals = [("-mig", "Enabled MIG Mode for GPU 00000000:0F:00.0\nAll done.\n", 0, 0, 1)]
    device.mode = False
    result, _warnings = ask(device)
    assert result["failure"]["code"] == "not_proved"


@pytest.mark.parametrize("system, needs", [("Linux", "gpu_reset"), ("VMkernel", "reboot")])
def test_a_switch_that_waits_is_pending_and_the_next_run_changes_nothing(system, needs):
    device = Device(mode=False, switches_at_once=False, system=system)
    requested = {"layout": ["3g"], "vsphere": "instances"}
    result, _warnings = ask(device, **requested)
    assert result["changed"]
    assert result["pending"] == [{"what": "layout", "needs": needs}, {"what": "mode", "needs": needs}]
    again, _warnings = ask(device, **requested)
    assert (again["changed"], again["pending"]) == (False, result["pending"])
    device.mode, device.pending = True, None
    after, _warnings = ask(device, **requested)
    assert (after["changed"], after["pending"]) == (True, [])
    assert set(device.layout) == {4}


def test_in_a_vm_a_gpu_that_needs_a_reset_waits_for_a_reboot():
    device = Device(mode=False, switches_at_once=False, virtualization="Pass-Through")
    assert ask(device)[0]["pending"] == [{"what": "mode", "needs": "reboot"}]
    newer = Device(model="h100_80gb_sxm", mode=False, switches_at_once=False, virtualization="Pass-Through")
    assert ask(newer)[0]["pending"] == [{"what": "mode", "needs": "gpu_reset"}]


def test_on_esxi_an_ampere_gpu_is_known_to_wait_for_the_reboot():
    device = Device(mode=False, switches_at_once=False, system="VMkernel")
    predicted, _warnings = ask(device, check=True)
    assert predicted["pending"] == [{"what": "mode", "needs": "reboot"}]
    made, _warnings = ask(device)
    assert made == predicted


def test_on_esxi_a_hopper_gpu_switches_at_once():
    device = Device(model="h100_80gb_sxm", mode=False, system="VMkernel")
    predicted, _warnings = ask(device, check=True)
    made, _warnings = ask(device)
    assert made == predicted
    assert (made["after"]["mode"], made["pending"]) == ("enabled", [])


def test_on_esxi_a_layout_is_refused_unless_it_is_asked_for_in_words():
    device = Device(system="VMkernel")
    result, _warnings = ask(device, layout=["3g"])
    assert result["failure"]["code"] == "vsphere_makes_instances"
    assert device.commands == []
    result, _warnings = ask(device, layout=["3g"], vsphere="instances")
    assert result["changed"]


def test_on_esxi_compute_instances_are_left_to_the_guests():
    device = Device(system="VMkernel")
    ask(device, layout=["3g"], vsphere="instances")
    assert device.layout == {4: (9, ())}
    device.instances[1][2] = [3]
    result, _warnings = ask(device, layout=["3g"], vsphere="instances")
    assert not result["changed"]


def test_on_esxi_instances_of_vms_keep_the_mode_from_being_switched_off():
    device = Device(system="VMkernel")
    device.put(9, 4, 3)
    result, _warnings = ask(device, mode="disabled")
    assert result["failure"]["code"] == "instances_in_the_way"
    assert device.commands == []


def test_what_runs_on_an_instance_that_has_to_go_is_named_and_nothing_is_touched():
    device = Device()
    number = device.put(9, 0, 3)
    device.put(9, 4, 3)
    device.processes = [("/usr/bin/python3", 10385, number)]
    # Only one of both has to go, and that is the one that is free.
    result, _warnings = ask(device, layout=["3g"])
    assert set(device.layout) == {0}
    result, _warnings = ask(device, layout=["7g"])
    assert result["failure"]["code"] == "in_use"
    assert "/usr/bin/python3 (process 10385)" in result["msg"]
    assert set(device.layout) == {0}


def test_a_plan_is_made_while_somebody_still_uses_the_gpu():
    device = Device(mode=False, system="VMkernel", switches_at_once=False)
    device.processes = [("train-01", 2103065, None)]
    predicted, _warnings = ask(device, check=True)
    assert (predicted["changed"], predicted["failed"]) == (True, False)
    result, _warnings = ask(device)
    assert result["failure"]["users"] == ["train-01 (process 2103065)"]
    result, _warnings = ask(device, in_use="try")
    assert result["pending"] == [{"what": "mode", "needs": "reboot"}]


def test_xorg_on_an_esxi_host_is_no_reason_to_refuse():
    device = Device(mode=False, system="VMkernel", switches_at_once=False)
    device.processes = [("Xorg", 2099000, None)]
    result, _warnings = ask(device)
    assert not result["failed"]


def test_disabling_removes_the_instances_first():
    device = Device()
    device.put(9, 4, 3)
    result, _warnings = ask(device, mode="disabled")
    assert (device.mode, device.layout) == (False, {})
    assert [change["path"] for change in result["changes"]] == ["mode", "layout"]


class Stranger(Device):
    """A GPU of which nothing is known beside what it says itself."""

    def run(self, argv):
        done = super().run(argv)
        return replace(done, stdout=done.stdout.replace("20B010DE", "2FFF10DE").replace("A100-SXM4-40GB", "X900"))


def test_the_mode_of_an_unknown_gpu_is_switched_and_its_layout_made_from_its_own_tables():
    device = Stranger(mode=False, lists_placements_when_off=False)
    result, _warnings = ask(device, layout=["3g"])
    assert result["failure"]["code"] == "no_profiles"
    assert device.commands == []
    result, _warnings = ask(device)
    assert (result["changed"], device.mode) == (True, True)
    result, _warnings = ask(device, layout=["3g", "1g.10gb", "1g"])
    assert not result["failed"], result["msg"]
    assert sorted(profile_id for profile_id, _compute in device.layout.values()) == [9, 15, 19]


def test_the_gpu_of_a_vm_with_a_vgpu_is_left_to_its_host():
    device = Device(virtualization="VGPU")
    result, _warnings = ask(device, layout=["3g"])
    assert result["failure"]["code"] == "vgpu_guest"
    assert device.commands == []


def test_a_layout_that_cannot_be_is_refused_before_anything_is_touched():
    device = Device(mode=False)
    result, _warnings = ask(device, layout=[19, 14, 9, 5, 5, 2])
    assert result["failure"]["code"] == "illegal_layout"
    assert device.commands == []


def missing(_argv):
    return type(Device().run(["uname"]))(("nvidia-smi",), 127, "", "sh: nvidia-smi: not found")


class Bare:
    """A host without a driver."""

    def run(self, argv):
        return missing(argv) if argv[0] == "nvidia-smi" else Device(system="VMkernel").run(argv)


def test_a_host_without_driver_is_planned_from_the_table_in_check_mode():
    result, _warnings = ask(Bare(), check=True, model="NVIDIA A100-PCIE-40GB")
    assert (result["name"], result["uuid"], result["changed"]) == ("a100_40gb", None, True)
    assert result["pending"] == [{"what": "mode", "needs": "reboot"}]


@pytest.mark.parametrize(
    "check, model, code",
    [(True, None, "nvidia_smi_missing"), (False, "a100_40gb", "nvidia_smi_missing"), (True, "a40", "unknown_model")],
)
def test_a_host_without_driver_is_an_error_else(check, model, code):
    with pytest.raises(OperatorError) as refused:
        ask(Bare(), check=check, model=model)
    assert refused.value.code == code


@pytest.mark.parametrize("name", ["0", UUID, "0000:0F:00.0", "a100_40gb", "A100-SXM4-40GB", "all"])
def test_a_gpu_is_found_by_every_name_that_it_has(name):
    result, _warnings = ask(Device(), gpus=[name, "0"])
    assert result["pci"] == "0000:0f:00.0"


def test_a_gpu_that_is_not_there_is_an_error_with_those_that_are():
    with pytest.raises(OperatorError, match=r"cannot find the GPUs 7, a30\. Its GPUs are: 0 NVIDIA A100"):
        ask(Device(), gpus=["7", "0", "a30"])


def test_a_gpu_that_no_longer_reports_its_mode_is_an_error_and_not_left_out_of_all():
    device = Device()
    device.mode_word = "GPU is lost"
    result, _warnings = ask(device)
    assert result["failure"]["code"] == "mode_unknown"
    assert "nvidia-smi reports: GPU is lost" in result["msg"]
    assert device.commands == []


def test_where_a_gpu_is_lost_an_index_is_refused_and_an_address_is_not():
    device = Device(attached=2)
    with pytest.raises(OperatorError, match="1 of 2 GPUs answer"):
        ask(device, gpus=["0"])
    result, _warnings = ask(device, gpus=["0000:0f:00.0"], layout=["3g"])
    assert result["changed"]
    assert len(device.layout) == 1


def test_an_output_that_cannot_be_read_stops_before_anything_is_touched():
    device = Device()
    device.put(9, 4, 3)
    device.refusals = [("-lgi", "|   0  MIG 3g.20gb  9\n", 0, 0, 99)]
    result, _warnings = ask(device, layout=[])
    assert result["failure"]["code"] == "unreadable_output"
    assert device.commands == []
