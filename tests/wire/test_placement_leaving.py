"""What VMs hold that will be removed is free in a plan."""

from __future__ import annotations

from .placement_lab import esx, lab, ready, requested


def test_what_a_vm_has_that_will_be_gone_is_planned_again(twin, drive):
    running = twin(seed=lab(esx(1), vms=[ready("old-01", "esx-01", "40c", power="on")]))
    module = drive(running)
    call = {"cluster": "gpu", "vms": [requested("new-01", "40c")]}
    assert module("vm_placement_info", **call)["failure"]["code"] == "does_not_fit"
    (old,) = [vm.moid for vm in running.world.of_kind("VirtualMachine") if vm.name == "old-01"]
    planned = module("vm_placement_info", leaving=[old], **call)
    assert not planned["failed"], planned["msg"]
