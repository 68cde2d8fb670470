"""Run the jobs of the simulated controller with ansible-runner, as AWX 24.6.1 does. [sure] where not marked

AWX writes a private data folder: a copy of the project, the inventory, variables, and what credentials inject.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
import yaml

from vsphere_twin.controller.jobs import TEMPLATES, Outcome
from vsphere_twin.controller.tables import variables_of

RUNNER = "ansible-runner"
# All stages in an image took more than half an hour on a busy machine.
TIMEOUT_S = 3600
# AWX sets these for every job, and no credential can set them.
OF_JOBS = {
    "ANSIBLE_FORCE_COLOR": "True",
    "ANSIBLE_HOST_KEY_CHECKING": "False",
    "ANSIBLE_INVENTORY_UNPARSED_FAILED": "True",
    "AWX_HOST": "https://towerhost",
    "MAX_EVENT_RES": "700000",
    "PROJECT_REVISION": "",
}
# Variables that the built-in type for vCenter sets. By default, it disables the check of the certificate.
VCENTER = {
    "env": {
        "VMWARE_HOST": "{{ host }}",
        "VMWARE_USER": "{{ username }}",
        "VMWARE_PASSWORD": "{{ password }}",
        "VMWARE_VALIDATE_CERTS": "False",
    }
}


@dataclass
class Injected:
    """What the credentials of a job add to it."""

    env: dict[str, str] = field(default_factory=dict)
    extra_vars: dict[str, Any] = field(default_factory=dict)
    user: str = "root"


def repository(folder: Path) -> str:
    """Make a folder a Git repository; its address. AWX reads an inventory only from a project of a repository."""
    _git(folder, "init", "--quiet")
    commit(folder)
    return str(folder)


def commit(folder: Path) -> None:
    """Add all files of a repository to it."""
    author = ("-c", "user.name=rehearsal", "-c", "user.email=rehearsal@example.org")
    _git(folder, "add", "--all")
    _git(folder, *author, "commit", "--quiet", "--message", "Add all files")


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, timeout=60)


class _Unsafe(str):
    """A text in which Ansible must not evaluate templates."""


class _Dumper(yaml.SafeDumper):
    """Writes variables of a launch as AWX does: nothing in them is a template."""


_Dumper.add_representer(_Unsafe, lambda dumper, text: dumper.represent_scalar("!unsafe", str(text)))


class Executor:
    """The program that runs jobs. `environment` is the controller's setting AWX_TASK_ENV."""

    def __init__(self, service, work: Path, environment: dict[str, str], options: tuple[str, ...] = ()) -> None:
        self._objects, self._jobs = service.objects, service.jobs
        self._work, self._environment, self._options = work, environment, options

    def __call__(self, job: dict[str, Any]) -> Outcome:
        template = self._objects.row(TEMPLATES, job["unified_job_template"])
        folder = self._prepared(job, template)
        command = [str(Path(sys.executable).with_name(RUNNER)), "run", str(folder), "--ident", self._ident(job["id"])]
        done = subprocess.run(
            [*command, "-p", job["playbook"], *self._options],
            env={name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "VMWARE_"))},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        result = self.result(job["id"])
        if not (result / "status").is_file():
            raise RuntimeError(f"ansible-runner did not start the job. {done.stderr or done.stdout}")
        successful = (result / "status").read_text() == "successful"
        return Outcome(successful, artifacts_of(events(result)), (result / "stdout").read_text())

    def result(self, number: int) -> Path:
        """The folder with the status, the output and the events of a job."""
        return self._folder(number) / "artifacts" / self._ident(number)

    def hosts(self, inventory: int) -> list[str]:
        """The hosts of an inventory, for the number of slices."""
        return hosts_of(self._inventory(inventory))

    def _ident(self, number: int) -> str:
        """Also the name of a container, and two rehearsals may run on one machine."""
        return f"{self._work.name}-{number}"

    def _folder(self, number: int) -> Path:
        return self._work / f"awx_{number}"

    def _prepared(self, job: dict[str, Any], template: dict[str, Any]) -> Path:
        folder = self._folder(job["id"])
        project = self._objects.projects.folder(self._objects.row("projects", template["project"]))
        shutil.copytree(project, folder / "project")
        for name in ("env", "inventory"):
            (folder / name).mkdir()
        listed = self._inventory(job["inventory"])
        if job.get("job_slice_count", 1) > 1:
            listed = sliced(listed, job["job_slice_number"], job["job_slice_count"])
        write_inventory(folder / "inventory" / "hosts", listed)
        added = self._injected(job, folder)
        about = {
            "awx_job_id": job["id"],
            "awx_job_launch_type": job["launch_type"],
            "awx_job_template_id": template["id"],
            "awx_job_template_name": template["name"],
        }
        if "workflow_job" in job:
            about["awx_workflow_job_id"] = job["workflow_job"]
            about["awx_workflow_job_name"] = self._jobs.row("workflow_jobs", job["workflow_job"])["name"]
        own = variables_of("extra_vars", template["extra_vars"])
        given = {**json.loads(job["extra_vars"]), **about}
        text = yaml.dump(_unsafe(given, own), Dumper=_Dumper, sort_keys=False)
        _write_secret(folder / "env" / "extravars", text)
        own_env = {"JOB_ID": str(job["id"]), "INVENTORY_ID": str(job["inventory"])}
        _write_secret(
            folder / "env" / "envvars",
            yaml.safe_dump({**OF_JOBS, **self._environment, **added.env, **own_env}),
        )
        (folder / "env" / "cmdline").write_text(shlex.join(_arguments(job, template, added, folder)))
        return folder

    def _inventory(self, number: int) -> dict[str, Any]:
        """The inventory as its update imports it: groups and variables, but no evaluated templates."""
        rows = [row for _table, row in self._objects.rows("inventory_sources") if row["inventory"] == number]
        projects = [self._objects.row("projects", row["source_project"]) for row in rows]
        sources = [
            str(self._objects.projects.folder(project) / row["source_path"])
            for project, row in zip(projects, rows, strict=True)
        ]
        if not sources:
            return {}
        program = str(Path(sys.executable).with_name("ansible-inventory"))
        given = [word for source in sources for word in ("-i", source)]
        env = {**os.environ, "ANSIBLE_INVENTORY_UNPARSED_FAILED": "True", **self._environment}
        done = subprocess.run(
            [program, *given, "--list", "--export"], env=env, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"Cannot import the inventory. {done.stderr}")
        return json.loads(done.stdout)

    def _injected(self, job: dict[str, Any], folder: Path) -> Injected:
        found, of = Injected(), job["unified_job_template"]
        # Those of the launch replace those of the template.
        for number in job.get("credentials", self._objects.linked(TEMPLATES, of, "credentials")[1]):
            row = self._objects.row("credentials", number)
            kind = self._objects.row("credential_types", row["credential_type"])
            if kind.get("namespace") == "ssh":
                found.user = row["inputs"].get("username") or found.user
                if "ssh_key_data" in row["inputs"]:
                    _write_secret(folder / "env" / "ssh_key", row["inputs"]["ssh_key_data"].rstrip("\n") + "\n")
                continue
            injectors = VCENTER if kind.get("namespace") == "vmware" else kind["injectors"]
            if kind.get("managed") and injectors is not VCENTER:
                raise NotImplementedError(f"The executor has no injectors for the type {kind['name']}.")
            _inject(found, kind, row["inputs"], injectors, folder)
        return found


