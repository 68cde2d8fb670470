# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import dataclasses

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import plan, state

from .worlds import P2P, changes, requested, shape, sriov, vgpu

LOCKED = {"memory_locked": True}


def test_a_vm_without_gpus_and_requests_gets_its_memory_reserved_and_nothing_else():
    assert changes(shape()) == {"memory_reservation": ("partial", "all")}
    assert changes(shape(), memory_reservation="ignore") == {}


@pytest.mark.parametrize(
    "reserved, requested_one, change",
    [
        (0, 2048, ("partial", "2048 MB")),
        (4096, 2048, ("4096 MB", "2048 MB")),
        (4096, 0, ("4096 MB", "partial")),
        (2048, 2048, None),
    ],
)
def test_a_memory_reservation_in_mb(reserved, requested_one, change):
    found = changes(shape(memory_reserved_mb=reserved), memory_reservation_mb=requested_one)
    assert found == ({} if change is None else {"memory_reservation": change})


def test_a_memory_reservation_in_mb_releases_the_lock():
    locked = shape(memory_reserved_mb=16384, **LOCKED)
    assert changes(locked, memory_reservation_mb=0) == {"memory_reservation": ("all", "partial")}


def test_the_window_is_removed_where_nothing_needs_it():
    window = {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "128"}
    assert changes(shape(vmx=window, **LOCKED), mmio="none") == {key: (value, None) for key, value in window.items()}


def test_size_is_reported_in_gb_and_vcpus():
    assert changes(shape(memory_mb=6656, **LOCKED), cpus=8, memory_gb=64) == {"cpus": (4, 8), "memory_gb": (6.5, 64)}


def test_a_newer_hardware_version_is_left_alone_and_an_older_one_raised():
    assert changes(shape(**LOCKED), hardware_version=19) == {}
    assert changes(shape(hardware_version=17, **LOCKED), hardware_version=19) == {"hardware_version": (17, 19)}


def test_a_hardware_version_that_was_raised_is_no_gap_when_the_old_configuration_is_put_back():
    before = shape(hardware_version=17, cpus=4)
    raised = dataclasses.replace(before, hardware_version=20, cpus=8)
    assert [change.path for change in plan.setting_changes(raised, before)] == ["cpus"]


def test_sockets_that_vsphere_chooses_are_left_to_it_until_somebody_asks():
    now = shape(cores_per_socket=None, **LOCKED)
    assert changes(now, cpus=8) == {"cpus": (4, 8)}
    assert changes(now, cores_per_socket=2) == {"cores_per_socket": (None, 2)}


@pytest.mark.parametrize(
    "now, options, mhz",
    [
        (shape(), {"latency_sensitivity": "high"}, (0, 4 * 2600)),
        (shape(), {"latency_sensitivity": "high", "cpus": 8}, (0, 8 * 2600)),
        (shape(latency="high", cpu_reserved_mhz=4 * 2600), {"cpus": 8}, (4 * 2600, 8 * 2600)),
        (shape(), {"latency_sensitivity": "high", "cpu_reservation_mhz": 9000}, (0, 9000)),
        (shape(cpu_reserved_mhz=9000), {"cpu_reservation_mhz": 0}, (9000, 0)),
    ],
)
def test_high_latency_sensitivity_reserves_the_processors(now, options, mhz):
    assert changes(now, **options)["cpu_reservation_mhz"] == mhz


@pytest.mark.parametrize(
    "now, options",
    [
        (shape(), {"latency_sensitivity": "medium"}),
        (shape(), {"latency_sensitivity": "high", "cpu_reservation": "ignore"}),
        (shape(cpu_reserved_mhz=99000), {"latency_sensitivity": "high"}),
        (shape(latency="high", cpu_reserved_mhz=9000), {"latency_sensitivity": "normal"}),
        (shape(host=None), {"latency_sensitivity": "high"}),
    ],
)
def test_the_reservation_of_processors_is_left_where_it_is_enough_or_not_ours(now, options):
    assert "cpu_reservation_mhz" not in changes(now, **options)


