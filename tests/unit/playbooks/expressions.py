"""What is written in a playbook, as Ansible works it out."""

from __future__ import annotations

from pathlib import Path

import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from unit.roles.variables import templates

PLAYBOOKS = Path(__file__).resolve().parents[3] / "playbooks"


def entries(playbook):
    """All plays and tasks, those inside of blocks too."""

    def inside(found):
        for entry in found:
            yield entry
            for part in ("pre_tasks", "tasks", "post_tasks", "block", "rescue", "always"):
                yield from inside(entry.get(part, ()))

    return list(inside(yaml.safe_load((PLAYBOOKS / f"{playbook}.yml").read_text())))


def entry_of(playbook, name, having):
    """The one play or task of this name that has this word."""
    (entry,) = (one for one in entries(playbook) if one.get("name") == name and having in one)
    return entry


def worked_out(value, variables, **given):
    """A value of a playbook; variables are those of its play or task."""
    common = {"ansible_check_mode": False, "groups": {}, "hostvars": {}, **templates(variables), **given}
    return Templar(loader=DataLoader(), variables=common).template(templates(value))


def is_met(playbook, name, keyword="when", **given):
    """What a condition of a play or task comes to."""
    entry = entry_of(playbook, name, keyword)
    conditions = entry[keyword] if isinstance(entry[keyword], list) else [entry[keyword]]
    found = [worked_out(f"{{{{ ({one}) }}}}", entry.get("vars", {}), **given) for one in conditions]
    assert {type(one) for one in found} == {bool}, found
    return all(found)
