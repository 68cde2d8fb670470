# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Quarantine: guests and hosts enter after a health check, miss trainings, and return after a validation."""

from __future__ import annotations

import json
import multiprocessing

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.health import quarantine

AT, LATER = "2026-03-01T08:15:30Z", "2026-03-01T09:15:30Z"
GUESTS = {"job-01": "esx-01", "job-02": "esx-02", "job-03": "esx-02"}
PLACES = {"guests": GUESTS, "hosts": ["esx-01", "esx-02"]}
ENTRY = {"kind": "guest", "at": AT, "why": "xid.hardware: one."}


def check(*rows):
    reported = [
        {"object": name, "reading": reading, "kind": kind, "state": "failing", "why": "It is wrong."}
        for name, reading, kind in rows
    ]
    return {"rows": reported, "failing": sorted({row["object"] for row in reported})}


XID = ("job-01", "xid.hardware", "xid_hardware")
CLOCK = ("job-02", "clock.synchronised", "")
LINK = ("esx-01", "vmnic2.up", "")
PORT = ("leaf-01", "Ethernet1.roce_drops", "drops")


def entered(*rows, record=None, mode="cordon"):
    return quarantine.entered(check(*rows), record or {}, mode, PLACES, LATER)


def test_guests_and_hosts_that_fail_enter_and_switches_do_not():
    reported = entered(XID, LINK, PORT)
    assert reported["added"] == ["esx-01", "job-01"]
    assert reported["objects"]["job-01"] == {"kind": "guest", "at": LATER, "why": "xid.hardware: It is wrong."}
    assert reported["objects"]["esx-01"]["kind"] == "host"
    assert reported["maintenance"] == []
    assert reported["lines"][1] == f"job-01 has been in quarantine since {LATER}: xid.hardware: It is wrong."


def test_report_only_names_them():
    reported = entered(XID, mode="report")
    assert (reported["objects"], reported["added"], reported["failing"]) == ({}, [], ["job-01"])
    assert reported["lines"] == ["job-01 fails, and health_quarantine is report."]


def test_an_entry_stays_with_its_time_whether_or_not_the_object_fails_again():
    for rows in ((XID,), ()):
        reported = entered(*rows, record={"job-01": ENTRY})
        assert (reported["objects"], reported["added"]) == ({"job-01": ENTRY}, [])


@pytest.mark.parametrize(
    "row, hosts",
    [
        (XID, ["esx-01"]),
        (("job-01", "gpu.02:00.0.remap_failed", ""), ["esx-01"]),
        (CLOCK, []),
        (LINK, ["esx-01"]),
        (PORT, []),
    ],
    ids=["Xid", "memory", "clock", "host", "switch"],
)
def test_drs_selects_hosts_that_fail_and_those_of_guests_with_faults_of_hardware(row, hosts):
    assert entered(row, mode="drs")["maintenance"] == hosts
    # Also if the guest was in quarantine already.
    assert entered(row, mode="drs", record={row[0]: ENTRY})["maintenance"] == hosts


def test_a_host_that_was_refused_is_tried_again_without_a_new_fault_until_it_was_in_maintenance_mode(tmp_path):
    path = str(tmp_path / "quarantine.json")
    first = entered(XID, mode="drs")
    quarantine.updated(path, {name: first["objects"][name] for name in first["added"]}, [])
    record = quarantine.last(path)
    assert record["job-01"] == {
        "kind": "guest",
        "at": LATER,
        "why": "xid.hardware: It is wrong.",
        "maintenance": "esx-01",
    }
    again = entered(record=record, mode="drs")
    assert (again["added"], again["maintenance"]) == ([], ["esx-01"])
    assert entered(record=record)["maintenance"] == []
    quarantine.updated(path, {}, [], in_maintenance=["esx-02"])
    assert quarantine.last(path) == record
    quarantine.updated(path, {}, [], in_maintenance=["esx-01"])
    record = quarantine.last(path)
    assert (entered(record=record, mode="drs")["maintenance"], list(record)) == ([], ["job-01"])
    # A new fault of a guest in quarantine is one more reason, and keeps the first.
    worse = entered(XID, record=record, mode="drs")
    assert quarantine.updated(path, {name: worse["objects"][name] for name in worse["added"]}, []) == first["objects"]


def test_a_host_of_another_site_with_the_same_name_still_waits(tmp_path):
    path, added = str(tmp_path / "quarantine.json"), {"esx-01": {**ENTRY, "maintenance": "esx-01"}}
    for site in ("gpu@one", "gpu@two"):
        quarantine.updated(path, added, [], site)
    quarantine.updated(path, {}, [], "gpu@one", ["esx-01"])
    waits = [quarantine.last(path, site)["esx-01"].get("maintenance") for site in ("gpu@one", "gpu@two")]
    assert waits == [None, "esx-01"]


def test_an_unknown_mode_is_rejected_with_the_choices():
    with pytest.raises(AnsibleFilterError, match="mode evict. Use report, drs, cordon."):
        entered(mode="evict")


def test_a_training_leaves_out_guests_in_quarantine_and_those_of_hosts_in_quarantine():
    guests = {name: {"host": host} for name, host in GUESTS.items()}
    assert quarantine.held({"job-01": ENTRY}, guests) == ["job-01"]
    assert quarantine.held({"esx-02": ENTRY}, guests) == ["job-02", "job-03"]
    assert quarantine.held({}, {"job-09": {"host": ""}}) == []


