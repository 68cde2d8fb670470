# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The drift table from the previews of the stages and the records of the runs."""

from __future__ import annotations

import json
import os

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift import recorded
from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift.row import alike, spoken
from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift.seen import seen
from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift.table import answer, asked

STAGE = {"name": "hosts", "state": "ok", "hosts": ["esx-01"], "began": "2026-03-01T08:00:00Z", "seconds": 60.4}


def record(*changes, **stage):
    made = [{"object": thing, "what": what, "after": after} for thing, what, after in changes]
    return {"format": 1, "stages": [{**STAGE, "changes": made, **stage}]}


def host(*gaps, answers=None, **more):
    reported = [{"path": path, "requested": asked, "found": found} for path, asked, found in gaps]
    return {"host": {"connection": "connected", "moid": "host-1"}, "gaps": reported, "answers": answers or {}, **more}


def rows(reported, state):
    return [
        (row["object"], row["setting"], row["requested"], row["found"])
        for row in reported["rows"]
        if row["state"] == state
    ]


def vms(part="config", **vm):
    one = {"name": "job-01", "path": "/dc/vm/job-01", "before": {"exists": True}, "changes": [], **vm}
    return {"machines": {"answers": {part: {"vms": [one]}}, "due": {}}}


def test_value_that_a_run_set_and_that_differs_now_was_changed_since():
    runs = recorded.known([("second", record()), ("first", record(("esx-01", "atsSupport", "TRUE")))])
    reported = answer({"hosts": {"esx-01": host(("kernel.atsSupport", "TRUE", "FALSE"))}, "recorded": runs, **vms()})
    assert rows(reported, "changed since") == [("esx-01", "kernel.atsSupport", "TRUE", "FALSE")]
    (row,) = [row for row in reported["rows"] if row["state"] == "changed since"]
    assert (row["run"], row["since"], row["moid"]) == ("first", "2026-03-01T08:01:00Z", "host-1")
    assert (reported["status"], reported["code"], reported["runs"]) == ("drift", 10, ["second", "first"])


def test_value_that_a_run_set_is_no_change_of_others_where_the_site_requests_another_one_now():
    runs = recorded.known([("first", record(("esx-01", "dscp_force", "26")))])
    reported = answer({"hosts": {"esx-01": host(("nmlx5_rdma.dscp_force", "34", "0x1a"))}, "recorded": runs, **vms()})
    assert rows(reported, "not applied") == [("esx-01", "nmlx5_rdma.dscp_force", "34", "0x1a")]
    assert "The run first set this value." in reported["sentence"]
    assert reported["status"] == "drift"


@pytest.mark.parametrize(
    "stage",
    [{"check_mode": True}, {"state": "failed"}, {"hosts": ["esx-02"]}, {"name": "fabric"}],
    ids=["check mode", "failed", "another host", "another stage"],
)
def test_without_a_successful_run_of_the_stage_a_setting_was_not_applied(stage):
    runs = recorded.known([("first", record(**stage))])
    reported = answer({"hosts": {"esx-01": host(("vmk1.mtu", "9000", "1500"))}, "recorded": runs, **vms()})
    assert rows(reported, "not applied") == [("esx-01", "vmk1.mtu", "9000", "1500")]


def test_names_of_vms_in_records_have_no_path():
    runs = recorded.known([("first", record(("job-01", "shape.cpus", 16), hosts=["localhost"], name="machines"))])
    change = {"path": "shape.cpus", "before": 8, "after": 16}
    reported = answer({"recorded": runs, **vms(changes=[change])})
    assert rows(reported, "changed since") == [("/dc/vm/job-01", "shape.cpus", "16", "8")]


@pytest.mark.parametrize(
    "given, where, reason",
    [
        ({"hosts": {"esx-01": {}}}, "esx-01", "It was not read"),
        ({"hosts": {"esx-01": dict(host(), host={"connection": "notResponding"})}}, "esx-01", "It is notResponding."),
        ({"hosts": {"esx-01": host(unseen=["MIG"])}}, "esx-01", "SSH does not run"),
        (
            {"hosts": {"esx-01": host(answers={"bios": {"failed": True, "msg": "The BMC does not answer."}})}},
            "esx-01",
            "The BMC does not answer.",
        ),
        ({"switches": {"leaf-01": {"skipped": True}}}, "leaf-01", "It was not read"),
        ({"switches": {"leaf-01": {"unreachable": True, "msg": "No route."}}}, "leaf-01", "No route."),
        ({"problems": [{"where": "leaf-02", "why": "wrong"}]}, "leaf-02", "wrong"),
        ({"machines": {}}, "VMs", "It was not read"),
        (vms(before={}), "/dc/vm/job-01", "another VM is rejected"),
        (vms(failed=True, msg="It has snapshots."), "/dc/vm/job-01", "It has snapshots."),
    ],
)
def test_whatever_was_not_compared_is_unknown_with_its_reason(given, where, reason):
    reported = answer({**vms(), **given})
    unknown = [row for row in reported["rows"] if row["state"] == "unknown"]
    assert [row["object"] for row in unknown] == [where]
    assert reason in unknown[0]["why"]
    assert (reported["status"], reported["code"]) == ("unknown", 20)
    assert reason in reported["text"]
    assert reason in reported["markdown"]


