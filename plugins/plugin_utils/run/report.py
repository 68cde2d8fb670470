# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The report of a run without a validation: run.html and run.md beside its record."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core import errors
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report import run
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import files
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report import run_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Other names than those of the report of a validation, so that neither replaces the other.
HTML, SUMMARY = "run.html", "run.md"


def write(folder: str, record: Mapping[str, Any], warn: Callable[[str], object]) -> str:
    """Write both files and return the path of the page. If that fails, warn once and return an empty path."""
    path = os.path.join(folder, HTML)
    document = run.document(record)
    try:
        files.replace(path, run_pages.html(document, errors.explained))
        files.replace(os.path.join(folder, SUMMARY), run_pages.markdown(document, errors.explained))
    except OSError as error:
        why = error.strerror or error
        warn(f"Cannot write the report of this run to {path}. {why}. Check the folder and its free space.")
        return ""
    return path
