"""Each difference of a host from its desired state is named, and nothing else is."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule

FILTER = FilterModule().filters()["host_gaps"]


def host_gaps(host, wanted, **proofs):
    return FILTER({"look": {"host": host}, **proofs}, wanted)


GPU = "0000:3b:00.0"
WANTED = {
    "driver": {"family": "nvaie"},
    "kernel_settings": {"atsSupport": True},
    "module_options": {"nmlx5_core": {"pfctx": "0x08"}},
    "graphics_type": "shared_direct",
    "gpu_passthrough": "disabled",
    "mig": "disabled",
    "pvrdma": True,
    "vmknic": "vmk1",
    "mtu": 9000,
    "nics": ["vmnic2"],
    "vfs": 8,
    "profiles": ["grid_a100-40c"],
}
READY = {
    "in_maintenance": False,
    "driver": {"family": "nvaie", "version": "550.54.16", "loaded": True},
    "kernel": {"atsSupport": {"configured": "TRUE", "runtime": "TRUE"}},
    "modules": {
        "nmlx5_core": {"options": {"pfctx": "8", "max_vfs": "8,0"}, "active_options": {"pfctx": "8", "max_vfs": "8,0"}}
    },
    "graphics": {
        "default_type": "shared_direct",
        "devices": [{"id": GPU, "configured": "shared_direct", "active": "shared_direct", "mode": "same_size"}],
    },
    "gpus": [{"id": GPU, "passthrough": {"configured": False, "active": False}}],
    "nics": [
        {"device": "vmnic2", "driver": "nmlx5_core", "vfs": {"active": 8, "max": 8}, "switch": "dvs-1", "mtu": 9000},
        {"device": "vmnic3", "driver": "nmlx5_core", "vfs": {"active": 0, "max": 0}, "switch": None, "mtu": 1500},
    ],
    "options": {"Net.PVRDMAVmknic": "vmk1"},
    "rulesets": {"pvrdma": True},
    "vmkernel": [{"device": "vmk0", "mtu": 1500}, {"device": "vmk1", "mtu": 9000, "switch": "dvs-1"}],
    "profiles_offered": ["grid_a100-20c", "grid_a100-40c"],
}


def but(path, value):
    """A host that is ready but for one thing, by its dotted path."""
    host = copy.deepcopy(READY)
    *way, last = [int(part) if part.isdigit() else part for part in path.split("/")]
    place = host
    for part in way:
        place = place[part]
    place[last] = value
    return host


def test_host_in_the_desired_state_has_no_gaps():
    assert host_gaps(READY, WANTED) == []


def test_nothing_requested_is_nothing_missing():
    assert host_gaps(but("driver", None), {}) == []


GAPS = {
    "no driver": (but("driver", {"family": "none", "version": "", "loaded": False}), "driver", "not installed"),
    "other family": (
        but("driver/family", "graphics"),
        "driver",
        "the graphics driver 550.54.16 is installed, requested nvaie",
    ),
    "driver not loaded": (but("driver/loaded", False), "driver", "installed but not loaded; a restart is pending"),
    "kernel setting": (but("kernel/atsSupport/configured", "FALSE"), "kernel", "atsSupport is FALSE, requested TRUE"),
    "kernel setting without a restart": (but("kernel/atsSupport/runtime", "FALSE"), "kernel", "a restart is pending"),
    "unknown kernel setting": (but("kernel", {}), "kernel", "no kernel setting atsSupport"),
    "module option": (
        but("modules/nmlx5_core/options/pfctx", "0"),
        "modules",
        "pfctx of nmlx5_core is 0, requested 0x08",
    ),
    "module option without a restart": (
        but("modules/nmlx5_core/active_options", {"max_vfs": "8,0"}),
        "modules",
        "pfctx of nmlx5_core is configured but not effective",
    ),
    "no such module": (but("modules", {}), "modules", "no kernel module nmlx5_core"),
    "default type": (but("graphics/default_type", "shared"), "graphics", "default graphics type is shared"),
    "type of a GPU": (but("graphics/devices/0/configured", "shared"), "graphics", f"{GPU} is set to shared"),
    "type of a GPU, not active": (but("graphics/devices/0/active", "basic"), "graphics", "is still basic"),
    "MIG": (but("graphics/devices/0/mode", "mig"), "mig", f"MIG is on at the GPU {GPU}"),
    "PVRDMA tag": (
        but("options", {}),
        "pvrdma",
        "PVRDMA uses no VMkernel adapter, requested vmk1; it silently uses TCP",
    ),
    "firewall": (but("rulesets/pvrdma", False), "pvrdma", "the firewall ruleset pvrdma is closed"),
    "MTU": (but("vmkernel/1/mtu", 1500), "mtu", "the MTU of vmk1 is 1500, requested 9000"),
    "no VMkernel adapter": (but("vmkernel", []), "mtu", "the host has no VMkernel adapter vmk1"),
    "virtual functions": (but("nics/0/vfs/active", 4), "vfs", "vmnic2 has 4 virtual functions, 8 are requested"),
    "virtual functions that the firmware does not allow": (
        but("nics/0/vfs", {"active": 0, "max": 0}),
        "vfs",
        "vmnic2 has 0 virtual functions, 8 are requested; its firmware allows 0: set SRIOV_EN=1 and NUM_OF_VFS=8",
    ),
    "maintenance": (but("in_maintenance", True), "leave", "still in maintenance mode"),
    "no profiles": (
        but("profiles_offered", []),
        "bios",
        "offers none; the driver is loaded, so check the BIOS",
    ),
    "other profiles": (but("profiles_offered", ["grid_a100-20c"]), "bios", "the host offers grid_a100-20c"),
}


@pytest.mark.parametrize("host, step, text", GAPS.values(), ids=GAPS.keys())
def test_missing_thing_is_named_with_the_step_that_brings_it(host, step, text):
    (gap,) = host_gaps(host, WANTED)
    assert gap["step"] == step
    assert text in gap["text"]


VALUES = {
    "driver": (but("driver/family", "graphics"), ("driver.family", "nvaie", "graphics")),
    "kernel": (but("kernel/atsSupport/configured", "FALSE"), ("kernel.atsSupport", "TRUE", "FALSE")),
    "restart": (but("kernel/atsSupport/runtime", "FALSE"), ("kernel.atsSupport", "TRUE", "FALSE until the restart")),
    "option": (but("modules/nmlx5_core/options/pfctx", "0"), ("nmlx5_core.pfctx", "0x08", "0")),
    "graphics": (but("graphics/default_type", "shared"), ("graphics.default_type", "shared_direct", "shared")),
    "MTU": (but("vmkernel/1/mtu", 1500), ("vmk1.mtu", "9000", "1500")),
    "MTU of the switch": (but("nics/0/mtu", 1500), ("dvs-1.mtu", "9000", "1500")),
    "functions": (but("nics/0/vfs/active", 4), ("vfs.vmnic2", "8", "4")),
    "service": (but("in_maintenance", True), ("in_maintenance", "false", "true")),
}


@pytest.mark.parametrize("host, reported", VALUES.values(), ids=VALUES.keys())
def test_missing_thing_has_path_requested_and_found_value(host, reported):
    (gap,) = host_gaps(host, WANTED)
    assert (gap["path"], gap["requested"], gap["found"]) == reported


BIOS = {"bmc_address": "10.0.0.1", "bios_functions": {"sriov": True}}
FIRMWARE = {"nic_firmware": {"SRIOV_EN": True}}
READS = {
    "BIOS": (BIOS, ["bios was not read, so nothing verifies it"]),
    "firmware": (FIRMWARE, ["firmware was not read, so nothing verifies it"]),
    "passthrough of ports": ({"nic_passthrough": True}, ["passthrough was not read, so nothing verifies it"]),
    "BIOS without a BMC": ({**BIOS, "bmc_address": ""}, []),
}


@pytest.mark.parametrize("more, texts", READS.values(), ids=READS.keys())
@pytest.mark.parametrize("answer", [{"skipped": True}, {}], ids=["skipped", "missing"])
def test_read_that_was_requested_and_did_not_take_place_is_a_gap(more, texts, answer):
    proofs = dict.fromkeys(("bios", "firmware", "passthrough"), answer)
    assert [gap["text"] for gap in host_gaps(READY, {**WANTED, **more}, **proofs)] == texts


@pytest.mark.parametrize("look", [{}, {"skipped": True}, None])
def test_host_that_was_not_read_is_a_gap(look):
    assert [gap["differs"] for gap in FILTER({"look": look}, WANTED)] == ["host: requested verified, found not read"]


@pytest.mark.parametrize("owner, missing", [("others", False), ("aiready", True), ("", True)])
def test_maintenance_of_another_client_is_no_gap(owner, missing):
    maintenance = {"host": {"after": {"owner": owner}}}
    found = host_gaps(but("in_maintenance", True), WANTED, maintenance=maintenance)
    assert [gap["step"] for gap in found] == (["leave"] if missing else [])


def test_driver_is_of_the_family_for_ai_where_none_is_named():
    (gap,) = host_gaps(but("driver/family", "graphics"), {"driver": {"version": "550.54.16"}})
    assert (gap["path"], gap["requested"]) == ("driver.family", "nvaie")


def test_gpu_that_is_given_away_needs_no_graphics_type():
    host = but("gpus/0/passthrough", {"configured": True, "active": True})
    host["graphics"]["devices"][0].update(configured="shared", active="direct")
    assert host_gaps(host, {**WANTED, "gpu_passthrough": "enabled", "profiles": []}) == []


def test_passthrough_that_waits_is_a_gap():
    host = but("gpus/0/passthrough", {"configured": True, "active": False})
    (gap,) = host_gaps(host, {"gpu_passthrough": "enabled"})
    assert "not effective; a restart is pending" in gap["text"]


@pytest.mark.parametrize(
    "offered, requested, missing",
    [
        pytest.param(["grid_a100-3-20c"], "disabled", True, id="on, and time-sliced wanted"),
        pytest.param(["grid_a100-20c"], "enabled", True, id="off, and MIG wanted"),
        pytest.param(["grid_a100-3-20c"], "enabled", False, id="on, as wanted"),
    ],
)
def test_host_that_does_not_report_its_mode_is_judged_by_what_it_offers(offered, requested, missing):
    host = but("graphics/devices/0/mode", None)
    host["profiles_offered"] = offered
    assert [gap["step"] for gap in host_gaps(host, {"mig": requested})] == (["mig"] if missing else [])


def test_profiles_are_not_missed_while_what_brings_them_is_missing():
    host = but("profiles_offered", [])
    host["driver"]["loaded"] = False
    assert [gap["step"] for gap in host_gaps(host, WANTED)] == ["driver"]


def test_what_modules_would_change_or_wait_for_is_a_gap_once():
    bios = {
        "bios": {
            "changes": [{"path": "bios.Sriov", "before": "Disabled", "after": "Enabled"}],
            "pending": [{"what": "bios.Sriov", "needs": "reboot"}, {"what": "bios.Vtd", "needs": "reboot"}],
        }
    }
    texts = [gap["text"] for gap in host_gaps(READY, WANTED, bios=bios, firmware={"skipped": True})]
    assert texts == [
        "bios.Sriov is Disabled, requested Enabled",
        "bios.Vtd is configured but not effective; a reboot is pending",
    ]


SYSTEM = {"current": "system_select", "configurable": ["host", "direct_path"], "used_memory_mb": 0}


def test_a_gpu_whose_mode_the_host_picks_is_a_gap_for_vgpu_and_for_passthrough():
    host = but("graphics/devices/0/device_mode", SYSTEM)
    (gap,) = host_gaps(host, {"graphics_type": "shared_direct"})
    assert (gap["step"], gap["path"], gap["found"]) == ("graphics", f"graphics.{GPU}.device_mode", "system_select")
    assert "the host picks it at power-on" in gap["text"]
    host = but("gpus/0/device_mode", SYSTEM)
    (gap,) = host_gaps(host, {"gpu_passthrough": "enabled"})
    assert (gap["step"], gap["requested"]) == ("passthrough", "direct_path")
    assert host_gaps(host, {"gpu_passthrough": "disabled"}) == []
