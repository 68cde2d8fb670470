"""Build the execution environment, check its content, and run the infrastructure in it as AWX does.

`awx.awx` configures the simulated controller and launches the jobs. `ansible-runner` runs each job in a container of
the image, with process isolation. The jobs reach the simulated data centre over the network of the machine.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ansible_runner
import yaml
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx import credential_types

from gates.tree import clean_copy
from supervise.keeper import self_supervised
from vsphere_twin.guests import engine
from vsphere_twin.launch import launch

from . import awx_environment, center, playbook
from .awx_jobs import TIMEOUT_S, Executor, events, repository
from .failure import RehearsalFailed

PROJECT = playbook.ROOT / "extensions" / "awx" / "project"
AWX = playbook.ROOT / "playbooks" / "awx.yml"
PREFIX = "aiready"
# Job templates in the order of their launch.
TEMPLATES = ("preflight", "site")
FACES = ("ssh", "redfish", "switches", "controller")
# Preflight has no open row of these.
TIDY = ("this job", "inventory")
# What ansible-runner adds to a job that runs in a container.
ISOLATED = ("--process-isolation", "--process-isolation-executable", "docker")


def rehearse(work: Path, say: Callable[[str], None]) -> None:
    """Build and check the image, and run the jobs in it against a data centre in factory state."""
    client = engine.have(say, install=os.environ.get("AIREADY_ENGINE") == "required")
    (work / "image").mkdir()
    image = awx_environment.build(client, work / "image", clean_copy("execution-environment"), say)
    found = awx_environment.found_in(client, image)
    wrong = awx_environment.problems(found)
    if wrong:
        raise RehearsalFailed(f"The execution environment differs from its definition: {'; '.join(wrong)}.")
    say(f"The image has {found['size'] // 1000**2} MB and {len(found['packages'])} Python packages. Its user is 1000.")
    with launch(seed="factory", faces=FACES) as twin:
        playbook.write_endpoint(twin, work)
        say(center.lossy(twin))
        jobs = _run_jobs(twin, work, image, say)
        _check_jobs(twin, jobs, work)
        say(_hosts_of_vcenter(twin, work, image))
        for state in (center.ready, center.proof, center.lossless, center.restarts):
            say(state(twin))


def _run_jobs(twin: Any, work: Path, image: str, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Configure the controller, launch the templates one after the other, and return the finished jobs."""
    controller, results = twin.controller, work / "results"
    results.mkdir()
    write_project(work / "project", twin)
    address = repository(work / "project")
    shown = [(str(Path(twin.ca_file).parent), "ro"), (str(results), "rw")]
    mounts = [word for folder, mode in shown for word in ("--container-volume-mount", f"{folder}:{folder}:{mode}")]
    options = (*ISOLATED, "--container-image", image, "--container-option=--network=host", *mounts)
    # The setting AWX_TASK_ENV. The callback of the output is a variable of the image.
    of_jobs = {
        "AIREADY_LAB": str(work),
        "AIREADY_RESULTS": str(results),
        "ANSIBLE_CALLBACKS_ENABLED": "aiready.vsphere.record",
        "ANSIBLE_TIMEOUT": "60",
        "ANSIBLE_PERSISTENT_COMMAND_TIMEOUT": "120",
        "ANSIBLE_PERSISTENT_CONNECT_TIMEOUT": "120",
    }
    executor = controller.service.jobs.execute = Executor(controller.service, work, of_jobs, options)
    book = work / "launch.yml"
    book.write_text(yaml.safe_dump(_launches(image)))
    login = controller.endpoint()
    env = playbook.environment(
        work,
        CONTROLLER_HOST=login["url"],
        CONTROLLER_REQUEST_TIMEOUT="120",  # the default of 10 s is short on a busy machine
        CONTROLLER_USERNAME=login["username"],
        CONTROLLER_PASSWORD=login["password"],
        SSL_CERT_FILE=str(twin.ca_file),
    )
    hosts = work / "controller.yml"
    hosts.write_text(yaml.safe_dump({"all": {"hosts": {"localhost": LOCAL}}}))
    run = playbook.run(
        book,
        "-e",
        json.dumps(_options(twin, image, address)),
        env=env,
        inventory=hosts,
        echo=lambda line: say(f"  | {line}"),
    )
    jobs = sorted(controller.service.jobs.listed("jobs"), key=lambda job: job["id"])
    if run.status:
        # One that still runs has no other output yet.
        files = [executor.result(job["id"]) / "stdout" for job in jobs if job["status"] != "successful"]
        ends = "\n".join(file.read_text()[-4000:] for file in files if file.is_file())
        raise RehearsalFailed(f"A job failed in the execution environment, or took too long. {ends}")
    for job in jobs:
        job["events"] = events(executor.result(job["id"]))
    return jobs


LOCAL = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}


def write_project(folder: Path, twin: Any) -> None:
    """The template project with the inventory of the lab, without the passwords that credentials inject."""
    shutil.copytree(PROJECT, folder)
    shutil.rmtree(folder / "inventory")
    shutil.copytree(playbook.LAB, folder / "inventory")
    path = folder / "inventory" / "group_vars" / "all" / "site.yml"
    variables = yaml.safe_load(path.read_text())
    site = variables["site"]
    site["vcenter"] = {"port": twin.port, "ca_file": str(twin.ca_file), "validate_certs": True}
    site["hosts"]["bmc"] = {"ca_file": str(twin.ca_file)}
    for name in ("site_vcenter_password", "site_bmc_password", "site_switch_password"):
        del variables[name]
    path.write_text(yaml.safe_dump(variables, sort_keys=False))


