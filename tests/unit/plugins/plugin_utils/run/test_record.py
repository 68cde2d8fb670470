"""Where the record of a run lies, what is in it after several playbooks, and what earlier ones report of times."""

from __future__ import annotations

import json
import os
import re
import time

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import record as run_record
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.record import Folder, Record, Usual, earlier

RUN = run_record.RUN


def record(*stages, **more):
    return {"format": 1, "began": "then", "ended": "now", "stages": list(stages), "reboots": {}, **more}


def stage(name, seconds=10.0, state="ok", **more):
    return {"name": name, "seconds": seconds, "state": state, "changes": [], **more}


def write(folder, content):
    folder.mkdir(parents=True)
    (folder / "stages.json").write_text(content if isinstance(content, str) else json.dumps(content))


def read(folder):
    return json.loads((folder / "stages.json").read_text())


class Warnings(list):
    def __call__(self, text):
        self.append(text)


def test_runs_that_start_in_the_same_second_have_names_of_their_own():
    began = time.gmtime(0)
    names = {run_record.named(began, {}) for _number in range(50)}
    assert len(names) == 50
    assert all(re.fullmatch("19700101-000000-[0-9a-f]{8}", name) for name in names)
    job = {"AWX_HOST": "https://towerhost", "JOB_ID": "7"}
    assert run_record.named(began, job) == "19700101-000000-job7"
    assert run_record.named(began, {**job, "JOB_ID": "../7"}).rpartition("-")[0] == "19700101-000000"


@pytest.mark.parametrize(
    "options, said, path, results",
    [
        pytest.param({}, {}, f"~/aiready/results/{RUN}", "~/aiready/results", id="nothing is said"),
        pytest.param({"results": "/r"}, {}, f"/r/{RUN}", "/r", id="results by option"),
        pytest.param({}, {"results": "/s"}, f"/s/{RUN}", "/s", id="results by variable"),
        pytest.param({"results": "/r"}, {"results": "/s"}, f"/r/{RUN}", "/r", id="the option counts"),
        pytest.param({"run_folder": "/r/1"}, {"run_folder": "/s/1"}, "/r/1", "/r", id="the run by option"),
        pytest.param({"results": "/r"}, {"run_folder": "/s/1"}, "/s/1", "/r", id="the run by variable"),
        pytest.param({}, {"run_folder": "~/s/1"}, "~/s/1", "~/s", id="at home"),
    ],
)
def test_the_folder_of_a_run(options, said, path, results):
    folder = Folder(**options)
    folder.heard(**said)
    folder.heard()
    assert (folder.path, folder.results) == (os.path.expanduser(path), os.path.expanduser(results))


def test_playbooks_of_a_run_add_to_its_record(tmp_path):
    write(tmp_path / "run", record(stage("hosts"), began="first", reboots={"esx-01": 1, "esx-02": 1}, note="kept"))
    mine = Record(Warnings())
    mine.write(str(tmp_path / "run"), record(stage("fabric")))
    mine.write(str(tmp_path / "run"), record(stage("fabric"), stage("machines"), reboots={"esx-01": 1}))
    found = read(tmp_path / "run")
    assert [entry["name"] for entry in found["stages"]] == ["hosts", "fabric", "machines"]
    assert (found["began"], found["ended"], found["note"]) == ("first", "now", "kept")
    assert found["reboots"] == {"esx-01": 2, "esx-02": 1}


@pytest.mark.parametrize(
    "earlier, now, kept", [(["rdma"], [], ["rdma"]), (["rdma"], ["hosts"], ["hosts"]), ([], [], [])]
)
def test_what_a_site_declares_as_simulated_stays_in_the_record_of_the_whole_run(tmp_path, earlier, now, kept):
    write(tmp_path / "run", record(stage("hosts"), simulated_parts=earlier))
    Record(Warnings()).write(str(tmp_path / "run"), record(stage("fabric"), simulated_parts=now))
    assert read(tmp_path / "run")["simulated_parts"] == kept


def test_a_folder_that_becomes_known_late_gets_everything_and_nothing_is_left(tmp_path):
    mine = Record(Warnings())
    mine.write(str(tmp_path / "guessed"), record(stage("hosts")))
    mine.write(str(tmp_path / "named"), record(stage("hosts"), stage("machines")))
    assert not (tmp_path / "guessed").exists()
    assert len(read(tmp_path / "named")["stages"]) == 2


def test_the_record_of_others_stays_where_it_was(tmp_path):
    write(tmp_path / "theirs", record(stage("hosts")))
    mine = Record(Warnings())
    mine.write(str(tmp_path / "theirs"), record(stage("fabric")))
    mine.write(str(tmp_path / "named"), record(stage("fabric")))
    assert read(tmp_path / "theirs")["stages"][0]["name"] == "hosts"


@pytest.mark.parametrize("content", ["{", "[]", '{"format": 2, "stages": []}', '{"format": 1, "stages": ["x"]}'])
def test_what_is_no_record_is_kept_aside_and_reported_of(tmp_path, content):
    write(tmp_path / "run", content)
    warnings = Warnings()
    Record(warnings).write(str(tmp_path / "run"), record(stage("hosts")))
    assert len(read(tmp_path / "run")["stages"]) == 1
    assert (tmp_path / "run" / "stages.json.damaged").read_text() == content
    assert "is not a record of a run" in warnings[0]


