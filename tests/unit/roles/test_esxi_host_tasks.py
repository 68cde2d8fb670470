"""When tasks of the role esxi_host run, try again, fail and count as a change, in each kind of run."""

from __future__ import annotations

import pytest

from unit.roles.variables import holds, tasks_of

NONE = {"kind": "none", "reboot": False, "reasons": [], "cold_reasons": []}
WARM = {**NONE, "kind": "warm", "reboot": True}
XORG = {**NONE, "kind": "xorg"}
STEPS = (
    "profile",
    "kernel",
    "modules",
    "passthrough",
    "pvrdma",
    "mtu",
    "graphics",
    "bios",
    "driver",
    "mig",
    "firmware",
    "vms",
)
PLAN = {
    "asks": dict.fromkeys(STEPS, False),
    "due": dict.fromkeys(STEPS, False),
    "shell": {"may": False},
    "restart": NONE,
    "restores_shell": False,
    "acts": True,
    "differs": False,
    "occupied": False,
    "story": [],
    "refusals": [],
    "vms": {"names": [], "off": [], "on": []},
    "open": {"what": []},
}
BASE = {"esxi_host_name": "esx-01", "esxi_host_bmc_address": ""}
REAL, CHECK = {"ansible_check_mode": False}, {"ansible_check_mode": True}
LOOK = {"__esxi_host_only_looks": True}
MODES = [REAL, CHECK, {**REAL, **LOOK}, {**CHECK, **LOOK}]


def is_met(file, name, keyword="when", **given):
    return holds("esxi_host", file, name, keyword, **{**BASE, **planned(), **given})


def planned(**found):
    """The plan of a host on which nothing is to be done, but for this."""
    return {"__esxi_host_plan": {**PLAN, **found}}


@pytest.mark.parametrize(
    "file, name, modes",
    [
        ("main", "Restart the host, return it to service and verify it", (True, True, False, False)),
        ("round", "Report the planned changes", (True, True, False, False)),
        ("round", "Apply the planned changes", (True, False, False, False)),
        ("look", "Wait for a host that an earlier run restarted", (True, True, False, False)),
        (
            "look",
            "Reject a host that prevents a required change",
            (True, False, False, False),
        ),
        ("report", "Reject changes that are not allowed", (True, False, True, False)),
    ],
)
def test_what_a_real_run_check_mode_and_a_look_do(file, name, modes):
    assert tuple(is_met(file, name, **mode) for mode in MODES) == modes


def test_check_mode_verifies_nothing_and_records_what_it_left():
    names = ("Verify the desired state", "Record the changes that check mode did not make")
    assert [[is_met("finish", name, **mode) for name in names] for mode in (REAL, CHECK)] == [
        [True, False],
        [False, True],
    ]


def test_a_host_on_which_nothing_is_due_is_left_alone():
    assert is_met("round", "Apply the planned changes", **planned(acts=False)) is False


def test_a_check_of_all_hosts_waits_for_one_that_is_on_its_way():
    given = {**REAL, **LOOK, "__esxi_host_awaited": True}
    assert is_met("look", "Wait for a host that an earlier run restarted", **given)


@pytest.mark.parametrize("given_away, asked", [(False, True), (True, False)])
def test_ports_that_are_given_away_have_no_names_to_compare(given_away, asked):
    name = "Reject ports that the host does not have"
    assert is_met("look", name, esxi_host_nic_passthrough=given_away) is asked


@pytest.mark.parametrize(
    "given, read",
    [
        ({"esxi_host_nic_passthrough": True, "esxi_host_directpath_label": ""}, True),
        ({"esxi_host_nic_passthrough": False, "esxi_host_directpath_label": "gpu"}, True),
        ({"esxi_host_nic_passthrough": False, "esxi_host_directpath_label": ""}, False),
    ],
)
def test_passthrough_is_read_again_where_it_was_requested(given, read):
    assert is_met("prove", "Read passthrough again", **given) is read


@pytest.mark.parametrize("may, mode, started", [(True, REAL, True), (True, CHECK, False), (False, REAL, False)])
def test_vms_are_started_again_where_they_may_have_been_shut_down(may, mode, started):
    name = "Start the VMs that were shut down for the host"
    assert is_met("finish", name, **planned(asks={"vms": may}), **mode) is started


@pytest.mark.parametrize(
    "noted, in_maintenance, started",
    [([{"moid": "vm-1"}], False, True), ([{"moid": "vm-1"}], True, False), ([], False, False)],
)
def test_no_vm_starts_on_a_host_that_somebody_else_keeps_out_of_service(noted, in_maintenance, started):
    left = {"host": {"after": {"in_maintenance": in_maintenance}}}
    given = {**planned(vms={"on": noted}), "__esxi_host_left": left}
    assert is_met("start", "Start the VMs again", **given) is started


@pytest.mark.parametrize("may, mode, put_back", [(False, REAL, False), (True, REAL, True), (True, LOOK, False)])
def test_ssh_is_put_back_where_this_run_or_one_before_may_have_started_it(may, mode, put_back):
    assert is_met("main", "Restore the SSH service", **planned(restores_shell=may), **mode) is put_back


