# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Argument spec of every module that connects to a BMC; its documentation fragment is bmc."""

from __future__ import annotations

import os
import ssl
from typing import Any, Callable, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core import trust
from ansible_collections.aiready.vsphere.plugins.module_utils.core.controller import env_fallback
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.address import problem_with


def _env(*names: str) -> tuple[Callable[..., str], list[str]]:
    return (env_fallback, list(names))


BMC: dict[str, dict[str, Any]] = {
    "bmc_address": {"type": "str", "fallback": _env("AIREADY_BMC_ADDRESS")},
    "bmc_username": {"type": "str", "fallback": _env("AIREADY_BMC_USER")},
    "bmc_password": {"type": "str", "no_log": True, "fallback": _env("AIREADY_BMC_PASSWORD")},
    "bmc_validate_certs": {"type": "bool", "default": True, "fallback": _env("AIREADY_BMC_VALIDATE_CERTS")},
    "bmc_ca_file": {"type": "path", "fallback": _env("AIREADY_BMC_CA_FILE")},
    "bmc_timeout_s": {"type": "int", "default": 60},
    "system_id": {"type": "str"},
}

# Not required by the specification: Ansible's own message would not name the environment variable.
_NEEDED = {
    "bmc_address": "AIREADY_BMC_ADDRESS",
    "bmc_username": "AIREADY_BMC_USER",
    "bmc_password": "AIREADY_BMC_PASSWORD",
}


def check_bmc(params: Mapping[str, Any]) -> list[str]:
    """Return all problems of the parameters of this file, one sentence each."""
    problems = [
        f"{name} is not set; give it to the task, to module_defaults, or by the environment variable {variable}."
        for name, variable in _NEEDED.items()
        if not (params[name] or "").strip()
    ]
    if not 1 <= params["bmc_timeout_s"] <= 3600:
        problems.append(f"bmc_timeout_s is {params['bmc_timeout_s']}; it must be between 1 and 3600.")
    if (params["bmc_address"] or "").strip():
        wrong = problem_with(params["bmc_address"])
        problems += [wrong] if wrong else []
    problems += trust.contradictions(trust.BMC, params, os.environ)
    return problems + _problem_with_ca(params["bmc_ca_file"])


def _problem_with_ca(path: str | None) -> list[str]:
    if not path:
        return []
    try:
        ssl.create_default_context(cafile=path)
    except OSError as error:
        why = trust.why_unusable(path, error)
        return [f"bmc_ca_file is {path}; it is not a usable file of certificates in PEM format ({why})."]
    return []
