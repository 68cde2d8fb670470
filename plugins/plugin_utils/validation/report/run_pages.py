# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""run.html and run.md, in the style of the report of a validation. All values are escaped."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, Callable, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report import numbers
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report import pages
from markupsafe import Markup

if TYPE_CHECKING:
    from jinja2 import Template

# Rows of one table. The record has all of them.
ROWS = 200


def html(document: Mapping[str, Any], explained: Callable[[str], str]) -> str:
    """The page; explained returns the place in the documentation for a failure code."""
    return _template("run.html.j2").render(doc=document, explained=explained)


def markdown(document: Mapping[str, Any], explained: Callable[[str], str]) -> str:
    """The same for a ticket or a chat."""
    return _template("run.md.j2").render(doc=document, explained=explained)


@functools.lru_cache(maxsize=None)
def _template(name: str) -> Template:
    settings = {"autoescape": True} if name.endswith(".html.j2") else {"autoescape": False, "finalize": _escaped}
    environment = pages.new_environment(**settings)
    # marks.html.j2 needs num and change.
    environment.filters.update(num=numbers.figure, change=numbers.percent)
    environment.filters.update(took=numbers.duration, alike=pages.alike, code=_code)
    environment.globals.update(rows_shown=ROWS)
    return environment.get_template(name)


def _escaped(value: object) -> str:
    return str(value) if isinstance(value, Markup) else pages.plain(value)


def _code(value: str) -> str:
    """A failure code or a path in code font. Escapes of its underscores would hide it from a search."""
    return Markup(f"`{value}`") if re.fullmatch(r"[\w./#-]+", value, re.ASCII) else value
