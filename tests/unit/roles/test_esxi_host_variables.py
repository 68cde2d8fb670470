"""What the role esxi_host works out for one host: options, devices, VMs to shut down, and why a run would not begin."""

from __future__ import annotations

import pytest

from unit.roles.variables import value_of


def found(name, **given):
    given = {"esxi_host_name": "esx-01", "esxi_host_bmc_address": "", **given}
    return value_of("esxi_host", f"__esxi_host_{name}", **given)


def seen(ssh=False, loaded=True, **host):
    """The host as it was seen last."""
    nics = [("vmnic2", "nmlx5_core"), ("vmnic0", "ixgben"), ("vmnic3", "nmlx5_core")]
    return {
        "__esxi_host_seen": {
            "host": {
                "name": "esx-01",
                "driver": {"loaded": loaded},
                "gpus": [{"id": "0000:3b:00.0"}, {"id": "0000:86:00.0"}],
                "nics": [{"device": device, "driver": driver} for device, driver in nics],
                "services": {"TSM-SSH": {"running": ssh}},
                **host,
            }
        }
    }


@pytest.mark.parametrize(
    "vfs, options, expected",
    [
        (0, {}, {}),
        (0, {"nmlx5_core": {"pfctx": "8"}}, {"nmlx5_core": {"pfctx": "8"}}),
        (4, {}, {"nmlx5_core": {"max_vfs": "0,4"}}),
        (4, {"nmlx5_core": {"pfctx": "8"}}, {"nmlx5_core": {"pfctx": "8", "max_vfs": "0,4"}}),
    ],
)
def test_virtual_functions_are_given_for_each_port_of_the_driver_in_its_order(vfs, options, expected):
    given = {"esxi_host_vfs": vfs, "esxi_host_module_options": options, "esxi_host_nics": ["vmnic3"]}
    assert found("module_options", **given, **seen()) == expected


@pytest.mark.parametrize(
    "gpus, ports, expected",
    [
        ("ignore", False, []),
        ("enabled", False, [("0000:3b:00.0", "enabled", True), ("0000:86:00.0", "enabled", True)]),
        ("disabled", False, [("0000:3b:00.0", "disabled", True), ("0000:86:00.0", "disabled", True)]),
        ("ignore", True, [("vmnic3", "enabled", None)]),
    ],
)
def test_all_gpus_and_the_ports_of_the_network_are_passed_through(gpus, ports, expected):
    given = {"esxi_host_gpu_passthrough": gpus, "esxi_host_nic_passthrough": ports, "esxi_host_nics": ["vmnic3"]}
    passed = found("passthrough", **given, **seen())
    assert [(one["id"], one["state"], one.get("take_from_vgpu")) for one in passed] == expected


@pytest.mark.parametrize(
    "bmc, functions, attributes, wants",
    [
        ("10.0.0.1", {"sriov": True}, {}, True),
        ("10.0.0.1", {}, {"Sriov": "Enabled"}, True),
        ("10.0.0.1", {}, {}, False),
        ("", {"sriov": True}, {}, False),
    ],
)
def test_bios_settings_need_a_bmc_and_a_wish(bmc, functions, attributes, wants):
    given = {"esxi_host_bios_functions": functions, "esxi_host_bios_attributes": attributes}
    assert found("wants_bios", esxi_host_bmc_address=bmc, **given) is wants


FIRMWARE = {"esxi_host_nic_firmware": {"SRIOV_EN": True}, "esxi_host_nics": ["vmnic3"]}


@pytest.mark.parametrize(
    "given, ssh, check_mode, may",
    [
        ({}, True, False, False),
        (FIRMWARE, True, False, True),
        (FIRMWARE, True, True, True),
        (FIRMWARE, False, False, True),
        (FIRMWARE, False, True, False),
        ({**FIRMWARE, "esxi_host_ssh": "ready"}, False, False, False),
    ],
    ids=["not needed", "runs", "runs in check mode", "started", "not started in check mode", "nobody may start it"],
)
def test_ssh_is_used_where_it_runs_or_a_real_run_may_start_it(given, ssh, check_mode, may):
    assert found("may_shell", ansible_check_mode=check_mode, __esxi_host_steps=[], **given, **seen(ssh)) is may


@pytest.mark.parametrize(
    "name, plan, due",
    [
        ("kernel", {"host": {"changed": True}}, True),
        ("kernel", {"skipped": True}, False),
        ("bios", {"bios": {"changed": True}}, True),
        ("modules", {"results": [{"skipped": True}, {"host": {"changed": True}}]}, True),
        ("modules", {"results": [{"host": {"changed": False}}]}, False),
        ("mig", {"gpus": [{"changed": False}, {"changed": True}]}, True),
        ("firmware", {"devices": [{"changed": False}]}, False),
    ],
)
def test_a_step_is_due_where_its_plan_has_a_change(name, plan, due):
    assert found("due", **{f"__esxi_host_{name}_plan": plan}, **seen())[name] is due


@pytest.mark.parametrize(
    "kind, reboot, bmc, looks, now",
    [
        ("none", False, "", False, False),
        ("warm", True, "", False, True),
        ("warm", True, "", True, False),
        ("cold", True, "", False, False),
        ("cold", True, "10.0.0.1", False, True),
    ],
)
def test_a_cold_restart_needs_a_bmc_and_a_look_restarts_nothing(kind, reboot, bmc, looks, now):
    restart = {"kind": kind, "reboot": reboot, "reasons": [], "cold_reasons": []}
    given = {"__esxi_host_restart": restart, "__esxi_host_only_looks": looks, "esxi_host_bmc_address": bmc}
    assert found("restarts_now", **given) is now


