"""The words that an operator reads."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import screen

from .events import Time, course, item, seen, stage_plays, task

CHANGED = {"vms": [item({"cpus": (8, 16)}, name="job-01"), item({"cpus": (8, 16)}, name="job-02")]}


def a_run(*names, check=False):
    time = Time()
    run = course(time)
    run.playbook_begins(stage_plays(*names), check=check)
    return time, run


@pytest.mark.parametrize(
    "seconds, text, watch",
    [(0, "0 s", "0:00"), (59.6, "1 min", "0:59"), (723, "12 min 03 s", "12:03"), (3725, "1 h 02 min", "1:02:05")],
)
def test_durations(seconds, text, watch):
    assert (screen.duration(seconds), screen.watch(seconds)) == (text, watch)


@pytest.mark.parametrize(
    "span, text",
    [
        (None, "STAGE [hosts] 1 of 2"),
        ((100, 110), "STAGE [hosts] 1 of 2, usually 1 min 45 s"),
        ((60, 2700), "STAGE [hosts] 1 of 2, usually 1 min to 45 min"),
    ],
)
def test_a_stage_begins(span, text):
    _time, run = a_run("hosts", "machines")
    _over, begun = run.play_begins("play-0")
    assert screen.begins(begun, run, span) == text


def test_check_mode_is_said_where_a_stage_begins():
    _time, run = a_run("hosts", check=True)
    _over, begun = run.play_begins("play-0")
    assert screen.begins(begun, run, None) == "STAGE [hosts] check mode, nothing is changed"


def test_the_lines_that_change_report_time_hosts_and_progress():
    time, run = a_run("hosts", "machines")
    run.play_begins("play-0")
    running = {"Restart the host": [(f"esx-0{number}", 10.0) for number in range(1, 6)], "Look": [("esx-06", 131.0)]}
    time.now = 132.0
    lines = screen.live(run, (600, 700), running, {"Restart the host": 400}.get, ["esx-01: away"], time.now)
    assert lines == [
        ("stage 1 of 2, hosts: 2:12 of about 10:50, no changes", screen.PLAIN),
        ("  Restart the host: esx-01, esx-02, esx-03 and 2 more  2:02 of about 6:40", screen.QUIET),
        ("  Look: esx-06", screen.QUIET),
        ("    esx-01: away", screen.QUIET),
    ]
    assert screen.still(run, None, {"Look": [("esx-06", 70.0)]}, 132.0) == (
        "[hosts] 2 min 12 s: Look on esx-06 for 1 min 02 s."
    )


def test_a_stage_ends():
    time, run = a_run("machines")
    run.play_begins("play-0")
    run.ended(seen(data=CHANGED), task())
    time.now = 75
    over = run.ends(set())
    assert screen.ends(over, (50, 60)) == (
        "STAGE [machines] ok after 1 min 15 s: 2 changes on 2 objects",
        screen.GOOD,
    )
    assert "(usually 5 s)" in screen.ends(over, (5, 5))[0]


@pytest.mark.parametrize(
    "data, later, words",
    [
        pytest.param(CHANGED, [], "2 changes on 2 objects would be made", id="changes"),
        pytest.param({}, [], "nothing to change", id="none"),
        pytest.param({}, ["hosts", "hosts"], "more will be planned after hosts", id="all open"),
        pytest.param(
            CHANGED,
            ["hosts", "the driver runs"],
            "2 changes on 2 objects would be made, more will be planned after hosts and the driver runs",
            id="some open",
        ),
    ],
)
def test_a_stage_of_a_plan_ends(data, later, words):
    _time, run = a_run("machines", check=True)
    run.play_begins("play-0")
    run.ended(seen(data=data, check=True), task())
    run.now.later += [{"object": "job-01", "what": [], "after": after, "why": ""} for after in later]
    assert screen.ends(run.ends(set()), None)[0] == f"STAGE [machines] ok after 0 s: {words}"


def test_the_last_screen_of_a_run_that_failed():
    time, run = a_run("hosts", "fabric", "machines")
    run.play_begins("play-0")
    run.ended(seen("ansible.builtin.reboot", "esx-01", own=False, data={"changed": True, "rebooted": True}), task())
    time.now = 723
    run.play_begins("play-1")
    for host in ("leaf-01", "leaf-02"):
        run.ended(seen(host=host), task())
    run.ended(
        seen(host="leaf-02", name="Give RoCE its class", data={"msg": "leaf-02: no.\nMend it."}), task(), failed=True
    )
    time.now = 730
    run.ends({"leaf-02"})
    assert screen.last(run, screen.report_of({}), "/r/stages.json") == [
        ("hosts     ok          12 min 03 s  1 change on 1 object, 1 restart", screen.GOOD),
        ("fabric    failed              7 s  no changes, 1 of 2 hosts failed", screen.BAD),
        ("machines  not begun", screen.QUIET),
        ("", screen.PLAIN),
        ("leaf-02: failed in stage fabric: Give RoCE its class", screen.BAD),
        ("    leaf-02: no.", screen.PLAIN),
        ("    Mend it.", screen.PLAIN),
        ("", screen.PLAIN),
        (
            "Verdict: failed in fabric. See above. A new run continues from the current state.",
            screen.BAD,
        ),
        ("Record: /r/stages.json", screen.PLAIN),
    ]


def verdict(names, report=None, check=False, ran=True):
    _time, run = a_run(*names, check=check)
    for number, _name in enumerate(names):
        run.play_begins(f"play-{number}")
        if ran:
            run.ended(seen(), task())
    run.ends(set())
    return [line for line in screen.last(run, screen.report_of(report or {}), "") if line[0].startswith(("Ver", "Rep"))]


REPORT = {
    "report": {
        "name": "/r",
        "after": {
            "files": {"report.html": "/r/report.html", "report.md": "/r/report.md"},
            "state": "warn",
            "title": "Passed in a rehearsal",
            "sentence": "Two checks warn.",
        },
    }
}


def test_the_verdict_is_that_of_the_report():
    assert verdict(["validation"], REPORT) == [
        ("Verdict: warn. Passed in a rehearsal. Two checks warn.", screen.WARN),
        ("Report: /r/report.html", screen.PLAIN),
    ]


def test_a_validation_that_failed_says_so_in_its_own_words():
    _time, run = a_run("guests", "validation")
    run.play_begins("play-0")
    run.ended(seen(), task())
    run.play_begins("play-1")
    run.ended(seen(host="localhost", name="Fail where something did not pass"), task(), failed=True)
    run.ends({"localhost"})
    report = {"state": "fail", "words": "Failed. 3 checks fail.", "path": "/r/report.html"}
    assert screen.last(run, report, "")[-2:] == [
        ("Verdict: fail. Failed. 3 checks fail.", screen.BAD),
        ("Report: /r/report.html", screen.PLAIN),
    ]
    run.stages[0].state = "failed"
    assert screen.last(run, report, "")[-3:-1] == [
        (
            "Verdict: failed in guests and validation. See above. A new run continues from the current state.",
            screen.BAD,
        ),
        ("Validation: fail. Failed. 3 checks fail.", screen.PLAIN),
    ]


@pytest.mark.parametrize(
    "report", [{}, {"report": None}, {"report": {"after": {}}}, {"report": {"after": {"files": 1}}}]
)
def test_without_a_validation_nothing_is_claimed(report):
    assert verdict(["hosts"], report) == [
        ("Verdict: these stages succeeded. This run did not validate anything.", screen.GOOD)
    ]


def test_in_check_mode_and_without_anything_to_do_there_is_no_verdict():
    assert "This is what would be done" in verdict(["hosts"], check=True)[0][0]
    assert "none of these stages had anything to do" in verdict(["hosts"], ran=False)[0][0]


def test_a_run_that_was_broken_off_says_where():
    time, run = a_run("hosts", "machines")
    run.play_begins("play-0")
    time.now = 61
    run.ends(why="broken off")
    assert screen.broken_off(run, "/r/stages.json")[0][0] == (
        "Broken off in stage hosts after 1 min 01 s. A new run continues from the current state."
    )
    assert screen.broken_off(course(), "") == []
    _time, run = a_run("hosts", "machines")
    run.ends(why="broken off")
    assert screen.broken_off(run, "")[0][0].startswith("Broken off before stage hosts.")


@pytest.mark.parametrize(
    "plays, where",
    [((None, "hosts"), "before the first stage"), (("hosts", None, "machines"), "after stage hosts")],
    ids=["before", "between"],
)
def test_failure_outside_of_stages_is_the_verdict(plays, where):
    _time, run = a_run(*plays)
    for number in range(plays.index(None) + 1):
        run.play_begins(f"play-{number}")
        run.ended(seen(host="localhost", name="Check the names"), task(), failed=plays[number] is None)
    run.ends({"localhost"})
    lines = screen.last(run, {"state": "", "words": "", "path": ""}, "")
    assert lines[-1] == (
        f"Verdict: failed {where}. See above. A new run continues from the current state.",
        screen.BAD,
    )
    assert (f"localhost: failed {where}: Check the names", screen.BAD) in lines


def test_validation_that_failed_after_a_good_report_does_not_end_with_its_words():
    _time, run = a_run("validation")
    run.play_begins("play-0")
    run.ended(seen(host="localhost"), task(), failed=True)
    run.ends({"localhost"})
    report = {"state": "pass", "words": "Passed.", "path": ""}
    assert screen.last(run, report, "")[-2][0].startswith("Verdict: failed in validation.")


def test_each_code_is_shown_once_with_the_place_that_explains_it():
    _time, run = a_run("hosts")
    run.play_begins("play-0")
    data = {"failed": True, "msg": "No such host.", "failure": {"code": "host_not_found"}}
    for host in ("esx-01", "esx-02"):
        run.ended(seen("host_graphics", host=host, data=data), task(), failed=True)
    run.ends({"esx-01", "esx-02"})
    lines = [text for text, _kind in screen.last(run, screen.report_of({}), "")]
    explained = "    Code host_not_found: docs/failure_codes.md#host_not_found"
    assert [line for line in lines if "host_not_found" in line] == [explained]
    assert lines[lines.index(explained) - 1] == "    No such host."
    assert run.stages[0].as_result()["failures"][1]["codes"] == ["host_not_found"]
