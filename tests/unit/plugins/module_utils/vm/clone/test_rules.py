# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import rules, source, state
from pyVmomi import vim

from .requests import request

HERE = state.Machine(
    exists=True, path="/dc1/vm/train-01", host="esx-01", datastore="datastore-01", source="/dc1/vm/template"
)
ELSEWHERE = state.HostPlace(None, "host-2", "esx-02", "connected", False, "domain-c8", (), 0)
STORE = state.Store(None, "datastore-2", "datastore-02", 1, True)
TEMPLATE = state.Source(path="/dc1/vm/template", firmware="efi", tools=True)


def item(now, **options):
    found = Item("train-01", request(**options), {})
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
    """VMs and templates by name, as the inventory reports them."""

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


FOLDER = "/dc1/vm/jobs"
TARGET = state.Target(None, ELSEWHERE, STORE, None)


@pytest.mark.parametrize(
    "asked, there, parts",
    [
        (None, ("vendordata", "metadata"), ("metadata", "vendordata")),
        ({"userdata": "#cloud-config"}, (), ("metadata", "userdata")),
        ({"metadata": {"a": 1}}, ("vendordata",), ("metadata", "vendordata")),
        (None, (), ()),
    ],
)
def test_a_new_vm_is_in_its_place_with_what_the_source_brings_along(asked, there, parts):
    requested = item(state.Machine(), name="a/b", owner="lab", cloud_init=asked)
    assert rules.new(requested, TARGET, replace(TEMPLATE, cloud_init=there), FOLDER) == state.Machine(
        exists=True,
        path="/dc1/vm/jobs/a%2fb",
        host="esx-02",
        datastore="datastore-02",
        source="/dc1/vm/template",
        owner="lab",
        cloud_init=parts,
    )


def test_a_vm_that_a_killed_run_left_is_finished_where_it_is():
    left = replace(HERE, source=None, finished=False, cloud_init=("vendordata",))
    asked = item(left, owner="lab", cloud_init={"userdata": "#cloud-config"})
    parts = ("metadata", "userdata", "vendordata")
    assert rules.unfinished(asked, TEMPLATE) == replace(HERE, owner="lab", finished=True, cloud_init=parts)


@pytest.mark.parametrize(
    "now, owner",
    [
        (HERE, "lab"),
        (replace(HERE, owner="other"), "other"),
        (replace(HERE, source=None), None),
        (replace(HERE, template=True), None),
    ],
    ids=["made here before owners were written", "of somebody else", "made by others", "a template"],
)
def test_an_owner_is_written_only_where_this_module_made_the_vm(now, owner):
    assert rules.claimed(item(now, owner="lab"), now) == replace(now, owner=owner)


def test_a_template_is_not_taken_for_a_vm():
    assert code_of(rules.moved, item(replace(HERE, template=True)), None, None) == "is_template"


@pytest.mark.parametrize(
    "host, store, changes",
    [
        (ELSEWHERE, STORE, {"host": "esx-02", "datastore": "datastore-02"}),
        (ELSEWHERE, None, {"host": "esx-02"}),
        (None, STORE, {"datastore": "datastore-02"}),
        (replace(ELSEWHERE, name="esx-01"), STORE, {"datastore": "datastore-02"}),
    ],
)
def test_a_refused_move_names_where_the_vm_should_be(host, store, changes):
    with pytest.raises(OperatorError) as refused:
        rules.moved(item(HERE, move="refuse"), host, store)
    assert refused.value.failure == documented("on_another_host", subject="VM train-01", **changes)


@pytest.mark.parametrize(
    "now, owner, failure",
    [
        (replace(HERE, owner="lab"), None, {"code": "other_owner"}),
        (replace(HERE, owner="lab"), "other", {"code": "other_owner"}),
        (replace(HERE, snapshots=True), None, {"code": "has_snapshots"}),
        (replace(HERE, other_disks=("[a] b.vmdk",)), None, {"code": "other_disks", "disks": ["[a] b.vmdk"]}),
    ],
)
def test_what_a_removal_would_take_along_is_kept(now, owner, failure):
    with pytest.raises(OperatorError) as refused:
        rules.removed(item(now, state="absent", owner=owner))
    assert refused.value.failure == documented(subject="VM train-01", **failure)


@pytest.mark.parametrize("found, goes", [("52B6-01", True), ("52b6-02", False), (None, False)])
def test_only_the_instance_that_was_named_is_removed(found, goes):
    named = item(HERE, state="absent", instance_uuid="52b6-01")
    named.ids["instance_uuid"] = found
    if goes:
        assert rules.removed(named) == state.Machine()
    else:
        assert code_of(rules.removed, named) == "other_instance"


@pytest.mark.parametrize("owner", [None, "lab"])
def test_an_owner_removes_what_it_has_and_what_has_none(owner):
    assert rules.removed(item(replace(HERE, owner=owner), state="absent", owner="lab")) == state.Machine()


@pytest.mark.parametrize("planned_off, goes", [(True, True), (False, False)])
def test_a_running_vm_goes_only_in_a_plan_that_shuts_it_down(planned_off, goes):
    running = item(replace(HERE, power="on"), state="absent", planned_off=planned_off)
    if goes:
        assert rules.removed(running) == state.Machine()
    else:
        assert code_of(rules.removed, running) == "running"


def test_a_vm_that_is_being_made_says_how_long_it_was_waited_for():
    at_once, late = (rules.being_made(item(state.Machine(making=True)), waited) for waited in (0, 61))
    assert at_once.code == late.code == "being_made"
    assert ("61 seconds" in late.message, "seconds" in at_once.message) == (True, False)
