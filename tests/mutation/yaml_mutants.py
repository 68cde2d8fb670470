"""The mutants of a file of tasks or plays: a task removed, a condition negated, changed_when or failed_when removed."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from mutation.mutant import Mutant, replaced

LISTS_OF_TASKS = "tasks", "pre_tasks", "post_tasks", "block", "rescue", "always", "handlers"
REMOVED_KEYS = "changed_when", "failed_when", "until"


def yaml_mutants(file: str, text: str) -> list[Mutant]:
    """Every mutant that is still YAML with other content."""
    original = yaml.safe_load(text)
    found = []
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if isinstance(root, yaml.SequenceNode):
        for mutant in _of_list(file, text, root, may_remove="/tasks/" in file):
            try:
                changed = yaml.safe_load(replaced(text, mutant))
            except yaml.YAMLError:
                continue
            if changed and changed != original:
                found.append(mutant)
    return found


def _of_list(file: str, text: str, tasks: yaml.SequenceNode, may_remove: bool) -> Iterator[Mutant]:
    for task in tasks.value:
        if not isinstance(task, yaml.MappingNode):
            continue
        if may_remove and len(tasks.value) > 1:
            yield _change(file, text, task.start_mark.line, task.end_mark.line, "task removed", "")
        for key, value in task.value:
            lines = key.start_mark.line, max(value.end_mark.line, key.start_mark.line + 1)
            if key.value == "when":
                yield from _negated(file, text, value)
            elif key.value in REMOVED_KEYS and key is not task.value[0][0]:
                yield _change(file, text, *lines, f"{key.value} removed", "")
            elif key.value in LISTS_OF_TASKS and isinstance(value, yaml.SequenceNode):
                yield from _of_list(file, text, value, may_remove=True)


def _negated(file: str, text: str, value: yaml.Node) -> Iterator[Mutant]:
    for node in value.value if isinstance(value, yaml.SequenceNode) else [value]:
        if isinstance(node, yaml.ScalarNode):
            after = "'not (" + node.value.strip().replace("'", "''") + ")'"
            begin, end = _offset(text, node.start_mark), _offset(text, node.end_mark)
            if text[node.start_mark.index : node.end_mark.index].endswith("\n"):
                after += "\n"
            yield Mutant(file, node.start_mark.line + 1, begin, end, "condition negated", after)


def _change(file: str, text: str, first: int, after_last: int, kind: str, after: str) -> Mutant:
    lines = text.encode().splitlines(keepends=True)
    # Comments and empty lines before the next task are not part of this one.
    while after_last > first + 1 and (not lines[after_last - 1].strip() or lines[after_last - 1].lstrip()[:1] == b"#"):
        after_last -= 1
    begin, end = (sum(map(len, lines[:line])) for line in (first, after_last))
    return Mutant(file, first + 1, begin, end, kind, after)


def _offset(text: str, mark: yaml.Mark) -> int:
    return len(text[: mark.index].encode())
