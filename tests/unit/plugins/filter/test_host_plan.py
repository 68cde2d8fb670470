"""What is due on a host, what is undecided and why, what a run refuses, and how the plan is reported."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule

host_plan = FilterModule().filters()["host_plan"]

HOST = {
    "name": "esx-01",
    "connection": "connected",
    "cluster": "gpu",
    "in_maintenance": False,
    "driver": {"family": "nvaie", "version": "550.54.16", "loaded": True},
    "kernel": {"atsSupport": {"configured": "TRUE", "runtime": "TRUE"}},
    "modules": {"nmlx5_core": {"options": {"pfctx": "8"}, "active_options": {"pfctx": "8"}}},
    "graphics": {
        "default_type": "shared",
        "devices": [{"id": "0000:3b:00.0", "configured": "shared", "active": "shared", "mode": "same_size"}],
    },
    "gpus": [
        {"id": "0000:3b:00.0", "passthrough": {"configured": False, "active": False}},
        {"id": "0000:86:00.0", "passthrough": {"configured": False, "active": False}},
    ],
    "nics": [
        {"device": "vmnic2", "driver": "nmlx5_core", "vfs": {"active": 8, "max": 8}},
        {"device": "vmnic0", "driver": "ixgben", "vfs": {"active": 0, "max": 0}},
        {"device": "vmnic3", "driver": "nmlx5_core", "vfs": {"active": 8, "max": 8}},
    ],
    "options": {},
    "rulesets": {"pvrdma": False},
    "vmkernel": [{"device": "vmk1", "mtu": 1500}],
    "profiles_offered": ["grid_a100-40c"],
    "services": {"TSM-SSH": {"running": False}},
    "lockdown": "disabled",
}
BARE = {"driver": {"family": "none", "version": "", "loaded": False}}
SSH = {"services": {"TSM-SSH": {"running": True}}}
CHECK, LOOK = {"check_mode": True}, {"only_looks": True}


def plan(inputs=None, host=None, done=None, check_mode=False, only_looks=False, compares=False, **answers):
    """The plan for a host that differs in some facts, with results of modules by their step."""
    look = {"host": {**HOST, **(host or {})}}
    given = {"name": "esx-01", **(inputs or {})}
    return host_plan({"look": look, **answers}, given, done or {}, check_mode, only_looks, compares)


def test_nothing_requested_is_nothing_to_do():
    found = plan()
    assert not any(found["asks"].values())
    assert not any(found["due"].values())
    assert (found["restart"]["kind"], found["out"], found["differs"]) == ("none", False, False)
    assert found["gaps"] + found["refusals"] + found["story"] + found["undone"] + found["open"]["what"] == []


def test_before_the_host_was_read_nothing_is_decided():
    found = host_plan({}, {"name": "esx-01", "mig": "enabled", "gpu_passthrough": "enabled", "vfs": 4})
    assert (found["passthrough"], found["loaded"], found["gaps"], found["blockers"]) == ([], False, [], [])
    assert found["unfit"].startswith("esx-01 cannot be configured.")


@pytest.mark.parametrize(
    "connection, cluster, asked, words",
    [
        ("connected", "gpu", "", []),
        ("connected", "gpu", "gpu", []),
        (
            "connected",
            None,
            "gpu",
            ["It is connected, in no cluster, not in gpu. Correct site.c"],
        ),
        ("disconnected", "gpu", "gpu", ["It is disconnected, in the cluster gpu. Check its power"]),
        ("notResponding", "gpu", "", ["esx-01 cannot be configured. It is notResponding"]),
    ],
)
def test_a_host_that_cannot_be_worked_on_is_named_with_the_fix(connection, cluster, asked, words):
    unfit = plan({"cluster": asked}, {"connection": connection, "cluster": cluster})["unfit"]
    assert [word for word in words if word in unfit] == words
    assert bool(unfit) is bool(words)


@pytest.mark.parametrize(
    "vfs, options, expected",
    [
        (0, {}, {}),
        (0, {"nmlx5_core": {"pfctx": "8"}}, {"nmlx5_core": {"pfctx": "8"}}),
        (4, {}, {"nmlx5_core": {"max_vfs": "0,4"}}),
        ("4", {"nmlx5_core": {"pfctx": "8"}}, {"nmlx5_core": {"pfctx": "8", "max_vfs": "0,4"}}),
    ],
)
def test_virtual_functions_are_given_for_each_port_of_the_driver_in_its_order(vfs, options, expected):
    assert plan({"vfs": vfs, "module_options": options, "nics": ["vmnic3"]})["options"] == expected


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
    found = plan({"gpu_passthrough": gpus, "nic_passthrough": ports, "nics": ["vmnic3"]})["passthrough"]
    assert [(one["id"], one["state"], one.get("take_from_vgpu")) for one in found] == expected


BIOS = {"bmc_address": "10.0.0.1", "bios_functions": {"sriov": True}}
FIRMWARE = {"nic_firmware": {"SRIOV_EN": True}, "nics": ["vmnic3"]}
SHUTDOWN = {"evacuation": "shutdown", "vms": [{"name": "a"}]}
ASKS = {
    "bios": [(BIOS, True), ({**BIOS, "bios_functions": {}, "bios_attributes": {"Sriov": "Enabled"}}, True)]
    + [({**BIOS, "bmc_address": ""}, False), ({"bmc_address": "10.0.0.1"}, False)],
    "driver": [({"driver": {"file": "x"}}, True), ({}, False)],
    "kernel": [({"kernel_settings": {"atsSupport": False}}, True), ({"kernel_settings": {"atsSupport": True}}, False)],
    "modules": [
        ({"module_options": {"nmlx5_core": {"pfctx": "0"}}}, True),
        ({"module_options": {"nmlx5_core": {"pfctx": "0x08"}}}, False),
        ({"vfs": 8, "nics": ["vmnic2"]}, True),
    ],
    "passthrough": [({"gpu_passthrough": "enabled"}, True), ({"gpu_passthrough": "disabled"}, False)]
    + [({"nic_passthrough": True}, True)],
    "pvrdma": [({"pvrdma": True, "vmknic": "vmk1"}, True), ({"vmknic": "vmk1"}, False)],
    "mtu": [({"mtu": "9000", "vmknic": "vmk1"}, True), ({"mtu": 1500, "vmknic": "vmk1"}, False)],
    "graphics": [({"graphics_type": "shared_direct"}, True), ({"graphics_type": "shared"}, False)],
    "mig": [({"mig": "enabled"}, True), ({"mig": "disabled"}, False)],
    "firmware": [(FIRMWARE, True), ({**FIRMWARE, "nics": []}, False), ({**FIRMWARE, "nic_firmware": {}}, False)],
    "vms": [(SHUTDOWN, True), ({**SHUTDOWN, "vms": []}, False), ({**SHUTDOWN, "evacuation": "refuse"}, False)],
}


@pytest.mark.parametrize("step, inputs, asked", [(step, *one) for step, rows in ASKS.items() for one in rows])
def test_a_module_is_asked_where_its_part_of_the_host_differs_or_was_not_read(step, inputs, asked):
    found = plan(inputs)
    assert found["asks"][step] is asked
    assert not any(is_asked for name, is_asked in found["asks"].items() if name != step)


@pytest.mark.parametrize(
    "step, answer, due",
    [
        ("kernel", {"host": {"changed": True}}, True),
        ("kernel", {"host": {"changed": False}}, False),
        ("kernel", {"skipped": True}, False),
        ("kernel", {"failed": True, "msg": "x"}, False),
        ("bios", {"bios": {"changed": True}}, True),
        ("driver", {"host": {"changed": True}}, True),
        ("passthrough", {"host": {"changed": True}}, True),
        ("pvrdma", {"host": {"changed": True}}, True),
        ("mtu", {"host": {"changed": True}}, True),
        ("graphics", {"host": {"changed": True}}, True),
        ("modules", {"results": [{"skipped": True}, {"host": {"changed": True}}]}, True),
        ("modules", {"results": [{"host": {"changed": False}}]}, False),
        ("modules", {"results": []}, False),
        ("mig", {"gpus": [{"changed": False}, {"changed": True}]}, True),
        ("firmware", {"devices": [{"changed": False}]}, False),
        ("firmware", {"devices": [{"changed": True}]}, True),
    ],
)
def test_a_step_is_due_where_its_module_would_change_something(step, answer, due):
    found = plan(**{step: answer})
    assert [name for name, is_due in found["due"].items() if is_due] == ([step] if due else [])
    assert found["undone"] == ([step] if due else [])
    # MIG alone changes the host under its VMs without a restart.
    assert (found["out"], found["acts"]) == (due and step == "mig", due)


@pytest.mark.parametrize("mode, again", [({}, True), (CHECK, False), (LOOK, False)])
def test_a_second_round_follows_a_restart_of_a_real_run(mode, again):
    found = plan(done={"restart": {"changed": True}}, **mode)
    assert (found["due"]["again"], found["restores_shell"]) == (again, again)


def waits(*needs, key="host"):
    return {
        key: {"changes": [], "pending": [{"what": f"thing-{one}", "needs": need} for one, need in enumerate(needs)]}
    }


@pytest.mark.parametrize(
    "answers, bmc, looks, kind, now",
    [
        ({}, "", False, "none", False),
        ({"kernel": waits("reboot")}, "", False, "warm", True),
        ({"kernel": waits("reboot")}, "", True, "warm", False),
        ({"firmware": waits("cold_power_cycle")}, "", False, "cold", False),
        ({"firmware": waits("cold_power_cycle")}, "10.0.0.1", False, "cold", True),
        ({"graphics": waits("xorg_restart")}, "", False, "xorg", False),
        # Neither waits for a restart.
        ({"mtu": waits("reboot"), "pvrdma": waits("reboot")}, "", False, "none", False),
    ],
)
def test_a_cold_restart_needs_a_bmc_and_a_look_restarts_nothing(answers, bmc, looks, kind, now):
    found = plan({"bmc_address": bmc}, only_looks=looks, **answers)
    assert (found["restart"]["kind"], found["restarts_now"]) == (kind, now)
    # A restart that is pending from an earlier run needs maintenance mode too.
    assert found["out"] is found["acts"] is (kind != "none")


MIG = {"mig": "enabled"}
READY = {"ssh": "ready"}
SHELLS = {
    "not needed": ({}, SSH, {}, False, False),
    "runs": (FIRMWARE, SSH, {}, True, False),
    "runs in check mode": (FIRMWARE, SSH, CHECK, True, False),
    "started": (FIRMWARE, {}, {}, True, False),
    "started for MIG": (MIG, {}, {}, True, False),
    "not started in check mode": (FIRMWARE, {}, CHECK, False, True),
    "not started for a look": (FIRMWARE, {}, LOOK, False, True),
    "nobody may start it": ({**FIRMWARE, **READY}, {}, {}, False, False),
    "MIG waits for the driver": (MIG, BARE, {}, False, False),
}


@pytest.mark.parametrize("inputs, host, mode, may, unseen", SHELLS.values(), ids=SHELLS.keys())
def test_ssh_is_used_where_it_runs_or_a_real_run_may_start_it(inputs, host, mode, may, unseen):
    shell = plan(inputs, host, **mode)["shell"]
    assert (shell["may"], shell["unseen"]) == (may, unseen)


@pytest.mark.parametrize(
    "inputs, host, done, restored",
    [
        ({}, {}, {}, False),
        (MIG, BARE, {}, True),
        (FIRMWARE, {}, {}, True),
        ({}, SSH, {}, True),
        ({}, {}, {"shell": {"changed": True}}, True),
        ({}, {}, {"shell": {"changed": False}}, False),
    ],
)
def test_ssh_is_restored_where_this_run_or_one_before_may_have_started_it(inputs, host, done, restored):
    assert plan(inputs, host, done)["restores_shell"] is restored


def vm(moid, power, host="esx-01", again=False):
    return {"moid": moid, "name": f"as-{moid}", "host": host, "before": {"power": power, "power_on_again": again}}


VMS = [
    vm("vm-1", "on"),
    vm("vm-2", "off", again=True),
    vm("vm-3", "on", "esx-02"),
    vm("vm-4", "off"),
    vm("vm-5", "off", "esx-02", again=True),
    {"moid": None, "host": "esx-01", "failed": True},
    {"moid": None, "host": "esx-01", "before": {}, "failed": True},
]


@pytest.mark.parametrize(
    "evacuation, kernel, vms",
    [
        ("shutdown", waits("reboot"), ["vm-1"]),
        ("shutdown", waits(), []),
        ("refuse", waits("reboot"), []),
    ],
)
def test_vms_that_run_on_a_host_that_goes_out_of_service_are_shut_down(evacuation, kernel, vms):
    found = plan({"evacuation": evacuation}, done={"vms": {"vms": VMS}}, kernel=kernel)["vms"]
    assert (found["off"], found["names"]) == ([{"moid": moid} for moid in vms], [f"as-{moid}" for moid in vms])


def test_vms_that_a_run_has_left_off_on_the_host_are_known_by_their_note():
    assert plan(done={"left_off": {"vms": VMS}})["vms"]["on"] == [{"moid": "vm-2"}]


COLD = {"firmware": waits("cold_power_cycle")}
WARM = {"kernel": waits("reboot")}
ALLOWED = {"reboot": "allow", "cold_cycle": "allow", "bmc_address": "10.0.0.1"}
OCCUPIED = {"msg": "VMs run.", "failed": True, "failure": {"code": "running_vms"}}
GIVEN_UP = {"msg": "No answer.", "failed": True, "failure": {"code": "no_answer"}}
LOCKED = {"lockdown": "strict", "lockdown_exceptions": []}
REFUSED = {
    "nothing": ({}, {}, {}, []),
    "restart": ({}, {}, WARM, ["because of thing-0, and that is not allowed."]),
    "restart allowed": ({"reboot": "allow"}, {}, WARM, []),
    "cold allowed": (ALLOWED, {}, COLD, []),
    "cold without a BMC": ({**ALLOWED, "bmc_address": ""}, {}, COLD, ["a cold power cycle, because of thing-0."]),
    "cold not allowed": ({**ALLOWED, "cold_cycle": "refuse"}, {}, COLD, ["a cold power cycle, because of thing-0."]),
    "cold and no restart": ({}, {}, COLD, ["needs a restart", "cold power cycle"]),
    "VMs run": ({}, {}, {"maintenance": OCCUPIED}, ["VMs run."]),
    "another failure": ({}, {}, {"maintenance": GIVEN_UP}, []),
    "shutdown": ({}, {}, {"shutdown": {"failed": True, "msg": "No tools."}}, ["No tools."]),
    "SSH": ({**FIRMWARE, **READY}, {}, {}, ["needs SSH"]),
    "SSH is started": (FIRMWARE, {}, {}, []),
    "SSH runs": ({**FIRMWARE, **READY}, SSH, {}, []),
    "lockdown": (FIRMWARE, LOCKED, WARM, ["the firmware of the network adapters needs SSH", "because of thing-0"]),
    "lockdown, MIG once the driver runs": (MIG, {**LOCKED, **BARE}, {}, ["MIG needs SSH. root is not"]),
    "lockdown and MIG is there": (
        MIG,
        {**LOCKED, "graphics": {**HOST["graphics"], "devices": [{"id": "0000:3b:00.0", "mode": "mig"}]}},
        {},
        [],
    ),
}


@pytest.mark.parametrize("inputs, host, answers, words", REFUSED.values(), ids=REFUSED.keys())
def test_a_run_that_would_not_begin_says_every_reason(inputs, host, answers, words):
    found = plan(inputs, host, **answers)
    assert len(found["refusals"]) == len(words), found["refusals"]
    assert all(word in one for word, one in zip(words, found["refusals"], strict=True)), found["refusals"]
    assert found["occupied"] is ("VMs run." in words)


DRIVER = {"driver": {"file": "x"}}
OF_RESTART = ["running", "borrowed", "in_maintenance", "reason", "boot_time"]
LEFT_OPEN = {
    "nothing": ({}, {}, {}, [], "SSH runs"),
    "graphics": ({**DRIVER, "graphics_type": "shared_direct"}, BARE, {}, ["graphics"], "the driver runs"),
    "driver is there": ({**DRIVER, "graphics_type": "shared_direct"}, {}, {}, [], "SSH runs"),
    "MIG with the driver": ({**DRIVER, **MIG}, BARE, {}, ["mode", "layout", *OF_RESTART], "the driver runs"),
    "no MIG with the driver": ({**DRIVER, "mig": "disabled"}, BARE, {}, ["mode", "layout"], "the driver runs"),
    "MIG without SSH": (MIG, {}, CHECK, ["mode", "layout", *OF_RESTART], "SSH runs"),
    "firmware without SSH": (FIRMWARE, {}, CHECK, ["SRIOV_EN", *OF_RESTART], "SSH runs"),
    "firmware with SSH": (FIRMWARE, SSH, CHECK, [], "SSH runs"),
}


@pytest.mark.parametrize("inputs, host, mode, what, after", LEFT_OPEN.values(), ids=LEFT_OPEN.keys())
def test_what_a_preview_cannot_know_is_left_open(inputs, host, mode, what, after):
    found = plan(inputs, host, **mode)["open"]
    assert (found["what"], found["after"]) == (what, after)


def test_what_is_left_open_has_its_reason_and_its_steps():
    found = plan({**FIRMWARE, **MIG}, **CHECK)
    by = ["MIG", "the firmware of the network adapters"]
    assert (found["open"]["why"], found["undone"]) == (f"{' and '.join(by)} can be checked only then", by)
    assert plan(DRIVER, BARE)["open"]["why"] == "GPUs report their settings only then"


BIOS_PLAN = {"bios": {"changes": [{"path": "bios.Sriov", "before": "Disabled", "after": "Enabled"}], "pending": []}}
STORIES = {
    "nothing": ({}, {}, {}, {}, []),
    "a gap": (
        {"mtu": 9000, "vmknic": "vmk1"},
        {},
        {},
        {},
        ["esx-01: No restart is needed.", "the MTU of vmk1 is 1500, requested 9000"],
    ),
    "a gap of the BIOS": (
        {},
        {},
        {},
        {"bios": BIOS_PLAN},
        ["esx-01: No restart is needed.", "bios.Sriov is Disabled, requested Enabled"],
    ),
    "a restart": ({}, {}, {}, WARM, ["esx-01: A restart is needed, because of thing-0."]),
    "a cold one": ({}, {}, {}, COLD, ["esx-01: A cold power cycle is needed, because of thing-0."]),
    "unseen": (
        FIRMWARE,
        {},
        CHECK,
        {},
        [
            "esx-01: No restart is needed for the settings that were checked.",
            "SSH does not run on the host, and check mode does not start it, so the firmware of the network "
            "adapters could not be checked. MIG on GPUs of the Ampere generation needs a restart, and changed "
            "firmware needs a cold power cycle.",
        ],
    ),
    "MIG after the driver": (
        MIG,
        BARE,
        {},
        WARM,
        [
            "esx-01: A restart is needed, because of thing-0.",
            "The MIG mode can be set only while the driver runs. GPUs of the Ampere generation need a second "
            "restart for it.",
        ],
    ),
}


@pytest.mark.parametrize("inputs, host, mode, answers, story", STORIES.values(), ids=STORIES.keys())
def test_the_report_names_what_is_missing_and_which_restart_settles_it(inputs, host, mode, answers, story):
    assert plan(inputs, host, **mode, **answers)["story"] == story


def test_the_bios_differs_by_its_own_module_and_asks_for_no_second_round():
    found = plan(bios=BIOS_PLAN)
    assert ([gap["path"] for gap in found["gaps"]], found["differs"]) == (["bios.Sriov"], False)


def test_a_change_that_needs_only_maintenance_mode_needs_no_restart():
    found = plan(graphics=waits("maintenance_mode"))
    assert (found["restart"]["kind"], found["restart"]["reboot"], found["out"]) == ("maintenance", False, True)


def test_a_restart_that_vcenter_reports_after_a_change_is_part_of_the_one_restart():
    found = plan(done={"graphics": waits("reboot")}, kernel=waits("reboot"))
    assert (found["restart"]["kind"], len(found["restart"]["reasons"])) == ("warm", 1)
    found = plan(done={"passthrough": waits("reboot")}, graphics=waits("maintenance_mode"))
    assert (found["restart"]["kind"], found["restarts_now"]) == ("warm", True)
    found = plan(done={"graphics": waits("reboot"), "restart": {"changed": True}})
    assert found["restart"]["kind"] == "none"


def in_mode(current, *configurable):
    gpus = [{**gpu, "board": "A100"} for gpu in HOST["gpus"]]
    mode = {"current": current, "configurable": list(configurable), "used_memory_mb": None}
    return {"gpus": [{**gpus[0], "device_mode": mode}, gpus[1]]}


BLOCKED_MODES = {
    "no vGPU": ({"graphics_type": "shared_direct"}, in_mode("host", "host", "direct_path"), ["mode host, and vGPU"]),
    "vGPU": ({"graphics_type": "shared_direct"}, in_mode("host", "host", "vgpu_same_size"), []),
    "vGPU, no driver yet": ({"graphics_type": "shared_direct"}, {**in_mode("none", "none"), **BARE}, []),
    "no passthrough": (
        {"gpu_passthrough": "enabled"},
        in_mode("none"),
        ["mode none, and passthrough needs direct_path"],
    ),
    "passthrough": ({"gpu_passthrough": "enabled"}, in_mode("direct_path"), []),
    "a BIOS that the run changes": (
        {"gpu_passthrough": "enabled", "bmc_address": "192.0.2.1", "bios_functions": {"iommu": "enabled"}},
        in_mode("none"),
        [],
    ),
    "no passthrough of a port": (
        {"nic_passthrough": True, "nics": ["0000:3a:00.1"]},
        {
            "nics": [
                {
                    **HOST["nics"][0],
                    "pci": "0000:3a:00.1",
                    "root": "0000:36",
                    "device_mode": {"current": "host", "configurable": ["host"], "used_memory_mb": None},
                }
            ]
        },
        ["The port 0000:3a:00.1 is in the mode host"],
    ),
}


@pytest.mark.parametrize("inputs, host, words", BLOCKED_MODES.values(), ids=BLOCKED_MODES.keys())
def test_a_device_that_cannot_have_the_needed_mode_is_named_before_the_run(inputs, host, words):
    found = [entry for entry in plan(inputs, host)["blockers"] if entry["what"] == "device mode"]
    assert len(found) == len(words), found
    assert all(word in one["text"] for word, one in zip(words, found, strict=True)), found
    assert all("It can be configured to" in one["text"] for one in found)
