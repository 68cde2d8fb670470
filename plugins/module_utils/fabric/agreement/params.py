# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Arguments and errors of roce_agreement_info."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.sides import ERROR
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.args import ROCE_INTENT
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import intent, problems

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.sides import Answer

# Most disagreements in the message of a failed task, to keep it readable.
SHOWN = 5
CABLE = {
    "switch": {"type": "str", "required": True},
    "port": {"type": "str", "required": True},
    "host": {"type": "str"},
    "nic": {"type": "str"},
    "peer": {"type": "str"},
    "peer_port": {"type": "str"},
    "length_m": {"type": "int"},
}
ARGUMENTS = {
    "switches": {"type": "list", "elements": "dict", "required": True},
    "hosts": {"type": "list", "elements": "dict", "default": []},
    "guests": {"type": "list", "elements": "dict", "default": []},
    "cables": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": CABLE,
        "required_one_of": [("host", "peer")],
        "mutually_exclusive": [("host", "peer")],
        "required_together": [("host", "nic"), ("peer", "peer_port")],
    },
    "host_ports": {"type": "dict", "default": {}},
    "fabric_ports": {"type": "dict", "default": {}},
    "portgroups": {"type": "list", "elements": "str", "default": []},
    **ROCE_INTENT,
    "strict": {"type": "bool", "default": False},
    "fail": {"type": "bool", "default": False},
}
_SOURCES = {"switches": "roce_qos_info", "hosts": "esxi_roce_info", "guests": "guest_roce_info"}


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Return the problems of data that cannot be compared, one sentence each."""
    found = [] if params["config"] is None else [f"config.{one}" for one in problems(intent(params["config"]))]
    for key, module in _SOURCES.items():
        kind, word = (dict, "dictionary") if key == "switches" else (list, "list")
        for number, data in enumerate(params[key]):
            if not isinstance(data.get("ports"), kind) or not data.get("name"):
                found.append(
                    f"{key}[{number}] has no name, or its ports are not a {word}. Pass the result of {module}."
                )
    for key in ("host_ports", "fabric_ports"):
        for switch, names in params[key].items():
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                found.append(f"{key}.{switch} is not a list of port names. Give a list, such as [Ethernet1/1].")
    return found


def disagreement(answer: Answer, strict: bool) -> OperatorError:
    """The error of a fabric that disagrees."""
    reported = [one["msg"] for one in answer["disagreements"] if strict or one["severity"] == ERROR]
    more = f" `disagreements` lists {len(reported) - SHOWN} more." if len(reported) > SHOWN else ""
    return OperatorError(
        "fabric",
        "the ends do not have the same RoCE QoS",
        " ".join(reported[:SHOWN]) + more,
        "Correct the named ports. `not_known` lists values that were not checked",
        "roce_disagreement",
        count=len(reported),
    )
