# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Functions of filters that are imported at their first use, and whose results are data.

To find one filter, Ansible opens the files of all filters of its collection, and does so again in the process of every
task and host. The imports of those files took longer than most tasks.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ansible.release import __version__
from ansible.utils.unsafe_proxy import wrap_var

if TYPE_CHECKING:
    from collections.abc import Callable

COLLECTION = __name__.rsplit(".plugins.", 1)[0]

# Until 2.18, ansible-core evaluates a template in the result of a filter when a later task uses the result. Results
# contain texts of guests, switches, clusters and files.
EVALUATES = tuple(int(part) for part in __version__.split(".")[:2]) < (2, 19)


def deferred(module: str, function: str) -> Callable[..., Any]:
    """A function of a module below plugins, imported at the first call."""

    def call(*args: Any, **kwargs: Any) -> Any:
        result = getattr(import_module(f"{COLLECTION}.plugins.{module}"), function)(*args, **kwargs)
        return as_data(result) if EVALUATES else result

    return call


def as_data(value: Any, mark: Callable[[str], str] = wrap_var) -> Any:
    """A result whose texts are no templates."""
    if isinstance(value, str):
        return mark(value)
    if isinstance(value, dict):
        return {as_data(key, mark): as_data(one, mark) for key, one in value.items()}
    # Not those of named tuples, which no filter returns and which have other arguments.
    if type(value) in (list, tuple):
        return type(value)(as_data(one, mark) for one in value)
    return value
