"""What playbooks hand over to roles: one variable each, from which the defaults of the role's options are taken."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import jinja2

from house.collection import ROOT, load, roles

if TYPE_CHECKING:
    from collections.abc import Iterator

DEFAULT = re.compile(r"\{\{ (\w+)_site\.(\w+) \| default\((.*)\) \}\}")
ENVIRONMENT = jinja2.Environment()


def receivers() -> list[str]:
    """The roles that take values of a site."""
    return [role for role in sorted(roles()) if f"{role}_site" in _written(role)]


def defaults(role: str) -> dict[str, Any]:
    """The defaults of a role that is used without a site."""
    return {name: _without_site(value) for name, value in _written(role).items()}


def from_site(role: str) -> dict[str, str]:
    """{option: the key of the role's variable from which its default is taken}."""
    found = {name: DEFAULT.fullmatch(value) for name, value in _written(role).items() if isinstance(value, str)}
    return {name: match[2] for name, match in found.items() if match is not None and match[1] == role}


def handed_over(playbook: str, role: str) -> set[str]:
    """The options, without the prefix of their names, that a playbook gives a role: by themselves, or from the site."""
    read = [ROOT / "playbooks" / f"{name}.yml" for name in (playbook, "known_guests")]
    assert any(re.search(rf"^ +{role}_site: ", path.read_text(), re.M) for path in read), (
        f"{playbook} sets no {role}_site"
    )
    given = {name for each in _given(load(f"playbooks/{playbook}.yml"), role) for name in each}
    alone = {name.removeprefix(f"{role}_") for name in given if name.startswith(f"{role}_")} - {"site"}
    # What outranks the site has no default that is taken from it.
    assert not alone & set(from_site(role).values())
    return alone | set(from_site(role).values())


def _given(entries: Any, role: str) -> Iterator[dict[str, Any]]:
    """The variables of each task below a value of YAML that runs the role."""
    if isinstance(entries, list):
        for entry in entries:
            yield from _given(entry, role)
    elif isinstance(entries, dict):
        for keyword in ("ansible.builtin.import_role", "ansible.builtin.include_role"):
            if entries.get(keyword, {}).get("name") == f"aiready.vsphere.{role}":
                yield entries.get("vars", {})
        for key in ("tasks", "pre_tasks", "post_tasks", "block", "rescue", "always"):
            yield from _given(entries.get(key), role)


def _written(role: str) -> dict[str, Any]:
    return load(f"roles/{role}/defaults/main.yml") or {}


def _without_site(value: Any) -> Any:
    match = DEFAULT.fullmatch(value) if isinstance(value, str) else None
    return value if match is None else ENVIRONMENT.compile_expression(match[3])()
