# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The plan of restoring one host: due steps, the one restart for all of them, and what a run refuses. Pure."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.nvidia_smi import NO_DRIVER
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore import report
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.judge import ALREADY, CANNOT, KEPT, uncompared
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.host_plan import refusals, vms_of
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.host_request import request_of
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.host_restart import restart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MIG = "mig_partition"
# Modules that change only hosts in maintenance mode.
OUT = (MIG, "nvaie_vib")
DRIVER = "nvaie_vib"
# Paths of its changes.
CHANGED, IMAGE = "driver", "image."
# Modules that read GPUs only if the driver runs.
OF_DRIVER = ("host_graphics", MIG)
# Their failures on a host whose driver does not run, or is one without MIG. A GPU without a driver has no graphics.
WITHOUT_DRIVER = (*NO_DRIVER, "driver_mismatch", "driver_without_mig", "graphics_impossible", "graphics_unknown")


def plan(answers: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The plan from the results of the steps in check mode.

    answers: {steps: result of the loop, maintenance, shutdown, vms, left_off: results of modules in check mode, again:
    result of the loop after the restart}.
    """
    request = request_of(inputs)
    loop = [one for one in (answers.get("steps") or {}).get("results") or [] if not one.get("skipped")]
    due = [one["item"] for one in loop if (one.get("restored") or {}).get("changed")]
    later = _later(loop, due)
    one = restart([{"host": item["restored"]} for item in loop if "restored" in item])
    one = replace(one, remediated=any(_is_remediated(item) for item in loop))
    out = one.kind != "none" or any(step["module"] in OUT for step in due)
    code = ((answers.get("maintenance") or {}).get("failure") or {}).get("code")
    occupied = code == "running_vms"
    host, rows = {"name": request.name}, _rows(loop, (answers.get("again") or {}).get("results") or [])
    vms = vms_of(host, request, {key: answers.get(key) for key in ("vms", "left_off")}, out)
    return {
        "due": due,
        "later": later,
        "again": _again(loop) if one.reboot or one.remediated else [],
        "restart": {**asdict(one), "why": one.why},
        "restarts_now": one.reboot and (one.kind == "warm" or bool(request.bmc_address)),
        "out": out,
        "vms": asdict(vms),
        "occupied": occupied,
        "refusals": uncompared(one for one in loop if one.get("item") not in later)
        + refusals(answers, request, one, occupied),
        "rows": rows,
        "lost": [report.line(row) for row in rows if row["state"] == CANNOT],
    }


def _is_remediated(answer: Mapping[str, Any]) -> bool:
    """Whether a step restores the driver by the image of the cluster, so that vCenter restarts the host."""
    paths = [change["path"] for change in (answer.get("restored") or {}).get("changes") or []]
    of_image = any(path.startswith(IMAGE) for path in answer["item"].get("back") or {})
    return answer["item"]["module"] == DRIVER and of_image and CHANGED in paths


def _again(loop: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Steps that a restart takes back: GPU instances, and the MIG mode of GPUs of the Hopper generation and later.

    The restart also removes instances that somebody else created. Restore then leaves the GPU without instances.
    """
    return [
        one["item"]
        for one in loop
        if one["item"]["module"] == MIG
        and one["item"].get("args", {}).get("mode") == "enabled"
        and KEPT not in [row["state"] for row in one.get("rows") or []]
        and "restored" in one
    ]


def _rows(first: Sequence[Mapping[str, Any]], again: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows of all steps. Those of a step that ran again after the restart replace those of its first run."""
    every = [row for one in first for row in one.get("rows") or []]
    for row in [row for one in again for row in one.get("rows") or []]:
        same = [one for one in every if (one["object"], one["setting"]) == (row["object"], row["setting"])]
        # A setting that outlasts the restart has its earlier value then.
        if not same or row["state"] != ALREADY:
            every = [one for one in every if one not in same] + [row]
    return every


def _later(loop: Sequence[Mapping[str, Any]], due: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Steps that need the driver that restore installs, because the present one does not run."""
    if not any(step["module"] == DRIVER for step in due):
        return []
    failed = [one for one in loop if "restored" not in one and one["item"]["module"] in OF_DRIVER]
    return [one["item"] for one in failed if (one.get("failure") or {}).get("code") in WITHOUT_DRIVER]