def _options(twin: Any, image: str, address: str) -> dict[str, Any]:
    """The options of the role awx."""
    login = twin.endpoint()
    inputs = {
        "vcenter": {"host": login["host"], "username": login["username"], "password": login["password"]},
        "bmc": {"username": login["bmc_username"], "password": login["bmc_password"]},
        "switches": {"username": login["switch_username"], "password": login["switch_password"]},
    }
    return {
        "awx_project": {"scm_url": address},
        "awx_inventory": {"files": ["inventory"]},
        "awx_execution_environment": {"image": image, "pull": "never"},
        "awx_credentials": [{"kind": kind, "inputs": given} for kind, given in inputs.items()],
        "awx_templates": list(TEMPLATES),
        "awx_workflow": {"enabled": False},
    }


def _launches(image: str) -> list[dict[str, Any]]:
    """A playbook that creates the objects, and launches each template when the one before it has ended."""
    launched = [
        {
            "name": f"Launch {name} in {image}",
            "awx.awx.job_launch": {"name": f"{PREFIX} {name}", "wait": True, "interval": 1, "timeout": TIMEOUT_S},
        }
        for name in TEMPLATES
    ]
    play = {"name": "Launch the jobs", "hosts": "localhost", "gather_facts": False, "tasks": launched}
    return [{"name": "Create the objects", "ansible.builtin.import_playbook": str(AWX)}, play]


def _check_jobs(twin: Any, jobs: list[dict[str, Any]], work: Path) -> None:
    """Compare artifacts, output, events and results of the jobs."""
    status = {job["name"]: job["status"] for job in jobs}
    if status != {f"{PREFIX} {name}": "successful" for name in TEMPLATES}:
        raise RehearsalFailed(f"The jobs must be successful, once each: {status}.")
    preflight, site = jobs
    returned = preflight["artifacts"]["aiready_preflight"]
    rows = json.loads(Path(returned["report"]).read_text())["findings"]
    wrong = [] if returned["status"] != "blocked" else ["preflight is blocked"]
    # The callback is a variable of the image, and the folder of the results is a mount. Credentials have all passwords.
    wrong += [f"preflight has the row {row['what']}" for row in rows if row["where"] in TIDY and _open(row)]
    stages = ["hosts", "fabric", "machines", "guests", "runtime", "training", "validation"]
    made = site["artifacts"]["aiready_site"]
    if (made["check"], made["stages"]) != (False, stages):
        wrong.append(f"the artifact of the run is {made}")
    if not (Path(made["report"]) / "stages.json").is_file():
        wrong.append(f"the run left no record in {made['report']}")
    secrets = [twin.endpoint()[name] for name in ("password", "bmc_password", "switch_password")]
    for job in jobs:
        text = json.dumps(job["events"])
        if "playbook_on_stats" not in {one["event"] for one in job["events"]}:
            wrong.append(f"{job['name']} has no event of its end")
        if any(secret in text for secret in secrets):
            wrong.append(f"an event of {job['name']} has a password")
    if wrong:
        raise RehearsalFailed(f"The jobs differ from what they must return: {'; '.join(wrong)}.")


def _hosts_of_vcenter(twin: Any, work: Path, image: str) -> str:
    """Update the inventory source that reads hosts from vCenter, as AWX does, and compare its hosts with the twin."""
    login, variables = twin.endpoint(), credential_types.TYPES["vcenter"]["injectors"]["env"]
    env = {name: str(login.get(text.strip("{ }"), text)) for name, text in variables.items()}
    shown = Path(twin.ca_file).parent
    listed, error = ansible_runner.get_inventory(
        "list",
        [str(PROJECT / "vcenter" / "esxi_hosts.yml")],
        response_format="json",
        export=True,
        private_data_dir=str(work / "update"),
        envvars={
            **env,
            "VMWARE_PORT": str(twin.port),
            "SSL_CERT_FILE": str(twin.ca_file),
            "ANSIBLE_INVENTORY_UNPARSED_FAILED": "True",
        },
        process_isolation=True,
        process_isolation_executable="docker",
        container_image=image,
        container_options=["--network=host"],
        container_volume_mounts=[f"{shown}:{shown}:ro"],
        quiet=True,
    )
    found = sorted(listed["esxi_hosts"]["hosts"]) if listed else error
    if found != sorted(host.name for host in twin.world.of_kind("HostSystem")):
        raise RehearsalFailed(f"The inventory source does not have the hosts of vCenter: {found}.")
    return f"The inventory source has the {len(found)} hosts of vCenter."


def _open(row: dict[str, Any]) -> bool:
    return row["state"] == "open"


def say(line: str) -> None:
    print(line, flush=True)


def _terminated(*_: object) -> None:
    """End on SIGTERM like on Ctrl-C: all processes are stopped."""
    raise KeyboardInterrupt


def main() -> int:
    signal.signal(signal.SIGTERM, _terminated)
    began = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="environment-", ignore_cleanup_errors=True) as work:
            rehearse(Path(work), say)
    except (RehearsalFailed, RuntimeError, engine.EngineProblem) as failure:
        say(f"\n{failure}\nThe rehearsal in the execution environment FAILED after {time.monotonic() - began:.0f} s.")
        return 1
    say(f"The rehearsal in the execution environment passed after {time.monotonic() - began:.0f} s.")
    return 0


if __name__ == "__main__":
    # Playbooks run in new processes, as in a container.
    os.environ.pop(playbook.WARM, None)
    status = self_supervised()
    sys.exit(main() if status is None else status)
