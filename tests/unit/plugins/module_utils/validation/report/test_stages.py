# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report import stages, versions
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import course


@pytest.mark.parametrize(
    "value,text",
    [
        (None, None),
        (True, "yes"),
        (False, "no"),
        (9000, "9000"),
        ("on", "on"),
        ([], "none"),
        ([3, None], "3, none"),
        ({"b": 1, "a": 2}, '{"a": 2, "b": 1}'),
        ([{"a": 1}], '[{"a": 1}]'),
        ("password=hunter2", "password=[not shown]"),
        ({"token": "abc"}, '{"token": "[not shown]"}'),
    ],
)
def test_a_value_of_a_change_in_one_line(value, text):
    assert stages.shown(value) == text


def test_changes_are_gathered_by_object_as_people_count():
    recorded = [
        {"name": "hosts", "changes": [{"object": "esx-10", "what": "a"}, {"object": "esx-2", "what": "b"}]},
        {"name": "guests", "changes": [{"object": "esx-2", "what": "c"}, {"what": "d"}]},
    ]
    found = {
        entry["object"]: [(one["what"], one["stage"]) for one in entry["changes"]] for entry in stages.changes(recorded)
    }
    assert list(found) == ["esx-2", "esx-10", "the run itself"]
    assert found["esx-2"] == [("b", "hosts"), ("c", "guests")]


def test_a_stage_that_failed_and_ended_well_when_it_was_started_again_did_not_fail():
    again = [
        {"name": "hosts", "state": "failed"},
        {"name": "fabric", "state": "failed"},
        {"name": "hosts", "state": "ok"},
    ]
    assert [stage["name"] for stage in stages.failed(stages.stages(again))] == ["fabric"]


def test_the_stage_in_which_the_report_is_made_has_not_failed_only_because_it_goes_on():
    reported = [{"name": "hosts", "state": "ok"}, {"name": "validation", "state": "failed", "why": course.NOT_ENDED}]
    found = stages.stages(reported)
    assert (stages.failed(found), stages.broken_off(found)) == ([], "validation")
    # One before the last was broken off for good.
    assert [stage["name"] for stage in stages.failed(stages.stages(reported[::-1]))] == ["validation"]


def test_what_check_mode_would_have_changed_was_not_changed_and_what_failed_there_did_not_fail_the_run():
    planned = [{"name": "hosts", "state": "failed", "check_mode": True, "changes": [{"object": "esx-1", "what": "a"}]}]
    found = stages.stages(planned)
    assert (stages.changes(planned), found[0]["changes"], stages.failed(found)) == ([], 0, [])


def test_restarts_are_counted_for_each_object():
    assert stages.reboots({"esx-10": 1, "esx-2": 2, "odd": "many"}) == [
        {"object": "esx-2", "count": 2, "simulated": False},
        {"object": "esx-10", "count": 1, "simulated": False},
    ]


@pytest.mark.parametrize(
    "declared, marked",
    [(["hosts"], ["esx-01"]), (["guests"], ["job-01"]), (["vcenter"], ["job-01"]), (["rdma", "gpu", "switches"], [])],
)
def test_a_restart_is_marked_by_what_was_restarted(declared, marked):
    found = stages.reboots({"esx-01": 1, "job-01": 1}, declared, {"job-01"})
    assert [entry["object"] for entry in found if entry["simulated"]] == marked


@pytest.mark.parametrize(
    "name, declared, marked",
    [("fabric", "switches", True), ("fabric", "hosts", False), ("hosts", "hosts", True), ("of-my-own", "hosts", False)],
)
def test_a_stage_and_its_changes_are_marked_by_what_they_work_on(name, declared, marked):
    recorded = [{"name": name, "state": "ok", "changes": [{"object": "a", "what": "b", "before": 1, "after": 2}]}]
    assert [stage["simulated"] for stage in stages.stages(recorded, [declared])] == [marked]
    (entry,) = stages.changes(recorded, [declared])
    assert [change["simulated"] for change in entry["changes"]] == [marked]


def test_versions_that_differ_between_objects_are_seen_with_the_common_one_first():
    recorded = [{"object": name, "what": "driver", "version": "550" if name != "c" else "535"} for name in "abc"]
    assert versions.versions(recorded) == [
        {
            "what": "driver",
            "uniform": False,
            "versions": [
                {"version": "550", "objects": ["a", "b"], "simulated": False},
                {"version": "535", "objects": ["c"], "simulated": False},
            ],
        }
    ]
