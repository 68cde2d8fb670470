# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Which VM each entry of a fleet stands for, also where the play has yet to make it."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.vm import lookup
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import VmRequest

from unit.plugins.module_utils.vcenter.fakes import opened
from unit.plugins.module_utils.vcenter.test_find import Site


@pytest.fixture
def vcenter():
    made, wire = opened()
    Site(wire)
    return made


def item(label="train-01", template=None, **identity):
    planned = {"template": template, "cpus": None}
    return Item(label, VmRequest(identity or {"name": label}, None, 300, planned=planned), {})


def looked_up(vcenter, *items, planning=False):
    """The MoID of what is to be read for each item, None for those with an error."""
    refs = lookup.look_up(vcenter, list(items), None, planning)
    return [refs[id(one)]._GetMoId() if id(one) in refs else None for one in items]


def failures(*items):
    return [one.error.code if one.error is not None else None for one in items]


def test_vms_that_are_there_are_read_themselves(vcenter):
    first, second = item("node-02", template="only-rome"), item("second", moid="vm-7")
    assert looked_up(vcenter, first, second, planning=True) == ["vm-2", "vm-7"]
    assert failures(first, second) == [None, None]
    assert first.ids == {"name": "node-02", "moid": "vm-2", "path": "/paris/vm/team%2fa/node-02"}


def test_a_planned_vm_is_read_from_its_template(vcenter):
    by_name, by_path = item(template="only-rome"), item("train-02", template="/paris/vm/node-01")
    assert looked_up(vcenter, by_name, by_path, planning=True) == ["vm-7", "vm-1"]
    assert failures(by_name, by_path) == [None, None]
    assert by_path.ids == {"name": "train-02", "moid": None, "path": None}
    placed = item("/paris/vm/new", template="only-rome", path="/paris/vm/new")
    assert looked_up(vcenter, placed, planning=True) == ["vm-7"]
    assert placed.ids["name"] == "/paris/vm/new"


def test_outside_of_planning_a_vm_has_to_be_there(vcenter):
    planned = item(template="only-rome")
    assert looked_up(vcenter, planned) == [None]
    assert failures(planned) == ["vm_not_found"]


def test_a_template_that_is_not_there_is_the_error(vcenter):
    lost, other = item(template="nowhere"), item("nobody")
    assert looked_up(vcenter, lost, other, planning=True) == [None, None]
    assert (lost.error.subject, other.error.subject) == ("VM nowhere", "VM nobody")


def test_a_name_of_two_vms_is_an_error_though_there_is_a_template(vcenter):
    twin = item("node-01", template="only-rome")
    assert looked_up(vcenter, twin, planning=True) == [None]
    assert failures(twin) != ["vm_not_found"]


def test_two_entries_for_one_vm_are_both_an_error(vcenter):
    first, second, third = item("node-02"), item("again", moid="vm-2"), item("only-rome")
    looked_up(vcenter, first, second, third)
    assert failures(first, second, third) == ["duplicate_vm", "duplicate_vm", None]
    assert "The entries node-02, again are the same VM, /paris/vm/team%2fa/node-02." in first.error.message


def test_two_planned_vms_may_come_from_one_template(vcenter):
    first, second = item(template="only-rome"), item("train-02", template="only-rome")
    assert looked_up(vcenter, first, second, planning=True) == ["vm-7", "vm-7"]
    assert failures(first, second) == [None, None]


def test_templates_are_found_for_those_entries_that_have_one(vcenter):
    known, lost, without = item(template="only-rome"), item("b", template="nowhere"), item("node-02")
    refs = lookup.templates_of(vcenter, [without, known, lost], None)
    assert {key: ref._GetMoId() for key, ref in refs.items()} == {id(known): "vm-7"}
    assert (known.ids, lost.ids, without.ids) == ({"moid": None, "path": None}, {}, {})
    assert lookup.templates_of(None, [without], None) == {}
