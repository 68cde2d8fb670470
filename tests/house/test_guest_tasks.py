# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""When the tasks for guests run, fail and report a change, as a person has read it once.

Only tests that need Docker run these tasks. Without Docker, no other test notices a negated condition or a missing
task. AIREADY_APPROVE=1 writes the list anew. Read its difference as a part of the change, and run `make guests`.
The names of tasks are not in the list: rewording them changes no file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from house.collection import ROOT, load

# What runs on guests. Roles and playbooks for hosts, VMs and switches run against the twin instead.
ROLES = ("container_runtime", "guest_vm", "horovod", "validation")
PLAYBOOKS = ("later_guests", "guests", "runtime", "training", "validate")
PARTS = ("pre_tasks", "tasks", "post_tasks", "block", "rescue", "always")
# Words that decide whether a task runs, where, and what its result counts as.
WORDS = ("when", "until", "retries", "changed_when", "failed_when", "check_mode", "ignore_errors", "any_errors_fatal")
WORDS += ("run_once", "delegate_to", "become", "no_log", "tags", "register")
APPROVED = Path(__file__).parent / "approved" / "guest_tasks.txt"


def files() -> list[str]:
    tasks = [path for role in ROLES for path in sorted((ROOT / "roles" / role / "tasks").iterdir())]
    return [path.relative_to(ROOT).as_posix() for path in tasks] + [f"playbooks/{name}.yml" for name in PLAYBOOKS]


def lines(entries: list[dict], indent: str = "") -> Iterator[str]:
    """One line for each play, block and task; below it, one line for each word that decides."""
    for entry in entries:
        yield f"{indent}- {called(entry)}"
        for word in (word for word in WORDS if word in entry):
            yield f"{indent}    {word}: {reported(word, entry[word])}"
        for part in (part for part in PARTS if part in entry):
            yield f"{indent}  {part}:"
            yield from lines(entry[part] or [], f"{indent}  ")


def called(entry: dict) -> str:
    """The module of a task with the file, role or facts that it names."""
    module = next((key for key in entry if "." in key), None)
    if module is None:
        return "play" if "hosts" in entry else "block"
    arguments = entry[module]
    if module.endswith(".set_fact"):
        return f"{module} {' '.join(arguments)}"
    if module.endswith(".import_role"):
        return f"{module} {' '.join(arguments.values())}"
    return f"{module} {arguments}" if isinstance(arguments, str) else module


def reported(word: str, value: object) -> str:
    entries = value if isinstance(value, list) else [value]
    return (" AND " if word == "when" else ", ").join(" ".join(str(one).split()) for one in entries)


def test_tasks_for_guests_run_fail_and_report_changes_as_approved():
    found = "\n".join(line for file in files() for line in (f"# {file}", *lines(load(file)), ""))
    if os.environ.get("AIREADY_APPROVE"):
        APPROVED.parent.mkdir(exist_ok=True)
        APPROVED.write_text(found)
    assert found == APPROVED.read_text()
