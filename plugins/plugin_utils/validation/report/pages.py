# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""report.html and report.md, rendered from the document by templates that escape every value by default."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping
from urllib.parse import quote

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report import numbers, picture
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report import gallery
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

if TYPE_CHECKING:
    from jinja2 import Template

TEMPLATES = Path(__file__).parent / "templates"
# Rows of one check and changes of one object on the page. The page states how many more are in report.json.
ROWS_NOT_RIGHT, ROWS_RIGHT, CHANGES = 40, 24, 60
# Objects that the page names if many have the same changes.
NAMES = 8
# A matrix of more nodes has no table of all its values.
NODES_IN_TABLE = 12
# A training of more iterations has no table of all of them.
ITERATIONS_IN_TABLE = 40


class Whole(int):
    """A whole number with its JSON pointer in the document."""

    at: str


class Broken(float):
    """A number with a fraction and its JSON pointer in the document."""

    at: str


def located(value: Any, at: str = "") -> Any:
    """The document with numbers that have their JSON pointer."""
    if isinstance(value, dict):
        return {key: located(entry, f"{at}/{_token(key)}") for key, entry in value.items()}
    if isinstance(value, list):
        return [located(entry, f"{at}/{index}") for index, entry in enumerate(value)]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    number: Whole | Broken = Whole(value) if isinstance(value, int) else Broken(value)
    number.at = at
    return number


def _token(key: str) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")


def html(document: Mapping[str, Any], drawings: Mapping[str, str], why_no_drawings: str) -> str:
    """The page. It links to files of evidence in the same folder."""
    topology = document["topology"]
    forms = (picture.WIDE, picture.NARROW) if topology else ()
    return _page().render(
        doc=located(document),
        models=[name for name, _runs in gallery.models(document)],
        drawings={name: Markup(drawing) for name, drawing in drawings.items()},
        why_no_drawings=why_no_drawings,
        pictures=[entry for form in forms for entry in picture.pictures(topology, form)],
    )


def markdown(document: Mapping[str, Any]) -> str:
    """The summary, for a ticket or a chat."""
    models = [name for name, _runs in gallery.models(document)]
    return _summary().render(doc=document, models=models)


@functools.lru_cache(maxsize=None)
def _page() -> Template:
    environment = new_environment(autoescape=True)
    environment.filters.update(
        {
            "num": lambda value: _number(value, numbers.figure),
            "change": lambda value: _number(value, numbers.percent),
            "took": lambda value: _number(value, numbers.duration),
            "span": _span,
            "alike": alike,
            "how": _how,
            "link": lambda path: quote(path) if _inside(path) else "",
        }
    )
    return environment.get_template("report.html.j2")


@functools.lru_cache(maxsize=None)
def _summary() -> Template:
    environment = new_environment(autoescape=False, finalize=plain)
    environment.filters.update(
        {
            "num": numbers.figure,
            "change": numbers.percent,
            "took": numbers.duration,
            "span": numbers.span,
            "value": _value,
        }
    )
    return environment.get_template("report.md.j2")


def new_environment(**settings: Any) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(str(TEMPLATES)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **settings,
    )
    environment.filters.update({"moment": numbers.moment, "unit": numbers.unit})
    environment.globals.update(
        rows_not_right=ROWS_NOT_RIGHT,
        rows_right=ROWS_RIGHT,
        changes_shown=CHANGES,
        names_shown=NAMES,
        nodes_in_table=NODES_IN_TABLE,
        iterations_in_table=ITERATIONS_IN_TABLE,
    )
    return environment


def _number(value: Whole | Broken | None, write: Callable[[float], str]) -> str:
    """A number with its exact value and its JSON pointer in report.json; a number from elsewhere has no pointer."""
    if value is None:
        return numbers.NOTHING
    tag = Markup('<data value="{}" data-at="{}">{}</data>')
    return tag.format(repr(int(value) if isinstance(value, int) else float(value)), value.at, write(value))


def _span(low: Whole | Broken | None, high: Whole | Broken | None) -> str:
    """From one number to another; one number if both look the same when rounded."""
    if numbers.figure(low) == numbers.figure(high):
        return _number(low, numbers.figure)
    return Markup("{} to {}").format(_number(low, numbers.figure), _number(high, numbers.figure))


def alike(changes: Iterable[Mapping[str, Any]] | None) -> list[dict[str, list[Any]]]:
    """Objects grouped by their changes: [{objects, changes}]."""
    groups: dict[str, dict[str, list[Any]]] = {}
    for entry in changes or []:
        group = groups.setdefault(json.dumps(entry["changes"]), {"objects": [], "changes": entry["changes"]})
        group["objects"].append(entry["object"])
    return list(groups.values())


def _how(row: Mapping[str, Any]) -> str:
    """The tool and the version that measured a row."""
    tool = Path(row["command"][0]).name if row["command"] else ""
    if not row["version"]:
        return tool or "Evidence"
    return f"{tool} {row['version']}" if tool and row["version"][:1].isdecimal() else row["version"]


def _value(row: Mapping[str, Any]) -> str:
    """The measured value of a row with its unit."""
    measured = row["measured"]
    if measured is None:
        return numbers.NOT_MEASURED
    return measured if isinstance(measured, str) else f"{numbers.figure(measured)} {numbers.unit(row['unit'])}".strip()


def _inside(path: str) -> bool:
    """Whether a path is inside the folder of the run."""
    return bool(path) and not path.startswith(("/", "\\")) and ":" not in path and ".." not in path.split("/")


def plain(value: object) -> str:
    """A value in Markdown without markup: no emphasis, no tag and no end of a cell."""
    text = numbers.NOTHING if value is None else str(value)
    return re.sub(r"([\\`*_{}\[\]<>|#~$&!])", r"\\\1", re.sub(r"\s+", " ", text))
