"""The build of Horovod as the record of a validation has it: with all that was printed."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import collect

from .test_record import BUILT, GUESTS, reader, training


def test_the_build_of_horovod_keeps_all_that_it_printed():
    given = {"check": "cluster.hostname", "variant": "", "guests": GUESTS, "run": training("tcp")}
    found, files = collect.collect({"runs": [given]}, reader)
    (one,) = [one for one in found if one["check"] == "cluster.check_build"]
    assert files[one["evidence"]] == f"### horovodrun --check-build\n{BUILT}"
    assert (one["command"], one["readings"]["controllers"]) == (["horovodrun", "--check-build"], ["mpi"])


def test_a_run_that_is_refused_for_its_build_fails_the_check_of_the_build():
    failure = {"code": "not_built_in", "subject": "Image a"}
    run = {"failed": True, "training": {"msg": "Image a lacks NCCL.", "after": {}, "failure": failure}}
    (one,) = collect.collect({"runs": [{"check": "cluster.hostname", "guests": GUESTS, "run": run}]})[0]
    assert (one["check"], one["status"], one["why"]) == ("cluster.check_build", "failed", "Image a lacks NCCL.")