def test_a_record_that_cannot_be_written_is_reported_of_once(tmp_path):
    (tmp_path / "results").write_text("no folder")
    warnings = Warnings()
    mine = Record(warnings)
    for _turn in range(3):
        mine.write(str(tmp_path / "results" / "run"), record(stage("hosts")))
    assert len(warnings) == 1
    assert str(tmp_path / "results" / "run" / "stages.json") in warnings[0]
    assert "Not a directory" in warnings[0]
    assert mine.is_lost
    mine.write(str(tmp_path / "other"), record(stage("hosts")))
    assert not mine.is_lost


def test_it_is_replaced_whole_and_readable_as_other_files_are(tmp_path):
    mine = Record(Warnings())
    before = os.umask(0o027)
    try:
        mine.write(str(tmp_path / "run"), record(stage("hosts")))
    finally:
        os.umask(before)
    assert [entry.name for entry in (tmp_path / "run").iterdir()] == ["stages.json"]
    assert (tmp_path / "run" / "stages.json").stat().st_mode & 0o777 == 0o640


def test_texts_that_are_none_do_not_keep_it_from_being_written(tmp_path):
    Record(Warnings()).write(str(tmp_path / "run"), record(stage("hosts", why="\udcff")))
    assert read(tmp_path / "run")["stages"][0]["name"] == "hosts"


def test_a_long_record_is_written_less_often_and_never_forgotten(tmp_path):
    now = [0.0]

    def clock():
        now[0] += 0.5
        return now[0]

    mine = Record(Warnings(), clock)
    folder = str(tmp_path / "run")
    mine.write(folder, record(stage("hosts")), at_once=False)
    assert not mine.is_behind
    mine.write(folder, record(stage("hosts"), stage("fabric")), at_once=False)
    assert (mine.is_behind, len(read(tmp_path / "run")["stages"])) == (True, 1)
    mine.write(folder, record(stage("hosts"), stage("fabric")))
    assert (mine.is_behind, len(read(tmp_path / "run")["stages"])) == (False, 2)


def test_usual_times_are_those_of_the_last_good_runs_of_the_same_kind():
    records = [
        record(stage("hosts", 100.0), stage("fabric", 5.0, "failed")),
        record(stage("hosts", 60.0, check_mode=True)),
        record(stage("hosts", 40.0, tasks=[{"task": "Restart the host", "seconds": 30}, {"task": None}, "x"])),
        *[record(stage("hosts", 70.0))] * 10,
        record(stage("hosts", 9999.0), stage("own stage", "x")),
    ]
    usual = Usual(records)
    assert usual.stage("hosts") == (40.0, 100.0)
    assert usual.stage("own stage") is None
    assert usual.task("Restart the host") == 30
    assert usual.task("Look") is None
    assert Usual(records, check=True).stage("hosts") == (60.0, 60.0)
    assert Usual(check=True).stage("fabric") is None
    low, high = usual.stage("fabric")
    assert 0 < low < high


def test_earlier_records_are_read_newest_first_and_others_are_passed_by(tmp_path):
    for number in range(3):
        write(tmp_path / f"run-{number}", record(stage("hosts", float(number))))
        os.utime(tmp_path / f"run-{number}" / "stages.json", (number, number))
    write(tmp_path / "broken", "{")
    (tmp_path / "empty").mkdir()
    (tmp_path / "a file").write_text("")
    assert [found["stages"][0]["seconds"] for found in earlier(str(tmp_path))] == [2.0, 1.0, 0.0]
    assert earlier(str(tmp_path / "nowhere")) == []


WAITS = {"stage": "hosts", "object": "esx-01 A100", "what": "mig", "needs": "reboot"}


@pytest.mark.parametrize(
    "reported, left",
    [
        pytest.param(record(stage("fabric")), [WAITS], id="other stage"),
        pytest.param(record(stage("hosts")), [], id="same stage"),
        pytest.param(record(stage("hosts", state="skipped")), [WAITS], id="same stage without work"),
        pytest.param(record(stage("hosts", check_mode=True)), [WAITS], id="same stage in check mode"),
        pytest.param(record(stage("fabric"), reboots={"esx-01": 1}), [], id="restarted"),
        pytest.param(record(stage("fabric"), reboots={"esx-0": 1}), [WAITS], id="other object restarted"),
        pytest.param(
            record(stage("fabric"), pending=[dict(WAITS, needs="x")]), [dict(WAITS, needs="x")], id="read again"
        ),
    ],
)
def test_pending_settings_stay_until_a_restart_or_another_read(tmp_path, reported, left):
    write(tmp_path / "run", record(stage("hosts"), pending=[WAITS, "broken"], failures=[{"object": "localhost"}]))
    Record(Warnings()).write(str(tmp_path / "run"), reported)
    found = read(tmp_path / "run")
    assert found["pending"] == left
    # A new run continues from the current state, so failures outside of stages are those of the last one.
    assert "failures" not in found