def _inject(found: Injected, kind: dict[str, Any], inputs: dict[str, Any], injectors: dict[str, Any], folder: Path):
    """The values of one credential, as strict templates: an empty optional text is not defined, a boolean is False."""
    booleans = {one["id"]: False for one in kind["inputs"].get("fields", []) if one["type"] == "boolean"}
    names: dict[str, Any] = {**booleans, **{key: value for key, value in inputs.items() if value != ""}}
    files: dict[str, str] = {}
    render = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True).from_string
    for label, text in injectors.get("file", {}).items():
        name = label.partition(".")[2]
        path = folder / "env" / f"tmp_{kind['id']}_{name}"
        _write_secret(path, render(text).render(names))
        files[name] = str(path)
    if files:
        names["tower"] = {"filename": files.get("", files)}
    for name, text in injectors.get("env", {}).items():
        found.env[name] = render(text).render(names)
    found.extra_vars.update(_rendered(injectors.get("extra_vars", {}), lambda text: render(text).render(names)))


def _rendered(value: Any, render) -> Any:
    if isinstance(value, dict):
        return {render(key): _rendered(one, render) for key, one in value.items()}
    if isinstance(value, list):
        return [_rendered(one, render) for one in value]
    return render(value)


def _arguments(job: dict[str, Any], template: dict[str, Any], added: Injected, folder: Path) -> list[str]:
    words = ["-u", added.user]
    words += ["--check"] if job["job_type"] == "check" else []
    words += ["--diff"] if template["diff_mode"] else []
    words += [f"--forks={template['forks']}"] if template["forks"] else []
    words += [f"-{'v' * template['verbosity']}"] if template["verbosity"] else []
    words += [f"--limit={job['limit']}"] if job["limit"] else []
    words += [f"--tags={template['job_tags']}"] if template["job_tags"] else []
    words += [f"--skip-tags={template['skip_tags']}"] if template["skip_tags"] else []
    if added.extra_vars:
        # Has precedence over every other variable, for all hosts.
        _write_secret(folder / "env" / "credential_vars", yaml.dump(_unsafe(added.extra_vars, {}), Dumper=_Dumper))
        # Ansible runs in the folder of the project, also in a container.
        words += ["-e", "@../env/credential_vars"]
    return words


