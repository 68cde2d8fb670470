# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What is read of a datacenter and of the VMs in it."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import machines, world
from pyVmomi import vim

from unit.plugins.module_utils.vcenter.fakes import FakeInventory, opened

from .requests import request


class Lab:
    """A vCenter with these datacenters, and VMs with these properties in the first."""

    def __init__(self, datacenters, **vms):
        self.vcenter, wire = opened()
        inventory = FakeInventory(wire)
        made = []
        root = inventory.add(vim.Folder, "group-d1", name="Datacenters", childEntity=made)
        for number, name in enumerate(datacenters):
            there = []
            home = inventory.add(vim.Folder, f"group-v{number}", name="vm", childEntity=there)
            moid = f"datacenter-{number}"
            made.append(inventory.add(vim.Datacenter, moid, name=name, parent=root, vmFolder=home))
            inventory.objects[f"group-v{number}"][1]["parent"] = made[-1]
            if not number:
                there += [
                    inventory.add(vim.VirtualMachine, f"vm-{name}", name=name, parent=home, **properties)
                    for name, properties in vms.items()
                ]

    def machines(self, *names, **options):
        """{name of a VM that is there: Machine}, and {name: code} of those with trouble."""
        items = [Item(name, request(name, **options), {}) for name in names]
        found = machines.read(self.vcenter, world.read(self.vcenter, None), items)
        shown = {items[index].label: machine for index, (_row, machine) in found.items()}
        return shown, {item.label: item.error for item in items if item.error}


@pytest.mark.parametrize(
    "datacenters, candidates", [([], []), (["rome", "paris"], ["/paris", "/rome"])], ids=["none", "two"]
)
def test_without_a_name_there_has_to_be_one_datacenter(datacenters, candidates):
    with pytest.raises(OperatorError) as refused:
        world.read(Lab(datacenters).vcenter, None)
    assert refused.value.failure == documented("datacenter_needed", subject="datacenter", candidates=candidates)
    assert str(len(candidates)) in refused.value.message


def test_the_only_datacenter_needs_no_name():
    assert world.read(Lab(["paris"]).vcenter, None).name == "paris"


@pytest.mark.parametrize(
    "state, lost",
    [("connected", False), ("disconnected", False), ("inaccessible", True), ("invalid", True), ("orphaned", True)],
)
def test_a_vm_that_vcenter_lost_is_an_error_and_its_neighbour_is_read(state, lost):
    path = {"config.files.vmPathName": "[datastore-01] job/job.vmx"}
    lab = Lab(["paris"], first={**path, "runtime.connectionState": state}, second=path)
    shown, errors = lab.machines("first", "second", "third")
    assert (sorted(shown), shown["second"].datastore) == (["second"] if lost else ["first", "second"], "datastore-01")
    found = [(name, one.code, "/paris/vm/first" in one.message, state in one.message) for name, one in errors.items()]
    assert found == [("first", "vm_not_connected", True, True)] * lost


def test_a_vm_that_vcenter_still_copies_is_being_made():
    shown, _errors = Lab(["paris"], first={}).machines("first")
    assert (shown["first"].making, shown["first"].exists) == (True, machines.Machine(making=True).exists)


def test_a_vm_whose_name_has_other_letters_keeps_its_name():
    lab = Lab(["paris"], Train={"config.files.vmPathName": "[datastore-01] t/t.vmx"})
    shown, errors = lab.machines("train")
    assert (shown, errors["train"].code) == ({}, "name_taken")
    assert "/paris/vm/Train" in errors["train"].message
