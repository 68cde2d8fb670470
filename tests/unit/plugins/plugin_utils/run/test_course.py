"""When a stage begins and ends, and what becomes of it."""

from __future__ import annotations

import pytest

from .events import Time, block, course, item, seen, stage_plays, task

CHANGED = {"vms": [item({"cpus": (8, 16)}, name="job-01")]}


def states(run):
    return [(stage.name, stage.state) for stage in run.stages]


def ended(run, result=None, one=None, **how):
    run.ended(result or seen(), one or task(), **how)


def test_stages_begin_and_end_with_their_plays():
    time = Time()
    run = course(time)
    run.playbook_begins(stage_plays("hosts", "hosts", "machines"))
    assert (run.count, run.ahead) == (2, ["hosts", "machines"])
    over, begun = run.play_begins("play-0")
    assert (over, begun.name, run.number) == (None, "hosts", 1)
    ended(run)
    time.now = 90
    assert run.play_begins("play-1") == (None, None)
    ended(run)
    time.now = 100
    over, begun = run.play_begins("play-2")
    assert (over.name, over.state, over.seconds, begun.name, run.number) == ("hosts", "ok", 100, "machines", 2)
    ended(run, seen(data=CHANGED))
    assert run.ends(set()).name == "machines"
    assert states(run) == [("hosts", "ok"), ("machines", "ok")]
    assert [(stage.began, len(stage.changes)) for stage in run.stages] == [
        ("2026-03-01T08:00:00Z", 0),
        ("2026-03-01T08:01:40Z", 1),
    ]


def test_a_play_of_something_else_between_two_stages_is_of_none():
    run = course()
    run.playbook_begins(stage_plays("hosts", None, "machines"))
    run.play_begins("play-0")
    ended(run)
    assert run.play_begins("play-1")[0].name == "hosts"
    ended(run, seen(data=CHANGED))
    run.play_begins("play-2")
    assert [len(stage.changes) for stage in run.stages] == [0, 0]


def test_a_play_that_says_nothing_is_reported_by_its_roles():
    run = course()
    run.playbook_begins(stage_plays(None))
    run.play_begins("play-0")
    assert run.task_begins("other.collection.role") == (None, None)
    assert run.task_begins("aiready.vsphere.site") == (None, None)
    assert run.task_begins("aiready.vsphere.esxi_host")[1].name == "hosts"
    ended(run)
    assert run.task_begins("aiready.vsphere.esxi_host") == (None, None)
    over, begun = run.task_begins("aiready.vsphere.training_vm")
    assert (over.name, begun.name) == ("hosts", "machines")


def test_a_role_does_not_report_another_stage_than_the_play_does():
    run = course()
    run.playbook_begins(stage_plays("validation"))
    run.play_begins("play-0")
    assert run.task_begins("aiready.vsphere.horovod") == (None, None)


FAILURES = {
    "a failure": ({"failed": True}, lambda one: one, "failed"),
    "a host that cannot be reached": ({"unreachable": True}, lambda one: one, "failed"),
    "an ignored one": ({"failed": True, "ignored": True}, lambda one: one, "ok"),
    "a rescued one": ({"failed": True}, lambda one: block([one], rescue=[task()]), "ok"),
    "one in a block within a rescued block": (
        {"failed": True},
        lambda one: block([block([one])], rescue=[task()]),
        "ok",
    ),
    "one in a block without a rescue": ({"failed": True}, lambda one: block([one]), "failed"),
    "one in the rescue itself": ({"failed": True}, lambda one: block([task()], rescue=[one]), "failed"),
}


@pytest.mark.parametrize("how", FAILURES)
def test_a_stage_fails_with(how):
    options, around, state = FAILURES[how]
    one = task()
    around(one)
    run = course()
    run.playbook_begins(stage_plays("hosts", "machines"))
    run.play_begins("play-0")
    ended(run)
    ended(run, seen(host="esx-01", failed=True), one, **options)
    run.play_begins("play-1")
    assert run.stages[0].state == state
    assert [failure.host for failure in run.stages[0].failures] == (["esx-01"] if state == "failed" else [])


def test_what_ansible_counts_as_no_failure_in_the_end_is_none():
    run = course()
    run.playbook_begins(stage_plays("hosts"))
    run.play_begins("play-0")
    ended(run, seen(host="esx-01"), failed=True)
    run.ends(set())
    assert states(run) == [("hosts", "ok")]


def test_failures_outside_of_stages_are_kept():
    run = course()
    run.playbook_begins(stage_plays(None, "hosts", None))
    run.play_begins("play-0")
    ended(run, seen(host="localhost"), failed=True)
    run.ends({"localhost"})
    assert [one.host for one in run.outside] == ["localhost"]
    assert states(run) == [("hosts", "skipped")]