def _unsafe(given: Any, own: Any) -> Any:
    """Variables of a launch; only texts that the template itself has may be templates of Jinja."""
    if isinstance(given, dict):
        known = own if isinstance(own, dict) else {}
        return {
            key: value if key in known and known[key] == value else _unsafe(value, None) for key, value in given.items()
        }
    if isinstance(given, list):
        return [_unsafe(one, None) for one in given]
    return _Unsafe(given) if isinstance(given, str) else given


def hosts_of(listed: dict[str, Any]) -> list[str]:
    """All hosts of an inventory, by their names."""
    return sorted({name for key, group in listed.items() if key != "_meta" for name in group.get("hosts", [])})


def sliced(listed: dict[str, Any], number: int, count: int) -> dict[str, Any]:
    """The inventory of slice `number` of `count`: every count-th host by its name, and all groups. [sure]"""
    kept = set(hosts_of(listed)[number - 1 :: count])
    made = {
        key: {**group, "hosts": [name for name in group.get("hosts", []) if name in kept]}
        for key, group in listed.items()
        if key != "_meta"
    }
    variables = listed.get("_meta", {}).get("hostvars", {})
    return {**made, "_meta": {"hostvars": {name: one for name, one in variables.items() if name in kept}}}


def write_inventory(path: Path, data: dict[str, Any]) -> None:
    """AWX passes the inventory as a program that prints it."""
    path.write_text(f"#!/usr/bin/env python3\nprint({json.dumps(data)!r})\n")
    path.chmod(0o700)


def _write_secret(path: Path, text: str) -> None:
    path.touch(0o600)
    path.write_text(text)


def events(result: Path) -> list[dict[str, Any]]:
    """The events of a job, in their order."""
    found = [json.loads(path.read_text()) for path in (result / "job_events").glob("*.json")]
    return sorted(found, key=lambda event: event["counter"])


def artifacts_of(found: list[dict[str, Any]]) -> dict[str, Any]:
    """What the job returned by set_stats."""
    given = [one["event_data"].get("artifact_data") for one in found if one["event"] == "playbook_on_stats"]
    return given[-1] or {} if given else {}
