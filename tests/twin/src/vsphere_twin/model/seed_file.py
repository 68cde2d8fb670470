"""Seed files: YAML whose tables and lists know the lines of their keys and entries."""

from __future__ import annotations

import contextlib
import copy

import yaml


class Problem(str):
    """Problem of a seed, with its line in the file if it is known."""

    line: int | None

    def __new__(cls, text, line=None):
        made = super().__new__(cls, text)
        made.line = line
        return made


class SeedError(ValueError):
    """A seed that cannot be built, with all the reasons."""

    def __init__(self, problems):
        self.problems = [one if isinstance(one, Problem) else Problem(one) for one in problems]
        super().__init__("\n".join(self.problems))

    def at(self, line):
        """The same, with this line for each problem that has none."""
        return SeedError([Problem(one, one.line or line) for one in self.problems])

    def of(self, file):
        """The same, with the file and the line in front of each problem, in the order of the lines."""
        rows = sorted(self.problems, key=lambda one: one.line or 0)
        return SeedError([f"{file}:{one.line}: {one}" if one.line else f"{file}: {one}" for one in rows])


class Table(dict):
    """A mapping of the file."""

    line: int | None = None
    lines: dict = {}


class Entries(list):
    """A sequence of the file."""

    line: int | None = None
    lines: list = []


def line_of(data, key=None):
    """The line of a key of a table or of a position of a list, or of the whole; None for data that is from no file."""
    if isinstance(data, Table) and key in data.lines:
        return data.lines[key]
    if isinstance(data, Entries) and isinstance(key, int) and key < len(data.lines):
        return data.lines[key]
    return getattr(data, "line", None)


def changed(data, **values):
    """A copy of a table with other values, at the same lines."""
    made = copy.copy(data)
    made.update(values)
    return made


def laid_over(base, data):
    """A table with the keys of both; those of the second one hold."""
    made = changed(base, **data)
    made.lines = {**base.lines, **getattr(data, "lines", {})}
    return made


def placed(data, line):
    """A copy of data of another file: each problem with it is at this line."""
    if isinstance(data, dict):
        made = Table((key, placed(value, line)) for key, value in data.items())
        made.lines = dict.fromkeys(made, line)
    elif isinstance(data, list):
        made = Entries(placed(value, line) for value in data)
        made.lines = [line] * len(made)
    else:
        return data
    made.line = line
    return made


@contextlib.contextmanager
def within(data, key=None):
    """Problems without a line, found in here, are at this one."""
    try:
        yield
    except SeedError as problem:
        raise problem.at(line_of(data, key)) from problem


def read(text):
    """Return the data of a file; SeedError for invalid YAML and for duplicate keys."""
    try:
        loader = _Loader(text)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        words = ", ".join(filter(None, (problem.context, problem.problem)))
        raise SeedError([Problem(f"This is no YAML: {words}.", mark.line + 1 if mark else None)]) from problem
    except yaml.YAMLError as problem:
        raise SeedError([f"This is no YAML: {problem}."]) from problem


class _Loader(yaml.SafeLoader):
    """Makes tables and lists that know their lines."""

    def table(self, node):
        made = Table()
        yield made
        self._refuse_twice(node)
        self.flatten_mapping(node)
        made.update(self.construct_mapping(node))
        made.line = node.start_mark.line + 1
        made.lines = {self.construct_object(key): key.start_mark.line + 1 for key, _value in node.value}

    def entries(self, node):
        made = Entries()
        yield made
        made.extend(self.construct_sequence(node))
        made.line = node.start_mark.line + 1
        made.lines = [one.start_mark.line + 1 for one in node.value]

    def _refuse_twice(self, node):
        seen = {}
        for key, _value in node.value:
            first = seen.setdefault((key.tag, str(key.value)), key)
            if first is not key:
                line = first.start_mark.line + 1
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key.value} is there twice, first in line {line}", problem_mark=key.start_mark
                )


_Loader.add_constructor("tag:yaml.org,2002:map", _Loader.table)
_Loader.add_constructor("tag:yaml.org,2002:seq", _Loader.entries)
