# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Options of a task as a typed value: a frozen dataclass that the code below a module reads."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Callable, Mapping, TypeVar, cast

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    T = TypeVar("T")


def request(kind: Callable[..., T], options: Mapping[str, Any], **more: object) -> T:
    """Return the dataclass `kind` with the options of the same names. `more` has fields that are no plain options.

    A field without an option keeps its default.
    """
    names = [field.name for field in dataclasses.fields(cast("type[DataclassInstance]", kind))]
    return kind(**{name: options[name] for name in names if name in options and name not in more}, **more)
