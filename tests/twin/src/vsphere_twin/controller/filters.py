"""Filters, search and order of a list of objects, as AWX 24.6.1 reads them. [sure]"""

from __future__ import annotations

import operator
import re

from .refused import Refused
from .tables import UNIFIED, tables

# Fields of every object, and the organization that AWX gives the others.
_OF_ALL = {"id", "type", "created", "modified", "managed", "organization"}
# Parts of a list request that are no filters.
PAGING = {"page", "page_size", "order_by", "search", "format"}
_ORDERED = {"gt": operator.gt, "gte": operator.ge, "lt": operator.lt, "lte": operator.le}
_LOOKUPS = {
    "exact": lambda text, value: text == value,
    "iexact": lambda text, value: text.casefold() == value.casefold(),
    "contains": lambda text, value: value in text,
    "icontains": lambda text, value: value.casefold() in text.casefold(),
    "startswith": str.startswith,
    "istartswith": lambda text, value: text.casefold().startswith(value.casefold()),
    "endswith": str.endswith,
    "iendswith": lambda text, value: text.casefold().endswith(value.casefold()),
    "regex": lambda text, value: re.search(value, text) is not None,
    "iregex": lambda text, value: re.search(value, text, re.IGNORECASE) is not None,
    "in": lambda text, value: text in value.split(","),
}
# Tables that AWX lists by ID. The others have the order of their names.
_BY_ID = {"projects", "credential_types", "instance_groups", "workflow_job_template_nodes", "schedules", "users"}


def found(table, rows, given):
    """The rows that fit the request, in its order."""
    filters = [_Filter(table, key, value) for key, value in given if key not in PAGING]
    paging = dict(given)
    needle = paging.get("search", "").casefold()
    fitting = [(name, row) for name, row in rows if _fits(name, row, filters) and _has(row, needle)]
    return _sorted(table, fitting, paging.get("order_by"))


def _has(row, needle):
    return any(needle in str(row.get(name) or "").casefold() for name in ("name", "description", "username"))


def _sorted(table, rows, order):
    if order is None:
        names = ["id"] if table in _BY_ID or table == UNIFIED else ["name"]
    else:
        names = order.split(",")
    for one in reversed(names):
        name = one.removeprefix("-")
        if order is not None:
            _check_field(table, name)
        rows = sorted(rows, key=lambda pair: _key(pair[1].get(name)), reverse=one.startswith("-"))
    return rows


def _key(value):
    return (value is None, value if isinstance(value, (int, float)) else 0, "" if value is None else str(value))


class _Filter:
    """One filter: [or__][not__]FIELD[__LOOKUP]=VALUE."""

    def __init__(self, table, key, value):
        rest = key
        self.any, self.negated = rest.startswith("or__"), False
        rest = rest.removeprefix("or__")
        if rest.startswith("not__"):
            self.negated, rest = True, rest.removeprefix("not__")
        self.name, _dunder, self.lookup = rest.partition("__")
        self.lookup = self.lookup or "exact"
        _check_field(table, self.name)
        if self.lookup not in {*_LOOKUPS, *_ORDERED, "isnull"}:
            raise Refused.detail(400, f"No related model for field {self.lookup}.")
        self.value = value
        if _is_number(table, self.name) and self.lookup in ("exact", *_ORDERED) and not value.lstrip("-").isdigit():
            raise Refused.detail(400, f'["\u201c{value}\u201d value must be an integer."]')

    def fits(self, table, row):
        value = tables()[table].type if self.name == "type" else row.get(self.name)
        if self.lookup == "isnull":
            answer = (value is None) == (self.value.casefold() in ("true", "1"))
        elif value is None:
            answer = self.lookup == "exact" and self.value.casefold() in ("none", "null")
        elif self.lookup in _ORDERED:
            other = int(self.value) if isinstance(value, int) else self.value
            answer = _ORDERED[self.lookup](value, other)
        else:
            answer = _LOOKUPS[self.lookup](*_comparable(value, self.value))
        return answer != self.negated


def _comparable(value, given):
    """Both as texts; AWX takes a boolean in any letters."""
    return (str(value).lower(), given.lower()) if isinstance(value, bool) else (str(value), given)


def _fits(table, row, filters):
    """Whether an object fits all filters, and one of those that begin with or__."""
    some = [one.fits(table, row) for one in filters if one.any]
    return all(one.fits(table, row) for one in filters if not one.any) and (any(some) if some else True)


def _fields(table):
    return [field for one in ([table] if table != UNIFIED else tables()) for field in tables()[one].fields.values()]


def _is_number(table, name):
    kinds = {one.kind for one in _fields(table) if one.name == name}
    return name == "id" or (kinds and kinds <= {"integer"})


def _check_field(table, name):
    """AWX rejects filters by fields that the objects do not have."""
    if name not in {*_OF_ALL, *(one.name for one in _fields(table))}:
        kind = "unified_job_template" if table == UNIFIED else tables()[table].type
        label = kind.replace("_", " ").title().replace(" ", "")
        raise Refused.detail(400, f"{label} has no field named '{name}'")