@pytest.mark.parametrize(
    "differs, restart, rounds, second",
    [(True, WARM, True, True), (True, NONE, True, False), (False, WARM, False, False)],
)
def test_a_second_round_is_for_what_is_left_after_the_restart(differs, restart, rounds, second):
    given = planned(differs=differs, restart=restart)
    assert is_met("again", "Apply the changes that needed the restart first", **given) is rounds
    name = "Restart the host again for changes that needed the driver"
    assert is_met("again", name, **given) is second


@pytest.mark.parametrize("now, again", [(True, False), (False, True)])
def test_the_restart_and_the_second_round_follow_the_plan(now, again):
    given = planned(restarts_now=now, due={"again": again})
    assert is_met("finish", "Restart the host once for all pending settings", **given) is now
    assert is_met("finish", "Apply the changes that needed the restart first", **given) is again


CHANGED = {
    "Plan the settings of the configuration profile": {"cluster": {"changed": True}},
    "Plan the BIOS settings": {"bios": {"changed": True}},
    "Plan the driver": {"host": {"changed": True}},
    "Plan the kernel settings": {"host": {"changed": True}},
    "Plan the options of the network driver": {"host": {"changed": True}},
    "Plan passthrough": {"host": {"changed": True}},
    "Plan PVRDMA": {"host": {"changed": True}},
    "Plan the MTU": {"host": {"changed": True}},
    "Plan the graphics types": {"host": {"changed": True}},
    "Plan MIG": {"gpus": [{"changed": False}, {"changed": True}]},
    "Plan firmware options of the network adapters": {"devices": [{"changed": True}]},
    "Plan to shut down the VMs of the site on the host": {"changed": True},
    "Check whether the host can enter maintenance mode": {"host": {"changed": True}},
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_plan_counts_as_a_change_in_check_mode_alone_where_there_is_one(name):
    (task,) = (one for one in tasks_of("esxi_host", "plan") if one["name"] == name)
    nothing = {"changed": False} if "shut down" in name else {}
    cases = [(CHECK, CHANGED[name]), (REAL, CHANGED[name]), (CHECK, nothing)]
    counted = [is_met("plan", name, "changed_when", **mode, **{task["register"]: answer}) for mode, answer in cases]
    assert counted == [True, False, False]


PLANNED = {
    "bios": "Plan the BIOS settings",
    "driver": "Plan the driver",
    "kernel": "Plan the kernel settings",
    "modules": "Plan the options of the network driver",
    "passthrough": "Plan passthrough",
    "pvrdma": "Plan PVRDMA",
    "mtu": "Plan the MTU",
    "graphics": "Plan the graphics types",
    "vms": "Find the VMs of the site on the host",
}


@pytest.mark.parametrize("step", PLANNED)
def test_a_module_is_asked_where_the_plan_says_so(step):
    others = [one for one in PLANNED if one != step]
    asks = [{**PLAN["asks"], **dict.fromkeys(steps, True)} for steps in ([step], others)]
    assert [is_met("plan", PLANNED[step], **planned(asks=one)) for one in asks] == [True, False]


DONE = {
    "bios": "Stage the BIOS settings for the next restart",
    "driver": "Install the host driver",
    "kernel": "Set the kernel settings",
    "modules": "Set the options of the network driver",
    "passthrough": "Configure passthrough",
    "pvrdma": "Set up PVRDMA",
    "mtu": "Set the MTU",
    "graphics": "Set the graphics types",
    "mig": "Set the MIG mode",
    "firmware": "Set firmware options of the network adapters",
}


@pytest.mark.parametrize("step", DONE)
def test_a_step_is_done_where_it_is_due(step):
    others = [one for one in DONE if one != step]
    due = [{**PLAN["due"], **dict.fromkeys(steps, True)} for steps in ([step], others)]
    assert [is_met("do", DONE[step], **planned(due=one)) for one in due] == [True, False]


@pytest.mark.parametrize("may", [True, False])
def test_what_needs_a_shell_is_planned_where_one_may_be_used(may):
    given = planned(shell={"may": may}, asks={"mig": True, "firmware": True})
    found = [is_met("plan", name, **given) for name in ("Plan MIG", "Plan firmware options of the network adapters")]
    assert found == [may, may]
    none = planned(shell={"may": may}, asks={"mig": False, "firmware": False})
    found = [is_met("plan", name, **none) for name in ("Plan MIG", "Plan firmware options of the network adapters")]
    assert found == [False, False]


@pytest.mark.parametrize("restart, mode, shown", [(XORG, CHECK, True), (XORG, REAL, False), (WARM, CHECK, False)])
def test_the_restart_of_xorg_is_shown_in_check_mode(restart, mode, shown):
    assert is_met("plan", "Plan the restart of Xorg", **planned(restart=restart), **mode) is shown
    assert is_met("do", "Restart Xorg if the graphics types need no host restart", **planned(restart=XORG))


@pytest.mark.parametrize("code, ended", [("bmc_busy", False), ("bmc_timeout", True), ("", True)])
def test_a_plan_of_the_bios_waits_for_a_bmc_that_is_busy(code, ended):
    answer = {"failed": True, "failure": {"code": code}} if code else {"bios": {}}
    assert is_met("plan", "Plan the BIOS settings", "until", __esxi_host_bios_plan=answer) is ended


@pytest.mark.parametrize(
    "code, ended",
    [("bmc_busy", False), ("bmc_timeout", False), ("bios_not_offered", False), ("bmc_login", True), ("", True)],
)
def test_the_proof_waits_for_a_bmc_until_the_server_has_tested_itself(code, ended):
    answer = {"failed": True, "failure": {"code": code}} if code else {"bios": {}}
    assert is_met("prove", "Read the BIOS settings again", "until", __esxi_host_bios_proof=answer) is ended


OCCUPIED = {"failed": True, "failure": {"code": "running_vms"}}


@pytest.mark.parametrize(
    "mode, answer, fails",
    [
        (REAL, OCCUPIED, True),
        (CHECK, OCCUPIED, False),
        ({**CHECK, **LOOK}, OCCUPIED, True),
        (CHECK, {"failed": True, "failure": {"code": "host_gone"}}, True),
        (REAL, {"failed": False}, False),
    ],
    ids=["real run", "check mode", "look", "another reason", "no failure"],
)
def test_check_mode_reports_vms_that_keep_the_host_in_service_with_the_rest(mode, answer, fails):
    name = "Check whether the host can enter maintenance mode"
    occupied = planned(occupied=answer is OCCUPIED)
    assert is_met("plan", name, "failed_when", __esxi_host_out_plan=answer, **occupied, **mode) is fails


@pytest.mark.parametrize("mode, fails", [(REAL, True), (CHECK, False), ({**CHECK, **LOOK}, True)])
def test_check_mode_reports_vms_that_cannot_be_shut_down_with_the_rest(mode, fails):
    name = "Plan to shut down the VMs of the site on the host"
    given = {"__esxi_host_shut_plan": {"failed": True}, **mode}
    assert is_met("plan", name, "failed_when", **given) is fails


@pytest.mark.parametrize("may, ssh, started", [(True, "start", True), (True, "ready", False), (False, "start", False)])
def test_ssh_is_started_where_it_is_needed_and_that_is_allowed(may, ssh, started):
    name = "Start SSH for changes through the shell of the host"
    assert is_met("round", name, **planned(shell={"may": may}), esxi_host_ssh=ssh) is started
    given = {**planned(asks={"firmware": may}), "esxi_host_ssh": ssh}
    assert is_met("prove", "Start SSH for the verification", **given) is started


@pytest.mark.parametrize("story, said", [([], False), (["x"], True)])
def test_a_host_on_which_nothing_is_missing_is_not_worth_a_word(story, said):
    assert is_met("report", "Report missing settings and the restart that they need", **planned(story=story)) is said


@pytest.mark.parametrize("mode, refusals, said", [(CHECK, ["x"], True), (CHECK, [], False), (REAL, ["x"], False)])
def test_check_mode_says_where_a_run_would_end(mode, refusals, said):
    assert is_met("report", "Report what a run would reject", **planned(refusals=refusals), **mode) is said


@pytest.mark.parametrize("mode, what, said", [(CHECK, ["mode"], True), (CHECK, [], False), (REAL, ["mode"], False)])
def test_check_mode_says_what_it_cannot_know(mode, what, said):
    left = {"what": what, "after": "SSH runs", "why": ""}
    assert is_met("report", "Report what check mode cannot know", **planned(open=left), **mode) is said


@pytest.mark.parametrize("shut, said", [(["a"], True), ([], False)])
def test_vms_that_will_be_shut_down_are_named(shut, said):
    assert is_met("report", "Report which VMs are shut down and started again", **planned(vms={"names": shut})) is said


FAILURES = {
    "settings_reverted": (False, True, True),
    "cluster_not_found": (True, True, True),
}


@pytest.mark.parametrize("code", FAILURES)
def test_reverted_settings_end_a_run_and_not_the_report_of_check_mode(code):
    name = "Plan the settings of the configuration profile"
    answer = {"failed": True, "failure": {"code": code}}
    ends = [is_met("plan", name, "failed_when", **mode, __esxi_host_profile_plan=answer) for mode in MODES[1:]]
    assert is_met("plan", name, "failed_when", **REAL, __esxi_host_profile_plan=answer)
    assert tuple(ends) == FAILURES[code]


@pytest.mark.parametrize("status, fails", [(403, False), (500, True)])
def test_a_user_who_may_not_read_profiles_can_prepare_hosts(status, fails):
    name = "Read which clusters have a configuration profile"
    answer = {"failed": True, "failure": {"code": "rest_refused", "status": status}}
    assert is_met("plan", name, "failed_when", **REAL, __esxi_host_profiles=answer) is fails
