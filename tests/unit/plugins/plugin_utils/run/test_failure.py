"""A failed task of a stage returns a short result with keys of the site; everybody else gets all of it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import failure as stage_failure

ROOT = stage_failure._ROOT
MESSAGE = "Placement: a place was wanted. There is no port group pg-rdmaa. Correct portgroup."
IN_SITE = MESSAGE.replace("Correct portgroup", "Correct site.network.portgroup")
SAME = {"changed": False, "before": {"a": 1}, "after": {"a": 1}, "changes": []}
CHANGE = {"path": "cpus", "before": 8, "after": 16, "needs": None}
FAILURE = {"code": "not_found", "subject": "Placement", "next": "docs/failure_codes.md#not_found"}


def vm(name, **more):
    return {"name": name, "path": f"/lab/vm/{name}", "failed": False, "msg": "", "failure": {}, **SAME, **more}


def failure(**more):
    found = {**FAILURE, "problems": [{"todo": "Correct portgroup."}]}
    return {"failed": True, "changed": False, "msg": MESSAGE, "failure": found, "exception": "trace", **more}


def task(path=f"{ROOT}/roles/training_vm/tasks/place.yml:4", ignore_errors=False, failed_when=()):
    return SimpleNamespace(get_path=lambda: path, ignore_errors=ignore_errors, failed_when=list(failed_when))


def answer(result, verbosity=0, variables=(), **of_task):
    return stage_failure.answer(result, task(**of_task), dict(variables), verbosity)


def test_failure_is_message_with_key_of_the_site_and_code():
    assert answer(failure(vms=[vm("job-01")], placement={"table": "long"})) == {
        "failed": True,
        "changed": False,
        "msg": IN_SITE,
        "failure": FAILURE,
        "details": "Run with -v to see the whole result.",
    }


@pytest.mark.parametrize("more", [{"verbosity": 1}, {"failed_when": [False]}], ids=["verbose", "read by a later task"])
def test_whole_result_is_left_where_it_is_asked_for(more):
    whole = answer(failure(vms=[vm("job-01")]), **more)
    assert (whole["vms"], whole["msg"], "details" in whole) == ([vm("job-01")], IN_SITE, False)
    assert whole["failure"]["problems"]


@pytest.mark.parametrize(
    "path", ["/home/me/play.yml:3", f"{ROOT}/tests/play.yml:3", f"{ROOT}/rolesque/x.yml:1", "", None]
)
def test_playbooks_of_users_get_the_whole_result(path):
    result = failure(vms=[vm("job-01")])
    assert answer(result, path=path) == result


def test_success_is_left_as_it_is():
    result = {"changed": True, "vms": [vm("job-01")]}
    assert answer(result) is result


def test_what_was_changed_before_the_failure_stays_for_the_record():
    done = vm("job-01", changed=True, before={"cpus": 8}, after={"cpus": 16}, changes=[CHANGE])
    half = vm("job-02", changed=True, failed=True, before={"cpus": 8, "a": 1}, after={"cpus": 16, "a": 1})
    shown = answer(failure(changed=True, vms=[done, half, vm("job-03")]))["vms"]
    assert [one["name"] for one in shown] == ["job-01", "job-02"]
    assert (shown[0]["changes"], shown[0]["before"]) == ([CHANGE], {})
    assert (shown[1]["before"], shown[1]["after"]) == ({"cpus": 8}, {"cpus": 16})


def test_one_object_that_changed_stays_too():
    host = vm("esx-01", changed=True, failed=True, before={}, after={"in_maintenance": True})
    assert answer(failure(changed=True, host=host))["host"]["after"] == {"in_maintenance": True}
    assert "host" not in answer(failure(host=vm("esx-01")))


def test_failures_of_ansible_itself_keep_their_trace():
    crash = {"failed": True, "msg": "MODULE FAILURE", "module_stderr": "Traceback", "rc": 1, "exception": "trace"}
    assert answer(crash) == crash


def test_look_of_preflight_has_no_error_on_the_screen_and_the_whole_result_for_the_table():
    looks = {stage_failure.LOOKS: True}
    found = answer(failure(vms=[vm("job-01")]), variables=looks, ignore_errors=True)
    assert (found["failed"], found["vms"], "exception" in found) == (False, [vm("job-01")], False)
    assert found["failure"] == failure()["failure"]


@pytest.mark.parametrize(
    "result, variables",
    [
        pytest.param(failure(), {}, id="ignored by a user"),
        pytest.param({"failed": True, "msg": "MODULE FAILURE"}, {stage_failure.LOOKS: True}, id="defect"),
    ],
)
def test_other_failures_that_are_ignored_stay_failures(result, variables):
    assert answer(result, variables=variables, ignore_errors=True)["failed"] is True


SEVERAL = {"code": "some_failed", "failed": ["job-01", "job-02"]}
OBJECTS = [vm(name, failed=True, failure={"code": code}) for name, code in (("a", "no_room"), ("b", "stale"))]


@pytest.mark.parametrize(
    "result, codes",
    [
        pytest.param(failure(), ["not_found"], id="one"),
        pytest.param(failure(failure={"code": "a", "problems": [{"code": "a"}, {"code": "b"}]}), ["a", "b"], id="more"),
        pytest.param(failure(failure=SEVERAL, vms=[*OBJECTS, OBJECTS[0], vm("c")]), ["no_room", "stale"], id="objects"),
        pytest.param(failure(failure={"code": "x\x1b[2J"}), [], id="no code"),
        pytest.param(failure(failure="broken"), [], id="no dictionary"),
        pytest.param({"failed": True}, [], id="none"),
    ],
)
def test_codes_are_those_of_everything_that_failed(result, codes):
    assert stage_failure.codes(result) == codes
    assert stage_failure.codes(answer(result)) == codes
