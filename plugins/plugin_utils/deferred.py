# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Functions of filters that are imported at their first use.

To find one filter, Ansible opens the files of all filters of its collection, and does so again in the process of every
task and host. The imports of those files took longer than most tasks.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

COLLECTION = __name__.rsplit(".plugins.", 1)[0]


def deferred(module: str, function: str) -> Callable[..., Any]:
    """A function of a module below plugins, imported at the first call."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(import_module(f"{COLLECTION}.plugins.{module}"), function)(*args, **kwargs)

    return call
