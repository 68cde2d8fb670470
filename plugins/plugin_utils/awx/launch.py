# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Variables of playbooks that a user sets at the launch of a job template, as questions of its survey. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Question:
    """An optional question about one variable. Without an answer, the playbook uses its default."""

    variable: str
    name: str
    help: str
    choices: tuple[str, ...] = ()
    lines: bool = False
    longest: int = 200

    def spec(self) -> dict[str, Any]:
        kind = "multiplechoice" if self.choices else "textarea" if self.lines else "text"
        found: dict[str, Any] = {
            "question_name": self.name,
            "question_description": self.help,
            "variable": self.variable,
            "type": kind,
            # AWX sends every default that is valid, also an empty text, which has precedence over the inventory.
            # So the question has no default. [sure] awx/main/models/mixins.py, AWX 24.6.1
            "required": False,
            "min": 0,
            "max": self.longest,
            "new_question": False,
        }
        return dict(found, choices=list(self.choices)) if self.choices else found


NO_YES = ("false", "true")  # a survey has no boolean
_RESTORE = (
    Question(
        "restore_from",
        "First run to restore",
        "Name of a run, such as 20260301-080000-1f3a90c2. Its changes and those of later runs are restored. Leave it "
        "empty to restore the changes of all runs.",
    ),
    Question(
        "restore_vms",
        "Only these VMs",
        "Names of VMs, one a line. Leave it empty to restore all VMs and the DRS settings.",
        lines=True,
        longest=4096,
    ),
    Question(
        "restore_delete_vms",
        "Delete created VMs",
        "Whether to delete the VMs and VKS clusters that the runs created.",
        NO_YES,
    ),
    Question(
        "restore_delete_namespaces",
        "Delete created namespaces",
        "Whether to delete the empty namespaces that the runs created in a Kubernetes cluster.",
        NO_YES,
    ),
    Question(
        "restore_driver",
        "Packages of replaced host drivers",
        "One line for each version, such as 570.158.02: [datastore-01] depots/OLD-DEPOT.zip. Leave it empty to use the "
        "packages of earlier runs.",
        lines=True,
        longest=4096,
    ),
    Question(
        "restore_guest_driver",
        "Package of the earlier guest driver",
        "URL, file that all jobs mount, or package of a repository. Restore installs it on all guests before the "
        "hosts, and restores nothing else in them. Leave it empty to install none.",
        longest=1024,
    ),
)
_UPGRADE = (
    Question(
        "upgrade_waves",
        "Hosts in a wave",
        "Number of hosts, or a percentage such as 25%. Leave it empty to keep site.hosts.serial.",
        longest=10,
    ),
    Question(
        "upgrade_order",
        "Order",
        "Order of the upgrade. Leave it empty for an allowed one. hosts does not upgrade the guests.",
        ("hosts, guests", "guests, hosts", "hosts"),
    ),
    Question(
        "upgrade_licence_server",
        "Version of the licence server",
        "Version of DLS, such as 3.5, or cls. Guests of R570 and newer need DLS 3.4.",
        longest=20,
    ),
    Question(
        "upgrade_validate",
        "Validate before and after",
        "Whether to run the validation before and after the upgrade.",
        NO_YES,
    ),
    Question(
        "upgrade_training_hold",
        "File that holds the training",
        "Path of a file that all jobs mount. Leave it empty if no training runs.",
    ),
)
_DRIFT = (
    Question(
        "drift_fail_on",
        "The job fails on",
        "unknown fails on drift and on settings that were not read, drift on drift only, never on nothing. "
        "Leave it empty for unknown.",
        ("unknown", "drift", "never"),
    ),
)
_HEALTH = (
    Question(
        "health_fail_on",
        "The job fails on",
        "unknown fails on failed checks and on values that were not read, failing on failed checks only, never on "
        "nothing. Leave it empty for unknown.",
        ("unknown", "failing", "never"),
    ),
)
_VALIDATE = (
    Question(
        "validate_compare_with",
        "Compare with the run in",
        "Folder of the results of an earlier validation, which all jobs mount. Leave it empty for no comparison.",
    ),
)
# Job template -> its questions.
QUESTIONS: dict[str, tuple[Question, ...]] = {
    "restore_plan": _RESTORE,
    "restore": _RESTORE,
    "upgrade_plan": _UPGRADE,
    "upgrade": _UPGRADE,
    "drift": _DRIFT,
    "health": _HEALTH,
    "validate": _VALIDATE,
}


def questions(template: str) -> list[dict[str, Any]]:
    """The questions of a job template about variables of its playbook."""
    return [one.spec() for one in QUESTIONS.get(template, ())]
