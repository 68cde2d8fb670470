# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Passwords: from a file, the environment or a prompt. An argument would be visible to each user of the machine."""

from __future__ import annotations

import getpass
import os
import sys

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError


def read(what: str, path: str | None, variable: str) -> str:
    """The password of a user. what: whose password it is, for the prompt and messages."""
    if path:
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read().rstrip("\r\n")
        except (OSError, ValueError) as error:
            raise _missing(what, f"Cannot read {path}: {error}.", "Use a text file with the password alone") from error
        if not text:
            raise _missing(what, f"{path} is empty.", "Write the password to the file")
        return text
    if os.environ.get(variable):
        return os.environ[variable]
    if not sys.stdin.isatty():
        raise _missing(
            what, "There is no terminal for a prompt.", f"Set {variable}, or use the option for a password file"
        )
    return getpass.getpass(f"Password of {what}: ")


def _missing(what: str, found: str, todo: str) -> OperatorError:
    return OperatorError(what, "has no password", found, todo, "invalid_parameters")
