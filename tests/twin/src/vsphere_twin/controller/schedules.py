"""The rules of a schedule, as AWX 24.6.1 checks them. [sure]"""

from __future__ import annotations

import re
import zoneinfo
from datetime import datetime, timezone

from dateutil.rrule import rrulestr

from .refused import Refused

MOST_TIMES = 999
_START = re.compile(r"DTSTART(?:;[^:]+)?:[0-9]+T[0-9]+Z?")
_ZONE = re.compile(r"DTSTART;TZID=([^:]*):")
_NAIVE = re.compile(r"DTSTART:[0-9]+T[0-9]+ ")
_RULE = re.compile(r"RULE:[^\s]*")
_NAIVE_UNTIL = re.compile(r"(UNTIL=)([0-9]{8}T[0-9]{6})(?=;|\s|\Z)")
_NUMBERED_DAY = re.compile(r"BYDAY[:=][0-9]+[a-zA-Z]{2}")
_NO_ZONE = "A valid TZID must be provided (e.g., America/New_York)"
_FREQUENCIES = {"YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY"}
_NUMBERS = {
    f"BY{name}" for name in ("SETPOS", "MONTH", "MONTHDAY", "YEARDAY", "EASTER", "WEEKNO", "HOUR", "MINUTE", "SECOND")
}
_NUMBER = re.compile("[+-]?[0-9]{1,18}")
_WEEKDAY = re.compile("MO|TU|WE|TH|FR|SA|SU")
_DAY = re.compile(rf"[+-]?[0-9]*({_WEEKDAY.pattern})(\([+-]?[0-9]+\))?")
_MOMENT = re.compile("[0-9]{8}(T[0-9]{6}Z?)?")


def check(rule):
    """Reject what AWX rejects."""
    problems = list(_problems(rule))
    if problems:
        raise Refused(400, {"rrule": problems})


def next_run(rule, enabled, now):
    """The next run of a schedule, as the API writes it, or None: AWX accepts a rule that has none. [sure]"""
    if not enabled:
        return None
    zone = next(iter(_ZONE.findall(rule)), None)
    if zone:
        # dateutil compares it with a start that has a zone. AWX reads it in this zone.
        rule = _NAIVE_UNTIL.sub(lambda found: f"{found[1]}{_of_zone(found[2], zone)}", rule)
    try:
        found = rrulestr(rule, forceset=True).after(now)
    except (ValueError, IndexError, OverflowError) as problem:
        raise Refused(400, {"rrule": [f"rrule parsing failed validation: {problem}"]}) from None
    return found and found.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _of_zone(text, zone):
    local = datetime.strptime(text, "%Y%m%dT%H%M%S").replace(tzinfo=zoneinfo.ZoneInfo(zone))
    return local.astimezone(timezone.utc).strftime("%Y%m%dT%H%M%SZ")


def _problems(rule):
    starts, rules = _START.findall(rule), _RULE.findall(rule)
    if not starts:
        yield "Valid DTSTART required in rrule. Value should start with: DTSTART:YYYYMMDDTHHMMSSZ"
    if _NAIVE.search(rule):
        yield "DTSTART cannot be a naive datetime.  Specify ;TZINFO= or YYYYMMDDTHHMMSSZZ."
    if rules and (not starts or _NAIVE.search(rule)):
        yield f"rrule parsing failed validation: {_NO_ZONE}"
    for zone in _ZONE.findall(rule):
        if zone not in zoneinfo.available_timezones():
            yield f"rrule parsing failed validation: {_NO_ZONE}"
    for one in starts:
        try:
            _moment(one.rpartition(":")[2])
        except ValueError as problem:
            yield f"rrule parsing failed validation: {problem}"
    if len(starts) > 1:
        yield "Multiple DTSTART is not supported."
    if "rrule:" not in rule.lower():
        yield "One or more rule required in rrule."
    for word in ("EXDATE", "RDATE"):
        if f"{word}:" in rule.upper():
            yield f"{word} not allowed in rrule."
    for one in rules:
        parts = dict(part.partition("=")[::2] for part in one.partition(":")[2].split(";"))
        if "INTERVAL" not in parts:
            yield f"INTERVAL required in rrule: {one}"
        if parts.get("FREQ") == "SECONDLY":
            yield f"SECONDLY is not supported: {one}"
        elif parts.get("FREQ") not in _FREQUENCIES:
            yield f"rrule parsing failed validation: invalid 'FREQ': {parts.get('FREQ')}"
        yield from _of_parameters(parts)
        if _NUMBERED_DAY.search(one):
            yield f"BYDAY with numeric prefix not supported: {one}"
        if {"COUNT", "UNTIL"} <= set(parts):
            yield f"RRULE may not contain both COUNT and UNTIL: {one}"
        if _NUMBER.fullmatch(parts.get("COUNT", "")) and int(parts["COUNT"]) > MOST_TIMES:
            yield f"COUNT > 999 is unsupported: {one}"


def _moment(text):
    return datetime.strptime(text.rstrip("Z"), "%Y%m%dT%H%M%S" if "T" in text else "%Y%m%d")


def _is_moment(text):
    try:
        return _MOMENT.fullmatch(text) and _moment(text)
    except ValueError:
        return False


def _of_parameters(parts):
    for name, value in parts.items():
        if name in ("INTERVAL", "COUNT"):
            good = _NUMBER.fullmatch(value)
        elif name in _NUMBERS:
            good = all(_NUMBER.fullmatch(one) for one in value.split(","))
        elif name in ("BYDAY", "BYWEEKDAY"):
            good = all(_DAY.fullmatch(one) for one in value.split(","))
        elif name == "WKST":
            good = _WEEKDAY.fullmatch(value)
        elif name == "UNTIL":
            good = _is_moment(value)
        elif name == "FREQ":
            continue
        else:
            yield f"rrule parsing failed validation: unknown parameter '{name}'"
            continue
        if not good:
            yield f"rrule parsing failed validation: invalid '{name}': {value.upper()}"
        elif name == "INTERVAL" and int(value) < 1:
            # [sure]: AWX computes the next run of 0 without an end, and answers -1 with the status 500
            yield f"The twin is stricter than AWX here: INTERVAL={value} has no next run."
