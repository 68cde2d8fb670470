"""Filters, search and order of a list of objects, as AWX 24.6.1 reads them. [sure]"""

from __future__ import annotations

import json
import operator
import re
from datetime import datetime, timezone

from .refused import Refused
from .tables import LISTED, UNIFIED, tables, whole

# Fields of every object, and the organization that AWX gives the others.
_OF_ALL = {
    "id": "integer",
    "type": "string",
    "created": "moment",
    "modified": "moment",
    "managed": "boolean",
    "organization": "organizations",
}
# Fields that AWX never searches, because they can contain secrets.
_PROTECTED = {"extra_vars", "host_config_key", "notification_configuration", "pod_spec_override"}
_PROTECTED_OF = {"credentials": {"inputs"}, "users": {"password"}}
# Parts of a list request that are no filters.
PAGING = {"page", "page_size", "order_by", "search", "format"}
_ORDERED = {"gt": operator.gt, "gte": operator.ge, "lt": operator.lt, "lte": operator.le}
_TEXTS = {
    "iexact": lambda text, value: text.casefold() == value.casefold(),
    "contains": lambda text, value: value in text,
    "icontains": lambda text, value: value.casefold() in text.casefold(),
    "startswith": str.startswith,
    "istartswith": lambda text, value: text.casefold().startswith(value.casefold()),
    "endswith": str.endswith,
    "iendswith": lambda text, value: text.casefold().endswith(value.casefold()),
}
_PATTERNS = {"regex": 0, "iregex": re.IGNORECASE}
_LOOKUPS = {"exact", "in", "isnull", *_ORDERED, *_TEXTS, *_PATTERNS}
_OF_REFERENCES = {"exact", "in", "isnull", *_ORDERED}
_KINDS = ("integer", "boolean", "string", "object", "moment")
_BOOLEANS = {**dict.fromkeys(("true", "1", "t"), True), **dict.fromkeys(("false", "0", "f"), False)}
# Fields that a search reads, and its words: quotation marks keep spaces.
_SEARCHED = ("name", "description", "username", "first_name", "last_name", "email")
_WORD = re.compile(r"\"([^\"]*)\"|'([^']*)'|([^\s,]+)")
# Tables that AWX lists by ID. The others have the order of their names.
_BY_ID = {"projects", "credential_types", "instance_groups", "workflow_job_template_nodes", "schedules", "users"}


def found(table, rows, given, related=None):
    """The rows that fit the request, in its order. related(table, ID) returns the table and row of a reference."""
    filters = [_Filter(table, key, value, related) for key, value in given if key not in PAGING]
    paging = dict(given)
    words = ["".join(one).casefold() for one in _WORD.findall(paging.get("search", ""))]
    fitting = [(name, row) for name, row in rows if _fits(name, row, filters) and _has(row, words)]
    return _sorted(table, fitting, paging.get("order_by"))


def _has(row, words):
    """Whether each word of a search is in a field of the object."""
    texts = [str(row.get(name) or "").casefold() for name in _SEARCHED]
    return all(any(word in text for text in texts) for word in words)


def _sorted(table, rows, order):
    if order is None:
        names = ["id"] if table in {*_BY_ID, *LISTED, UNIFIED} else ["name"]
    else:
        names = order.split(",")
    for one in reversed(names):
        name = one.removeprefix("-")
        if order is not None:
            _kind(table, name)
        rows = sorted(rows, key=lambda pair: _key(pair[1].get(name)), reverse=one.startswith("-"))
    return rows


def _key(value):
    return (value is None, value if isinstance(value, (int, float)) else 0, "" if value is None else str(value))