def test_ignored_host_that_ends_the_play_for_all_fails_the_stage():
    run = course()
    run.playbook_begins(stage_plays("preflight", "machines"))
    run.play_begins("play-0")
    once = task()
    once.run_once, once.any_errors_fatal, once.ignore_errors = True, False, False
    ended(run, seen(host="leaf-01"), once, unreachable=True, ignored=True)
    run.ends(set())
    assert states(run) == [("preflight", "failed"), ("machines", "skipped")]


def test_lost_host_whose_failure_was_rescued_or_never_seen_fails_the_stage():
    run = course()
    run.playbook_begins(stage_plays("hosts"))
    run.play_begins("play-0")
    one = task()
    block([one], rescue=[task()])
    ended(run, seen(host="esx-01", name="Try"), one, failed=True)
    run.ends({"esx-01", "esx-02"})
    assert states(run) == [("hosts", "failed")]
    assert [(failure.host, failure.task) for failure in run.stages[0].failures] == [("esx-01", "Try"), ("esx-02", "")]


@pytest.mark.parametrize(
    "begun, stages, outside", [(1, [("hosts", "failed"), ("machines", "skipped")], 0), (2, [("hosts", "ok")], 1)]
)
def test_run_that_ends_with_plays_left_fails_where_it_ended(begun, stages, outside):
    run = course()
    run.playbook_begins(stage_plays("hosts", None, "machines"))
    for number in range(begun):
        run.play_begins(f"play-{number}")
        ended(run)
    run.ends(set())
    assert states(run)[: len(stages)] == stages
    assert len(run.outside) == outside


SKIPPED = {
    "no hosts": lambda run: None,
    "only skipped tasks": lambda run: ended(run, skipped=True),
    "only facts": lambda run: ended(run, seen("ansible.builtin.setup", own=False)),
    "only tasks that nobody asked for": lambda run: ended(run, one=task(tags=["always"])),
}


@pytest.mark.parametrize("what", SKIPPED)
def test_a_stage_is_skipped_with(what):
    run = course()
    run.playbook_begins(stage_plays("hosts"), tags=["hosts"])
    run.play_begins("play-0")
    SKIPPED[what](run)
    assert run.ends(set()).state == "skipped"


def test_a_stage_that_was_asked_for_by_tag_is_not_skipped():
    run = course()
    run.playbook_begins(stage_plays("hosts"), tags=["hosts"])
    run.play_begins("play-0")
    ended(run, one=task(tags=["hosts", "reboot"]))
    assert run.ends(set()).state == "ok"


def test_stages_that_never_began_are_reported():
    run = course()
    run.playbook_begins(stage_plays("hosts", "fabric", "machines"))
    run.play_begins("play-0")
    ended(run, failed=True)
    run.ends()
    assert states(run) == [("hosts", "failed"), ("fabric", "skipped"), ("machines", "skipped")]
    assert [stage.why for stage in run.stages[1:]] == ["The run ended before this stage."] * 2


def test_a_look_in_a_run_that_changes_things_is_no_change():
    run = course()
    run.playbook_begins(stage_plays("machines"))
    run.play_begins("play-0")
    ended(run, seen(check=True, data=CHANGED))
    assert run.now.changes == []
    ended(run, seen(data=CHANGED))
    ended(run, seen(data=CHANGED))
    assert len(run.now.changes) == 2


def test_in_check_mode_what_is_looked_at_and_then_asked_for_is_one_change():
    run = course()
    run.playbook_begins(stage_plays("machines"), check=True)
    run.play_begins("play-0")
    ended(run, seen(check=True, name="Look", data=CHANGED))
    ended(run, seen(check=True, name="Shape the VM", data=CHANGED))
    assert len(run.now.changes) == 1
    assert run.now.as_result()["check_mode"] is True


def test_long_tasks_are_kept_with_their_time():
    time = Time()
    run = course(time)
    run.playbook_begins(stage_plays("hosts"))
    run.play_begins("play-0")
    long, short = task(), task()
    run.starts("esx-01", long._uuid, "Restart the host")
    run.starts("esx-02", short._uuid, "Restart the host")
    time.now = 1
    assert run.ended(seen(host="esx-02", name="Restart the host"), short) == 1
    assert list(run.running) == [("esx-01", long._uuid)]
    time.now = 300
    assert run.ended(seen(host="esx-01", name="Restart the host"), long) == 300
    assert run.now.tasks == [{"task": "Restart the host", "object": "esx-01", "seconds": 300}]


