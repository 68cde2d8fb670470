"""The files of a project: where they come from, and which of them are playbooks and inventories. [sure] AWX 24.6.1"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

_PLAYBOOK = re.compile(
    r"^\s*?-?\s*?(?:hosts|(ansible\.builtin\.)?include|(ansible\.builtin\.)?import_playbook):\s*?.*?$"
)
_NOT_BELOW = {"roles", "tasks", "group_vars", "host_vars"}
GIT_S = 60


class Projects:
    """The folder of all projects. Manual projects are folders that somebody put there."""

    def __init__(self, directory):
        self.directory = Path(directory)

    def folder(self, project):
        """Where the files of a project are."""
        return self.directory / (project["local_path"] if project["scm_type"] == "" else f"_{project['id']}")

    def update(self, project):
        """Fetch the files of a project; (status, revision, output)."""
        folder = self.folder(project)
        shutil.rmtree(folder, ignore_errors=True)
        if project["scm_type"] != "git":
            return "failed", "", f"The twin fetches projects with git only, not {project['scm_type']}."
        branch = ["--branch", project["scm_branch"]] if project["scm_branch"] else []
        done = _git("clone", "--quiet", *branch, "--", project["scm_url"], str(folder))
        if done.returncode:
            return "failed", "", done.stderr
        return "successful", _git("-C", str(folder), "rev-parse", "HEAD").stdout.strip(), ""

    def playbooks(self, project):
        """The playbooks that a template may name, in the order of their names."""
        top = self.folder(project)
        paths = (path.relative_to(top) for path in sorted(top.rglob("*")) if path.is_file())
        return [str(path) for path in paths if not _is_skipped(path.parent) and _is_playbook(top / path)]


def _is_skipped(folder):
    return any(part.startswith(".") or part in _NOT_BELOW for part in folder.parts)


def _is_playbook(path):
    if path.suffix not in (".yml", ".yaml"):
        return False
    lines = path.read_text(encoding="utf-8", errors="ignore").splitlines()
    vault = bool(lines) and lines[0].startswith("$ANSIBLE_VAULT;")
    return vault or any(_PLAYBOOK.match(line) for line in lines)


def _git(*words):
    return subprocess.run(["git", *words], capture_output=True, text=True, timeout=GIT_S, check=False)
