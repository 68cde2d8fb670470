"""On which hosts plays of the stages run, when their tasks do, and what they read of hosts, switches and guests."""

from __future__ import annotations

import pytest

from unit.playbooks.expressions import entry_of, is_met, worked_out

NOBODY = "all:!all"
GUEST = {"train-01": {"address": "192.0.2.11"}}


def known(*stages, later=(), guests=None):
    """hostvars of a run that knows its guests."""
    found = {"stages": list(stages), "look": {}, "guests": GUEST, "later": list(later)}
    found["reached"] = GUEST if guests is None else guests
    return {"localhost": {"aiready_run": {"skipped": [], "guests": found}}}


def skipping(*stages):
    """hostvars of a run of playbook site that skips these stages."""
    return {"localhost": {"aiready_run": {"skipped": list(stages)}}}


STAGES = [
    ("fabric", "Read all switches before the first change", "switches"),
    ("fabric", "Configure RoCE QoS on the switches in waves", "switches"),
    ("hosts", "Check the site before the first host", "esxi_hosts"),
    ("hosts", "Prepare the ESXi hosts in waves", "esxi_hosts"),
    ("machines", "Prepare the training VMs", "localhost"),
]


@pytest.mark.parametrize("playbook, play, hosts", STAGES, ids=[play for _playbook, play, _hosts in STAGES])
def test_a_stage_that_is_left_out_runs_nowhere(playbook, play, hosts):
    pattern = entry_of(playbook, play, "hosts")["hosts"]
    assert worked_out(pattern, {}, groups={}) == hosts
    assert worked_out(pattern, {}, hostvars=skipping(playbook)) == NOBODY


@pytest.mark.parametrize("playbook, group", [("fabric", "switches"), ("hosts", "esxi_hosts")])
def test_an_inventory_without_hosts_of_a_stage_is_checked_all_the_same(playbook, group):
    name = {"fabric": "has no switches", "hosts": "has no ESXi hosts"}[playbook]
    pattern = entry_of(playbook, f"Check the inventory where it {name}", "hosts")["hosts"]
    there = [{}, {group: []}, {group: ["one"]}]
    assert [worked_out(pattern, {}, groups=groups) for groups in there] == ["localhost", "localhost", NOBODY]
    assert worked_out(pattern, {}, groups={}, hostvars=skipping(playbook)) == NOBODY


@pytest.mark.parametrize(
    "names, hostvars, check_mode, hosts",
    [
        (["a", "b"], {}, False, "esxi_hosts"),
        (["a"], {}, False, NOBODY),
        (["a", "b"], {}, True, NOBODY),
        (["a", "b"], skipping("hosts"), False, NOBODY),
        (None, {}, False, NOBODY),
    ],
    ids=["two", "one", "check mode", "left out", "none"],
)
def test_all_hosts_are_checked_first_where_there_is_more_than_one(names, hostvars, check_mode, hosts):
    play = entry_of("hosts", "Check all hosts before the first change", "hosts")
    given = {"groups": {} if names is None else {"esxi_hosts": names}, "hostvars": hostvars}
    assert worked_out(play["hosts"], play["vars"], ansible_check_mode=check_mode, **given) == hosts


ORDERED = "Configure RoCE QoS on the switches in waves"


@pytest.mark.parametrize(
    "given, site, order",
    [
        ({}, {}, "inventory"),
        ({"switch_state": "absent"}, {}, "reverse_inventory"),
        ({"switch_state": "present"}, {"roce": {"mode": "lossless"}}, "inventory"),
        ({}, {"roce": {"mode": "lossy"}}, "reverse_inventory"),
    ],
)
def test_pauses_are_taken_away_from_leaves_before_spines(given, site, order):
    play = entry_of("fabric", ORDERED, "order")
    there = {"groups": {"switches": ["spine"]}, "hostvars": {"spine": {"site": site}}}
    assert worked_out(play["order"], {}, **there, **given) == order
    assert worked_out(play["order"], {}, groups={}) == "inventory"


