# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Arguments of roce_qos and roce_qos_info; the modules and the fragment roce_intent document them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.args import ROCE_INTENT
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent, intent, problems
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import known
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.undo.facts import Setting

CHANGING = ("present", "merged", "absent")
OFFLINE = ("parsed", "rendered")
RESTORED = "restored"
STATES = (*CHANGING, RESTORED, "gathered", *OFFLINE)
DANGEROUS = ("roce_enable_reboot", "qos_reload")
# 'swp1-4', 'Ethernet1/1-4', 'ethernet1/1/1-1/1/4'
RANGE = re.compile(r"(.*?)(\d+)\s*-\s*(\S*\D)?(\d+)")
LONGEST_RANGE = 1024

PLATFORM = {
    "platform": {"type": "str", "choices": list(known())},
}
ARGUMENTS = dict(
    ROCE_INTENT,
    host_ports={"type": "list", "elements": "str", "default": []},
    fabric_ports={"type": "list", "elements": "str", "default": []},
    host_mtu={"type": "int"},
    state={"type": "str", "choices": list(STATES), "default": "present"},
    save={"type": "str", "choices": ["always", "when_verified", "never"], "default": "when_verified"},
    backup_file={"type": "path"},
    confirm_timeout_s={"type": "int", "default": 300},
    verify_timeout_s={"type": "int", "default": 30},
    reconnect_timeout_s={"type": "int", "default": 60},
    transaction={"type": "str", "choices": ["auto", "never"], "default": "auto"},
    allow={"type": "list", "elements": "str", "choices": list(DANGEROUS), "default": []},
    outputs={"type": "raw"},
    settings={
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "path": {"type": "list", "elements": "str", "required": True, "no_log": False},
            "before": {"type": "raw"},
            "left": {"type": "raw"},
        },
    },
    killed={
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "before": {"type": "str", "required": True},
            "commands": {"type": "list", "elements": "str", "required": True},
        },
    },
    settings_platform={"type": "str"},
    version={"type": "str"},
    **PLATFORM,
)
RELATIONS = {"required_if": [("state", "parsed", ("outputs",))]}
INFO_ARGUMENTS = dict(ports={"type": "list", "elements": "str", "default": []}, **PLATFORM)


@dataclass(frozen=True)
class Killed:
    """A run that was killed during its change: the configuration before, and its commands."""

    before: str
    commands: Sequence[str]


@dataclass(frozen=True)
class QosRequest:
    """RoCE QoS of the ports of one switch."""

    state: str
    intent: Intent
    # {port: host or fabric}
    roles: Mapping[str, str]
    save: str
    backup_file: str | None
    verify_timeout_s: int
    reconnect_timeout_s: int
    # Of state restored.
    settings: Sequence[Setting] = ()
    killed: Sequence[Killed] = ()
    settings_platform: str | None = None

    @property
    def gone(self) -> bool:
        """Whether the ports return to factory defaults."""
        return self.state == "absent"

    @property
    def exact(self) -> bool:
        """Whether other settings of RoCE QoS are removed."""
        return self.state != "merged"


def request_of(params: Mapping[str, Any]) -> QosRequest:
    """Return the request of a task."""
    return request(
        QosRequest,
        params,
        intent=intent(params["config"] or {}),
        roles=roles_of(params),
        settings=[Setting(tuple(one["path"]), one["before"], one["left"]) for one in params["settings"]],
        killed=[Killed(one["before"], one["commands"]) for one in params["killed"]],
    )


def roles_of(params: Mapping[str, Any]) -> dict[str, str]:
    """Return {port: its role}, host where a port is in both lists."""
    roles = dict.fromkeys(expanded(params["fabric_ports"]), "fabric")
    return {**roles, **dict.fromkeys(expanded(params["host_ports"]), "host")}


def check_params(params: Mapping[str, Any]) -> list[str]:
    """All problems of the parameters of roce_qos, as sentences."""
    found = [f"config.{problem}" for problem in problems(intent(params["config"] or {}), params["host_mtu"])]
    state, hosts, fabric = params["state"], expanded(params["host_ports"]), expanded(params["fabric_ports"])
    if state in (*CHANGING, "rendered") and not hosts and not fabric:
        found.append(
            f"host_ports, fabric_ports: both are empty, and state {state} needs ports. List the ports that carry RoCE."
        )
    speeds = [entry["speed"] for entry in ((params["config"] or {}).get("ecn") or {}).get("by_speed") or []]
    for speed in sorted({speed for speed in speeds if speeds.count(speed) > 1}):
        found.append(f"config.ecn.by_speed: {speed} Gbit/s is listed twice. List each speed once.")
    for name in sorted({*hosts} & {*fabric}):
        found.append(f"fabric_ports: {name} is in host_ports too. List each port in one of the two options.")
    if state == "parsed" and not isinstance(params["outputs"], (str, dict)):
        found.append(
            "outputs: it is neither a text nor a dictionary. Give a text, or a dictionary of commands and outputs."
        )
    for key in ("confirm_timeout_s", "verify_timeout_s", "reconnect_timeout_s"):
        if params[key] < 1:
            found.append(f"{key}: {params[key]} is not a valid time. Use at least 1 second.")
    needed = params["verify_timeout_s"] + params["reconnect_timeout_s"]
    if 0 < params["confirm_timeout_s"] <= needed:
        found.append(
            f"confirm_timeout_s: {params['confirm_timeout_s']} s is too short. The switch would roll back before the "
            f"verification ends. Use more than {needed}, the sum of verify_timeout_s and reconnect_timeout_s."
        )
    return found


def expanded(names: Iterable[str]) -> list[str]:
    """Names of ports with ranges expanded, each once, in their order; other names stay unchanged."""
    found: list[str] = []
    for name in names:
        match = RANGE.fullmatch(name.strip())
        if match is None:
            found.append(name.strip())
            continue
        stem, first, again, last = match.group(1), int(match.group(2)), match.group(3) or "", int(match.group(4))
        # '1/1-2/4' spans two line cards with an unknown number of ports.
        right = stem.endswith(again) and 0 <= last - first < LONGEST_RANGE
        found += [f"{stem}{number}" for number in range(first, last + 1)] if right else [name.strip()]
    return list(dict.fromkeys(found))