class _Filter:
    """One filter: [or__][not__][REFERENCE__...]FIELD[__LOOKUP]=VALUE."""

    def __init__(self, table, key, value, related):
        self._related, rest = related, key
        self.any, self.negated = rest.startswith("or__"), False
        rest = rest.removeprefix("or__")
        if rest.startswith("not__"):
            self.negated, rest = True, rest.removeprefix("not__")
        *names, last = rest.split("__")
        self.lookup, names = (last, names) if names and last in _LOOKUPS else ("exact", [*names, last])
        self.kind, self.references = table, []
        for name in names:
            if self.kind in _KINDS:
                raise _wrong(f"No related model for field {name}.")
            self.kind = _kind(self.kind, name)
            self.references.append((name, self.kind))
        self.name = self.references.pop()[0]
        if self.kind not in _KINDS and self.lookup not in _OF_REFERENCES:
            raise _wrong(f"Related Field got invalid lookup: {self.lookup}")
        self.value = self._wanted(value)

    def _wanted(self, text):
        """The value, or the pattern, that a row is compared with."""
        if self.lookup == "isnull":
            return _boolean(text)
        if self.lookup in _PATTERNS:
            try:
                return re.compile(text, _PATTERNS[self.lookup])
            except re.error as problem:
                raise _wrong(problem.args[0]) from None
        if self.lookup == "in":
            if not text:
                raise _wrong("cannot provide empty value for __in")
            return [self._read(one) for one in text.split(",")]
        if self.lookup == "iexact" and self.kind != "string":
            raise _wrong(f"{self.name} is not a text field and cannot be filtered by case-insensitive search")
        value = self._read(text)
        if value is None and self.lookup in _ORDERED:
            raise _wrong("Cannot use None as a query value")
        return value

    def _read(self, text):
        if self.kind in ("string", "object"):
            return text
        if self.kind == "boolean":
            return _boolean(text)
        if self.kind == "moment":
            return _moment(text)
        if self.kind != "integer" and text.lower() in ("none", "null"):
            return None
        number = whole(text)
        if number is None and self.kind == "integer":
            raise _wrong(f'["\u201c{text}\u201d value must be an integer."]')
        if number is None:
            raise _wrong(f"Invalid {self.name} id: {text}")
        return number

    def fits(self, table, row):
        for name, kind in self.references:
            if row.get(name) is None:
                return self._answer(None) != self.negated
            table, row = self._related(kind, row[name])
        return self._answer(_type(table) if self.name == "type" else row.get(self.name)) != self.negated

    def _answer(self, value):
        if self.lookup == "isnull":
            return (value is None) == self.value
        if value is None:
            return self.lookup == "exact" and self.value is None
        if self.kind == "object":
            value = json.dumps(value)
        elif self.kind == "moment":
            value = _moment(value)
        if self.lookup == "exact":
            return value == self.value
        if self.lookup == "in":
            return value in self.value
        if self.lookup in _ORDERED:
            return _ORDERED[self.lookup](value, self.value)
        if self.lookup in _PATTERNS:
            return self.value.search(_text(value)) is not None
        return _TEXTS[self.lookup](_text(value), _text(self.value))


def _text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def _boolean(text):
    if text.lower() not in _BOOLEANS:
        raise _wrong(f'Unable to convert "{text}" to boolean')
    return _BOOLEANS[text.lower()]


def _moment(text):
    try:
        found = datetime.fromisoformat(re.sub(r"Z\Z", "+00:00", text))
    except ValueError:
        form = "YYYY-MM-DD HH:MM[:ss[.uuuuuu]][TZ]"
        words = f"\u201c{text}\u201d value has an invalid format. It must be in {form} format."
        raise _wrong(f'["{words}"]') from None
    return found if found.tzinfo else found.replace(tzinfo=timezone.utc)


def _fits(table, row, filters):
    """Whether an object fits all filters, and one of those that begin with or__."""
    some = [one.fits(table, row) for one in filters if one.any]
    return all(one.fits(table, row) for one in filters if not one.any) and (any(some) if some else True)


def _type(table):
    if table == UNIFIED:
        return "unified_job_template"
    return (LISTED.get(table) or tables()[table]).type


def _fields(table):
    """{name: kind} of the fields of a table."""
    if table in LISTED:
        return LISTED[table].fields
    names = [table] if table != UNIFIED else tables()
    return {field.name: _compared(field) for name in names for field in tables()[name].fields.values()}


def _compared(field):
    if field.kind == "choice":
        return "integer" if all(isinstance(one, int) for one in field.choices) else "string"
    return "string" if field.kind == "text" else field.kind


def _kind(table, name):
    """The kind of a field. AWX rejects the use of fields that the objects do not have, or that can contain secrets."""
    kinds = {**_fields(table), **_OF_ALL}
    if name in _PROTECTED_OF.get(table, ()):
        raise Refused.detail(403, f"Filtering on {'field inputs' if name == 'inputs' else name} is not allowed.")
    if name not in kinds:
        label = _type(table).replace("_", " ").title().replace(" ", "")
        raise _wrong(f"{label} has no field named '{name}'")
    if name in _PROTECTED:
        raise Refused.detail(403, f"Filtering on {name} is not allowed.")
    return kinds[name]


def _wrong(words):
    return Refused.detail(400, words)
