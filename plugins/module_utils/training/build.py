# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The output of `horovodrun --check-build`, and its judgement. The exit status is always 0. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import TrainingRequest

SECTIONS = {
    "Available Frameworks": "frameworks",
    "Available Controllers": "controllers",
    "Available Tensor Operations": "operations",
}
FRAMEWORKS, CONTROLLERS = ("tensorflow", "pytorch", "mxnet"), ("mpi", "gloo")
OPERATIONS = ("nccl", "ddl", "ccl", "mpi", "gloo")
_VERSION = re.compile(r"Horovod v(\S+?):?$")
_ENTRY = re.compile(r"\[([X ])\] (\S+)")


def parse(text: str) -> dict[str, Any] | None:
    """Return {version, frameworks, controllers, operations}, the lists of built-in parts; None for any other text."""
    found: dict[str, Any] = {"version": None, "frameworks": [], "controllers": [], "operations": []}
    section = None
    for raw in text.splitlines():
        line = raw.strip()
        version, entry = _VERSION.match(line), _ENTRY.match(line)
        if version is not None:
            found["version"] = version.group(1)
        elif line.rstrip(":") in SECTIONS:
            section = SECTIONS[line.rstrip(":")]
        elif entry is not None and section is not None and entry.group(1) == "X":
            found[section].append(entry.group(2).lower())
    return found if found["version"] is not None and section is not None else None


def refuse_missing(subject: str, build: Mapping[str, Any], wanted: Mapping[str, Sequence[str]]) -> None:
    """Report everything that is required and not built in; wanted is {section: [names]}."""
    missing = [
        f"{name} ({section})" for section, names in wanted.items() for name in names if name not in build[section]
    ]
    if missing:
        has = "; ".join(f"{section}: {', '.join(build[section]) or 'none'}" for section in SECTIONS.values())
        raise OperatorError(
            subject,
            f"Horovod lacks {', '.join(missing)}",
            f"Horovod {build['version']} in this image was built with {has}",
            "Use another image, or build one with the recipe of the role horovod",
            "not_built_in",
            missing=missing,
        )


def needed(request: TrainingRequest) -> dict[str, list[str]]:
    """Return the parts of Horovod that a run needs."""
    controller = request.controller
    return {"controllers": [controller], "operations": ["nccl" if request.gpus == "all" else controller]}


def refuse(request: TrainingRequest, found: Mapping[str, Any] | None, said: str) -> None:
    """Report what a run needs and Horovod in the image lacks; found is None if it reported nothing."""
    subject = f"Image {request.image}"
    if found is None:
        raise OperatorError(
            subject,
            "cannot read the build options of Horovod",
            f"horovodrun --check-build printed: {said or 'nothing'}",
            "Use an image with Horovod, or set check_build: false if only horovodrun is broken",
            "no_horovod",
        )
    refuse_missing(subject, found, needed(request))
    if not found["frameworks"]:
        raise OperatorError(
            subject,
            "Horovod has no framework",
            "It was built without a framework",
            "Use another image, or build one with the recipe of the role horovod",
            "not_built_in",
            missing=["frameworks"],
        )