def test_gpudirect_is_both_settings_and_goes_with_both():
    now = shape(direct=(sriov(),), **LOCKED)
    assert changes(now, gpudirect="enabled") == dict.fromkeys(P2P, (None, "TRUE"))
    assert changes(dataclasses.replace(now, vmx=P2P), gpudirect="disabled") == dict.fromkeys(P2P, ("TRUE", None))
    assert changes(dataclasses.replace(now, vmx=P2P)) == {}


@pytest.mark.parametrize(
    "version, power, changed",
    [(21, "on", P2P), (21, "off", P2P), (22, "off", P2P), (22, "on", {}), (22, "suspended", {})],
)
def test_a_running_vm_of_hardware_version_22_is_right_without_the_settings_of_gpudirect(version, power, changed):
    now = shape(direct=(sriov(),), hardware_version=version, power=power, **LOCKED)
    assert changes(now, gpudirect="enabled") == dict.fromkeys(changed, (None, "TRUE"))
    assert changes(dataclasses.replace(now, vmx=P2P), gpudirect="disabled") == dict.fromkeys(P2P, ("TRUE", None))


def test_gpudirect_that_is_switched_off_in_words_is_left_so():
    now = shape(vmx={"pciPassthru.allowP2P": "FALSE", "pciPassthru.RelaxACSforP2P": "TRUE"}, **LOCKED)
    assert changes(now, gpudirect="disabled") == {"pciPassthru.RelaxACSforP2P": ("TRUE", None)}


def test_half_of_gpudirect_is_completed_and_another_spelling_is_no_change():
    now = shape(vmx={"pciPassthru.allowP2P": "true"}, **LOCKED)
    assert now.gpudirect == "partial"
    assert changes(now, gpudirect="enabled") == {"pciPassthru.RelaxACSforP2P": (None, "TRUE")}


def test_advanced_settings_are_set_kept_and_removed_by_meaning():
    now = shape(vmx={"numa.vcpu.preferHT": "true", "numa.vcpu.min": "9"}, **LOCKED)
    assert changes(now, advanced={"NUMA.vcpu.preferht": True, "numa.vcpu.min": None, "numa.autosize": False}) == {
        "numa.autosize": (None, "FALSE"),
        "numa.vcpu.min": ("9", None),
    }


@pytest.mark.parametrize(
    "options, hot",
    [
        ({}, True),
        ({"cpu_reservation_mhz": 1000}, True),
        ({"cpus": 8}, False),
        ({"memory_gb": 32}, False),
        ({"latency_sensitivity": "low"}, False),
        ({"numa_nodes": [0]}, False),
        ({"advanced": {"numa.vcpu.preferHT": True}}, False),
    ],
)
def test_a_running_vm_takes_reservations_and_nothing_else(options, hot):
    now = shape()
    assert plan.is_hot(now, plan.want(now, requested(**options))) is hot


def test_what_was_worked_out_is_stable():
    now = shape(direct=(vgpu(), sriov()))
    requested_one = requested(
        cpus=16,
        memory_gb=64,
        hardware_version=21,
        numa_nodes=[1],
        latency_sensitivity="high",
        gpudirect="enabled",
        advanced={"numa.vcpu.preferHT": 1, "pciPassthru0.cfg.enable_uvm": True},
    )
    wanted = plan.want(now, requested_one)
    assert plan.setting_changes(now, wanted) != []
    assert plan.setting_changes(wanted, plan.want(wanted, requested_one)) == []


def test_the_nodes_of_devices_are_reported_in_one_order_whatever_their_keys_are():
    other = state.Direct(13000, "pci", "0000:3b:00.0", node=1)
    assert state.device_nodes(shape(direct=(vgpu(node=0, number=1), other))) == ["0000:3b:00.0: 1", "grid_a100-40c: 0"]


def test_somebody_elses_settings_are_neither_shown_nor_known():
    seen = state.project(shape(vmx={"numa.vcpu.min": "9", **P2P}))
    assert seen["advanced"] == {"numa.vcpu.min": "9"}
    assert (seen["gpudirect"], seen["numa_nodes"], seen["numa_method"]) == ("enabled", [], "none")
