# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import dataclasses

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import plan
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.state import (
    Asked,
    assigned_to,
    on_system,
    plain_address,
)

from .worlds import (
    A100,
    CX6,
    FIT,
    GPU,
    HERE,
    PCI,
    PORT,
    PORT_2,
    bridge,
    device,
    dvx,
    dynamic,
    dynamic_device,
    enhanced,
    given,
    group,
    groups,
    host,
    member,
    requested,
    state,
    static,
    static_device,
    vgpu,
)


def names(now):
    return [str(one) for one in now.devices]


def keys(now):
    return [[device.key for device in one.devices] for one in now.devices]


@pytest.mark.parametrize(
    "text, address",
    [
        ("0000:3b:00.0", "0000:3b:00.0"),
        ("0000:3B:00.1", "0000:3b:00.1"),
        ("00000:059:00.0", "0000:3b:00.0"),
        ("00001:175:31.7", "0001:af:1f.7"),
    ],
)
def test_addresses_are_read_in_each_form_that_configurations_have(text, address):
    assert plain_address(text) == address


def test_a_reading_has_static_dynamic_and_enhanced_devices_and_leaves_vgpus_to_others():
    now = state(
        static_device(13000, "00000:059:00.0"),
        dynamic_device(13001, A100, "10de:20b5", label="near", numaNode=1),
        vgpu(13002, "grid_a100-40c"),
        PCI(key=13003, backing=PCI.DvxBackingInfo(deviceClass="com.example.nic")),
    )
    assert names(now) == [
        "static 0000:3b:00.0",
        "dynamic 10de:20b5 or 10de:20f1 labelled near on node 1",
        "dvx com.example.nic",
    ]
    assert now.vgpus == ("grid_a100-40c",)


def test_a_group_is_one_device_whatever_it_is_made_of():
    now = state(
        vgpu(13000, "grid_a100-40c", **member(1, 0)),
        dynamic_device(13001, CX6, **member(1, 1)),
        dynamic_device(13002, CX6),
        device_groups=groups(g1="Nvidia:1@near"),
    )
    assert names(now) == ["dynamic 15b3:101d", "group Nvidia:1@near"]
    assert keys(now) == [[13002], [13000, 13001]]
    assert now.vgpus == ()


def test_a_kind_that_is_narrowed_down_by_its_subsystem_is_another_kind():
    narrow = dynamic_device(13000, CX6)
    narrow.backing.allowedDevice[0].subVendorId = 0x15B3
    narrow.backing.allowedDevice[0].subDeviceId = 0x0016
    assert plan.setting_changes(state(narrow), plan.want(state(narrow), requested(dynamic(CX6))))


@pytest.mark.parametrize(
    "device, address",
    [
        (static_device(13000, "00000:059:00.0"), "0000:3b:00.0"),
        (dynamic_device(13000, CX6, assigned="0000:3a:00.1"), "0000:3a:00.1"),
        (dynamic_device(13000, CX6), None),
        (vgpu(13000, "grid_a100-40c"), None),
    ],
    ids=["static", "dynamic, running", "dynamic, off", "a vGPU"],
)
def test_what_a_running_vm_holds_is_known_by_address(device, address):
    assert assigned_to(device) == address


@pytest.mark.parametrize(
    "text, ids",
    [
        ("10DE:20F1", "10de:20f1"),
        ("0x10de:0x20f1", "10de:20f1"),
        ("15b3: 101d", "15b3:101d"),
        ("10de", None),
        ("10de:20f1:0", None),
        ("nvidia:a100", None),
        ("10de:", None),
        ("10de:020f1", None),
    ],
)
def test_vendor_and_device_are_taken_as_people_write_them(text, ids):
    assert plan.normal_ids(text) == ids


def test_what_matches_keeps_its_keys_and_the_rest_is_new():
    now = state(static_device(13000, PORT), dynamic_device(13001, A100), dynamic_device(13004, A100))
    wanted = plan.want(now, requested(dynamic(A100), static(PORT_2), static(PORT)))
    assert keys(wanted) == [[13001], [], [13000]]
    assert [str(one) for one in plan.removed(now, wanted)] == ["dynamic 10de:20f1"]
    assert [str(one) for one in plan.added(now, wanted)] == [f"static {PORT_2}"]


def test_the_same_devices_in_another_order_are_no_change():
    now = state(static_device(13000, PORT), dynamic_device(13001, "10de:20b5", A100, label="near"))
    wanted = plan.want(now, requested(dynamic("10DE:20F1", "10de:20b5", label=" near "), static("0000:3A:00.0")))
    assert plan.setting_changes(now, wanted) == []


def test_without_a_word_a_device_keeps_its_node():
    now = state(dynamic_device(13000, CX6, numaNode=1))
    assert plan.setting_changes(now, plan.want(now, requested(dynamic(CX6)))) == []


def test_a_negative_node_is_none():
    assert names(state(dynamic_device(13000, CX6, numaNode=-1))) == ["dynamic 15b3:101d"]