def test_restarts_are_counted_over_all_stages():
    run = course()
    run.playbook_begins(stage_plays("hosts", "guests"))
    for play, host in (("play-0", "esx-01"), ("play-1", "job-01"), ("play-1", "job-01")):
        run.play_begins(play)
        ended(run, seen("ansible.builtin.reboot", host, own=False, data={"changed": True, "rebooted": True}))
    assert run.restarts() == {"esx-01": 1, "job-01": 2}


@pytest.mark.parametrize("hidden, folder", [(False, "/tmp/run-1"), (True, "")])
def test_a_task_names_the_folder_of_the_run(hidden, folder):
    run = course()
    facts = {"ansible_facts": {"aiready_run_folder": "/tmp/run-1"}}
    ended(run, seen("ansible.builtin.set_fact", own=False, hidden=hidden, data=facts))
    assert run.folder == folder


def test_the_answer_of_the_report_alone_is_kept_as_the_report():
    run = course()
    ended(run, seen("validation_result", data={"validation": {"verdict": "pass"}}))
    assert run.report == {}
    ended(run, seen("validation_report", data={"report": {"files": []}}))
    ended(run, seen("ansible.builtin.assert", own=False))
    assert run.report["report"] == {"files": []}


def test_a_stage_that_still_runs_would_be_a_failed_one_if_nobody_wrote_again():
    run = course()
    run.playbook_begins(stage_plays("hosts"))
    run.play_begins("play-0")
    reported = run.now.as_result()
    assert (reported["state"], reported["why"]) == ("failed", "The run was broken off in this stage.")


SENTENCE = "job-01: everything will be planned after machines: the VM is not there yet."


@pytest.mark.parametrize(
    "check, module, hidden, kept",
    [
        pytest.param(True, "ansible.builtin.debug", False, 1, id="check mode"),
        pytest.param(False, "ansible.builtin.debug", False, 0, id="a real run"),
        pytest.param(True, "ansible.builtin.assert", False, 0, id="something else that has messages"),
        pytest.param(True, "ansible.builtin.debug", True, 0, id="hidden"),
    ],
)
def test_what_a_plan_leaves_open_is_kept_once(check, module, hidden, kept):
    run = course()
    run.playbook_begins(stage_plays("guests"), check=check)
    run.play_begins("play-0")
    for _time in range(2):
        ended(run, seen(module, own=False, hidden=hidden, check=check, data={"msg": [SENTENCE, "Hello."]}))
    expected = {"object": "job-01", "what": [], "after": "machines", "why": "the VM is not there yet"}
    assert run.now.as_result().get("decided_later", []) == [expected] * kept


def waiting(*names, needs="reboot", **more):
    """A host whose settings wait for a restart."""
    return {"host": dict(item(), pending=[{"what": name, "needs": needs} for name in names], **more)}


def pending_after(*results):
    run = course()
    run.playbook_begins(stage_plays("hosts"))
    run.play_begins("play-0")
    for one in results:
        run.ended(one, task())
    return [(entry["object"], entry["what"]) for entry in run.pending()]


def on_host(module, data, **more):
    return seen(module, "esx-01", data=data, **more)


REBOOTED = on_host("esxi_reboot", {"host": item({"boot_time": (1, 2)})})
RESTARTED = seen("ansible.builtin.reboot", "esx-01", own=False, data={"changed": True, "rebooted": True})


@pytest.mark.parametrize(
    "results, left",
    [
        pytest.param([on_host("mig_partition", waiting("mig"))], ["mig"], id="set"),
        pytest.param([on_host("mig_partition", waiting("mig")), REBOOTED], [], id="host restarted"),
        pytest.param([on_host("a", waiting("x")), on_host("b", waiting("y"))], ["x", "y"], id="two modules"),
        pytest.param([on_host("a", waiting("x")), on_host("a", waiting())], [], id="read again"),
        pytest.param(
            [on_host("a", waiting("x")), on_host("a", {"host": item()}, failed=True)], ["x"], id="short result"
        ),
        pytest.param([on_host("a", waiting("x", changed=True), check=True)], [], id="planned in check mode"),
        pytest.param([on_host("a", waiting("x"), check=True)], ["x"], id="found in check mode"),
        pytest.param([on_host("a", waiting("x"), hidden=True)], [], id="no_log"),
        pytest.param([on_host("a", waiting("x")), RESTARTED], [], id="guest restarted"),
        pytest.param([on_host("a", waiting("x", needs="power_cycle")), RESTARTED], ["x"], id="guest, not its VM"),
    ],
)
def test_settings_are_pending_until_a_restart_or_another_read(results, left):
    assert pending_after(*results) == [("esx-01", name) for name in left]
