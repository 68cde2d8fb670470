"""Callbacks stages and record in real runs: nothing that matters is hidden, and what was changed is written down."""

from __future__ import annotations

import json
import re
import signal

import pytest

from .stages import FABRIC, HOSTS, MACHINES, SECRET, World, changes_of, debug, lines_on_screen, plays, task

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# Of every run it is something else, and only long steps show it in brackets.
TIMES = re.compile(r" \((usually )?\d+ (s|min)[^)]*\)|\d+:\d\d(:\d\d)?|\d+ (s|min)\b")
# What changes in place while the host is restarted.
IN_PLACE = (r"stage 1 of 3, hosts: \d+:\d\d of ", r"esx-0[12]: 60 s away$", r"Restart the host: esx-01")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run of three stages without a terminal: (world, status, output)."""
    world = World(
        tmp_path_factory.mktemp("whole"),
        hosts=plays("esxi_hosts", HOSTS),
        fabric=plays("switches", FABRIC),
        machines=plays("localhost", MACHINES),
    )
    return world, *world.run()


def test_whatever_needs_attention_is_shown(whole):
    _world, status, output = whole
    assert status != 0
    for words in (
        "The host is old",  # a warning of a task that is not shown otherwise
        "[DEPRECATION WARNING]: ",
        "...ignoring",
        "fatal: [esx-01]: FAILED!",
        "fatal: [esx-02]: FAILED!",
        "fatal: [leaf-02]: FAILED!",
        "fatal: [leaf-03]: UNREACHABLE!",
        "leaf-02: it was to be good. It is bad. Mend it.",
        '"msg": "rescued"',
        '"msg": "hidden from nobody"',
        "... esx-01: 60 s away",
        "changed: [esx-01] Set the graphics type",
        "changed: [esx-02] Set each (item=b)",
    ):
        assert words in output, words


def test_what_needs_none_is_not_shown(whole):
    _world, _status, output = whole
    assert "ok: [esx-01]\n" not in output
    assert "skipping: [" not in output
    assert "\x1b" not in output


def test_the_last_screen_reports_stages_failures_and_where_the_record_is(whole):
    world, _status, output = whole
    last = output[output.index("PLAY RECAP") :]
    rows = {
        line.split()[0]: line
        for line in last.splitlines()
        if line and line.split()[0] in ("hosts", "fabric", "machines")
    }
    assert "ok" in rows["hosts"].split()
    assert "8 changes on 2 objects, 2 restarts" in rows["hosts"]
    assert "failed" in rows["fabric"].split()
    assert "2 of 3 hosts failed" in rows["fabric"]
    assert "leaf-02: failed in stage fabric: Give RoCE its class\n    leaf-02: it was to be good." in last
    assert "leaf-03: unreachable in stage fabric: Reach the switch" in last
    assert "Verdict: failed in fabric." in last
    assert f"Record: {world.results}/" in last
    # What was rescued or ignored is no failure.
    assert "esx-01: failed" not in last
    assert "esx-02: failed" not in last


def test_the_record_reports_what_was_changed_on_which_object(whole):
    world, _status, _output = whole
    record = world.record()
    assert [(stage["name"], stage["state"]) for stage in record["stages"]] == [
        ("hosts", "ok"),
        ("fabric", "failed"),
        ("machines", "ok"),
    ]
    assert changes_of(record, "hosts")["esx-01"] == {
        "default_type": ["shared", "sharedDirect"],
        "host_graphics": [None, None],  # of what is hidden, the module alone
        "boot_time": ["08:00", "09:00"],
        "each": [1, 2],
    }
    # It failed half way, and what it did is there.
    assert changes_of(record, "fabric") == {name: {"mtu": [1500, 9000]} for name in ("leaf-01", "leaf-02")}
    assert changes_of(record, "machines") == {"job-01": {"cpus": [8, 16]}}
    assert record["reboots"] == {"esx-01": 1, "esx-02": 1}
    assert [failure["object"] for failure in record["stages"][1]["failures"]] == ["leaf-03", "leaf-02"]


def test_no_secret_is_reported_by_anybody(whole):
    world, _status, output = whole
    assert SECRET not in output
    (file,) = world.results.glob("*/stages.json")
    written = {path.name: path.read_text() for path in file.parent.iterdir()}
    assert sorted(written) == ["run.html", "run.md", "stages.json"]
    assert [name for name, text in written.items() if SECRET in text] == []


def test_report_of_a_run_without_a_validation_shows_what_failed_and_changed(whole):
    world, _status, output = whole
    (page,) = world.results.glob("*/run.html")
    assert f"Report: {page}" in output
    for text in (page.read_text(), page.with_suffix(".md").read_text()):
        assert "Failed in fabric" in text
        assert "leaf-02: it was to be good. It is bad. Mend it." in text
        assert "docs/failure_codes.md#" in text
        assert "sharedDirect" in text
    assert output.count("    Code not_good: docs/failure_codes.md#not_good\n") == 1


def test_in_check_mode_it_reports_what_would_be_done_and_without_colours_where_none_are_wanted(whole, tmp_path):
    world, _status, _output = whole
    arguments = ["--check", "--diff", "--limit", "esxi_hosts"]
    written, _screens = world.watch(*arguments, AIREADY_RESULTS=str(tmp_path), ANSIBLE_NOCOLOR=None, NO_COLOR="1")
    assert not COLOUR.search(written)
    output = "\n".join(lines_on_screen(written))
    assert "would change: [esx-01] Set the graphics type" in output
    assert '+    "default_type": "sharedDirect"' in output
    assert "changed: [" not in output
    assert "This is what would be done." in output
    (page,) = tmp_path.glob("*/run.html")
    assert "Nothing was changed. This run was in check mode." in page.read_text()
    assert "Changed to" not in page.read_text()
    (file,) = tmp_path.glob("*/stages.json")
    record = json.loads(file.read_text())
    assert [stage.get("check_mode") for stage in record["stages"]] == [True] * len(record["stages"])
    assert changes_of(record, "hosts")["esx-01"]["default_type"] == ["shared", "sharedDirect"]
    assert record["reboots"] == {}


def test_a_terminal_ends_with_the_same_lines_and_shows_progress_in_place(whole):
    world, _status, plain = whole

    def in_place(lines):
        return all(any(re.match(wanted, line) for line in lines) for wanted in IN_PLACE)

    written, screens = world.watch(shown=in_place, AIREADY_STAGES_LIVE="auto", ANSIBLE_NOCOLOR=None, NO_COLOR=None)
    assert COLOUR.search(written)
    at_last = [line.rstrip() for line in lines_on_screen(written)]
    kept = {line for line in _comparable(plain) if not line.startswith("... ") and " of 3, usually " not in line}
    assert kept - set(_comparable("\n".join(at_last))) == set()
    # Progress is in the lines that change, and leaves nothing behind.
    assert not any("esx-01: 60 s away" in line for line in at_last)
    assert any(in_place(lines) for lines in screens), screens


def _comparable(text):
    """Lines without what differs from run to run, and from width to width."""
    lines = (TIMES.sub("", re.sub(r"\*+$", "", line)).strip() for line in text.splitlines())
    return [
        " ".join(line.split())
        for line in lines
        if line and not line.startswith(("Record:", "Report:", "[", "deprecated"))
    ]


def test_with_v_everything_is_shown_that_ansible_itself_shows(whole):
    world, _status, _plain = whole
    _status, theirs = world.run("-v", ANSIBLE_STDOUT_CALLBACK="default", ANSIBLE_FORKS="1")
    _status, ours = world.run("-v", ANSIBLE_FORKS="1")
    known = _comparable(ours)
    assert [line for line in _comparable(theirs) if line not in known] == []
    assert "STAGE fabric failed" in "\n".join(known).replace("[", "").replace("]", "")


def test_a_playbook_of_something_else_is_shown_as_ever_and_leaves_no_record(tmp_path):
    world = World(tmp_path, hosts=plays("localhost", []))
    other = tmp_path / "other.yml"
    other.write_text(
        "[{hosts: esxi_hosts, gather_facts: false, tasks: [{debug: {msg: hello}}, {debug: {}, when: false}]}]"
    )
    theirs = world.run(name=str(other), ANSIBLE_STDOUT_CALLBACK="default", ANSIBLE_FORKS="1")
    assert world.run(name=str(other), ANSIBLE_FORKS="1") == theirs
    assert not world.results.exists()


def shaped(record):
    """Whether a record has what the first task of the stage changed."""
    return any(stage["name"] == "machines" and stage["changes"] for stage in record["stages"])


def test_a_killed_run_leaves_its_record_and_the_next_one_adds_to_it(tmp_path):
    slow = [MACHINES[0], task("Take long", "vm_shape", takes=600)]
    world = World(tmp_path, hosts=plays("esxi_hosts", HOSTS[1:2]), machines=plays("localhost", slow))
    folder = str(world.results / "run-1")
    world.end(signal.SIGKILL, shaped, AIREADY_RUN_FOLDER=folder)
    left = world.record()
    assert [(stage["name"], stage["state"]) for stage in left["stages"]] == [("hosts", "ok"), ("machines", "failed")]
    assert left["stages"][1]["why"] == "The run was broken off in this stage."
    assert changes_of(left, "machines") == {"job-01": {"cpus": [8, 16]}}
    status, _output = world.run(name="aiready.vsphere.hosts", AIREADY_RUN_FOLDER=folder)
    whole = world.record()
    assert status == 0
    assert whole["stages"][:2] == left["stages"]
    assert [stage["name"] for stage in whole["stages"]] == ["hosts", "machines", "hosts"]
    assert whole["began"] == left["began"]


def test_an_interrupted_run_says_where_it_was(tmp_path):
    slow = [MACHINES[0], task("Take long", "vm_shape", takes=600)]
    world = World(tmp_path, machines=plays("localhost", slow), validate=plays("localhost", [debug("never")]))
    output = world.end(signal.SIGINT, shaped)
    assert "changed: [localhost] Shape the VM" in output
    assert "Broken off in stage machines" in output
    assert "never" not in output
    (page,) = world.results.glob("*/run.html")
    assert f"Report: {page}" in output
    assert "Failed in machines" in page.read_text()
    assert [(stage["name"], stage["state"], stage["why"]) for stage in world.record()["stages"]] == [
        ("machines", "failed", "The run was broken off in this stage."),
        ("validation", "skipped", "The run ended before this stage."),
    ]


def test_the_record_has_what_the_site_declares_as_simulated(tmp_path):
    site = {"site": {"validation": {"simulated": "{{ ['rdma', 'hosts'] }}"}}}
    world = World(tmp_path, hosts=plays("esxi_hosts", HOSTS[1:2], vars=site))
    assert world.run()[0] == 0
    assert world.record()["simulated_parts"] == ["rdma", "hosts"]


def test_the_folder_that_a_play_names_gets_the_record_of_the_whole_run(tmp_path):
    named = {"name": "Name it", "ansible.builtin.set_fact": {"aiready_run_folder": str(tmp_path / "named")}}
    world = World(tmp_path, hosts=plays("esxi_hosts", HOSTS[1:2]), machines=plays("localhost", [named, *MACHINES]))
    status, output = world.run()
    assert status == 0
    assert "Verdict: these stages succeeded. This run did not validate anything." in output
    assert list(world.results.glob("*/stages.json")) == []
    assert (tmp_path / "named" / "stages.json").exists()
    assert f"Record: {tmp_path / 'named' / 'stages.json'}" in output


LATER = "job-02: everything will be planned after machines: the VM is not there yet."


def test_a_run_is_compared_with_the_plan_that_it_names(tmp_path):
    made_later = task(
        "Shape the other VM",
        "vm_shape",
        {"when": "not ansible_check_mode"},
        key="vms",
        name="job-02",
        changes={"cpus": [8, 4]},
    )
    guests = [debug(LATER, {"when": "ansible_check_mode"}), made_later]
    surprise = task(
        "Do more", "vm_shape", {"when": "not ansible_check_mode"}, key="vms", name="job-01", changes={"mmio": [1, 2]}
    )
    world = World(tmp_path, machines=plays("localhost", [*MACHINES, surprise]), guests=plays("localhost", guests))
    folder = str(tmp_path / "plan")
    status, planned = world.run("--check", AIREADY_RUN_FOLDER=folder)
    assert status == 0, planned
    assert "STAGE [guests] ok after" in planned
    assert "more will be planned after machines" in planned
    status, output = world.run("--extra-vars", f"aiready_plan={folder}")
    assert status == 0, output
    reported = output[output.index("Compared with the plan in") :].splitlines()
    counted = "1 change as planned, 1 made but not planned, 0 planned but not made."
    assert reported[:3] == [
        f"Compared with the plan in {folder}: {counted}",
        "  not planned: [machines] job-01, mmio: 1 -> 2",
        "  planned after machines: [guests] job-02, everything: 1 change",
    ]
    # Both may be in one folder.
    _status, again = world.run("--extra-vars", f"aiready_plan={folder}", AIREADY_RUN_FOLDER=folder)
    assert "1 change as planned, 1 made but not planned" in again


def test_a_plan_that_is_none_is_reported_and_does_not_fail_the_run(tmp_path):
    world = World(tmp_path, machines=plays("localhost", MACHINES))
    status, output = world.run("--extra-vars", f"aiready_plan={tmp_path / 'nowhere'}")
    assert status == 0
    assert "has no record of a run in check mode" in " ".join(output.split())


def test_folder_that_cannot_be_written_gives_one_warning_and_the_result_of_the_run(tmp_path):
    world = World(tmp_path, machines=plays("localhost", MACHINES))
    world.results.write_text("no folder")
    status, output = world.run()
    assert status == 0, output
    assert " ".join(output.split()).count("Cannot write the re") == 1
    assert "Report: " not in output
