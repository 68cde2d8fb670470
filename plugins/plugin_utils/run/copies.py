# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Copies of results that the callback record does not know, and the check of the target before a run."""

from __future__ import annotations

import configparser
import os
import tempfile

from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import push

SECTION, KEY = "aiready_vsphere", "results_target"
USER, PASSWORD = "AIREADY_RESULTS_USER", "AIREADY_RESULTS_PASSWORD"
# A server may reject a file although it accepts a login, so the check writes one.
ACCESS = "access.txt"


def configured(path: str) -> str:
    """The target in a configuration file of Ansible, as Ansible reads it; empty if the file has none."""
    parser = configparser.ConfigParser(inline_comment_prefixes=(";",), interpolation=None)
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError):
        return ""
    return parser.get(SECTION, KEY, fallback="").strip()


def copied(source: str, address: str) -> dict[str, str]:
    """{address, problem} of the copy of a file or a folder; problem is empty if it is complete."""
    try:
        return {"address": push.push(source, _target(address)), "problem": ""}
    except push.PushFailed as failure:
        return {"address": "", "problem": str(failure)}


def checked(folder: str, address: str) -> str:
    """Why the results in the folder of a run cannot be copied, or an empty text. Writes one file to the target."""
    with tempfile.TemporaryDirectory() as place:
        made = os.path.join(place, os.path.basename(os.path.normpath(folder)))
        os.mkdir(made)
        with open(os.path.join(made, ACCESS), "w", encoding="utf-8") as file:
            file.write("The preflight of aiready.vsphere wrote this file to check the rights of the target.\n")
        return copied(made, address)["problem"]


def _target(address: str) -> push.Target:
    return push.Target(address, os.environ.get(USER, ""), os.environ.get(PASSWORD, ""))