def validated(*rows, state="fail", passed=9):
    wrong = [{"id": row, "verdict": verdict} for row, verdict in rows]
    return {"verdict": {"state": state, "counts": {"pass": passed}}, "not_right": wrong}


RECORD = dict.fromkeys(("job-01", "job-02", "esx-01", "esx-02", "esx-09"), ENTRY)


@pytest.mark.parametrize(
    "validation, expected",
    [
        (validated(state="pass"), ["esx-01", "esx-02", "job-01", "job-02"]),
        (validated(("guest.mtu job-01", "warn"), state="warn"), ["esx-01", "esx-02", "job-01", "job-02"]),
        (validated(("guest.mtu job-01", "fail")), ["esx-02", "job-02"]),
        (validated(("guest.xid job-03", "fail")), ["esx-01", "job-01", "job-02"]),
        (validated(("pair.write_bw job-01 > job-02", "fail")), []),
        (validated(("guest.ecc job-02", "not_run")), ["esx-01", "job-01"]),
        (validated(("cluster.training 1:tcp", "fail")), []),
        (validated(state="incomplete"), []),
        (validated(state="pass", passed=0), []),
        ({}, []),
    ],
    ids=["pass", "warning", "guest", "host of a guest", "pair", "not run", "cluster", "incomplete", "nothing", "none"],
)
def test_guests_and_hosts_return_after_their_checks_passed(validation, expected):
    reported = quarantine.released(RECORD, validation, GUESTS)
    assert reported["released"] == expected
    assert set(reported["objects"]) == set(RECORD) - set(expected)


def test_a_missing_file_is_no_quarantine_and_a_damaged_one_is_an_error(tmp_path):
    file = tmp_path / "quarantine.json"
    assert quarantine.last(str(file)) == {}
    file.write_text(json.dumps({"format": 1, "objects": RECORD}))
    assert quarantine.last(str(file)) == RECORD
    for text in ("{", "[]", '{"format": 9, "objects": {}}', '{"format": 1, "objects": {"job-01": 1}}'):
        file.write_text(text)
        with pytest.raises(AnsibleFilterError, match="Cannot read which guests and hosts are in quarantine. The file"):
            quarantine.last(str(file))


def write(path, writer, start):
    start.wait()
    for number in range(25):
        quarantine.updated(path, {f"{writer}-{number}": {"kind": "guest", "at": "now", "why": "it fails"}}, [])


def test_writers_at_the_same_time_lose_no_entry(tmp_path):
    path, start = str(tmp_path / "health" / "quarantine.json"), multiprocessing.Barrier(2)
    writers = [multiprocessing.Process(target=write, args=(path, name, start)) for name in ("health", "other")]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    assert [one.exitcode for one in writers] == [0, 0]
    assert len(quarantine.last(path)) == 50


def test_an_update_keeps_the_first_reason_and_removes_what_is_released(tmp_path):
    path = str(tmp_path / "quarantine.json")
    first, second = ({"kind": "guest", "at": at, "why": at} for at in ("first", "second"))
    quarantine.updated(path, {"job-01": first, "job-02": first}, [])
    assert quarantine.updated(path, {"job-01": second}, ["job-02"]) == {"job-01": first}
    assert quarantine.last(path) == {"job-01": first}


def test_a_damaged_record_is_not_written_again(tmp_path):
    path = tmp_path / "quarantine.json"
    path.write_text("{")
    with pytest.raises(AnsibleFilterError, match="is not readable"):
        quarantine.updated(str(path), {}, ["job-01"])
    assert path.read_text() == "{"


def test_sites_that_share_a_file_have_their_own_quarantine(tmp_path):
    path = tmp_path / "quarantine.json"
    old, one, two = ({"kind": "guest", "at": at, "why": at} for at in ("old", "one", "two"))
    path.write_text(json.dumps({"format": 1, "objects": {"job-09": old}}))
    assert set(quarantine.updated(str(path), {"job-01": one}, [], "gpu@one")) == {"job-01", "job-09"}
    assert quarantine.updated(str(path), {"job-01": two}, [], "gpu@two")["job-01"]["why"] == "two"
    # A second check does not add it again.
    assert quarantine.updated(str(path), {"job-01": one}, [], "gpu@two")["job-01"]["why"] == "two"
    assert quarantine.last(str(path), "gpu@one") == {"job-01": {**one, "site": "gpu@one"}, "job-09": old}
    assert set(json.loads(path.read_text())["objects"]) == {"job-01", "job-01 (gpu@two)", "job-09"}
    assert set(quarantine.updated(str(path), {}, ["job-01"], "gpu@two")) == {"job-09"}
    assert set(quarantine.last(str(path), "gpu@one")) == {"job-01", "job-09"}
    assert quarantine.last(str(path), "GPU@One") == quarantine.last(str(path), "gpu@one")
    # An entry of an older version belongs to all sites, so it ends for all of them.
    assert quarantine.updated(str(path), {}, ["job-09"], "gpu@two") == {}
    assert set(quarantine.last(str(path), "gpu@one")) == {"job-01"}
