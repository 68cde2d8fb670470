"""A job of the simulated controller: awx.awx creates and launches it, and ansible-runner runs it against the twin."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import yaml

from rehearse import playbook
from rehearse.awx_jobs import OF_JOBS, Executor, events, repository

PROJECT = playbook.ROOT / "extensions" / "awx" / "project"
AWX = playbook.ROOT / "playbooks" / "awx.yml"
OPTIONS = {
    "awx_execution_environment": {"image": "images.example.org/aiready:1"},
    "awx_survey": ["gpu.profile"],
    "awx_templates": ["preflight"],
    "awx_workflow": {"enabled": False},
}


def project(folder, twin, **changes):
    """The template project with the site of a lab. The credential has the address, the user and the password."""
    shutil.copytree(PROJECT, folder)
    local = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
    inventory = {"all": {"hosts": {"localhost": local}, "children": {"training_guests": {}}}}
    (folder / "inventory" / "hosts.yml").write_text(yaml.safe_dump(inventory))
    site = {
        "vcenter": {"port": twin.port, "ca_file": str(twin.ca_file), "validate_certs": True},
        # Preflight would reject it. The answer of the survey replaces it.
        "gpu": {"mode": "vgpu", "profile": "grid_a100-xxc"},
        "vms": [{"name": "train-01"}, {"name": "train-02"}],
        **changes,
    }
    prepared = folder / "inventory" / "group_vars" / "all" / "prepared_default.yml"
    prepared.write_text(yaml.safe_dump({"prepared_default": site}))


def test_preflight_runs_as_a_job_and_returns_its_artifacts(lab):
    lab = lab(faces=("controller",))
    controller, twin = lab.twin.controller, lab.twin
    folder = lab.work / "project"
    project(folder, twin)
    results = lab.work / "results"
    env = playbook.environment(lab.work)
    of_jobs = {name: value for name, value in env.items() if name.startswith("ANSIBLE_")}
    (lab.work / "target").mkdir()
    of_jobs |= {"AIREADY_RESULTS": str(results), "ANSIBLE_STDOUT_CALLBACK": "aiready.vsphere.stages"}
    of_jobs |= {"ANSIBLE_CALLBACKS_ENABLED": "aiready.vsphere.record"}
    of_jobs |= {"AIREADY_RESULTS_TARGET": str(lab.work / "target")}
    executor = controller.service.jobs.execute = Executor(controller.service, lab.work, of_jobs)
    inputs = {"host": twin.host, "username": twin.username, "password": twin.endpoint()["password"]}
    options = {**OPTIONS, "awx_credentials": [{"kind": "vcenter", "inputs": inputs}]}
    options["awx_project"] = {"scm_url": repository(folder)}
    login = controller.endpoint()
    launch = lab.work / "launch.yml"
    launch.write_text(yaml.safe_dump(BOOK))
    given = {
        "CONTROLLER_HOST": login["url"],
        "CONTROLLER_REQUEST_TIMEOUT": "120",  # the default of 10 s is short on a busy machine
        "CONTROLLER_USERNAME": login["username"],
        "CONTROLLER_PASSWORD": login["password"],
        "SSL_CERT_FILE": str(twin.ca_file),
    }
    here = folder / "inventory" / "hosts.yml"
    run = lab.run("-e", json.dumps(options), of=launch, inventory=here, env=given)
    assert run.status == 0, controller.service.jobs.listed("jobs")[0]["result_stdout"]
    (job,) = controller.service.jobs.listed("jobs")
    assert job["status"] == "successful", job["result_stdout"]
    returned = job["artifacts"]["aiready_preflight"]
    rows = json.loads(Path(returned["report"]).read_text())["findings"]
    states = [one["state"] for one in rows]
    assert returned["counts"] == {state: states.count(state) for state in returned["counts"]}
    assert (returned["status"], Path(returned["report"]).parents[1]) == ("open", results)
    # The callback is set, and the credential keeps the check of the certificate. No host uses SSH. The folder of this
    # test is no mount.
    assert {one["what"] for one in rows if one["state"] == "open"} == {"results"}
    copied = lab.work / "target" / Path(returned["report"]).parent.name
    names = {path.name for path in Path(returned["report"]).parent.iterdir()}
    assert {path.name for path in copied.iterdir()} == names | {"access.txt"} >= {"stages.json", "run.html"}
    seen = events(executor.result(job["id"]))
    assert "playbook_on_stats" in {one["event"] for one in seen}
    assert inputs["password"] not in json.dumps(seen)
    # AWX empties the result of an event above this size.
    largest = max(len(json.dumps(one["event_data"].get("res"))) for one in seen)
    assert largest < int(OF_JOBS["MAX_EVENT_RES"]) / 10
    # Progress and verdict are lines of the output, with colours and without lines that change in place.
    shown = re.sub(r"\x1b\[[0-9;]*m", "", job["result_stdout"])
    assert not {"\x1b", "\r"} & set(shown)
    lines = shown.splitlines()
    stages = [line for line in lines if line.startswith("STAGE [")]
    assert [line.partition("]")[0] for line in stages] == ["STAGE [preflight"] * 2
    assert stages[1].endswith(": no changes")
    verdict = lines.index("Verdict: these stages succeeded. This run did not validate anything.")
    assert [line.partition(":")[0] for line in lines[verdict + 1 :]] == ["Record", "Report", "Results"]


BOOK = [
    {"ansible.builtin.import_playbook": str(AWX)},
    {
        "hosts": "localhost",
        "gather_facts": False,
        "tasks": [
            {
                "awx.awx.job_launch": {
                    "name": "aiready preflight",
                    "extra_vars": {"site_answer_gpu__profile": "grid_a100-40c"},
                    "wait": True,
                    "interval": 0.1,
                    "timeout": 300,
                }
            }
        ],
    },
]
