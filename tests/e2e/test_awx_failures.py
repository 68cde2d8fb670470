"""Each step of the workflows fails as a real job, and the job on its failure path prints the next step.

ansible-runner runs the failing job and the next steps. The jobs before them are successful without a run.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rehearse import playbook
from rehearse.awx_jobs import Executor, repository
from vsphere_twin.controller.jobs import WORKFLOWS, Outcome

from .awx import project, vcenter_of
from .test_awx_workflow import create

NEXT = "aiready next steps"
PREPARED = Path("inventory", "group_vars", "all", "prepared_default.yml")
# Of the board of the hosts.
OTHER = {"gpu": {"mode": "vgpu", "profile": "grid_a100-16c"}}
# The VMs are off, so their guests have no address.
GUESTS = {"gpu": {"mode": "vgpu", "profile": "grid_a100-40c"}, "validation": {"seconds": 5}}
NO_SITE = None
# Failed step -> (site, words of its failure, state of the site, next step, results in the folder of the run).
STEPS = {
    "preflight": (
        {},
        "grid_a100-xxc",
        "Nothing was changed. 4 checks: ",
        "Correct the rows that block",
        "preflight.json",
    ),
    "plan": ({}, "grid_a100-xxc", "Nothing was changed. ", "Launch aiready preflight, and then this workflow", "."),
    "setup": (OTHER, "grid_a100-16c does not exist", "may have changed the site.", "Launch this workflow again", "."),
    "validate": (GUESTS, "The VM is off", "All stages are complete.", "the output of aiready validate names", None),
    "restore plan": (NO_SITE, "is not a dictionary", "Nothing was changed.", "Launch this workflow again.", None),
    "restore": (
        NO_SITE,
        "is not a dictionary",
        "may have their earlier values.",
        "Then launch aiready preflight.",
        None,
    ),
}


@pytest.mark.turn(0, of=3)
@pytest.mark.parametrize("step", STEPS)
def test_a_failed_job_is_followed_by_its_next_step(lab, step):
    lab = lab(faces=("controller",))
    twin, service = lab.twin, lab.twin.controller.service
    site, words, state, following, file = STEPS[step]
    project(lab.work / "project", twin, **(site or {}))
    if site is NO_SITE:
        (lab.work / "project" / PREPARED).write_text(yaml.safe_dump({"prepared_default": "a text"}))
    address = repository(lab.work / "project")
    number = create(service.objects, {"aiready vCenter": vcenter_of(twin)}, address, int("restore" in step))
    results, env = lab.work / "results", playbook.environment(lab.work)
    of_jobs = {name: value for name, value in env.items() if name.startswith("ANSIBLE_")}
    of_jobs |= {"AIREADY_RESULTS": str(results), "ANSIBLE_CALLBACKS_ENABLED": "aiready.vsphere.record"}
    executor, jobs = Executor(service, lab.work, of_jobs), service.jobs
    jobs.start = lambda work: work()
    jobs.execute = lambda job: executor(job) if job["name"] in (f"aiready {step}", NEXT) else Outcome()
    flow, _ignored = jobs.launch(WORKFLOWS, number, {})
    for approval in jobs.listed("workflow_approvals"):
        jobs.answer(approval["id"], True, {"id": 1})
    failed, last = jobs.listed("jobs")[-2:]
    assert [failed["name"], last["name"]] == [f"aiready {step}", NEXT]
    assert [one["status"] for one in (failed, last, flow)] == ["failed"] * 3
    assert words in failed["result_stdout"]
    returned = last["artifacts"]["aiready_next_steps"]
    text = " ".join(returned["text"].split())
    assert text in " ".join(last["result_stdout"].split())
    assert text.startswith(f"The step {step} of the workflow {flow['name']} failed. ")
    assert state in text
    assert following in text
    if file:
        (run,) = [one for one in results.iterdir() if one.name.endswith(f"-job{failed['id']}")]
        assert Path(returned["report"]) == run / file
        assert (run / file).exists()
    else:
        assert text.endswith(" Results: the output of the job.")
