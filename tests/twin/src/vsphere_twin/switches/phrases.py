"""Common parts of command lines: ranges of numbers, and filters after a pipe."""

from __future__ import annotations

import re
import shlex


def split(line):
    """Split a line into words; a quoted text is one."""
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def filters_of(line):
    """Return (command, [filter, ...]) of `command | filter | ...`; a bar inside quotes does not count."""
    parts, quoted = [""], False
    for char in line:
        quoted ^= char == '"'
        if char == "|" and not quoted:
            parts.append("")
        else:
            parts[-1] += char
    return parts[0].strip(), [part.strip() for part in parts[1:]]


def numbers(text, low, high):
    """{0, 1, 2, 5} of `0-2,5`; ValueError for anything else."""
    found = set()
    for part in text.split(","):
        first, _dash, last = part.partition("-")
        if not first.isdigit() or (last and not last.isdigit()):
            raise ValueError(text)
        run = range(int(first), int(last or first) + 1)
        if not run or run[0] < low or run[-1] > high:
            raise ValueError(text)
        found.update(run)
    return found


def spelled(values):
    """`0-2,5` of numbers."""
    runs = []
    for value in sorted(values):
        if runs and runs[-1][1] + 1 == value:
            runs[-1][1] = value
        else:
            runs.append([value, value])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def number_set(high):
    """Return f(tokens, at) -> (numbers from 0 to high, 1), or None: the reader of `0-2,5` in a grammar."""

    def read(tokens, at):
        try:
            return frozenset(numbers(tokens[at], 0, high)), 1
        except ValueError:
            return None

    return read


def vlan_list(tokens, at):
    """`111,200-299`, all or none, as a grammar reads it."""
    if tokens[at].lower() in ("all", "none"):
        return tokens[at].lower(), 1
    try:
        numbers(tokens[at], 1, 4094)
    except ValueError:
        return None
    return tokens[at], 1


def piped(text, filters):
    """Text after `| include x`, `| grep x` and the like; None where a filter is unknown."""
    lines = text.splitlines()
    for one in filters:
        words = split(one)
        if len(words) < 2:
            return None
        verb, pattern = words[0], words[-1]
        flags = re.IGNORECASE if "-i" in words or "ignore-case" in words else 0
        try:
            wanted = re.compile(pattern, flags)
        except re.error:
            wanted = re.compile(re.escape(pattern), flags)
        if verb in ("include", "grep") and "-v" not in words:
            lines = [line for line in lines if wanted.search(line)]
        elif verb in ("exclude", "except", "grep"):
            lines = [line for line in lines if not wanted.search(line)]
        elif verb in ("find", "begin"):
            first = next((index for index, line in enumerate(lines) if wanted.search(line)), len(lines))
            lines = lines[first:]
        else:
            return None
    return "".join(f"{line}\n" for line in lines)
