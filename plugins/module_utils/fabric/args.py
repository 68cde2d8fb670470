# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Arguments for the desired RoCE QoS; doc_fragments/roce_intent.py documents them."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import MODES, TRUSTS, Intent

_THRESHOLDS = {
    "min_kb": {"type": "int"},
    "max_kb": {"type": "int"},
    "probability": {"type": "int"},
}
_CONFIG = {
    "mode": {"type": "str", "choices": list(MODES), "default": Intent.mode},
    "priority": {"type": "int", "default": Intent.priority},
    "dscp": {"type": "int", "default": Intent.dscp},
    "cnp_priority": {"type": "int", "default": Intent.cnp_priority},
    "cnp_dscp": {"type": "int", "default": Intent.cnp_dscp},
    "trust": {"type": "str", "choices": list(TRUSTS), "default": Intent.trust},
    "mtu": {"type": "int", "default": Intent.mtu},
    "bandwidth_percent": {"type": "int", "default": Intent.bandwidth_percent},
    "ecn": {
        "type": "dict",
        "options": dict(
            state={"type": "str", "choices": ["enabled", "disabled"], "default": "enabled"},
            by_speed={
                "type": "list",
                "elements": "dict",
                "options": dict(speed={"type": "int", "required": True}, **_THRESHOLDS),
            },
            **_THRESHOLDS,
        ),
    },
    "watchdog": {
        "type": "dict",
        "options": {
            "state": {"type": "str", "choices": ["enabled", "disabled"], "default": "enabled"},
            "detection_ms": {"type": "int"},
            "recovery_ms": {"type": "int"},
            "action": {"type": "str", "choices": ["drop", "forward", "alert"]},
        },
    },
    "dcbx": {"type": "str", "choices": ["ignore", "ieee", "off"], "default": Intent.dcbx},
    "cable_length_m": {"type": "int"},
}
ROCE_INTENT = {"config": {"type": "dict", "options": _CONFIG}}
