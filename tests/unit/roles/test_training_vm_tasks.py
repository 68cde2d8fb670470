"""When tasks of the role training_vm run and fail, and what its variables come to."""

from __future__ import annotations

import pytest

from unit.roles.variables import holds, tasks_of, value_of

REAL, CHECK, LOOK = {}, {"ansible_check_mode": True}, {"__training_vm_only_looks": True}
MODES = [REAL, CHECK, LOOK, {**CHECK, **LOOK}]
BASE = {"training_vm_vms": [], "__training_vm_departed": {"running": [], "problems": [], "reported": [], "remove": []}}


def found(name, **given):
    return value_of("training_vm", f"__training_vm_{name}", **{**BASE, **given})


def is_met(file, name, keyword="when", **given):
    return holds("training_vm", file, name, keyword, **{**BASE, **given})


CLONES = {"training_vm_template": "golden"}


@pytest.mark.parametrize(
    "given, creates",
    [
        ({}, False),
        (CLONES, True),
        ({"training_vm_content_item": "golden"}, True),
        ({**CLONES, "training_vm_vgpu_state": "absent"}, False),
    ],
)
def test_vms_are_created_from_a_template_or_an_item_unless_they_lose_their_gpus(given, creates):
    assert found("creates", **given) is creates
    assert is_met("main", "Find missing training VMs", **given) is creates


STATIC_PORTS = {"training_vm_path": "passthrough", "training_vm_nic_assignment": "static"}
STATIC_BOARDS = {"training_vm_gpu_mode": "passthrough", "training_vm_gpu_assignment": "static"}


@pytest.mark.parametrize(
    "given, places",
    [
        ({"training_vm_path": "tcp"}, False),
        (CLONES, True),
        (STATIC_PORTS, True),
        ({**STATIC_PORTS, "training_vm_path": "sriov"}, False),
        ({**STATIC_PORTS, "training_vm_nic_assignment": "dynamic"}, False),
        (STATIC_BOARDS, True),
        ({**STATIC_BOARDS, "training_vm_gpu_mode": "vgpu"}, False),
        ({**STATIC_BOARDS, "training_vm_gpu_assignment": "dynamic"}, False),
    ],
)
def test_a_place_is_planned_for_new_vms_and_for_devices_that_nobody_names(given, places):
    assert found("places", **given) is places
    assert is_met("main", "Plan the placement of the training VMs", **given) is places
    undone = {**given, **CHECK, "training_vm_undone_hosts": ["esx-01"]}
    assert is_met("main", "Plan the placement of the training VMs", **undone) is False
    assert is_met("preview", "Check capacity before the hosts are configured", **undone) is places


@pytest.mark.parametrize(
    "start, given, starts",
    [("auto", {}, "ignore"), ("auto", CLONES, "all"), ("all", {}, "all"), ("ignore", CLONES, "ignore")],
)
def test_vms_are_powered_on_where_they_are_new_or_somebody_asks_for_it(start, given, starts):
    assert found("starts", training_vm_start=start, **given) == starts


@pytest.mark.parametrize(
    "drs, given, asked", [("enabled", CLONES, True), ("enabled", {}, False), ("ignore", CLONES, False)]
)
def test_drs_gets_rules_for_vms_that_the_role_creates(drs, given, asked):
    assert found("reports_drs", training_vm_drs=drs, **given) is asked
    assert is_met("look", "Read the DRS rules", training_vm_drs=drs, **given) is asked
    assert is_met("prove", "Read the DRS rules again", training_vm_drs=drs, **given) is asked


DUE = {"clone": ["a"], "on": ["a"], "running": [], "anything": True}
NOTHING = {"clone": [], "on": [], "running": [], "anything": False}


@pytest.mark.parametrize(
    "name, given, idle",
    [
        (
            "Create the training VMs that are missing",
            {**CLONES, "__training_vm_due": DUE},
            {"__training_vm_due": NOTHING},
        ),
        ("Remove VMs that left the site", {"__training_vm_removal_due": True}, {"__training_vm_removal_due": False}),
        ("Configure DRS for the training VMs", {"__training_vm_drs_due": True}, {"__training_vm_drs_due": False}),
        ("Power on the training VMs", {"__training_vm_due": DUE}, {"__training_vm_due": NOTHING}),
        (
            "Verify the desired state",
            {"__training_vm_due": DUE},
            {"__training_vm_due": NOTHING},
        ),
    ],
)
def test_only_a_real_run_acts_and_only_where_something_is_due(name, given, idle):
    assert [is_met("main", name, **given, **mode) for mode in MODES] == [True, False, False, False]
    assert is_met("main", name, **{**given, **idle}) is False


def test_parts_of_vms_are_set_in_a_real_run_alone():
    name = "Change the training VMs that differ"
    assert [is_met("main", name, **mode) for mode in MODES] == [True, False, False, False]


