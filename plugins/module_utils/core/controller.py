# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Functions of Ansible that shared code uses, imported at their call: the capture command runs without Ansible."""

from __future__ import annotations


def warn(text: str) -> None:
    """Add a warning to the result of the task."""
    from ansible.module_utils.common import warnings

    warnings.warn(text)


def env_fallback(*names: str) -> str:
    """The value of the first set environment variable, as the fallback of an option."""
    from ansible.module_utils.basic import env_fallback as found

    return str(found(*names))


def missing_library(name: str) -> str:
    """The message for a Python library that is not installed."""
    from ansible.module_utils.basic import missing_required_lib

    return str(missing_required_lib(name))
