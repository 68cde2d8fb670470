"""The summary of a plan for the person who approves it."""

from __future__ import annotations

import json

from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.summary import of_folder, summary

from .test_plan import mark, record, stage

NO_PLAN = "The job has no record of a plan. Read its output before you approve."


def planned(name, *changes, **more):
    return stage(name, *changes, check_mode=True, **more)


def change(name):
    return (name, "cpus", 4, "secret-looking-value")


def test_a_summary_counts_changes_and_names_objects_but_no_values():
    found = record(
        planned("hosts", change("esx-01"), ("esx-01", "boot_time", "t", "later than t"), change("esx-02")),
        planned("fabric", *(("job-03", "power_cycle", False, True) for _module in range(2))),
        planned("machines", later=[mark("job-01", "host"), mark("job-02", "host")]),
        stage("validation", change("other")),
    )
    returned = summary(found)
    assert returned == {
        "changes": 5,
        "objects": 3,
        "restarts": 2,
        "text": "5 changes on 3 objects, 2 restarts.\n"
        "hosts: 3 changes on esx-01, esx-02\n"
        "fabric: 2 changes on job-03\n"
        "machines: planned after hosts, for job-01, job-02",
    }


def test_a_plan_without_changes_says_so():
    assert summary(record(planned("hosts")))["text"] == "0 changes on 0 objects, 0 restarts."


def test_the_summary_of_100_hosts_stays_short():
    text = summary(record(planned("hosts", *(change(f"esx-{number:03}") for number in range(100)))))["text"]
    assert text.endswith("esx-009 and 90 more")
    assert len(text) < 200


def test_a_folder_without_a_record_of_a_plan_refers_to_the_output(tmp_path):
    assert of_folder(str(tmp_path))["text"] == NO_PLAN
    (tmp_path / "stages.json").write_text(json.dumps({"format": 1, **record(stage("hosts", change("esx-01")))}))
    assert of_folder(str(tmp_path))["text"] == NO_PLAN