def test_vms_of_a_library_are_created_before_anything_else_is_asked_of_them():
    name = "Create the training VMs that are missing from the library"
    given = {"training_vm_content_item": "golden", "__training_vm_left": DUE}
    assert [is_met("missing", name, **given, **mode) for mode in MODES] == [True, False, False, False]
    assert is_met("missing", name, **{**given, "training_vm_template": "golden"}) is False
    assert is_met("missing", name, **{**given, "__training_vm_left": NOTHING}) is False
    # They are not created again with those of a template.
    assert is_met("main", "Create the training VMs that are missing", **given, __training_vm_due=DUE) is False


@pytest.mark.parametrize(
    "due, drs, removal, proved",
    [
        (DUE, {}, [], True),
        (NOTHING, {}, [], False),
        (NOTHING, {"changed": True}, [], True),
        (NOTHING, {}, [True], True),
    ],
    ids=["a VM", "nothing", "DRS", "a removal"],
)
def test_what_was_done_is_read_again_and_else_the_look_is_the_proof(due, drs, removal, proved):
    given = {
        "__training_vm_due": due,
        "__training_vm_drs_look": {"cluster": drs},
        "__training_vm_removal_look": {"vms": [{"changed": False}] + [{"changed": changed} for changed in removal]},
        "__training_vm_power_look": {"vms": [{"path": "look"}]},
        "__training_vm_power_proof": {"vms": [{"path": "proof"}]},
    }
    assert found("proved", **given) is proved
    assert found("seen", **given)["power"] == [{"path": "proof" if proved else "look"}]


@pytest.mark.parametrize(
    "power, modes", [("refuse", [True, False, True, True]), ("cycle", [False] * 4)], ids=["refused", "allowed"]
)
def test_vms_that_run_stop_the_role_unless_check_mode_or_the_site_goes_on(power, modes):
    name = "Reject a power-off that is not allowed"
    assert [is_met("look", name, training_vm_power=power, **mode) for mode in MODES] == modes


@pytest.mark.parametrize(
    "power, running, said", [("refuse", ["a"], True), ("refuse", [], False), ("cycle", ["a"], False)]
)
def test_check_mode_says_that_a_run_would_end_at_vms_that_run(power, running, said):
    given = {"training_vm_power": power, "__training_vm_due": {**NOTHING, "running": running}}
    assert is_met("open", "Report what a run would reject", **given) is said


@pytest.mark.parametrize("cluster, undone, asked", [("gpu", [], True), ("", [], False), ("gpu", ["esx-01"], False)])
def test_a_vm_has_to_be_in_its_cluster_where_there_is_one_and_its_place_is_decided(cluster, undone, asked):
    name = "Reject training VMs that are not in their cluster"
    given = {"training_vm_cluster": cluster, "training_vm_undone_hosts": undone, **CHECK}
    assert is_met("look", name, **given) is asked


@pytest.mark.parametrize(
    "looks, elsewhere",
    [
        ({"config": [{"path": "a", "cluster": "gpu"}, {"path": "b", "cluster": "other"}]}, ["b"]),
        ({"config": [{"path": "a", "cluster": None}]}, []),
    ],
    ids=["in another cluster", "not there yet"],
)
def test_vms_of_another_cluster_are_named(looks, elsewhere):
    given = {f"__training_vm_{name}_look": {"vms": vms} for name, vms in looks.items()}
    assert [vm["path"] for vm in found("elsewhere", training_vm_cluster="gpu", **given)] == elsewhere


def test_a_look_counts_as_a_change_in_check_mode_alone():
    (task,) = (one for one in tasks_of("training_vm", "look") if one.get("register") == "__training_vm_config_look")
    cases = [(CHECK, True), (CHECK, False), (REAL, True)]
    counted = [
        is_met("look", task["name"], "changed_when", **mode, **{task["register"]: {"changed": changed}})
        for mode, changed in cases
    ]
    assert counted == [True, False, False]


@pytest.mark.parametrize("start, mode, counted", [("all", CHECK, True), ("ignore", CHECK, False), ("all", REAL, False)])
def test_power_counts_as_a_change_where_vms_will_be_powered_on(start, mode, counted):
    given = {"training_vm_start": start, "__training_vm_power_look": {"changed": True}, **mode}
    assert is_met("look", "Find the training VMs that run", "changed_when", **given) is counted


@pytest.mark.parametrize(
    "given, fails", [({}, False), ({"training_vm_absent": ["a"]}, True), ({"training_vm_prune": "remove"}, True)]
)
def test_unknown_owners_stop_a_run_that_may_remove_vms(given, fails):
    owners = {"failed": True}
    name = "Read who created the VMs of the cluster"
    assert is_met("left", name, "failed_when", __training_vm_owners=owners, **given) is fails
    assert is_met("left", name, "failed_when", __training_vm_owners={"failed": False}, **given) is False