@pytest.mark.parametrize("playbook, group, part", [("fabric", "switches", "fabric"), ("hosts", "esxi_hosts", "hosts")])
@pytest.mark.parametrize("given, size", [({}, 1), ({"serial": 4}, 4)])
def test_waves_have_the_size_that_the_site_says_or_one(playbook, group, part, given, size):
    name = ORDERED if playbook == "fabric" else "Prepare the ESXi hosts in waves"
    serial = entry_of(playbook, name, "serial")["serial"]
    there = {"groups": {group: ["one", "two"]}, "hostvars": {"one": {"site": {part: given}}, "two": {"site": {}}}}
    found = worked_out(serial, {}, **there)
    # Of switches, the first is changed alone.
    assert found == ([1, size] if playbook == "fabric" else size)


@pytest.mark.parametrize("playbook, kind", [("fabric", "switch"), ("hosts", "host")])
def test_no_wave_begins_after_a_failure(playbook, kind):
    task = entry_of(playbook, f"Stop after a failed {kind}", "vars")
    lost = worked_out(task["vars"]["__lost"], {}, ansible_play_hosts_all=["a", "b", "c"], ansible_play_hosts=["a", "c"])
    assert lost == ["b"]
    assert (task["run_once"], task["any_errors_fatal"]) == (True, True)
    assert worked_out(f"{{{{ {task['ansible.builtin.assert']['that']} }}}}", {}, __lost=lost) is False


def test_check_mode_ends_with_the_look_at_all_switches():
    name = "End the play in check mode"
    assert [is_met("fabric", name, ansible_check_mode=mode) for mode in (True, False)] == [True, False]


@pytest.mark.parametrize(
    "groups, hostvars, compared",
    [
        ({"switches": ["a"]}, {}, True),
        ({"switches": []}, {}, False),
        ({}, {}, False),
        ({"switches": ["a"]}, skipping("fabric"), False),
    ],
)
def test_the_fabric_is_compared_where_there_are_switches(groups, hostvars, compared):
    assert is_met("fabric", "Compare switches, hosts and guests", groups=groups, hostvars=hostvars) is compared


@pytest.mark.parametrize(
    "switches, hostvars, compared",
    [
        (["a"], known("validation"), True),
        ([], known("validation"), False),
        (["a"], known("training"), False),
        (["a"], known("validation", guests={}), False),
        (["a"], {}, False),
    ],
)
def test_validation_compares_the_fabric_where_there_are_switches_and_guests(switches, hostvars, compared):
    given = {"groups": {"switches": switches}, "hostvars": hostvars}
    assert is_met("validate", "Compare switches, hosts and guests", **given) is compared
    play = entry_of("validate", "Read the switches after all timed checks", "hosts")
    there = {"groups": {"switches": switches} if switches else {}, "hostvars": hostvars}
    assert worked_out(play["hosts"], {}, **there) == ("switches" if compared else NOBODY)


@pytest.mark.parametrize(
    "given, names_checked, ports_checked",
    [
        ({}, True, True),
        ({"ansible_check_mode": True}, False, False),
        ({"hostvars": skipping("machines")}, False, True),
        ({"hostvars": skipping("hosts")}, True, False),
        ({"hostvars": skipping("fabric")}, True, False),
        ({"hostvars": skipping("hosts", "fabric")}, False, False),
        ({"groups": {}}, True, False),
    ],
)
def test_playbook_site_checks_names_and_ports_before_it_changes_the_first_host(given, names_checked, ports_checked):
    given = {"groups": {"switches": ["leaf-01"]}, **given}
    names = entry_of("site", "Check names in vCenter before the first change", "hosts")["hosts"]
    ports = entry_of("site", "Check the switch ports before the first change", "hosts")["hosts"]
    assert worked_out(names, {}, **given) == ("localhost" if names_checked else NOBODY)
    assert worked_out(ports, {}, **given) == ("switches" if ports_checked else NOBODY)


