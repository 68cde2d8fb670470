# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.config import pieces

DEVICE = vim.vm.device


def change(operation, key, node=None, kind=DEVICE.VirtualPCIPassthrough):
    return DEVICE.VirtualDeviceSpec(operation=operation, device=kind(key=key, numaNode=node))


def spec(*changes, **more):
    return vim.vm.ConfigSpec(deviceChange=list(changes), **more)


def extra(**settings):
    return [vim.option.OptionValue(key=key, value=value) for key, value in settings.items()]


def keys(changes):
    return [(one.operation, one.device.key) for one in changes]


def test_what_goes_comes_first_and_new_devices_of_different_parts_have_different_keys():
    vgpu = spec(change("add", -1), change("remove", 13000))
    adapter = spec(change("remove", 4000), change("edit", 4001), change("add", -1))
    assert keys(pieces.device_changes([vgpu, adapter])) == [
        ("remove", 13000),
        ("remove", 4000),
        ("edit", 4001),
        ("add", -1),
        ("add", -2),
    ]


def test_the_devices_after_a_change_are_those_that_stay_and_those_that_come():
    there = [DEVICE.VirtualPCIPassthrough(key=13000), DEVICE.VirtualPCIPassthrough(key=13001, numaNode=1)]
    changes = pieces.device_changes([spec(change("remove", 13000), change("edit", 13001), change("add", -1))])
    after = pieces.devices_after(there, changes)
    # What an edit leaves out stays.
    assert [(one.key, one.numaNode) for one in after] == [(13001, 1), (-1, None)]
    moved = pieces.devices_after(there, [change("edit", 13001, 0)])
    assert [(one.key, one.numaNode) for one in moved] == [(13000, None), (13001, 0)]


def test_a_device_that_comes_gets_its_node_with_the_same_change_and_one_that_stays_by_an_edit():
    changes = pieces.device_changes([spec(change("remove", 13002), change("add", -1))])
    merged = pieces.merged([], changes, [change("edit", -1, 1), change("edit", 13000, 0)])
    assert [(one.operation, one.device.key, one.device.numaNode) for one in merged.deviceChange] == [
        ("remove", 13002, None),
        ("edit", 13000, 0),
        ("add", -1, 1),
    ]


def test_settings_of_all_pieces_are_in_one_specification():
    vgpu = spec(extraConfig=extra(uvm="1"))
    shape = spec(extraConfig=extra(affinity="0"), numCPUs=16, memoryReservationLockedToMax=False)
    merged = pieces.merged([vgpu, shape], [], [])
    assert {one.key: one.value for one in merged.extraConfig} == {"uvm": "1", "affinity": "0"}
    assert (merged.numCPUs, merged.memoryReservationLockedToMax, merged.memoryMB) == (16, False, None)


def test_a_later_piece_wins_where_two_set_the_same_key():
    merged = pieces.merged([spec(extraConfig=extra(a="1")), spec(extraConfig=extra(a="2"))], [], [])
    assert [(one.key, one.value) for one in merged.extraConfig] == [("a", "2")]
