# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The report as data: the content of report.json, and everything that report.html and report.md show."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import simulated as parts
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report import (
    comparison,
    evidence,
    headline,
    matrices,
    rows,
    stages,
    trainings,
    values,
    verdict,
    versions,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.values import texts

FORMAT = 1
# Files of evidence that the report quotes.
EXCERPTS = 40
# Parts of a run, and their names in the list of parts that were not recorded.
PARTS = {
    "checks": "checks",
    "trainings": "trainings",
    "topology": "the topology",
    "stages": "stages and changes",
    "reboots": "restarts",
    "versions": "versions",
    "thresholds": "thresholds",
    "relaxed": "relaxed settings",
}


def document(
    validation: Any,
    stages_file: Any,
    look: Callable[[str], str | None] = lambda name: None,
    sources: Iterable[Mapping[str, Any]] = (),
    earlier: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The report of a run.

    look(name) returns the text of a file of evidence or None. sources has the files with the results. earlier is the
    document of an earlier run.
    """
    run = _joined(validation, stages_file)
    remarks: list[str] = []
    checks = rows.rows(run.get("checks"), remarks)
    _fill(checks, look)
    declared = texts(run.get("simulated_parts"))
    times = stages.stages(run.get("stages"), declared) if "stages" in run else None
    runs = trainings.trainings(run.get("trainings")) if "trainings" in run else None
    simulated = [parts.PARTS.get(word, word) for word in declared] or texts(run.get("simulated"))
    site = values.mapping(run.get("site"))
    began, ended = values.text(run.get("began")), values.text(run.get("ended"))
    relaxed = _relaxed(run.get("relaxed"), checks) if "relaxed" in run else None
    for stage in times or []:
        stage["relaxed"] = [
            f"{one['setting']}: {one['value']}" for one in relaxed or [] if stage["name"] in one["stages"]
        ]
    bad = stages.failed(times or [])
    topology = _topology(run.get("topology")) if "topology" in run else None
    restarts = stages.reboots(run.get("reboots"), declared, _vms(run, topology)) if "reboots" in run else None
    made_changes = stages.changes(run.get("stages"), declared) if "stages" in run else None
    found = versions.versions(run.get("versions")) if "versions" in run else None
    counted = _simulated(runs, found, restarts, made_changes, topology)
    training = _headline(runs or [])
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
            counted,
        ),
        "failures": [{"stage": stage["name"], **one} for stage in bad for one in _failures(stage)],
        "simulated": simulated,
        "not_recorded": [words for part, words in PARTS.items() if part not in run],
        "remarks": remarks,
        "headline": training,
        "numbers": headline.numbers(training, checks, topology, len(bad)),
        "ladder": rows.layers(checks),
        "matrices": matrices.matrices(checks),
        "trainings": runs,
        "stages": times,
        "stages_seconds": stages.total(times, ended) if times else None,
        "changes": made_changes,
        "changes_count": sum(stage["changes"] for stage in times or []),
        "reboots": restarts,
        "reboots_count": sum(entry["count"] for entry in restarts or []),
        "versions": found,
        "thresholds": _thresholds(run.get("thresholds")) if "thresholds" in run else None,
        "references": _references(run.get("references")) if "references" in run else None,
        "topology": topology,
        "relaxed": relaxed,
        "relaxed_rows": sum(bool(row["relaxed"]) for row in checks),
        "sources": list(sources),
        "comparison": None,
    }
    if earlier is not None:
        made["comparison"] = comparison.comparison(earlier, made)
    return made


def _vms(run: Mapping[str, Any], topology: Mapping[str, Any] | None) -> set[str]:
    """The names of VMs: those of the topology, else all restarted objects that stage `hosts` did not change."""
    if topology is not None:
        return {vm["name"] for vm in topology["vms"]}
    of_hosts = [one for one in values.entries(run.get("stages")) if one.get("name") == "hosts"]
    known = {name for one in of_hosts for name in values.texts(one.get("hosts"))}
    return set(values.mapping(run.get("reboots"))) - known if known else set()


def _simulated(
    runs: Sequence[Mapping[str, Any]] | None,
    found: Sequence[Mapping[str, Any]] | None,
    restarts: Sequence[Mapping[str, Any]] | None,
    made_changes: Sequence[Mapping[str, Any]] | None,
    topology: Mapping[str, Any] | None,
) -> list[dict[str, Any]]:
    """[{what, simulated, all}]: how many trainings, versions and so on depend on simulated parts."""
    picture = topology or {"hosts": [], "switches": [], "vms": []}
    devices = [one for host in picture["hosts"] for one in (*host["gpus"], *host["nics"])]
    kinds = {
        "trainings": [run["simulated"] for run in runs or []],
        "versions": [one["simulated"] for entry in found or [] for one in entry["versions"]],
        "restarts": [entry["simulated"] for entry in restarts or [] for _one in range(int(entry["count"]))],
        "changes": [change["simulated"] for entry in made_changes or [] for change in entry["changes"]],
        "parts of the topology": [
            one["simulated"] for one in (*picture["hosts"], *picture["vms"], *picture["switches"], *devices)
        ],
    }
    return [{"what": what, "simulated": sum(flags), "all": len(flags)} for what, flags in kinds.items()]


def _fill(checks: Sequence[dict[str, Any]], look: Callable[[str], str | None]) -> None:
    """Add an excerpt of the evidence to rows that failed or warned."""
    for place in evidence.places(checks, EXCERPTS):
        raw = look(place)
        for row in checks:
            if row["evidence"] == place and row["verdict"] in ("fail", "warn"):
                row["excerpt"] = evidence.excerpt(raw) if raw is not None else ""


def _joined(validation: Any, stages_file: Any) -> dict[str, Any]:
    """One run from both files. The record of the stages has priority, because it ends with the run."""
    run = dict(values.mapping(validation))
    # Runs before this release name their checks otherwise.
    run.setdefault("checks", run.pop("rungs", None))
    record = values.mapping(stages_file)
    for key in ("stages", "reboots"):
        if key in record:
            run[key] = record[key]
    for key in ("began", "ended", "simulated_parts"):
        run.setdefault(key, record.get(key))
    return {key: value for key, value in run.items() if value is not None}


def _between(began: str, ended: str) -> float | None:
    first, last = stages.moment(began), stages.moment(ended)
    return (last - first).total_seconds() if first is not None and last is not None else None


def _headline(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The training on most nodes, over RDMA if it ran over both; None without one."""
    done = [run for run in runs if run["images_per_s"] is not None]
    best = max(done, key=lambda run: (run["nodes"], run["transport"] == "rdma", run["ranks"] or 0), default=None)
    if best is None:
        return None
    kept = ("label", "nodes", "transport", "model", "images_per_s", "efficiency", "relative_to", "gain", "simulated")
    return {key: best[key] for key in kept}


def _failures(stage: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The failures of a stage; one without an object if the record names none."""
    # The record has no messages of other modules, which may return the output of any command.
    unsaid = "The output of the run has the message of this failure."
    return [{**one, "msg": one["msg"] or unsaid} for one in stage["failures"]] or [
        {"object": "", "task": "", "msg": stage["why"] or "The stage failed without a recorded error."}
    ]


def _thresholds(recorded: Any) -> list[dict[str, Any]]:
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


def _references(recorded: Any) -> list[dict[str, Any]]:
    """Figures beside their references; expected is None without one."""
    words = ("row", "check", "measure", "unit", "source", "mark", "why")
    return [
        {
            **{key: values.text(entry.get(key)) for key in words},
            **{key: values.number(entry.get(key)) for key in ("measured", "expected", "percent")},
            "simulated": values.flag(entry.get("simulated")),
        }
        for entry in values.entries(recorded)
    ]


def _relaxed(recorded: Any, checks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Settings that are less strict than the defaults, each with the titles of the affected checks."""
    titles: dict[str, str] = {}
    for row in checks:
        titles.setdefault(row["check"], row["title"])
    return [
        {
            **{key: values.text(entry.get(key)) for key in ("setting", "value", "strict", "means")},
            "checks": [titles[name] for name in _checks(entry) if name in titles],
            "stages": texts(entry.get("stages")),
        }
        for entry in values.entries(recorded)
    ]


def _checks(entry: Mapping[str, Any]) -> dict[str, None]:
    return dict.fromkeys(name.partition(":")[0] for name in texts(entry.get("checks")))


def _topology(recorded: Any) -> dict[str, Any]:
    found = values.mapping(recorded)
    return {
        "hosts": [
            {
                "name": values.text(host.get("name")),
                "simulated": values.flag(host.get("simulated")),
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
                        "simulated": values.flag(nic.get("simulated")),
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
                "simulated": values.flag(switch.get("simulated")),
                "peers": [
                    {"port": values.text(peer.get("port")), "to": values.text(peer.get("to"))}
                    for peer in values.entries(switch.get("peers"))
                ],
            }
            for switch in values.entries(found.get("switches"))
        ],
        "vms": [
            {
                **{key: values.text(vm.get(key)) for key in ("name", "host", "gpu", "nic", "address")},
                "simulated": values.flag(vm.get("simulated")),
            }
            for vm in values.entries(found.get("vms"))
        ],
    }
