"""The tables of the API and the fields of their objects, from data/controller.yml."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass, field
from importlib import resources

import yaml

from .refused import Refused

MOST_CHARACTERS = {"name": 512, "image": 1024}  # [sure]: max_length of both
PERCENT = 100
MOST = 2**31 - 1  # of an integer: a column of the database
# Integers that AWX does not accept below 0. [sure]
NO_LESS_THAN_0 = {
    *("max_hosts", "max_concurrent_jobs", "max_forks", "policy_instance_percentage", "policy_instance_minimum"),
    *("forks", "job_slice_count", "scm_update_cache_timeout", "update_cache_timeout"),
}
# What the API itself sets. A client may send it, and the API ignores it, as AWX does.
OF_THE_API = ("id", "type", "url", "related", "summary_fields", "created", "modified")
UNIFIED = "unified_job_templates"
_WHOLE = re.compile(r"-?[0-9]{1,20}")


def whole(text):
    """The integer in a text, or None. str.isdigit() also accepts signs that int() rejects."""
    return int(text) if _WHOLE.fullmatch(text) else None


@dataclass(frozen=True)
class Field:
    """One field: its type, its default, and its choices."""

    name: str
    kind: str
    required: bool = False
    default: object = None
    choices: tuple = ()

    def read(self, value, exists):
        """The value as it is saved. exists(table, id) finds other objects."""
        reader = _READERS.get(self.kind)
        if reader is not None:
            return reader(self, value)
        return self._reference(value, exists)

    def _reference(self, value, exists):
        if value in (None, ""):
            if self.required:
                raise Refused.of(self.name, "This field may not be null.")
            return None
        if isinstance(value, bool) or not isinstance(value, (int, str)) or whole(str(value)) is None:
            raise Refused.of(self.name, f"Incorrect type. Expected pk value, received {type(value).__name__}.")
        if not exists(self.kind, int(value)):
            raise Refused.of(self.name, f'Invalid pk "{value}" - object does not exist.')
        return int(value)

    @property
    def is_reference(self):
        return self.kind not in _READERS


@dataclass(frozen=True)
class Table:
    """The objects below one address."""

    name: str
    type: str
    fields: dict
    unique: tuple = ()
    links: tuple = ()
    read_only: dict = field(default_factory=dict)
    unified: bool = False
    survey: bool = False

    def created(self, data, exists):
        """Every field of a new object, or a refusal with all problems."""
        values, problems = self._read(data, exists)
        for one in self.fields.values():
            if one.name in values or one.name in problems:
                continue
            if one.required:
                problems[one.name] = ["This field is required."]
            else:
                values[one.name] = json.loads(json.dumps(one.default))
        if problems:
            raise Refused(400, problems)
        return values

    def changed(self, data, exists):
        """The fields that a client sent to change an object."""
        values, problems = self._read(data, exists)
        if problems:
            raise Refused(400, problems)
        return values

    def _read(self, data, exists):
        if not isinstance(data, dict):
            raise Refused(400, {"detail": "JSON parse error - not a JSON object"})
        values, problems = {}, {}
        for name, value in data.items():
            if name in OF_THE_API or name in self.read_only:
                continue
            if name not in self.fields:
                # AWX ignores it. A client that relies on such a field has a defect, which AWX would hide.
                problems[name] = [f"The twin is stricter than AWX here: {self.type} has no field {name}."]
                continue
            try:
                values[name] = self.fields[name].read(value, exists)
            except Refused as refused:
                problems.update(refused.body)
        return values, problems


@dataclass(frozen=True)
class Launched:
    """The launched jobs below one address: their type, and the kinds of their fields."""

    type: str
    fields: dict


_OF_A_JOB = {
    **dict.fromkeys(("name", "description", "launch_type", "status", "job_explanation", "limit"), "string"),
    "unified_job_template": UNIFIED,
    "failed": "boolean",
    "started": "moment",
    "finished": "moment",
    "extra_vars": "text",
    "inventory": "inventories",
}
_SLICES = {"job_slice_number": "integer", "job_slice_count": "integer"}
LAUNCHED = {
    "jobs": Launched("job", {**_OF_A_JOB, **_SLICES, "job_type": "string", "playbook": "string"}),
    "workflow_jobs": Launched(
        "workflow_job", {**_OF_A_JOB, "is_sliced_job": "boolean", "job_template": "job_templates"}
    ),
    "workflow_approvals": Launched(
        "workflow_approval",
        {**_OF_A_JOB, "timeout": "integer", "timed_out": "boolean", "approved_or_denied_by": "users"},
    ),
}
TOKENS = "tokens"
# All that the API lists, besides the tables of data/controller.yml.
LISTED = {
    **LAUNCHED,
    TOKENS: Launched("o_auth2_access_token", {"description": "string", "scope": "string", "user": "users"}),
}


@functools.lru_cache(maxsize=None)
def tables():
    """{name: Table}."""
    text = resources.files(__package__.rpartition(".")[0]).joinpath("data/controller.yml").read_text(encoding="utf-8")
    return {name: _table(name, row) for name, row in yaml.safe_load(text).items()}


def _table(name, row):
    fields = {}
    for one, (kind, default, *choices) in row["fields"].items():
        required = default == "required"
        given = None if required or default == "unset" else default
        fields[one] = Field(one, kind, required, given, tuple(choices[0]) if choices else ())
    return Table(
        name,
        row["type"],
        fields,
        tuple(row["unique"]),
        tuple(row.get("links", ())),
        row.get("read_only", {}),
        row.get("unified", False),
        row.get("survey", False),
    )


def _string(one, value):
    if value is None and not one.required:
        # AWX takes null as an empty text, unless the field itself can be null.
        return one.default if one.default is None else ""
    if value is None:
        raise Refused.of(one.name, "This field cannot be blank.")
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise Refused.of(one.name, "Not a valid string.")
    text = str(value)
    if one.required and not text.strip():
        raise Refused.of(one.name, "This field may not be blank.")
    most = MOST_CHARACTERS.get(one.name, len(text))
    if len(text) > most:
        raise Refused.of(one.name, f"Ensure this field has no more than {most} characters.")
    return text.strip() if one.required else text


def _integer(one, value):
    if value is None:
        if one.default is None:
            return None
        raise Refused.of(one.name, "This field may not be null.")
    if isinstance(value, bool) or whole(str(value)) is None:
        raise Refused.of(one.name, "A valid integer is required.")
    if int(value) < 0 and one.name in NO_LESS_THAN_0:
        raise Refused.of(one.name, "Ensure this value is greater than or equal to 0.")
    if int(value) > PERCENT and one.name.endswith("_percentage"):
        raise Refused.of(one.name, f"Ensure this value is less than or equal to {PERCENT}.")
    if int(value) > MOST:
        raise Refused.of(one.name, f"Ensure this value is less than or equal to {MOST}.")
    return int(value)


def _boolean(one, value):
    if value is None and one.default is None:
        return None
    if not isinstance(value, bool):
        raise Refused.of(one.name, "Must be a valid boolean.")
    return value


def _choice(one, value):
    if value is None and not one.required:
        return one.default if one.default is None else ""
    for choice in one.choices:
        if value == choice or str(value) == str(choice):
            return choice
    raise Refused.of(one.name, f'"{value}" is not a valid choice.')


def _object(one, value):
    if value is None and one.name == "messages":
        return one.default
    if value is None:
        raise Refused.of(one.name, "This field may not be null.")
    if isinstance(one.default, list) and not isinstance(value, list):
        raise Refused.of(one.name, f'Expected a list of items but got type "{type(value).__name__}".')
    if not isinstance(value, type(one.default) if one.default is not None else dict):
        raise Refused.of(one.name, f"{type(value).__name__} provided, expected {type(one.default).__name__}")
    return value


def _text(one, value):
    """Variables: JSON or YAML of a dictionary, in a string."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Refused.of(one.name, "Not a valid string.")
    variables_of(one.name, value)
    return value


def variables_of(name, text):
    """The dictionary in a text, or a refusal in the words of AWX, which reads JSON first, and then YAML."""
    if not text.strip():
        return {}
    try:
        return _dictionary(json.loads(text))
    except ValueError as problem:
        of_json = problem
    try:
        found = yaml.safe_load(text)
        found = _dictionary({} if found is None else found)
    except (yaml.YAMLError, ValueError) as problem:
        raise Refused.of(name, f"Cannot parse as JSON (error: {of_json}) or YAML (error: {problem}).") from None
    try:
        json.dumps(found)
    except (TypeError, ValueError) as problem:
        # A date of YAML, for example.
        raise Refused.of(name, f"Variables not compatible with JSON standard (error: {problem})") from None
    return found


def _dictionary(value):
    if not isinstance(value, dict):
        raise ValueError(f"Input type `{type(value).__name__}` is not a dictionary")
    return value


_READERS = {
    "string": _string,
    "integer": _integer,
    "boolean": _boolean,
    "choice": _choice,
    "object": _object,
    "text": _text,
}
