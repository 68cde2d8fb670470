# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import rules, source, state
from pyVmomi import vim

HERE = state.Machine(
    exists=True, path="/dc1/vm/train-01", host="esx-01", datastore="datastore-01", source="/dc1/vm/template"
)
ELSEWHERE = state.HostPlace(None, "host-2", "esx-02", "connected", False, "domain-c8", (), 0)
STORE = state.Store(None, "datastore-2", "datastore-02", 1, True)
TEMPLATE = state.Source(path="/dc1/vm/template", firmware="efi", tools=True)


def item(now, **wish):
    asked = {
        "name": "train-01",
        "move": "keep",
        "state": "present",
        "cloud_init": None,
        "owner": None,
        "planned_off": False,
        **wish,
    }
    found = Item("train-01", asked, {})
    found.now = now
    return found


def code_of(call, *arguments):
    with pytest.raises(OperatorError) as refused:
        call(*arguments)
    return refused.value.code


def test_a_vm_elsewhere_stays_unless_a_move_was_asked_for():
    assert rules.moved(item(HERE), ELSEWHERE, STORE) == HERE
    assert rules.moved(item(HERE, move="refuse"), None, None) == HERE
    assert code_of(rules.moved, item(HERE, move="refuse"), ELSEWHERE, None) == "on_another_host"
    there = rules.moved(item(HERE, move="cold"), ELSEWHERE, STORE)
    assert (there.host, there.datastore) == ("esx-02", "datastore-02")


@pytest.mark.parametrize("power", ["on", "suspended"])
def test_a_vm_moves_only_while_it_is_off(power):
    running = replace(HERE, power=power)
    assert code_of(rules.moved, item(running, move="cold"), ELSEWHERE, None) == "running"
    assert rules.moved(item(running, move="cold"), None, None) == running


@pytest.mark.parametrize(
    "now, code",
    [
        (replace(HERE, source=None), "not_ours"),
        (replace(HERE, template=True), "is_template"),
        (replace(HERE, power="on"), "running"),
        (replace(HERE, power="suspended"), "running"),
        (state.Machine(making=True), "being_made"),
    ],
    ids=["made by others", "a template", "running", "suspended", "on its way"],
)
def test_what_may_be_missed_is_not_removed(now, code):
    assert code_of(rules.removed, item(now, state="absent")) == code


@pytest.mark.parametrize(
    "now",
    [HERE, replace(HERE, source=None, finished=False), state.Machine()],
    ids=["made here", "left by a killed run", "not there"],
)
def test_what_this_module_has_made_is_removed(now):
    assert not rules.removed(item(now, state="absent")).exists


@pytest.mark.parametrize(
    "changes, customized, firmware, code",
    [
        ({"connection": "inaccessible"}, False, "efi", "template_not_connected"),
        ({"template": False, "power": "on"}, False, "efi", "source_not_off"),
        ({"firmware": "bios"}, False, "efi", "template_firmware"),
        ({"tools": False}, True, "efi", "template_without_tools"),
    ],
)
def test_a_source_that_cannot_serve_is_refused(changes, customized, firmware, code):
    assert code_of(source.refuse_unfit, replace(TEMPLATE, **changes), firmware, customized) == code


@pytest.mark.parametrize(
    "changes, customized, firmware",
    [
        ({}, True, "efi"),
        ({"template": False, "power": "off"}, False, "efi"),
        ({"firmware": "bios"}, False, "ignore"),
        ({"tools": False}, False, "efi"),
        ({"tools": None, "firmware": None}, True, "efi"),
    ],
    ids=[
        "a template",
        "a VM that is off",
        "BIOS, ignored",
        "no tools, no customization",
        "an OVF, of which less is known",
    ],
)
def test_a_source_that_can_serve_is_taken(changes, customized, firmware):
    source.refuse_unfit(replace(TEMPLATE, **changes), firmware, customized)


class Inventory:
    """VMs and templates by name, as the inventory tells them."""

    name = "dc1"

    def __init__(self, *rows):
        self._rows = rows

    def vm_by_moid(self, wanted):
        return next((row for row in self._rows if row.moid == wanted), None)

    def vms_named(self, name):
        return [row for row in self._rows if row.get("name") == name]

    def names_of_vms(self, templates_only):
        return [row.get("name") for row in self._rows if row.get("config.template") or not templates_only]

    def path(self, row):
        return f"/dc1/vm/{row.moid}"


def row(moid, template, name="ubuntu"):
    return Row(vim.VirtualMachine(moid), {"name": name, "config.template": template}, {})


def test_a_template_goes_before_a_vm_of_its_name_and_two_are_ambiguous():
    vm, template, other = row("vm-1", False), row("vm-2", True), row("vm-3", True)
    assert source.find(Inventory(vm, template), "ubuntu") is template
    assert source.find(Inventory(vm), "ubuntu") is vm
    assert source.find(Inventory(vm, template), "vm-1") is vm
    assert code_of(source.find, Inventory(vm, template, other), "ubuntu") == "template_ambiguous"


@pytest.mark.parametrize(
    "asked, offered",
    [
        pytest.param("Ubuntu-tmplate", ["ubuntu-template"], id="misspelt"),
        pytest.param("zzz", ["alma", "debian", "fedora", "rocky", "suse"], id="like none"),
    ],
)
def test_a_template_that_is_not_there_is_refused_with_those_that_may_be_meant(asked, offered):
    templates = ("suse", "ubuntu-template", "rocky", "fedora", "debian", "alma")
    rows = [row(f"vm-{number}", True, name) for number, name in enumerate(templates)]
    with pytest.raises(OperatorError) as refused:
        source.find(Inventory(row("vm-9", False, "ubuntu-tmplate-01"), *rows), asked)
    assert (refused.value.code, refused.value.data["near"]) == ("template_not_found", offered)
    assert f"there are: {', '.join(offered)}." in refused.value.message
