# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The report as data: everything that report.html and report.md show, and what report.json holds."""

from __future__ import annotations

from datetime import datetime

from ansible_collections.aiready.vsphere.plugins.module_utils.report import (
    comparison,
    evidence,
    matrices,
    rows,
    stages,
    trainings,
    values,
    verdict,
    versions,
)

FORMAT = 1
# Of so many files of evidence something is shown.
EXCERPTS = 40
# Parts of a run, and how the report calls them where they were not recorded.
PARTS = {
    "rungs": "the ladder of checks",
    "trainings": "trainings",
    "topology": "the topology",
    "stages": "stages and changes",
    "reboots": "restarts",
    "versions": "versions",
    "thresholds": "thresholds",
}


def document(validation, stages_file, look=lambda name: None, sources=(), earlier=None):
    """The report of a run.

    look(name) gives the text of a file of evidence or None; sources are the files that the report is made from;
    earlier is the document of a run before this one.
    """
    run = _joined(validation, stages_file)
    remarks = []
    checks = rows.rows(run.get("rungs"), remarks)
    _fill(checks, look)
    times = stages.stages(run.get("stages")) if "stages" in run else None
    runs = trainings.trainings(run.get("trainings")) if "trainings" in run else None
    simulated = values.texts(run.get("simulated"))
    site = values.mapping(run.get("site"))
    began, ended = values.text(run.get("began")), values.text(run.get("ended"))
    bad = stages.failed(times or [])
    made = {
        "format": FORMAT,
        "site": {"name": values.text(site.get("name")), "data_path": values.text(site.get("data_path"))},
        "began": began,
        "ended": ended,
        "seconds": _between(began, ended),
        "verdict": verdict.verdict(
            run.get("verdict"),
            checks,
            simulated,
            [stage["name"] for stage in bad],
            stages.broken_off(times or []),
            remarks,
        ),
        "failures": [{"stage": stage["name"], **one} for stage in bad for one in _failures(stage)],
        "simulated": simulated,
        "not_recorded": [words for part, words in PARTS.items() if part not in run],
        "remarks": remarks,
        "headline": _headline(runs or []),
        "ladder": rows.ladder(checks),
        "matrices": matrices.matrices(checks),
        "trainings": runs,
        "stages": times,
        "stages_seconds": stages.total(times) if times else None,
        "changes": stages.changes(run.get("stages")) if "stages" in run else None,
        "changes_count": sum(stage["changes"] for stage in times or []),
        "reboots": stages.reboots(run.get("reboots")) if "reboots" in run else None,
        "reboots_count": sum(entry["count"] for entry in stages.reboots(run.get("reboots"))),
        "versions": versions.versions(run.get("versions")) if "versions" in run else None,
        "thresholds": _thresholds(run.get("thresholds")) if "thresholds" in run else None,
        "topology": _topology(run.get("topology")) if "topology" in run else None,
        "sources": list(sources),
        "comparison": None,
    }
    if earlier is not None:
        made["comparison"] = comparison.comparison(earlier, made)
    return made


def _fill(checks, look):
    """Give the rows that are not right what their evidence says."""
    for place in evidence.places(checks, EXCERPTS):
        raw = look(place)
        for row in checks:
            if row["evidence"] == place and row["verdict"] in ("fail", "warn"):
                row["excerpt"] = evidence.excerpt(raw) if raw is not None else ""


def _joined(validation, stages_file):
    """One run of both files; what the record of stages tells is the newer one, since it ends with the run."""
    run = dict(values.mapping(validation))
    told = values.mapping(stages_file)
    for key in ("stages", "reboots"):
        if key in told:
            run[key] = told[key]
    for key in ("began", "ended"):
        run.setdefault(key, told.get(key))
    return {key: value for key, value in run.items() if value is not None}


def _between(began, ended):
    try:
        return (_moment(ended) - _moment(began)).total_seconds()
    except (ValueError, TypeError):
        return None


def _moment(told):
    # Before Python 3.11 a Z is not understood.
    return datetime.fromisoformat(told.replace("Z", "+00:00"))


def _headline(runs):
    """The training on most nodes, the one over RDMA where there are two; None without one."""
    done = [run for run in runs if run["images_per_s"] is not None]
    best = max(done, key=lambda run: (run["nodes"], run["transport"] == "rdma", run["ranks"] or 0), default=None)
    if best is None:
        return None
    told = ("label", "nodes", "transport", "model", "images_per_s", "efficiency", "gain", "simulated")
    return {key: best[key] for key in told}


def _failures(stage):
    """What failed in a stage; where nothing is named, that it did."""
    return stage["failures"] or [{"object": "", "task": "", "msg": stage["why"] or "It failed, and nobody says why."}]


def _thresholds(recorded):
    return [
        {
            "check": values.text(entry.get("check")),
            "low": values.number(entry.get("low")),
            "high": values.number(entry.get("high")),
            "unit": values.text(entry.get("unit")),
            "source": values.text(entry.get("source")),
        }
        for entry in values.entries(recorded)
    ]


def _topology(recorded):
    found = values.mapping(recorded)
    return {
        "hosts": [
            {
                "name": values.text(host.get("name")),
                "gpus": [
                    {
                        "name": values.text(gpu.get("name")),
                        "mig": stages.shown(gpu["mig"]) if gpu.get("mig") else "",
                        "vgpus": values.texts(gpu.get("vgpus")),
                        "vm": values.text(gpu.get("vm")),
                        "simulated": values.flag(gpu.get("simulated")),
                    }
                    for gpu in values.entries(host.get("gpus"))
                ],
                "nics": [
                    {
                        "name": values.text(nic.get("name")),
                        "speed_gb": values.number(nic.get("speed_gb")),
                        "switch": values.text(nic.get("switch")),
                        "port": values.text(nic.get("port")),
                    }
                    for nic in values.entries(host.get("nics"))
                ],
                "vms": values.texts(host.get("vms")),
            }
            for host in values.entries(found.get("hosts"))
        ],
        "switches": [
            {
                "name": values.text(switch.get("name")),
                "platform": values.text(switch.get("platform")),
                "peers": [
                    {"port": values.text(peer.get("port")), "to": values.text(peer.get("to"))}
                    for peer in values.entries(switch.get("peers"))
                ],
            }
            for switch in values.entries(found.get("switches"))
        ],
        "vms": [
            {key: values.text(vm.get(key)) for key in ("name", "host", "gpu", "nic", "address")}
            for vm in values.entries(found.get("vms"))
        ],
    }