def vm(moid, power, host="esx-01", again=False):
    return {"moid": moid, "name": f"as-{moid}", "host": host, "before": {"power": power, "power_on_again": again}}


VMS = [
    vm("vm-1", "on"),
    vm("vm-2", "off", again=True),
    vm("vm-3", "on", "esx-02"),
    vm("vm-4", "off"),
    vm("vm-5", "off", "esx-02", again=True),
    {"moid": None, "host": "esx-01", "failed": True},
]


@pytest.mark.parametrize(
    "evacuation, out, vms", [("shutdown", True, ["vm-1"]), ("shutdown", False, []), ("refuse", True, [])]
)
def test_vms_that_run_on_a_host_that_goes_out_of_service_are_shut_down(evacuation, out, vms):
    given = {"esxi_host_evacuation": evacuation, "__esxi_host_out": out, "__esxi_host_vms_look": {"vms": VMS}}
    assert found("shut_vms", **given, **seen()) == [{"moid": moid} for moid in vms]


def test_vms_that_a_run_has_left_off_on_the_host_are_known_by_their_note():
    assert found("noted_vms", __esxi_host_vms_left={"vms": VMS}, **seen()) == [{"moid": "vm-2"}]


COLD = {"kind": "cold", "reboot": True, "reasons": ["SR-IOV"], "cold_reasons": ["the firmware"]}
WARM = {"kind": "warm", "reboot": True, "reasons": ["the driver"], "cold_reasons": []}
NONE = {"kind": "none", "reboot": False, "reasons": [], "cold_reasons": []}
ALLOWED = {"esxi_host_reboot": "allow", "esxi_host_cold_cycle": "allow", "esxi_host_bmc_address": "10.0.0.1"}
OCCUPIED = {"msg": "VMs run.", "failed": True, "failure": {"code": "running_vms"}}


@pytest.mark.parametrize(
    "restart, given, words",
    [
        (NONE, {}, []),
        (WARM, {}, ["because of the driver"]),
        (WARM, {"esxi_host_reboot": "allow"}, []),
        (COLD, ALLOWED, []),
        (COLD, {**ALLOWED, "esxi_host_bmc_address": ""}, ["off and on, because of the firmware"]),
        (COLD, {**ALLOWED, "esxi_host_cold_cycle": "refuse"}, ["off and on, because of the firmware"]),
        (COLD, {}, ["because of SR-IOV", "off and on"]),
        (NONE, {"__esxi_host_out_plan": OCCUPIED}, ["VMs run."]),
        (NONE, {"__esxi_host_out_plan": {**OCCUPIED, "failure": {"code": "no_answer"}}}, []),
        (NONE, {"__esxi_host_shut_plan": {"failed": True, "msg": "No tools."}}, ["No tools."]),
        (NONE, {"__esxi_host_needs_shell": True, "esxi_host_ssh": "ready"}, ["needs SSH"]),
        (NONE, {"__esxi_host_needs_shell": True, "esxi_host_ssh": "start"}, []),
        (NONE, {"__esxi_host_needs_shell": True, "esxi_host_ssh": "ready", **seen(ssh=True)}, []),
        (WARM, {"__esxi_host_blockers": [{"text": "It has no port."}]}, ["It has no port.", "because of the driver"]),
    ],
)
def test_a_run_that_would_not_begin_says_every_reason(restart, given, words):
    base = {"__esxi_host_blockers": [], "__esxi_host_needs_shell": False, "__esxi_host_restart": restart, **seen()}
    sentences = found("refusals", **{**base, **given})
    assert len(sentences) == len(words), sentences
    assert all(word in " ".join(one.split()) for word, one in zip(words, sentences, strict=True)), sentences


@pytest.mark.parametrize(
    "given, what, after",
    [
        ({}, [], "SSH runs"),
        (
            {"esxi_host_driver": {"file": "x"}, "esxi_host_graphics_type": "shared_direct", **seen(loaded=False)},
            ["graphics"],
            "the driver runs",
        ),
        ({"esxi_host_driver": {"file": "x"}, "esxi_host_graphics_type": "shared_direct"}, [], "SSH runs"),
        (
            {"esxi_host_driver": {"file": "x"}, "esxi_host_mig": "enabled", **seen(loaded=False)},
            ["mode", "layout", "running", "borrowed", "in_maintenance", "reason", "boot_time"],
            "the driver runs",
        ),
        (
            {**FIRMWARE, "ansible_check_mode": True},
            ["SRIOV_EN", "running", "borrowed", "in_maintenance", "reason", "boot_time"],
            "SSH runs",
        ),
        ({**FIRMWARE, "ansible_check_mode": True, **seen(ssh=True)}, [], "SSH runs"),
    ],
    ids=["nothing", "driver comes", "driver is there", "MIG with the driver", "firmware without SSH", "SSH runs"],
)
def test_what_a_preview_cannot_know_is_left_open(given, what, after):
    left = found("open", **{**seen(), "__esxi_host_steps": [], **given})
    assert (left["what"], left["after"]) == (what, after)