@pytest.mark.parametrize(
    "first, last, skipped",
    [
        (None, None, []),
        ("machines", None, ["hosts", "fabric"]),
        (None, "fabric", ["machines", "guests", "runtime", "training", "validation"]),
        ("guests", "guests", ["hosts", "fabric", "machines", "runtime", "training", "validation"]),
    ],
)
def test_playbook_site_skips_stages_and_keeps_what_is_known(first, last, skipped):
    play = entry_of("site", "Start the run", "vars")
    task = entry_of("site", "Select the stages and name the folder of the run", "run_once")
    given = {"site_start_at": first or "", "site_stop_after": last or "", "hostvars": known("guests")}
    found = worked_out(task["ansible.builtin.set_fact"]["aiready_run"], play["vars"], **given)
    assert (found["skipped"], found["guests"]["guests"]) == (skipped, GUEST)


@pytest.mark.parametrize(
    "given, expected",
    [
        ({}, True),
        ({"site": {"fabric": {"agreement": "warn"}}}, True),
        ({"site": {"fabric": {"agreement": "skip"}}}, False),
        ({"switch_state": "absent"}, False),
        ({"switch_state": "merged"}, True),
    ],
)
@pytest.mark.parametrize(
    "name", ["Read the RoCE QoS of the ports", "Read the RoCE QoS of the adapters", "Compare the RoCE QoS"]
)
def test_the_fabric_is_read_unless_the_site_skips_it_or_takes_it_away(name, given, expected):
    assert is_met("fabric_check", name, **given) is expected


@pytest.mark.parametrize(
    "check_mode, stages, later, said",
    [
        (True, True, ["a"], True),
        (False, True, ["a"], False),
        (True, False, ["a"], False),
        (True, True, [], False),
    ],
)
def test_check_mode_says_of_whom_nothing_can_be_known_yet(check_mode, stages, later, said):
    hostvars = known("runtime" if stages else "other", later=later)
    given = {"ansible_check_mode": check_mode, "hostvars": hostvars, "aiready_stage": "runtime"}
    assert is_met("later_guests", "Report guests without data", **given) is said


@pytest.mark.parametrize("playbook", ["guests", "runtime", "training", "validate"])
def test_guests_are_looked_up_once_in_a_run(playbook):
    assert is_met(playbook, "Identify the guests")
    assert is_met(playbook, "Identify the guests", hostvars=skipping("hosts"))
    assert not is_met(playbook, "Identify the guests", hostvars=known())


@pytest.mark.parametrize(
    "check_mode, waiting, problems, said",
    [(True, ["a"], [], True), (True, [], ["b"], True), (True, [], [], False), (False, ["a"], ["b"], False)],
)
def test_check_mode_says_what_keeps_guests_out(check_mode, waiting, problems, said):
    found = {"waiting": waiting, "problems": problems}
    given = {"ansible_check_mode": check_mode, "__known_guests": found}
    assert is_met("known_guests", "Report problems of guests in check mode", **given) is said
    name = "Reject guests that are unreachable or do not fit the site"
    assert is_met("known_guests", name, **given) is not check_mode


@pytest.mark.parametrize(
    "groups, fine", [({}, True), ({"aiready_guests": []}, True), ({"aiready_guests": ["vm-01"]}, False)], ids=str
)
def test_a_group_of_the_inventory_adds_no_host_to_the_stages_inside_guests(groups, fine):
    name = "Reject an inventory with a reserved group name"
    that = entry_of("known_guests", name, "when")["ansible.builtin.assert"]["that"]
    assert worked_out(f"{{{{ {that} }}}}", {}, groups=groups) is fine
    # A play before this one may have filled it.
    assert is_met("known_guests", name)
    assert not is_met("known_guests", name, hostvars=known("guests"))


@pytest.mark.parametrize("group", ["__without_hosts", "__stage_guests", "aiready_skipped", "skipped"])
def test_no_group_of_the_inventory_skips_a_stage(group):
    pattern = entry_of("hosts", "Prepare the ESXi hosts in waves", "hosts")["hosts"]
    assert worked_out(pattern, {}, groups={group: ["esx-01"], "esxi_hosts": ["esx-01"]}) == "esxi_hosts"


