from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import info

from .asking import ask
from .device import Device


def test_a_program_whose_instance_is_not_reported_may_be_on_any():
    device = Device(processes=[("train", 7, None)])
    device.put(9, 4, 3)
    result, _warnings = ask(device, layout=[])
    assert (result["failure"]["code"], device.commands) == ("in_use", [])


def test_on_esxi_a_vm_on_an_instance_that_stays_is_not_in_the_way():
    device = Device(system="VMkernel")
    used = device.put(9, 4, 3)
    device.processes = [("vmx", 7, used)]
    result, _warnings = ask(device, layout=["3g", "2g"], vsphere="instances")
    assert not result["failed"], result["msg"]
    assert device.instances[used] == [9, 4, [3]]


@pytest.mark.parametrize(
    "device, requested, waits",
    [
        ({"mode": False}, {}, False),
        ({"mode": False, "model": "h100_80gb_sxm", "switches_at_once": False, "xorg": True}, {}, True),
        ({"switches_at_once": False, "system": "VMkernel"}, {"mode": "disabled"}, True),
        ({}, {"mode": "disabled"}, False),
    ],
    ids=["Ampere on", "Hopper on, held by Xorg", "Ampere off on ESXi", "Ampere off"],
)
def test_whether_a_switch_waits_is_predicted(device, requested, waits):
    device = dict(device)
    processes = [("/usr/bin/Xorg", 9, None)] if device.pop("xorg", False) else []
    device = Device(processes=processes, **device)
    predicted, _warnings = ask(device, check=True, **requested)
    made, _warnings = ask(device, **requested)
    assert predicted == made
    assert bool(made["pending"]) is waits


def test_a_mode_that_cannot_be_left_leaves_the_instances():
    device = Device()
    device.put(9, 4, 3)
    device.refusals = [("-mig", "Unable to disable MIG Mode: In use by another client\n", 19, 0, 1)]
    result, _warnings = ask(device, mode="disabled")
    assert (result["failure"]["code"], result["failure"]["restored"]) == ("in_use", True)
    assert device.layout == {4: (9, (3,))}


def test_a_refusal_names_the_busy_instances_alone():
    device = Device()
    used = device.put(9, 4, 3)
    device.put(19, 0, 1)
    device.processes = [("train", 7, used)]
    result, _warnings = ask(device, layout=[])
    assert result["failure"]["code"] == "in_use"
    assert "In use by: train (process 7) on 4-7 3g.20gb [3c], to be removed." in result["msg"]
    assert "1g.5gb" not in result["msg"]


def test_an_idle_instance_is_in_the_way_rather_than_a_busy_one():
    # Each half of the GPU has one small instance. A program runs in the lower one.
    device = Device()
    busy, _idle = device.put(19, 0, 1), device.put(19, 4, 1)
    device.processes = [("train", 7, busy)]
    (gpu,), _missing, _sentence = info.look(device, ["all"])
    assert {"profile": "3g.20gb", "start": 4, "blocked_by": ["1g.5gb at 4"]} in gpu["blocked"]
    # The largest has one start alone, so both are named.
    assert gpu["blocked"][0] == {"profile": "4g.20gb", "start": 0, "blocked_by": ["1g.5gb at 0"]}


def test_two_idle_instances_are_in_the_way_rather_than_one_busy():
    device = Device()
    device.processes = [("train", 7, device.put(19, 0, 1))]
    device.put(19, 4, 1)
    device.put(19, 5, 1)
    (gpu,), _missing, _sentence = info.look(device, ["all"])
    assert {"profile": "3g.20gb", "start": 4, "blocked_by": ["1g.5gb at 4", "1g.5gb at 5"]} in gpu["blocked"]
