"""The variables of a role and the conditions of its tasks, as Ansible works them out."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

try:
    from ansible.template import trust_as_template
except ImportError:  # before ansible-core 2.19, which takes any text for a template
    trust_as_template = str

ROLES = Path(__file__).resolve().parents[3] / "roles"


def value_of(role, name, **given):
    """A variable of the role, with its defaults and what is given in their place."""
    common = {"inventory_hostname": "train-01", "ansible_check_mode": False, "ansible_facts": {}, "hostvars": {}}
    templar = Templar(loader=DataLoader(), variables={**common, **made_by(role), **given})
    return templar.template(trust_as_template(f"{{{{ {name} }}}}"))


def holds(role, file, name, keyword="when", **given):
    """What a condition of a task comes to: its when, until, changed_when or failed_when."""
    (task,) = (one for one in tasks_of(role, file) if one["name"] == name)
    conditions = task[keyword] if isinstance(task[keyword], list) else [task[keyword]]
    inner = {**templates(task.get("vars", {})), **given}
    found = [value_of(role, f"({condition})", **inner) for condition in conditions]
    assert {type(one) for one in found} == {bool}, found
    return all(found)


@cache
def tasks_of(role, file):
    """The tasks of a file, those inside of blocks too."""

    def inside(entries):
        for entry in entries:
            yield entry
            for part in ("block", "rescue", "always"):
                yield from inside(entry.get(part, ()))

    return list(inside(yaml.safe_load((ROLES / role / "tasks" / f"{file}.yml").read_text())))


@cache
def made_by(role):
    """The defaults and the variables of the role."""
    made = {}
    for file in ("defaults", "vars"):
        path = ROLES / role / file / "main.yml"
        made.update(yaml.safe_load(path.read_text()) or {} if path.exists() else {})
    return templates(made)


def templates(value):
    """The same with each text as a template."""
    if isinstance(value, dict):
        return {key: templates(one) for key, one in value.items()}
    if isinstance(value, list):
        return [templates(one) for one in value]
    return trust_as_template(value) if isinstance(value, str) else value