@pytest.mark.parametrize(
    "state, fine", [("stop", True), ("start", True), ("restart", False), ("", False), (None, False)]
)
def test_playbook_fleet_has_to_know_whether_to_stop_or_to_start(state, fine):
    that = entry_of("fleet", "Reject a run without an action", "tags")["ansible.builtin.assert"]["that"]
    given = {} if state is None else {"site_fleet": state}
    assert worked_out(f"{{{{ {that} }}}}", {}, **given) is fine


def undone(playbook, task, hostvars):
    """The hosts that are taken to be unfinished."""
    value = entry_of(playbook, task, "vars")["vars"]["training_vm_undone_hosts"]
    return worked_out(value, {}, groups={"esxi_hosts": list(hostvars)}, hostvars=hostvars)


def test_machines_wait_for_hosts_that_check_mode_left_undone():
    hostvars = {name: {"inventory_hostname": name} for name in ("a", "b", "c")}
    hostvars["a"]["esxi_host_undone"], hostvars["b"]["esxi_host_undone"] = ["mtu"], []
    assert undone("machines", "Prepare the training VMs", hostvars) == ["a"]


def test_the_look_before_a_run_takes_hosts_with_gaps_for_unfinished():
    hostvars = {name: {"inventory_hostname": name} for name in ("a", "b", "c")}
    hostvars["a"]["esxi_host_preview"], hostvars["b"]["esxi_host_preview"] = {"gaps": ["mtu"]}, {"gaps": []}
    hostvars["c"]["esxi_host_preview"] = {"answers": {}}
    assert undone("preflight", "Check the training VMs", hostvars) == ["a"]


@pytest.mark.parametrize(
    "problems, switches, looked", [([], ["leaf-01"], True), ([], [], False), (["wrong"], ["leaf-01"], False)]
)
def test_switches_are_worked_out_for_a_site_without_problems(problems, switches, looked):
    given = {"__preflight": {"problems": problems}, "groups": {"switches": switches}}
    assert is_met("preflight", "Compute the site for the switches", **given) is looked


def test_switches_with_problems_of_their_own_do_not_hide_the_others():
    task = entry_of("preflight", "Compute the settings of switches without problems", "vars")
    given = {"groups": {"switches": ["leaf-01", "leaf-02"]}, "__switch_problems": ["leaf-02: no port is named."]}
    assert worked_out(task["vars"]["__sound"], {}, **given) == ["leaf-01"]


@pytest.mark.parametrize("name", ["Check vCenter, privileges and clocks", "Check the connections of the controller"])
@pytest.mark.parametrize("problems, looked", [([], True), (["wrong"], False)])
def test_surroundings_are_looked_at_for_a_site_without_problems(name, problems, looked):
    assert is_met("preflight", name, __preflight={"problems": problems}) is looked


@pytest.mark.parametrize(
    "local, looked", [({"__preflight_goes_on": True}, True), ({"__preflight_goes_on": False}, False), ({}, False)]
)
def test_hosts_are_looked_at_where_vcenter_answers(local, looked):
    assert is_met("preflight", "Check the host like its stage", hostvars={"localhost": local}) is looked


@pytest.mark.parametrize(
    "vcenter, looked",
    [({"__preflight_vcenter": {}}, True), ({"__preflight_vcenter": {"strangers": ["esx-01"]}}, False), ({}, True)],
)
@pytest.mark.parametrize("name", ["Validate the settings of the host", "Check the host"])
def test_a_host_is_looked_at_where_vcenter_shows_it(name, vcenter, looked):
    play = entry_of("preflight", "Check the ESXi hosts", "vars")
    strangers = worked_out(play["vars"]["__strangers"], {}, hostvars={"localhost": vcenter})
    given = {"__strangers": strangers, "inventory_hostname": "esx-01", "site_host": {}}
    assert is_met("preflight", name, **given) is looked