def test_vms_that_left_the_site_are_refused_in_a_real_run_and_reported_otherwise():
    departed = {"running": [], "problems": [{"found": "It is not ours.", "todo": "Remove it."}], "reported": ["a"]}
    given = {"__training_vm_departed": departed}
    assert [is_met("left", "Reject VMs that left the site", **given, **mode) for mode in MODES] == [
        True,
        False,
        False,
        False,
    ]
    assert [is_met("left", "Report VMs that left the site", **given, **mode) for mode in MODES] == [
        True,
        True,
        False,
        False,
    ]
    assert is_met("open", "Report why a run would reject VMs that left the site", **given)
    assert not is_met("left", "Report VMs that left the site")
    assert not is_met("open", "Report why a run would reject VMs that left the site")


@pytest.mark.parametrize("power, count", [("refuse", 2), ("cycle", 1)])
def test_vms_that_left_the_site_and_run_are_removed_only_where_power_is_allowed(power, count):
    departed = {"running": ["/dc/vm/a"], "problems": [{"found": "It is not ours.", "todo": "Remove it."}]}
    sentences = found("departed_refusals", __training_vm_departed=departed, training_vm_power=power)
    assert sentences[0] == "It is not ours. Remove it."
    assert [("/dc/vm/a" in one) for one in sentences[1:]] == [True] * (count - 1)


@pytest.mark.parametrize(
    "place, mode, stops",
    [
        ({"failure": {"code": "does_not_fit"}, "placement": {"table": ""}}, REAL, True),
        ({"msg": "lost"}, REAL, True),
        ({"placement": {"table": ""}}, REAL, False),
        ({"failure": {"code": "does_not_fit"}, "placement": {"table": ""}}, LOOK, False),
    ],
    ids=["does not fit", "no plan", "fits", "look"],
)
def test_a_run_ends_where_a_vm_has_no_place(place, mode, stops):
    given = {"__training_vm_place": place, **mode}
    (task,) = (one for one in tasks_of("training_vm", "place") if one["name"] == "Stop before a training VM is changed")
    assert len(task["when"]) == 2
    assert is_met("place", "Stop before a training VM is changed", **given) is stops
    name = "Show the planned placement of the training VMs"
    assert is_met("place", name, **given) is ("placement" in place)


LOOKED = {"vms": [{"path": "ran", "changed": False}, {"path": "off", "changed": True}]}
PROVED = {"vms": [{"path": "ran", "changed": False}, {"path": "off", "changed": True}]}


@pytest.mark.parametrize("start, running", [("all", ["ran", "off"]), ("ignore", ["ran"])])
def test_vms_that_were_off_are_held_to_run_only_where_they_are_powered_on(start, running):
    given = {
        "training_vm_start": start,
        "__training_vm_steps": {"power": ["ran", "off"]},
        "__training_vm_power_look": LOOKED,
        "__training_vm_power_proof": PROVED,
    }
    assert found("running", **given) == running
    assert [vm["path"] for vm in found("running_proofs", **given)] == running


@pytest.mark.parametrize(
    "given, unknown",
    [
        ({"training_vm_content_item": "golden", **CHECK}, ["new"]),
        ({**CLONES, **CHECK}, []),
        ({"training_vm_content_item": "golden"}, []),
    ],
    ids=["from a library", "from a template", "made already"],
)
def test_what_an_item_of_a_library_will_be_is_unknown(given, unknown):
    vms = [{"name": "new", "before": {"exists": False}}, {"name": "there", "before": {"exists": True}}]
    assert found("unknown", __training_vm_clone_look={"vms": vms}, **given) == unknown


def test_what_there_is_now_is_reported_by_a_run_and_by_check_mode():
    assert [is_met("main", "Report the state of the training VMs", **mode) for mode in MODES] == [
        True,
        True,
        False,
        False,
    ]
    assert [is_met("main", "Report what check mode cannot know", **mode) for mode in MODES] == [
        False,
        True,
        False,
        False,
    ]
    assert [
        is_met("report", "Report the placement of the training VMs", training_vm_machines=one) for one in ([], ["a"])
    ] == [
        False,
        True,
    ]


@pytest.mark.parametrize("unknown, reported", [([{"name": "vgpu"}], True), ([], False)])
def test_values_of_a_vm_that_is_copied_from_a_library_are_reported_as_open(unknown, reported):
    given = {"__training_vm_unknown": unknown}
    assert is_met("open", "Report values that depend on the library item", **given) is reported


def test_a_power_off_that_is_not_allowed_is_refused_with_the_settings():
    due = {"running": ["job-01"], "differences": ["job-01: pciPassthru.RelaxACSforP2P"]}
    name = "Reject a power-off that is not allowed"
    assert is_met("look", name, training_vm_power="refuse", __training_vm_due=due)
    assert not is_met("look", name, training_vm_power="cycle", __training_vm_due=due)
    (task,) = (one for one in tasks_of("training_vm", "look") if one["name"] == name)
    message = task["ansible.builtin.assert"]["fail_msg"]
    assert "These settings differ: {{ __training_vm_due.differences | join('; ') }}." in message
