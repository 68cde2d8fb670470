# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What a reading makes of the VMs of a task, those that are there and, in check mode, those that are only planned."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.fleet import Fleet
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.place import places_of
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import VmRequest
from pyVmomi import vim

from .machines import Clock


class Noun:
    """A noun that takes over what it is given."""

    def state_of(self, row, vm, place):
        return vm, place


class VCenter:
    clock = Clock()


class Reported(Fleet):
    """A fleet that gets rows instead of reading them."""

    def __init__(self, rows, others=(), planning=False):
        super().__init__(VCenter(), Noun(), 8, 60, planning)
        self._rows = rows
        self._others = others
        self.looked_at_all_hosts = False

    def ref(self, item):
        return vim.VirtualMachine(item.requested.identity["name"])

    def _read_with_hosts(self, items):
        return self._rows

    def _all_hosts(self):
        self.looked_at_all_hosts = True
        return places_of(self._others)


def host(moid, name):
    return Row(vim.HostSystem(moid), {"name": name, "runtime.connectionState": "connected"}, {})


def machine(moid, **values):
    common = {
        "name": f"as-{moid}",
        "config.version": "vmx-19",
        "config.instanceUuid": f"uuid-{moid}",
        "config.changeVersion": "v1",
        "runtime.connectionState": "connected",
        "runtime.host": vim.HostSystem("host-1"),
        "runtime.powerState": "poweredOn",
    }
    return Row(vim.VirtualMachine(moid), {**common, **values}, {})


def item(read_as, moid="same", planned=None):
    moid = read_as if moid == "same" else moid
    return Item(
        read_as,
        VmRequest({"name": read_as}, None, 300, planned=planned or {}),
        {"name": f"request-{read_as}", "moid": moid},
    )


def read(rows, *items, **options):
    fleet = Reported([host("host-1", "esx-01"), *rows], **options)
    fleet.read(list(items))
    return fleet


def test_a_vm_is_reported_with_its_host_and_what_identifies_it():
    one = item("vm-1")
    read([machine("vm-1")], one)
    vm, place = one.now
    assert (vm.power, vm.hardware_version, place.name) == ("on", 19, "esx-01")
    assert {key: one.ids[key] for key in ("name", "instance_uuid", "host")} == {
        "name": "as-vm-1",
        "instance_uuid": "uuid-vm-1",
        "host": "esx-01",
    }


@pytest.mark.parametrize(
    "rows, planned, code",
    [
        pytest.param([], None, "vm_gone", id="gone since it was found"),
        pytest.param([machine("vm-1", **{"config.version": None})], None, "vm_unfinished", id="just being made"),
        pytest.param([machine("vm-1")], {"host": "esx-99"}, "host_not_found", id="planned for no host"),
    ],
)
def test_a_vm_that_cannot_be_read_does_not_keep_the_next_from_it(rows, planned, code):
    first, second = item("vm-1", planned=planned), item("vm-2")
    read([*rows, machine("vm-2")], first, second, planning=True)
    assert (first.error.code, first.now) == (code, None)
    assert (second.error, second.now[0].power) == (None, "on")


def test_a_vm_that_is_inaccessible_is_read_though_it_reports_no_configuration():
    lost = item("vm-1")
    read([machine("vm-1", **{"config.version": None, "runtime.connectionState": "inaccessible"})], lost)
    assert (lost.error, lost.now[0].connection) == (None, "inaccessible")


TEMPLATE = {"config.template": True, "runtime.powerState": "poweredOff"}


def test_a_vm_to_come_is_its_template_as_a_vm_that_is_off_on_its_own_host():
    new = item("golden", moid=None, planned={"template": "golden", "host": "esx-02", "hardware_version": 21})
    fleet = read([machine("golden", **TEMPLATE)], new, planning=True, others=[host("host-2", "esx-02")])
    vm, place = new.now
    assert (vm.template, vm.power, vm.power_on_again, vm.change_version) == (False, "off", False, "")
    assert (vm.hardware_version, place.name, fleet.looked_at_all_hosts) == (21, "esx-02", True)
    assert (new.ids["name"], new.ids["instance_uuid"], new.ids["host"]) == ("request-golden", None, "esx-02")


@pytest.mark.parametrize(
    "planned, hardware, locked",
    [
        ({"hardware_version": 21, "memory_reservation": "all"}, 21, True),
        ({"hardware_version": 17}, 19, False),
        ({}, 19, False),
    ],
)
def test_a_vm_that_is_there_is_taken_to_have_what_earlier_tasks_give_it(planned, hardware, locked):
    one = item("vm-1", planned=planned)
    fleet = read([machine("vm-1")], one, planning=True)
    vm, place = one.now
    assert (vm.hardware_version, vm.memory_locked, vm.power, place.name) == (hardware, locked, "on", "esx-01")
    assert not fleet.looked_at_all_hosts


def test_outside_check_mode_nothing_is_taken_to_be_there_that_is_not():
    one = item("vm-1", planned={"host": "esx-99", "hardware_version": 21, "memory_reservation": "all"})
    read([machine("vm-1")], one)
    vm, place = one.now
    assert (vm.hardware_version, vm.memory_locked, place.name) == (19, False, "esx-01")