def test_a_host_with_problems_of_its_own_is_not_looked_at():
    for problems, looked in ((["wrong"], False), ([], True)):
        given = {"__preflight_problems": problems, "__strangers": [], "inventory_hostname": "esx-01"}
        assert is_met("preflight", "Check the host", **given) is looked
    given = {"__strangers": [], "inventory_hostname": "esx-01"}
    assert is_met("preflight", "Validate the settings of the host", site_host={}, **given)
    assert not is_met("preflight", "Validate the settings of the host", **given)


def test_a_switch_that_has_no_meaning_in_the_site_is_not_looked_at():
    found = [
        is_met("preflight", "Check the switch like its stage", __switches={"leaf-01": {}}, inventory_hostname=name)
        for name in ("leaf-01", "leaf-02")
    ]
    assert found == [True, False]


@pytest.mark.parametrize("stages, asked", [(["guests"], True), ([], False)])
def test_vms_are_looked_at_from_outside_where_a_stage_needs_their_guests(stages, asked):
    assert is_met("preflight", "Read the VMs from vCenter", __known_guests={"stages": stages}) is asked
    name = "Read the guests from vCenter"
    assert is_met("known_guests", name, __known_guests={"stages": stages}) is asked


@pytest.mark.parametrize(
    "fail, blocked, asked",
    [(None, True, True), ("false", True, False), ("false", False, True), (False, True, False), ("yes", True, True)],
)
def test_what_blocks_ends_the_playbook_unless_somebody_says_otherwise(fail, blocked, asked):
    given = {} if fail is None else {"preflight_fail": fail}
    name = "Reject the run if something blocks it"
    assert is_met("preflight", name, __preflight_reported={"blocked": blocked}, **given) is asked


@pytest.mark.parametrize(
    "before, skip, read",
    [({"switch": {}}, [], True), ({"failed": True}, [], False), ({"switch": {}}, ["fabric.counters"], False)],
)
def test_counters_are_read_again_of_switches_that_were_read_before(before, skip, read):
    given = {
        "inventory_hostname": "leaf-01",
        "hostvars": {"leaf-01": {"__fabric_check_switch": before}},
        "site": {"validation": {"skip": skip}},
    }
    name = "Read the port counters"
    assert is_met("validate", name, **given) is read


@pytest.mark.parametrize(
    "stages, cluster, asked",
    [
        (["validation"], "gpu", True),
        (["guests"], "gpu", False),
        (["validation"], "", False),
        (["validation"], None, False),
    ],
)
def test_owners_of_vms_are_read_for_the_report_where_there_is_a_cluster(stages, cluster, asked):
    given = {"hostvars": known(*stages), "site": {} if cluster is None else {"cluster": cluster}}
    assert is_met("validate", "Read who created the VMs of the cluster", **given) is asked
    assert is_met("validate", "Select the folder of the results", **given) is ("validation" in stages)


@pytest.mark.parametrize("unknown, goes_on", [([], True), (["vCenter has no cluster gpu."], False)])
def test_playbook_site_ends_before_the_first_change_if_vcenter_does_not_know_a_name(unknown, goes_on):
    name = "Reject names that vCenter does not know"
    that = entry_of("site", name, "when")["ansible.builtin.assert"]["that"]
    assert worked_out(f"{{{{ {that} }}}}", {}, __site_unknown=unknown) is goes_on
    # The first stage reports a failed connection.
    assert [is_met("site", name, __site_seen=seen) for seen in ({"objects": []}, {"failed": True})] == [True, False]


def test_playbook_capture_reports_what_it_has_of_the_hosts_and_what_it_has_not():
    task = entry_of("capture", "Report the hosts", "when")
    sources = {"answered": 40, "unread": 2}
    seen = {"captured": ["esx-01", "esx-02"], "sources": sources, "refused": {"esx-03": "no"}, "skipped": ["esx-04"]}
    assert worked_out(task["ansible.builtin.debug"]["msg"], {}, __capture_hosts=seen) == [
        "Hosts: 2. Their commands: 40 answered, 2 did not.",
        "Refused: {'esx-03': 'no'}. Not asked: ['esx-04'].",
    ]
