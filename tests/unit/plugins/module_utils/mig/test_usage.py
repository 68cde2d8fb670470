from __future__ import annotations

import pytest

from .asking import ask
from .device import Device


def test_a_program_whose_instance_is_not_told_may_be_on_any():
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
    "device, wish, waits",
    [
        ({"mode": False}, {}, False),
        ({"mode": False, "model": "h100_80gb_sxm", "switches_at_once": False, "xorg": True}, {}, True),
        ({"switches_at_once": False, "system": "VMkernel"}, {"mode": "disabled"}, True),
        ({}, {"mode": "disabled"}, False),
    ],
    ids=["Ampere on", "Hopper on, held by Xorg", "Ampere off on ESXi", "Ampere off"],
)
def test_whether_a_switch_waits_is_predicted(device, wish, waits):
    device = dict(device)
    processes = [("/usr/bin/Xorg", 9, None)] if device.pop("xorg", False) else []
    device = Device(processes=processes, **device)
    predicted, _warnings = ask(device, check=True, **wish)
    made, _warnings = ask(device, **wish)
    assert predicted == made
    assert bool(made["pending"]) is waits


def test_a_mode_that_cannot_be_left_leaves_the_instances():
    device = Device()
    device.put(9, 4, 3)
    device.refusals = [("-mig", "Unable to disable MIG Mode: In use by another client\n", 19, 0, 1)]
    result, _warnings = ask(device, mode="disabled")
    assert (result["failure"]["code"], result["failure"]["restored"]) == ("in_use", True)
    assert device.layout == {4: (9, (3,))}