def test_maintenance_mode_pending_settings_missing_vms_links_and_rules_differ():
    preview = host(answers={"driver": {"host": {"changes": [], "pending": [{"what": "driver", "needs": "reboot"}]}}})
    preview["host"]["in_maintenance"] = True
    switch = {"changes": [], "ports_down": [{"port": "Ethernet3", "reason": "no link"}]}
    given = vms("clone", before={"exists": False}, changed=True)
    cluster = {"name": "gpu", "changes": [{"path": "rule.enabled", "before": False, "after": True}]}
    given["machines"]["answers"]["drs"] = {"cluster": cluster}
    reported = answer({"hosts": {"esx-01": preview}, "switches": {"leaf-01": {"switch": switch}}, **given})
    assert set(rows(reported, "not applied")) == {
        ("esx-01", "driver", "effective", "configured, waits for a reboot"),
        ("esx-01", "in_maintenance", "false", "true"),
        ("leaf-01", "Ethernet3.link", "up", "no link"),
        ("/dc/vm/job-01", "exists", "true", "false"),
        ("gpu", "rule.enabled", "true", "false"),
    }


@pytest.mark.parametrize("due, reported", [([{"moid": "vm-1"}], True), ([], False)], ids=["the site starts it", "not"])
def test_power_of_a_vm_differs_only_where_the_site_starts_it(due, reported):
    given = vms("power", moid="vm-1", changes=[{"path": "power", "before": "off", "after": "on"}])
    given["machines"]["due"] = {"on": due}
    assert rows(answer(given), "not applied") == ([("/dc/vm/job-01", "power", "on", "off")] if reported else [])


def test_power_cycle_that_a_change_needs_is_no_difference():
    change = {"path": "power_cycle", "before": "on", "after": "on"}
    assert answer(vms(changes=[change]))["status"] == "no drift"


def test_values_of_secrets_are_not_shown_and_control_characters_are_escaped():
    gaps = (("proxy_password", "word-1", "word-2"), ("banner", "a", "b\x1b[2J"))
    reported = answer({"hosts": {"esx-01": host(*gaps)}, **vms()})
    shown = json.dumps(reported)
    assert not [word for word in ("word-1", "word-2", "\\u001b") if word in shown]


def test_notification_has_a_few_lines_with_the_worst_first():
    gaps = [(f"option.{number}", "1", "0") for number in range(9)]
    reported = answer({"name": "gpu", "hosts": {"esx-01": host(*gaps), "esx-02": {}}, **vms()})
    lines = reported["text"].splitlines()
    assert lines[0] == "gpu: drift. 1 unknown, 9 not applied, 1 as requested."
    assert (len(lines), lines[-1]) == (7, "- and 5 more")


def test_results_are_read_from_variables_of_hosts():
    variables = {
        "localhost": {
            "site": {"cluster": "gpu"},
            "__drift_broken": [{"where": "VMs", "why": "undefined"}],
            "__switch_problems": ["leaf-01: wrong port", "no switch at all"],
            "training_vm_preview": {"answers": {}},
        },
        "esx-01": {"esxi_host_preview": host(), "__drift_problems": ["wrong"]},
        "leaf-01": {},
    }
    found = seen(variables, {"esxi_hosts": ["esx-01"], "switches": ["leaf-01"]}, {"runs": ["first"]})
    assert [(one["where"], one["why"]) for one in found["problems"]] == [
        ("VMs", "undefined"),
        ("esx-01", "wrong"),
        ("leaf-01", "wrong port"),
        ("switches", "no switch at all"),
    ]
    assert (found["name"], found["recorded"]["runs"]) == ("gpu", ["first"])
    assert answer(found)["counts"]["unknown"] == 5


@pytest.mark.parametrize(
    "tags, skipped, objects",
    [
        (["all"], [], {"esx-01", "leaf-01", "VMs", "job-01"}),
        (["drift"], ["guests"], {"esx-01", "leaf-01", "VMs"}),
        (["guests"], [], {"job-01"}),
        (["fabric", "hosts"], ["hosts"], {"leaf-01"}),
        (["nothing"], [], {"esx-01", "leaf-01", "VMs", "job-01"}),
    ],
)
def test_only_the_stages_of_the_tags_are_reported(tags, skipped, objects):
    variables = {"localhost": {"__drift_guest_names": ["job-01"]}, "esx-01": {}, "leaf-01": {}}
    found = seen(variables, {"esxi_hosts": ["esx-01"], "switches": ["leaf-01"]}, {}, tags, skipped)
    assert {row["object"] for row in answer(found)["rows"]} == objects


