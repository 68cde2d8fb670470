"""The step of a switch, from the configurations that the journal has."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import FAILED, PLANNED, Cannot
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.switches import INVERSE

from .test_steps import entry

STEP = {"state": "restored", "settings_platform": "eos", "killed": []}
PORT = "interface Ethernet1\n   {}\n"


def run(before, left=None, request=None, commands=(), platform="eos", **more):
    ids = {"name": "leaf-01", "platform": platform, "backup": before, "commands": list(commands)}
    if left is not None:
        ids["left"] = left
    given = {"module": "roce_qos", "stage": "fabric", "host": "leaf-01", "label": "leaf-01"}
    return entry(("Ethernet1.mtu", 1500, 9214), ids=ids, request=request or {"save": "never"}, **given, **more)


def inverse(*entries):
    return INVERSE["roce_qos"](list(entries))


def mtu(before, left):
    return [{"path": ["interface Ethernet1", "mtu"], "before": before, "left": left}]


def test_changes_of_others_between_two_runs_are_no_settings():
    other = PORT.format("mtu 9000") + "qos map dscp 8 to traffic-class 2\n"
    (step,) = inverse(
        run(PORT.format("mtu 1500"), PORT.format("mtu 9000")), run(other, other.replace("9000", "9214"), run="r2")
    )
    assert step.args == {**STEP, "settings": mtu("mtu 1500", "mtu 9214"), "save": "never"}
    assert (step.back, step.left) == (
        {"interface Ethernet1 mtu": "mtu 1500"},
        {"interface Ethernet1 mtu": "mtu 9214"},
    )


def test_a_restore_does_not_inherit_a_permission_to_restart_the_switch():
    request = {"save": "never", "allow": ["roce_enable_reboot"]}
    (step,) = inverse(run(PORT.format("mtu 1500"), PORT.format("mtu 9000"), request))
    assert step.args == {**STEP, "settings": mtu("mtu 1500", "mtu 9000"), "save": "never"}


def test_a_restore_leaves_nothing_to_restore():
    one, other = PORT.format("mtu 1500"), PORT.format("mtu 9000")
    assert inverse(run(one, other), run(other, one, {"state": "restored"})) == []


def test_a_killed_restore_changes_no_values_that_the_runs_left():
    one, other = PORT.format("mtu 1500"), PORT.format("mtu 9000")
    (step,) = inverse(run(one, other), run(other, request={"state": "restored"}, state=PLANNED))
    assert (step.args["settings"], step.args["killed"]) == (mtu("mtu 1500", "mtu 9000"), [])


def test_the_next_run_shows_what_a_killed_run_did():
    killed = run(PORT.format("mtu 1500"), commands=["interface Ethernet1", "mtu 9000"], state=PLANNED)
    left = PORT.format("mtu 9000") + "qos map dscp 8 to traffic-class 2\n"
    (step,) = inverse(killed, run(left, left))
    assert step.args["settings"] == mtu("mtu 1500", "mtu 9000")


def test_the_switch_itself_shows_what_the_last_killed_run_did():
    commands = ["interface Ethernet1", "mtu 9000"]
    (step,) = inverse(run(PORT.format("mtu 1500"), commands=commands, state=PLANNED))
    assert step.args["killed"] == [{"before": PORT.format("mtu 1500"), "commands": commands}]


def test_other_records_cannot_be_restored_with_the_reason():
    cannot = [
        *inverse(run("{}")),
        *inverse(run("{}", state=FAILED)),
        *inverse(run("{}", platform="sonic", state=PLANNED)),
        *inverse(run("{}", "{}", platform="sonic", commands=["config qos reload --no-dynamic-buffer"])),
    ]
    assert all(isinstance(one, Cannot) for one in cannot)
    assert [(one.what, one.why.partition(",")[0].partition(".")[0]) for one in cannot] == [
        ("Ethernet1.mtu", "The journal has no configuration of the switch after the run"),
        ("Ethernet1.mtu", "The journal has no configuration of the switch after the run"),
        ("Ethernet1.mtu", "The run was killed while it changed the switch"),
        ("config qos reload", "`config qos reload` wrote all QoS tables of the switch"),
    ]


def test_an_unknown_platform_or_format_concerns_its_run_alone():
    reported = inverse(
        run(PORT.format("mtu 1500"), PORT.format("mtu 9000")),
        run("a", "b", platform="newer", run="r2"),
        run("{", "{", platform="sonic", run="r3"),
        run("a", platform="", state=PLANNED, run="r4"),
    )
    cannot = [one for one in reported if isinstance(one, Cannot)]
    (step,) = [one for one in reported if not isinstance(one, Cannot)]
    assert step.args["settings"] == mtu("mtu 1500", "mtu 9000")
    assert [(one.what, one.why.partition(": ")[2].partition(".")[0]) for one in cannot] == [
        ("Ethernet1.mtu", "The platform newer is unknown (unknown_platform)"),
        ("Ethernet1.mtu", "They are not in the format of the platform sonic"),
        ("Ethernet1.mtu", "The platform without a name is unknown (unknown_platform)"),
    ]


def test_a_switch_of_another_platform_does_not_get_the_settings_of_the_one_before():
    before, left = PORT.format("mtu 1500"), PORT.format("mtu 9000")
    lost, step = inverse(run("{}", "{}", platform="sonic"), run(before, left, run="r2"))
    assert (step.args["settings"], step.args["settings_platform"]) == (mtu("mtu 1500", "mtu 9000"), "eos")
    assert lost.why.startswith("The switch had the platform sonic during this run")
