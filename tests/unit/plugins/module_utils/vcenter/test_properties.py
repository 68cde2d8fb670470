# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import retrieve
from pyVmomi import vim, vmodl

from unit.plugins.module_utils.vcenter.fakes import FakeInventory, opened


@pytest.fixture
def reach():
    vcenter, wire = opened()
    inventory = FakeInventory(wire)
    host = inventory.add(vim.HostSystem, "host-1", name="esx1")
    for number in range(10):
        inventory.add(
            vim.VirtualMachine, f"vm-{number}", **{"name": f"node-{number}", "runtime.host": host, "config": None}
        )
    return vcenter, wire, inventory


def vms(vcenter, count=10):
    return [vcenter.managed("VirtualMachine", f"vm-{number}") for number in range(count)]


def names(rows):
    return [row.get("name") for row in rows]


def test_any_number_of_objects_is_one_request(reach):
    vcenter, wire, dummy = reach
    assert names(retrieve(vcenter, {"VirtualMachine": ["name"]}, vms(vcenter))) == [f"node-{n}" for n in range(10)]
    assert wire.requests == {"RetrievePropertiesEx": 1}


def test_objects_reached_by_a_walk_come_in_the_same_request_and_once(reach):
    vcenter, wire, dummy = reach
    rows = retrieve(
        vcenter,
        {"VirtualMachine": ["runtime.host"], "HostSystem": ["name"]},
        vms(vcenter),
        [("VirtualMachine", "runtime.host")],
    )
    assert [row.kind for row in rows].count("HostSystem") == 1
    assert names(row for row in rows if row.kind == "HostSystem") == ["esx1"]
    assert wire.requests == {"RetrievePropertiesEx": 1}


def test_an_unset_property_is_the_default_and_not_missing(reach):
    vcenter = reach[0]
    (row,) = retrieve(vcenter, {"VirtualMachine": ["name", "config"]}, vms(vcenter, 1))
    assert row.get("config") is None
    assert row.get("config", "x") == "x"
    assert row.missing == {}


def test_a_property_that_must_not_be_read_is_named_with_its_fault(reach):
    vcenter, dummy, inventory = reach
    inventory.hidden["vm-0", "name"] = vim.fault.NoPermission(privilegeId="System.Read")
    (row,) = retrieve(vcenter, {"VirtualMachine": ["name"]}, vms(vcenter, 1))
    assert row.get("name") is None
    assert row.missing["name"].privilegeId == "System.Read"


def test_all_pages_are_read(reach):
    vcenter, wire, inventory = reach
    inventory.page_size = 4
    assert len(retrieve(vcenter, {"VirtualMachine": ["name"]}, vms(vcenter))) == 10
    assert wire.requests == {"RetrievePropertiesEx": 1, "ContinueRetrievePropertiesEx": 2}


def test_a_session_lost_between_two_pages_starts_the_read_again(reach):
    vcenter, wire, inventory = reach
    inventory.page_size = 4
    wire.trouble["ContinueRetrievePropertiesEx"] = []
    first = wire.handlers["ContinueRetrievePropertiesEx"]

    def lose(mo, token):
        wire.handlers["ContinueRetrievePropertiesEx"] = first
        inventory.forget_pages()
        wire.end_session()
        raise vim.fault.NotAuthenticated()

    wire.handlers["ContinueRetrievePropertiesEx"] = lose
    assert names(retrieve(vcenter, {"VirtualMachine": ["name"]}, vms(vcenter))) == [f"node-{n}" for n in range(10)]
    assert wire.requests["Login"] == 1


def test_a_connection_lost_between_two_pages_starts_the_read_again(reach):
    vcenter, wire, inventory = reach
    inventory.page_size = 4
    wire.trouble["ContinueRetrievePropertiesEx"] = [(ConnectionResetError(104, "reset"), True)]
    assert len(retrieve(vcenter, {"VirtualMachine": ["name"]}, vms(vcenter))) == 10
    assert wire.requests["RetrievePropertiesEx"] == 2


def test_an_answer_that_hides_everything_for_want_of_a_session_is_no_answer(reach):
    vcenter, wire, inventory = reach
    inventory.hidden["vm-0", "name"] = vim.fault.NotAuthenticated()
    real = wire.handlers["RetrievePropertiesEx"]

    def heal(mo, specSet, options):
        answer = real(mo, specSet, options)
        inventory.hidden.clear()
        return answer

    wire.handlers["RetrievePropertiesEx"] = heal
    assert names(retrieve(vcenter, {"VirtualMachine": ["name"]}, vms(vcenter, 1))) == ["node-0"]
    assert wire.requests["Login"] == 1


def test_objects_that_are_gone_can_be_left_out(reach):
    vcenter, dummy, inventory = reach
    del inventory.objects["vm-3"], inventory.objects["vm-5"]
    rows = retrieve(vcenter, {"VirtualMachine": ["name"]}, vms(vcenter), skip_gone=True)
    assert len(rows) == 8


def test_an_object_that_is_gone_is_an_error_otherwise(reach):
    vcenter, dummy, inventory = reach
    del inventory.objects["vm-3"]
    with pytest.raises(OperatorError, match="ManagedObjectNotFound.*vm-3") as caught:
        retrieve(vcenter, {"VirtualMachine": ["name"]}, vms(vcenter))
    assert caught.value.code == "object_gone"


def test_a_vendor_fault_becomes_a_readable_error(reach):
    vcenter, wire, dummy = reach

    def refuse(mo, specSet, options):
        raise vmodl.query.InvalidProperty(name="nonsense")

    wire.handlers["RetrievePropertiesEx"] = refuse
    with pytest.raises(OperatorError, match="InvalidProperty.*nonsense"):
        retrieve(vcenter, {"VirtualMachine": ["nonsense"]}, vms(vcenter))


def test_nothing_to_start_from_costs_no_request(reach):
    vcenter, wire, dummy = reach
    assert retrieve(vcenter, {"VirtualMachine": ["name"]}, []) == []
    assert not wire.requests
