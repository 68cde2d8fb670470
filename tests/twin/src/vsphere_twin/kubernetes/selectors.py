"""Label selectors and field selectors of a list."""

from __future__ import annotations

import math
import re

from .refused import Refused

_SET = re.compile(r"^\s*(?P<key>[\w./-]+)\s+(?P<how>in|notin)\s*\((?P<values>[^)]*)\)\s*$")
_EQUAL = re.compile(r"^\s*(?P<key>[\w./-]+)\s*(?P<how>==|=|!=)\s*(?P<value>[\w.-]*)\s*$")
_ORDER = re.compile(r"^\s*(?P<key>[\w./-]+)\s*(?P<how>[<>])\s*(?P<value>\d+)\s*$")
_EXISTS = re.compile(r"^\s*(?P<no>!?)\s*(?P<key>[\w./-]+)\s*$")


def by_labels(text):
    """A predicate of labels."""
    tests = [_of_term(term, text) for term in re.split(r",(?![^(]*\))", text) if term.strip()]
    return lambda labels: all(test(labels) for test in tests)


def _of_term(term, text):
    found = _SET.match(term)
    if found:
        values = {one.strip() for one in found["values"].split(",")}
        if found["how"] == "in":
            return lambda labels: labels.get(found["key"]) in values
        return lambda labels: labels.get(found["key"]) not in values
    found = _EQUAL.match(term)
    if found:
        if found["how"] == "!=":
            return lambda labels: labels.get(found["key"]) != found["value"]
        return lambda labels: labels.get(found["key"]) == found["value"]
    found = _ORDER.match(term)
    if found:
        if len(found["value"]) > 19:  # no integer of 64 bits
            reason = "for 'Gt', 'Lt' operators, the value must be an integer"
            raise Refused(400, f'unable to parse requirement: values[0]: Invalid value: "{found["value"]}": {reason}')
        bound, sign = int(found["value"]), 1 if found["how"] == ">" else -1
        return lambda labels: _number(labels.get(found["key"])) * sign > bound * sign
    found = _EXISTS.match(term)
    if found:
        return lambda labels: (found["key"] in labels) != bool(found["no"])
    raise Refused(400, f'unable to parse requirement: found {term.strip()!r} in label selector "{text}"')


def _number(text):
    return int(text) if text and text.isdecimal() and len(text) < 20 else math.nan


def of_object(selector, labels):
    """Whether labels match a LabelSelector object."""
    for key, value in (selector.get("matchLabels") or {}).items():
        if labels.get(key) != value:
            return False
    for one in selector.get("matchExpressions") or ():
        values, present = one.get("values") or (), one["key"] in labels
        verdicts = {
            "In": labels.get(one["key"]) in values,
            "NotIn": labels.get(one["key"]) not in values,
            "Exists": present,
            "DoesNotExist": not present,
        }
        if not verdicts[one["operator"]]:
            return False
    return True


def by_fields(text, kind):
    """A predicate of objects; a kind supports only the fields that it declares."""
    tests = []
    for term in filter(None, text.split(",")):
        found = re.match(r"^\s*([\w./-]+)\s*(==|=|!=)\s*(.*?)\s*$", term)
        if not found:
            raise Refused(400, f"invalid selector: '{text}'; can't understand '{term}'")
        path, how, value = found.groups()
        if path not in ("metadata.name", "metadata.namespace", *kind.fields):
            text = f'"{path}" is not a known field selector: only "metadata.name", "metadata.namespace"'
            text = f"field label not supported: {path}" if kind.fields or kind.custom else text
            raise Refused(400, text)
        tests.append((path.split("."), how == "!=", value))
    return lambda obj: all((_at(obj, path) == value) != no for path, no, value in tests)


def _at(obj, path):
    for part in path:
        obj = obj.get(part, "") if isinstance(obj, dict) else ""
    return str(obj).lower() if isinstance(obj, bool) else str(obj)
