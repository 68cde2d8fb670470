# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The plan of an upgrade: its order, its waves, and each reason to reject it by name."""

from __future__ import annotations

from dataclasses import replace

import jinja2
import pytest
import yaml
from ansible.plugins.filter import mathstuff
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import matrix
from ansible_collections.aiready.vsphere.plugins.plugin_utils.upgrade import order as orders
from ansible_collections.aiready.vsphere.plugins.plugin_utils.upgrade.fleet import (
    Cluster,
    Fleet,
    Guest,
    Host,
    Vm,
    cluster_of,
    fleet,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.upgrade.plan import answer, plan

from house.collection import ROOT

R18, R19, R20 = ("570.158.02", "570.158.01"), ("580.65.05", "580.65.06"), ("595.71.03", "595.71.05")
PLAYS = yaml.safe_load((ROOT / "playbooks" / "upgrade.yml").read_text(encoding="utf-8"))
JINJA = jinja2.Environment()
JINJA.filters.update(mathstuff.FilterModule().filters())
EVALUATE = JINJA.compile_expression
DLS = {"licence_server": "3.5.0", "waves": 2}


def hosts(now, target, count=8, **more):
    row = {"release": "9.0.1", "reboot": "allow", "evacuation": "shutdown", **more}
    return tuple(Host(f"esx-{number:02}", now, target, now != target, **row) for number in range(1, count + 1))


def site(now=R18, target=R19, guest=None, guest_target=None, **more):
    guests = tuple(Guest(f"job-{number}", guest or now[1], "Licensed (Expiry: 2027-1-1)") for number in (1, 2))
    made = Fleet(hosts(now[0], target[0]), guests, guest_target or target[1], True, True, True, True, "vgpu", ())
    return replace(made, **more)


def names(reported):
    return [one.partition(": ")[0] for one in reported["rejections"]]


@pytest.mark.parametrize("now, target", [(R18, R19), (R19, R20)])
def test_eight_hosts_upgrade_in_waves_before_their_guests(now, target):
    reported = plan(site(now, target), DLS)
    assert (reported["rejections"], reported["order"], len(reported["waves"])) == ([], ["hosts", "guests"], 4)
    assert reported["steps"][0] == (
        f"1. Upgrade and restart the hosts of a wave: esx-01 from {now[0]} to {target[0]}, "
        f"esx-02 from {now[0]} to {target[0]}."
    )
    assert reported["steps"][4].startswith(f"5. Install the guest driver {target[1]}: job-1 from {now[1]}")


def test_each_pair_is_allowed_at_each_moment_of_the_two_upgrades_from_18_to_20():
    running, guests = [R18[0]] * 8, [R18[1]] * 2
    for now, target in ((R18, R19), (R19, R20)):
        reported = plan(site(now, target), DLS)
        moments = []
        for wave in reported["waves"]:
            for name in wave:
                running[int(name[-2:]) - 1] = target[0]
            moments.append((tuple(running), tuple(guests)))
        for number in range(2):
            guests[number] = target[1]
            moments.append((tuple(running), tuple(guests)))
        assert all(
            matrix.guest_allowed(host, guest).allowed for some, those in moments for host in some for guest in those
        )
    assert (set(running), set(guests)) == ({R20[0]}, {R20[1]})


def test_the_plan_selects_guests_first_if_only_that_order_is_allowed():
    there = site(R19, R20, guest=R18[1], guest_target=R19[1])
    assert plan(there, DLS)["order"] == ["guests", "hosts"]
    assert names(plan(there, {**DLS, "order": ["hosts", "guests"]})) == ["hosts_before_guests"]


def test_a_skipped_branch_names_the_runs_that_lead_there():
    reported = plan(site(R18, R20), DLS)
    assert names(reported) == ["branch_skipped"]
    assert reported["rejections"][0].endswith(
        "Upgrade in several runs: hosts to R580, guests to R580, hosts to R595, guests to R595."
    )


def test_no_way_leads_to_an_older_branch():
    assert orders.route("595.71.03", "595.71.05", "580.65.05", "580.65.06") == []


@pytest.mark.parametrize(
    "there, options, name",
    [
        (site(), {"order": ["guests", "hosts"]}, "guests_before_hosts"),
        (site(R18, R20, guest_target=R18[1]), {"order": ["hosts"]}, "guest_target_too_old"),
        (site(target=R19, guest_target=R20[1]), {}, "guest_target_newer_than_host"),
        (site(guest=R19[1]), {}, "pair_not_allowed_now"),
        (replace(site(), guest_target=""), {"order": ["hosts"]}, ""),
        (replace(site(R18, R20), guest_target=""), {"order": ["hosts"]}, "guests_left_behind"),
        (site(R19, R20, guest=R18[1]), {"order": ["hosts"], "licence_server": "cls"}, "branch_skipped"),
        (site(guest="580.65.06", now=R19, target=R20, guest_target=R18[1]), {}, "guest_downgrade"),
        (site(hosts=hosts(R18[0], "600.1.1")), {}, "unknown_branch"),
        (site(hosts=hosts("", "")), {}, "no_target"),
        (site(hosts=hosts("550.163.02", R19[0], 1) + hosts(R18[0], R19[0], 7)), {}, "unfinished_upgrade"),
        (site(hosts=hosts(R18[0], R19[0], refused=(("downgrade", "Cannot install."),))), {}, "host_downgrade"),
        (site(hosts=hosts(R18[0], R19[0], refused=(("not_found", "No depot."),))), {}, "not_found"),
        (site(hosts=hosts(R18[0], R19[0], release="7.0.3")), {}, "esx_r580"),
        (site(R19, R20, profiles=("grid_v100x-16c",)), {}, "without_volta"),
        (site(), {"licence_server": "3.3.1"}, "licence_server_too_old"),
        (site(("550.163.02", "550.163.01"), R18), {"licence_server": ""}, "licence_server_unknown"),
        (site(guests=(Guest("job-1", R18[1], "Unlicensed (Restricted)"),)), {}, "guest_unlicensed"),
        (site(guests=(Guest("job-1", R18[1], users=("python",)),)), {}, "gpu_in_use"),
        (site(guests=(Guest("job-1", R18[1], users=("python",)),)), {"order": ["hosts"]}, ""),
        (site(guests=(Guest("job-1", R18[1], users=("python",)),)), {"hold": "/srv/hold"}, ""),
        (site(guests=(Guest("job-1"),)), {}, "guest_unread"),
        (site(hosts=hosts(R18[0], R19[0], reboot="refuse")), {}, "restart_not_allowed"),
        (site(hosts=hosts(R18[0], R19[0], evacuation="drs")), {"waves": "100%"}, "no_capacity"),
        (site(), {"order": "hosts guests"}, "invalid_order"),
        (site(), {"order": ["guests"]}, "invalid_order"),
        # Ansible takes 0 as all hosts.
        (site(), {"waves": "0"}, "invalid_waves"),
        (site(), {"waves": "-1"}, "invalid_waves"),
        (site(), {"waves": "two"}, "invalid_waves"),
        (site(errors=("site.gpu: it is wrong.",)), {}, "invalid_site"),
    ],
)
def test_a_plan_that_cannot_work_is_rejected_by_name(there, options, name):
    assert set(names(plan(there, {**DLS, **options}))) >= ({name} if name else set())
    assert bool(names(plan(there, {**DLS, **options}))) is bool(name)


@pytest.mark.parametrize("order", ["hosts, guests", "hosts,guests"])
def test_the_order_may_be_the_answer_of_a_survey(order):
    found = plan(site(), {**DLS, "order": order})
    assert found["order"] == ["hosts", "guests"]
    assert found == plan(site(), {**DLS, "order": ["hosts", "guests"]})


@pytest.mark.parametrize(
    "order, run",
    [
        ("hosts", ["hosts.yml"]),
        (["hosts"], ["hosts.yml"]),
        (["hosts", "guests"], ["hosts.yml", "guests.yml", "runtime.yml"]),
        (["guests", "hosts"], ["guests.yml", "hosts.yml", "runtime.yml"]),
    ],
)
@pytest.mark.parametrize("validates", [False, True])
def test_the_playbook_runs_the_parts_of_the_order(order, run, validates):
    reported = plan(site(), {**DLS, "order": order})
    if validates:
        after = run.index("hosts.yml") + 1
        run = ["validate.yml", *run[:after], "known_guests.yml", *run[after:], "validate.yml"]
    seen = {"hostvars": {"localhost": {"__upgrade_plan": reported, "__upgrade_validates": validates}}}
    parts = [play for play in PLAYS if "ansible.builtin.import_playbook" in play]
    assert [
        part["ansible.builtin.import_playbook"] for part in parts if EVALUATE(part.get("when", "true"))(**seen)
    ] == run


@pytest.mark.parametrize(
    "given, allowed",
    [
        ({}, [True, True]),
        ({"ansible_limit": ""}, [True, True]),
        ({"ansible_limit": "a"}, [False, True]),
        ({"ansible_run_tags": ["hosts"]}, [True, False]),
        ({"ansible_skip_tags": ["guests"]}, [True, False]),
        ({"ansible_skip_tags": ["notes"]}, [True, True]),
    ],
)
def test_the_playbook_rejects_parts_of_its_plan_before_it_reads(given, allowed):
    tasks = PLAYS[0]["tasks"]
    assert (PLAYS[0]["hosts"], PLAYS[0]["any_errors_fatal"]) == ("all:localhost", True)
    assert [task["tags"] for task in tasks] == [["always"], ["always"]]
    known = {"ansible_run_tags": ["all"], "ansible_skip_tags": [], **given}
    assert [
        all(EVALUATE(one)(**known) for one in _listed(task["ansible.builtin.assert"]["that"])) for task in tasks
    ] == allowed


def _listed(that):
    return that if isinstance(that, list) else [that]


STUNS = {"a-20c": {10000: 18, 25000: 7}, "a-10c": {10000: 9}}


def drs(vms, free, waves=2, count=4, **more):
    """The plan of hosts that DRS evacuates. free: {host: vGPUs of the profile a-20c that still fit}."""
    cluster = Cluster(tuple(vms), {"a-20c": {f"esx-{number:02}": n for number, n in free.items()}}, STUNS)
    there = site(hosts=hosts(R18[0], R19[0], count, evacuation="drs_vgpu", **more), cluster=cluster)
    return plan(there, {**DLS, "waves": waves})


def test_a_wave_names_the_vms_that_move_and_how_long_each_stops():
    vms = [Vm("job-1", "esx-01", ("a-20c", "a-20c")), Vm("job-2", "esx-02", ("a-20c", "a-10c")), Vm("web", "esx-02")]
    reported = drs(vms, {1: 0, 2: 1, 3: 2, 4: 2})
    assert reported["rejections"] == []
    assert reported["steps"][0].endswith(
        "DRS moves the running VMs, and each stops for a moment at the end of its move. These VMs are moved: "
        "job-1 (36 s at 10000 Mbit/s or 14 s at 25000 Mbit/s), job-2 (27 s at 10000 Mbit/s), web."
    )
    assert [len(wave) for wave in reported["evacuations"]] == [3, 0]
    assert reported["evacuations"][0][1] == {
        "vm": "job-2",
        "host": "esx-02",
        "how": "moved",
        "stun_estimates": [{"migration_mbps": 10000, "stun_seconds": 27}],
    }
    assert reported["reports"]["esx-03"] == f"Wave 2 of 2 is complete: esx-03 runs {R19[0]}, esx-04 runs {R19[0]}."
    assert reported["reports"]["esx-01"].startswith(f"Wave 1 of 2 is complete: esx-01 runs {R19[0]}")
    assert "run the playbook restore" in reported["rollback"]
    assert "installs the earlier driver again" in reported["rollback"]
    assert reported["rollback"] in reported["notes"][-1]


@pytest.mark.parametrize(
    "free, short",
    [
        # Both VMs of the first wave fit on the others, and there they leave no room for the second wave.
        ({1: 0, 2: 0, 3: 1, 4: 1}, ""),
        (
            {1: 0, 2: 0, 3: 1, 4: 0},
            "esx-01, esx-02. The cluster runs 2 vGPUs a-20c, and its other hosts have places for 1",
        ),
        ({1: 0, 2: 0, 3: 4}, ""),
    ],
)
def test_the_hosts_outside_of_a_wave_must_hold_its_vms(free, short):
    reported = drs([Vm("job-1", "esx-01", ("a-20c",)), Vm("job-2", "esx-02", ("a-20c",))], free)
    assert names(reported) == (["no_capacity"] if short else [])
    assert short in "".join(reported["rejections"])


def test_a_later_wave_also_needs_places_for_vms_that_an_earlier_one_moved():
    vms = [Vm("job-1", "esx-01", ("a-20c",)), Vm("job-2", "esx-04", ("a-20c",))]
    reported = drs(vms, {1: 0, 2: 0, 3: 1, 4: 0})
    assert names(reported) == ["no_capacity"]
    assert (
        "the wave esx-03, esx-04. The cluster runs 2 vGPUs a-20c, and its other hosts have places for 1"
        in (reported["rejections"][0])
    )


def test_vms_that_are_shut_down_need_no_place_and_are_named_in_the_report():
    cluster = Cluster((Vm("job-1", "esx-01", ("a-20c",)),), {"a-20c": {"esx-01": 0}}, STUNS)
    there = site(hosts=hosts(R18[0], R19[0], 2, shut=("job-1",)), cluster=cluster)
    reported = plan(there, {**DLS, "waves": 1})
    assert reported["rejections"] == []
    assert reported["reports"]["esx-01"].endswith("These VMs are shut down and started again: job-1.")


def test_a_held_training_is_a_note_that_names_the_file():
    assert "The training is held by /srv/hold" in plan(site(), {**DLS, "hold": "/srv/hold"})["notes"][-1]


def test_a_cluster_that_cannot_be_read_is_a_note():
    reported = plan(site(cluster=Cluster(unread=("No permission.",))), DLS)
    assert "The plan has no VMs or no capacity of the cluster. No permission." in reported["notes"]


@pytest.mark.parametrize(
    "owners, unread",
    [
        ({"failed": False, "msg": "No  permission.", "failure": {"code": "no_permission"}}, ("No permission.",)),
        ({"skipped": True, "msg": ""}, ()),
        ({"vms": []}, ()),
    ],
    ids=["the playbook went on", "no cluster", "it was read"],
)
def test_a_read_that_failed_is_known_by_its_missing_answer(owners, unread):
    assert cluster_of({"__upgrade_owners": owners}).unread == unread


def test_the_site_accepts_rules_that_are_not_sure():
    old = hosts(R18[0], R19[0], release="7.0.3")
    assert plan(site(hosts=old, accepted=("esx_r580", "dls_3_4")), {})["rejections"] == []


def test_a_second_run_after_a_kill_leaves_out_hosts_that_are_done_and_reads_guests_later():
    there = site(hosts=hosts(R19[0], R19[0], 4) + hosts(R18[0], R19[0], 8)[4:], guests=(Guest("job-1"),))
    reported = plan(there, DLS)
    assert reported["rejections"] == []
    assert [step.partition(" from")[0] for step in reported["steps"]] == [
        "1. Upgrade and restart the hosts of a wave: esx-05",
        "2. Upgrade and restart the hosts of a wave: esx-07",
    ]


def test_results_of_the_plays_are_read():
    driver = {"before": {"booted_version": R18[0]}, "after": {"version": R19[0]}, "changed": True}
    host = {"version": "8.0.3", "driver": {"version": R18[0], "loaded": True}, "gpus": [{"board": "NVIDIA A100"}]}
    preview = {
        "host": host,
        "answers": {
            "driver": {"host": driver},
            "mtu": {"failed": True, "msg": "No\nport.", "failure": {"code": "x"}},
            "maintenance": {"failed": False, "msg": "A VM runs.", "failure": {"code": "running_vms"}},
        },
        "gaps": [{"step": "driver"}, {"step": "mtu"}],
        "shut": ["job-1"],
    }
    guest = {"driver": {"before": {"loaded": R18[1], "gpus": [{"licence": "Unlicensed"}]}}}
    guest["failure"] = {"processes": ["python (12)"]}
    requested = {
        "cluster": "gpu",
        "vcenter": {"hostname": "vc"},
        "vms": [{"name": "job-1"}],
        "gpu": {"mode": "vgpu", "profile": "grid_a100-40c"},
        "hosts": {"reboot": "allow"},
        "guests": {"user": "ops", "driver": {"package": f"/srv/nvidia-linux-grid-580_{R19[1]}_amd64.deb"}},
    }
    row = {"host": "esx-1", "free": 1}
    stun = {"cluster": "gpu", "profile": "grid_a100-40c", "migration_mbps": 10000, "stun_seconds": 35}
    variables = {
        "localhost": {
            "site": requested,
            "__upgrade_guests": ["job-1", "job-2"],
            "__upgrade_owners": {
                "vms": [
                    {"name": "job-1", "host": "esx-1", "power": "on", "gpus": ["grid_a100-40c"]},
                    {"name": "off", "host": "esx-1", "power": "off", "gpus": []},
                ]
            },
            "__upgrade_capacity": {
                "capacity": {
                    "hosts": [{**row, "profile": "grid_a100-40c"}, {**row, "profile": None}],
                    "stun_estimates": [stun],
                }
            },
        },
        "esx-1": {"esxi_host_preview": preview, "site_host": {"hosts": {"evacuation": "shutdown"}}},
        "job-1": {"__upgrade_guest": guest},
    }
    found = fleet(variables, {"esxi_hosts": ["esx-1"]})
    assert found.errors == ()
    assert found.hosts == (
        Host(
            "esx-1",
            R18[0],
            R19[0],
            True,
            "8.0.3",
            ("NVIDIA A100",),
            1,
            ("job-1",),
            "allow",
            "shutdown",
            (("x", "No port."), ("running_vms", "A VM runs.")),
        ),
    )
    assert found.guests == (Guest("job-1", R18[1], "Unlicensed", ("python (12)",)), Guest("job-2"))
    assert found.guest_target == R19[1]
    assert found.cluster == Cluster(
        (Vm("job-1", "esx-1", ("grid_a100-40c",)),),
        {"grid_a100-40c": {"esx-1": 1}},
        {"grid_a100-40c": {10000: 35}},
    )
    assert set(names(answer(variables, {"esxi_hosts": ["esx-1"]}, {}))) == {
        "x",
        "running_vms",
        "gpu_in_use",
        "guest_unread",
    }
    wrong = answer({"localhost": {"site": {"wrong": 1}}}, {}, {})
    assert names(wrong) == ["invalid_site"]