def test_records_are_read_newest_first_and_damaged_ones_are_left_out(tmp_path):
    for number, run in enumerate(("old", "new", "broken")):
        (tmp_path / run).mkdir()
        file = tmp_path / run / "stages.json"
        file.write_text("{" if run == "broken" else json.dumps(record(("esx-01", "mtu", run))))
        os.utime(file, (number, number))
    found = recorded.of_results(str(tmp_path))
    assert found["runs"] == ["new", "old"]
    assert found["values"]["esx-01"]["mtu"][:2] == ["new", "new"]
    assert recorded.of_results(str(tmp_path / "none")) == {"runs": [], "values": {}, "stages": {}}


def test_many_trainings_and_dry_runs_do_not_hide_the_run_that_applied(tmp_path):
    more = [record(name="training"), record(check_mode=True)] * recorded.record.LOOKED_AT
    for number, one in enumerate([record(("esx-01", "mtu", "9000")), *more]):
        (tmp_path / str(number)).mkdir()
        file = tmp_path / str(number) / "stages.json"
        file.write_text(json.dumps(one))
        os.utime(file, (number, number))
    found = recorded.of_results(str(tmp_path))
    assert (found["runs"], found["values"]["esx-01"]["mtu"][0]) == (["0"], "9000")


@pytest.mark.parametrize("damage", [{"changes": ["mtu"]}, {"changes": {"mtu": 1}}, {"hosts": 7}])
def test_a_record_of_another_form_counts_as_far_as_it_is_readable(damage):
    runs = recorded.known([("damaged", {"stages": [{**STAGE, **damage}]}), ("good", record(("esx-01", "mtu", 9000)))])
    assert runs["values"]["esx-01"]["mtu"][:2] == [9000, "good"]


@pytest.mark.parametrize("one, other", [("0x08", 8), (True, "TRUE"), (["a"], "a"), ({"a": 1}, "a: 1")])
def test_values_are_compared_however_they_are_spelled(one, other):
    assert alike(one, other)
    assert spoken(None) == "none"


def test_row_names_the_last_event_of_its_object_after_the_run():
    runs = recorded.known([("first", record())])
    given = {"hosts": {"esx-01": host(("vmk1.mtu", "9000", "1500"))}, "recorded": runs, **vms()}
    assert asked(given) == {"objects": ["host-1"], "since": "2026-03-01T08:01:00Z"}
    assert asked(vms()) == {"objects": [], "since": ""}
    times = {"before": "2026-03-01T08:00:30Z", "ann": "2026-03-01T09:00:00Z", "bob": "2026-03-01T10:00:00Z"}
    events = [{"moid": "host-1", "at": at, "user": user} for user, at in times.items()]
    events.append({"moid": "host-2", "at": "2026-03-01T11:00:00Z", "user": "eve"})
    reported = answer(given, {"events": events})
    (row,) = [row for row in reported["rows"] if row["state"] == "changed since"]
    assert (row["changed_by"], row["changed_at"]) == ("bob", times["bob"])
    assert "last event of the object: by bob 2026-03-01T10:00:00Z" in reported["text"]
    assert "| 2026-03-01T10:00:00Z bob |" in reported["markdown"]
    (row,) = [row for row in answer(given, {"events": events[:1]})["rows"] if row["state"] == "changed since"]
    assert (row["changed_by"], row["run"]) == ("", "first")
    # Events that were asked for and not read are no sign that nobody changed it.
    (row,) = [row for row in answer(given, {"msg": "No permission."})["rows"] if row["state"] == "changed since"]
    assert row["why"].endswith("Who changed it is unknown. No permission.")


def test_quarantine_is_named_and_is_no_drift():
    entry = {"kind": "guest", "at": "2026-03-01T08:15:30Z", "why": "xid.hardware: one\x1b[2J."}
    reported = answer({"name": "gpu", **vms(), "quarantine": {"job-01": entry}})
    assert (reported["status"], reported["quarantine"]) == ("no drift", {"job-01": entry})
    line = "job-01 has been in quarantine since 2026-03-01T08:15:30Z: xid.hardware: one"
    assert reported["text"].splitlines()[1].startswith(f"- {line}")
    assert [part for part in (reported["sentence"], reported["markdown"], *reported["table"]) if line in part]
    assert "\x1b" not in reported["text"] + reported["sentence"] + reported["markdown"]
    many = answer({**vms(), "quarantine": {f"job-{number}": entry for number in range(9)}})
    assert many["text"].splitlines()[-1] == "- and 4 more in quarantine"


def test_a_reason_shows_no_password_of_an_address():
    failed = {"failed": True, "msg": "Cannot load https://bot:hunter2@depot.example.com/d.zip. It answers 403."}
    reported = answer({"hosts": {"esx-01": host(answers={"driver": failed})}, **vms()})
    assert "hunter2" not in json.dumps(reported)
    assert "https://bot:[not shown]@depot.example.com/d.zip. It answers 403." in reported["text"]
