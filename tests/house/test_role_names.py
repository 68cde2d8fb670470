"""Results and facts have precedence over variables of a role: no role may have both under one name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from house.collection import parsed

from .collection import load, roles


def made_by(tasks: list) -> Iterator[str]:
    """The names of results and facts of tasks, also of those in blocks."""
    for task in tasks or ():
        yield from [task["register"]] if "register" in task else []
        yield from (task.get("ansible.builtin.set_fact") or {}).keys()
        for part in ("block", "rescue", "always"):
            yield from made_by(task.get(part))


# Two roles make nothing; a reader that finds nothing in another one is broken.
@pytest.mark.parametrize("role", sorted(roles().keys() - {"horovod", "site"}))
def test_no_result_or_fact_hides_a_variable_of_its_role(role):
    folder = roles()[role]
    variables = folder / "vars" / "main.yml"
    named = set(load(variables)) if variables.is_file() else set()
    files = [parsed(path.read_text()) for path in (folder / "tasks").rglob("*.yml")]
    made = {name for tasks in files for name in made_by(tasks)}
    assert made
    assert named & made == set()
