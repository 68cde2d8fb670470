# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Whole results that a person has read once, kept beside the tests in approved/.

A test that names single keys of a large result leaves the others unprotected. AIREADY_APPROVE=1 writes the files anew;
read the difference before a commit. Sentences are kept without their words: rewording a message changes no file.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

# What stays of a sentence: numbers, names, paths and values in quotes.
FACT = re.compile(r"`[^`]*`|\S*[\d_/=]\S*")


def leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Path and value of all that a result holds."""
    if isinstance(value, dict) and value and not numbered(value):
        for key, one in value.items():
            yield from leaves(one, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)) and any(isinstance(one, (dict, list, tuple)) for one in value):
        for number, one in enumerate(value):
            yield from leaves(one, f"{path}[{number}]")
    else:
        yield path, outline(value)


def numbered(value: dict) -> bool:
    """Whether it is a map such as that of DSCPs, which takes one line."""
    plain = all(one is None or isinstance(one, (bool, int, float, str)) for one in value.values())
    return plain and all(str(key).isdigit() for key in value)


def outline(value: object) -> object:
    """A value as JSON has it; of a sentence its facts alone."""
    if isinstance(value, dict) and value:
        same = itertools.groupby(value.items(), lambda one: one[1])
        return " ".join(f"{','.join(str(key) for key, _one in pairs)}:{one}" for one, pairs in same)
    if isinstance(value, (set, frozenset)):
        return sorted((outline(one) for one in value), key=str)
    if isinstance(value, (list, tuple)):
        return [outline(one) for one in value]
    if isinstance(value, str) and value.count(" ") > 2:
        return " ".join(["~", *(one.strip(".,;:()") for one in FACT.findall(value))])
    return value


def check(test: str, name: str, value: object, base: object = None) -> None:
    """Compare a result with what was approved, or what it has other than a base; test is the __file__ of the test."""
    path = Path(test).parent / "approved" / f"{Path(test).stem.removeprefix('test_')}.json"
    found = json.loads(json.dumps(dict(leaves(value)), default=str))
    if base is not None:
        before = json.loads(json.dumps(dict(leaves(base)), default=str))
        found = {
            key: found.get(key, "gone")
            for key in [*found, *(key for key in before if key not in found)]
            if key not in found or key not in before or found[key] != before[key]
        }
    known = json.loads(path.read_text()) if path.exists() else {}
    if os.environ.get("AIREADY_APPROVE"):
        known[name] = found
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(known, indent=1, ensure_ascii=False, sort_keys=False) + "\n")
    assert found == known[name]
