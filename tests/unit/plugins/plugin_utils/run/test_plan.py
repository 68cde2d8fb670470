"""What a plan leaves open, and how it compares with what was done."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import plan as run_plan


def stage(name, *changes, later=(), **more):
    """Changes are (object, what, before, after)."""
    keys = ("object", "what", "before", "after")
    found = {
        "name": name,
        "state": "ok",
        "changes": [dict(zip(keys, change, strict=True)) for change in changes],
        **more,
    }
    return {**found, "decided_later": list(later)} if later else found


def record(*stages):
    return {"stages": list(stages)}


def mark(name, *what, after="hosts"):
    return {"object": name, "what": list(what), "after": after, "why": ""}


def short(lines):
    return [(line["object"], line["what"], line["before"], line["after"]) for line in lines]


CPUS = ("job-01", "cpus", 4, 16)
AGAIN = ("job-01", "power_on_again", False, True)
ENTERED, LEFT = ("esx-01", "in_maintenance", False, True), ("esx-01", "in_maintenance", True, False)


@pytest.mark.parametrize(
    "sentence, expected",
    [
        pytest.param(
            run_plan.later("job-01", "machines", "the VM is not there yet."),
            {"object": "job-01", "what": [], "after": "machines", "why": "the VM is not there yet"},
            id="everything of an object",
        ),
        pytest.param(
            run_plan.later(["job: 1"], "the driver runs", what=["mode", "graphics"]),
            {"object": "job: 1", "what": ["mode", "graphics"], "after": "the driver runs", "why": ""},
            id="a name with a colon",
        ),
        pytest.param(
            run_plan.later(["esx-01.lab.example:443"], "the driver runs", what=["mode", "*adapter*"]),
            {"object": "esx-01.lab.example:443", "what": ["mode", "*adapter*"], "after": "the driver runs", "why": ""},
            id="settings of an object with a port",
        ),
        pytest.param(
            run_plan.later("esx-01", "hosts", "esx-02: it will change first"),
            {"object": "esx-01", "what": [], "after": "hosts", "why": "esx-02: it will change first"},
            id="a reason with a colon",
        ),
        pytest.param(["job-01 is fine."], None, id="something else"),
        pytest.param([{"job": 1}, 3], None, id="no text at all"),
    ],
)
def test_what_is_said_is_understood(sentence, expected):
    assert run_plan.understood(sentence) == ([expected] if expected else [])


def test_a_message_may_be_one_text_and_hold_other_sentences():
    (said,) = run_plan.later("job-01", "machines")
    assert said == "job-01: everything will be planned after machines."
    assert [one["object"] for one in run_plan.understood(said)] == ["job-01"]
    assert [one["object"] for one in run_plan.understood(["Hello.", said, "job-02: later."])] == ["job-01"]


def kept(found):
    return not found["not_announced"] and not found["not_done"]


@pytest.mark.parametrize(
    "reported, done, alike, not_announced, not_done",
    [
        pytest.param([stage("machines", CPUS)], [stage("machines", CPUS)], 1, [], [], id="as announced"),
        pytest.param([stage("machines")], [stage("machines", CPUS)], 0, [CPUS], [], id="not announced"),
        pytest.param([stage("machines", CPUS)], [stage("machines")], 0, [], [CPUS], id="not done"),
        pytest.param(
            [stage("machines", CPUS)],
            [stage("machines", ("job-01", "cpus", 4, 8))],
            0,
            [("job-01", "cpus", 4, 8)],
            [CPUS],
            id="to another value",
        ),
        pytest.param(
            [stage("machines", CPUS)],
            [stage("machines", ("job-01", "cpus", 8, 16))],
            0,
            [("job-01", "cpus", 8, 16)],
            [CPUS],
            id="from another value",
        ),
        pytest.param(
            [stage("machines", CPUS)],
            [stage("machines", ("job-01", "cpus", 4, 8)), stage("machines", ("job-01", "cpus", 8, 16))],
            1,
            [],
            [],
            id="in two steps",
        ),
        pytest.param([stage("hosts", ENTERED)], [stage("hosts", ENTERED, LEFT)], 1, [], [], id="there and back"),
        pytest.param(
            [stage("hosts")],
            [stage("hosts", ENTERED, LEFT)],
            0,
            [("esx-01", "in_maintenance", False, False)],
            [],
            id="there and back, without a word",
        ),
        pytest.param(
            [stage("machines", *[("job-01", "power_cycle", False, True)] * 2)],
            [stage("machines", ("job-01", "power", "on", "off"), AGAIN, ("job-01", "power", "off", "on"))],
            1,
            [],
            [],
            id="power cycles of several modules, and the one",
        ),
        pytest.param(
            [stage("hosts", CPUS)], [stage("machines", CPUS), stage("hosts")], 0, [CPUS], [CPUS], id="in another stage"
        ),
    ],
)
def test_what_is_not_alike_is_named(reported, done, alike, not_announced, not_done):
    found = run_plan.compared(record(*reported), record(*done))
    assert (found["as_announced"], short(found["not_announced"]), short(found["not_done"])) == (
        alike,
        not_announced,
        not_done,
    )
    assert kept(found) is (not not_announced and not not_done)


@pytest.mark.parametrize(
    "one, covered",
    [
        pytest.param(mark("job-01"), True, id="everything"),
        pytest.param(mark("job-01", "cpus"), True, id="the setting"),
        pytest.param(mark("job-01", "memory", "c*"), True, id="a pattern"),
        pytest.param(mark("job-01", "cpu"), False, id="another setting"),
        pytest.param(mark("job-0", "cpus"), False, id="another object"),
        pytest.param(mark("job-011", "cpus"), False, id="another object with a longer name"),
    ],
)
def test_what_was_left_open_is_neither_missed_nor_unannounced(one, covered):
    for plan, done in (
        (stage("machines", later=[one]), stage("machines", CPUS)),
        (stage("machines", CPUS, later=[one]), stage("machines")),
    ):
        found = run_plan.compared(record(plan), record(done))
        assert kept(found) is covered
        assert found["later"][0]["became"] == (1 if covered and done["changes"] else 0)


def test_a_part_of_an_object_is_left_open_with_it_in_its_own_stage_alone():
    gpu = ("esx-01 A100 at 0000:3b:00.0", "mode", "off", "on")
    plan = record(stage("hosts", later=[mark("esx-01", "mode")]))
    assert kept(run_plan.compared(plan, record(stage("hosts", gpu))))
    assert not kept(run_plan.compared(plan, record(stage("machines", gpu))))


def test_what_was_announced_is_no_less_announced_for_being_left_open():
    plan = record(stage("machines", CPUS, later=[mark("job-01")]))
    found = run_plan.compared(plan, record(stage("machines", CPUS)))
    assert (found["as_announced"], found["later"][0]["became"]) == (1, 0)


def test_stages_that_the_run_did_not_come_to_are_named_and_their_changes_are_not_missed():
    plan = record(stage("hosts", ENTERED), stage("machines", CPUS), stage("guests", later=[mark("job-01")]))
    ended = "The run ended before this stage."
    done = record(stage("hosts", ENTERED), stage("machines", state="skipped", why=ended))
    found = run_plan.compared(plan, done)
    assert (found["not_begun"], found["not_run"], found["not_done"]) == (["machines"], ["guests"], [])
    assert run_plan.lines(found, "plan")[1:] == [
        "  planned after hosts: [guests] job-01, everything: not begun",
        "  The run did not reach machines.",
        "  The playbook of this run does not have guests.",
    ]


def test_the_comparison_can_be_read():
    plan = record(stage("hosts", ENTERED, later=[mark("esx-01", "mode", after="the driver runs")]), stage("machines"))
    done = record(stage("hosts", ("esx-01", "mode", "off", "on")), stage("machines", CPUS))
    assert run_plan.lines(run_plan.compared(plan, done), "~/plan") == [
        "Compared with the plan in ~/plan: 0 changes as planned, 1 made but not planned, 1 planned but not made.",
        "  not planned: [machines] job-01, cpus: 4 -> 16",
        "  not made: [hosts] esx-01, in_maintenance: False -> True",
        "  planned after the driver runs: [hosts] esx-01, mode: 1 change",
    ]


def test_one_folder_may_hold_the_plan_and_what_was_done():
    both = record(stage("hosts", CPUS, check_mode=True), stage("hosts", CPUS))
    plan, done = run_plan.planned(both), run_plan.made(both)
    assert (len(plan["stages"]), len(done["stages"])) == (1, 1)
    assert run_plan.planned(None) == {"stages": []}