def test_a_node_is_set_on_the_device_that_is_there():
    now = state(dynamic_device(13000, CX6))
    wanted = plan.want(now, requested(dynamic(CX6, numa_node=1)))
    (change,) = plan.setting_changes(now, wanted)
    assert (change.before, change.after) == (["dynamic 15b3:101d"], ["dynamic 15b3:101d on node 1"])
    assert (plan.added(now, wanted), plan.removed(now, wanted)) == ([], [])
    assert keys(wanted) == [[13000]]
    assert plan.moved(now, wanted) == list(wanted.devices)


def test_a_node_is_taken_away_on_request():
    now = state(dynamic_device(13000, CX6, numaNode=1))
    assert names(plan.want(now, requested(dynamic(CX6, numa_node=plan.NO_NODE)))) == ["dynamic 15b3:101d"]


def test_of_two_alike_the_one_on_the_right_node_is_kept_there():
    now = state(dynamic_device(13000, CX6, numaNode=0), dynamic_device(13001, CX6, numaNode=1))
    wanted = plan.want(now, requested(dynamic(CX6), dynamic(CX6, numa_node=1)))
    assert plan.setting_changes(now, wanted) == []
    assert plan.moved(now, wanted) == []


def test_an_entry_without_a_node_leaves_the_right_node_to_the_entry_that_asks_for_it():
    now = state(dynamic_device(13000, CX6, numaNode=1), dynamic_device(13001, CX6, numaNode=0))
    wanted = plan.want(now, requested(dynamic(CX6), dynamic(CX6, numa_node=1)))
    assert plan.setting_changes(now, wanted) == []


def test_absent_takes_all_away_but_vgpus():
    now = state(static_device(13000, PORT), vgpu(13001, "grid_a100-40c"))
    wanted = plan.want(now, requested(static(PORT), state="absent"))
    assert (wanted.devices, wanted.vgpus) == ((), ("grid_a100-40c",))


def test_putting_back_does_not_mistake_a_device_for_one_that_has_its_old_key():
    before = state(static_device(13000, PORT))
    after = state(static_device(13000, PORT_2))
    assert [str(one) for one in plan.added(after, before)] == [f"static {PORT}"]
    assert [str(one) for one in plan.removed(after, before)] == [f"static {PORT_2}"]


def test_changes_do_not_depend_on_the_keys_that_vsphere_chooses():
    assert plan.setting_changes(state(static_device(13000, GPU)), state(static_device(13007, GPU))) == []


def test_what_a_group_asks_for_is_its_name():
    assert plan.asked_of(group(" Nvidia:2@nvlink ")) == Asked("group", group="Nvidia:2@nvlink")


@pytest.mark.parametrize(
    "backing, system, stale",
    [
        ({}, "4c4c4544", False),
        ({}, "", False),
        ({}, "other", True),
        ({"systemId": "BYPASS"}, "other", False),
        ({"systemId": ""}, "other", False),
        ({"deviceId": "1017"}, "4c4c4544", True),
        ({"deviceId": "0x101d"}, "4c4c4544", False),
        ({"deviceId": "4125"}, "4c4c4544", False),
        ({"deviceId": "0"}, "4c4c4544", False),
        ({"vendorId": 0x8086 - 0x10000}, "", True),
    ],
    ids=[
        "as recorded",
        "host not asked",
        "another host",
        "held to no host",
        "no host recorded",
        "another card",
        "another way to write it",
        "in decimal",
        "no card recorded",
        "another vendor",
    ],
)
def test_a_static_device_that_was_recorded_for_another_host_or_card_is_added_anew(backing, system, stale):
    recorded = static_device(13000, PORT)
    for name, value in backing.items():
        setattr(recorded.backing, name, value)
    now = on_system(state(recorded), system)
    wanted = plan.want(now, requested(static(PORT)))
    assert bool(plan.setting_changes(now, wanted)) is stale
    assert len(plan.added(now, wanted)) == len(plan.removed(now, wanted)) == int(stale)


def test_that_a_vm_runs_proves_its_static_device_whatever_was_recorded():
    recorded = static_device(13000, PORT)
    recorded.backing.systemId = "other"
    now = on_system(state(recorded, vm=dataclasses.replace(FIT, power="on")), "4c4c4544")
    assert plan.setting_changes(now, plan.want(now, requested(static(PORT)))) == []


def test_a_vendor_above_the_signed_numbers_is_recognized():
    intel = host(devices=[bridge(HERE), device(PORT, "8086:1592", name="E810")], given=[given(PORT)], gpus=())
    recorded = static_device(13000, PORT)
    recorded.backing.vendorId, recorded.backing.deviceId = 0x8086 - 0x10000, "1592"
    now = on_system(state(recorded, around=intel), "")
    assert plan.setting_changes(now, plan.want(now, requested(static(PORT)))) == []


@pytest.mark.parametrize(
    "around, devices, expected",
    [
        (enhanced(), [dvx()], [True]),
        (enhanced(checkpoint=False), [dvx()], [False]),
        (host(), [dvx()], [None]),
        (enhanced(), [dynamic(CX6), static(PORT), group("Nvidia:1@near")], [False, False, False]),
    ],
    ids=["a class that saves its state", "one that does not", "one that the host does not report", "other kinds"],
)
def test_vmotion_is_offered_only_for_a_class_that_saves_its_state(around, devices, expected):
    wanted = plan.want(state(around=around), requested(*devices))
    assert [one["vmotion"] for one in plan.settings(wanted)["devices"]] == expected
