# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The plots of a report, each with a title and a description for screen readers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report import numbers
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report import canvas, plots, svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    # Name, title, description, and what draws it.
    Plot = tuple[str, str, str, Callable[[], Figure]]


def models(document: Mapping[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Trainings by model: [(name, runs)]."""
    runs = document["trainings"] or []
    return [
        (name, [run for run in runs if run["model"] == name]) for name in dict.fromkeys(run["model"] for run in runs)
    ]


def drawings(document: Mapping[str, Any]) -> dict[str, str]:
    """{name: svg} of all plots; raises canvas.NoPlots without Matplotlib."""
    found = {}
    with canvas.ready():
        for name, title, description, draw in _wanted(document):
            found[name] = svg.drawn(draw(), name, title, description)
    return found


def _wanted(document: Mapping[str, Any]) -> Iterator[Plot]:
    for index, (model, runs) in enumerate(models(document), 1):
        yield from _of_model(document, index, model, runs)
    for found in document["matrices"]:
        yield found["id"], *_matrix(found), cast("Callable[[], Figure]", lambda found=found: plots.matrix(found))
    timed = [stage for stage in document["stages"] or [] if stage["seconds"] is not None]
    if timed:
        longest = max(timed, key=lambda stage: stage["seconds"])
        said = f"The longest is {longest['name']} with {numbers.duration(longest['seconds'])}."
        yield "stages", "Time per stage", said, lambda: plots.stages(timed)
    compared = document["comparison"]
    if compared is not None and compared["trainings"]:
        said = _listed(
            f"{entry['label']}: {numbers.figure(entry['before'])} before, {numbers.figure(entry['after'])} after"
            for entry in compared["trainings"]
        )
        title = "Throughput before and after"
        yield "before-and-after", title, said, lambda: plots.before_and_after(compared["trainings"])


def _of_model(document: Mapping[str, Any], index: int, model: str, runs: Sequence[Mapping[str, Any]]) -> Iterator[Plot]:
    # One point shows no scaling.
    scales = len({run["nodes"] for run in runs}) > 1
    measured = [run for run in runs if run["images_per_s"] is not None]
    if measured and scales:
        said = _listed(f"{run['label']}: {numbers.figure(run['images_per_s'])}" for run in measured)
        title = _marked(f"Images per second over nodes, {model}", measured)
        yield f"throughput-{index}", title, said, lambda: plots.throughput(measured)
    related = [run for run in runs if run["efficiency"] is not None]
    if related and scales:
        said = _listed(f"{run['label']}: {numbers.figure(run['efficiency'])} %" for run in related)
        title = _marked(f"Efficiency over nodes, {model}", related)
        yield f"efficiency-{index}", title, said, lambda: plots.efficiency(related, wanted_efficiency(document))
    timed = [run for run in runs if run["median"] is not None]
    if timed:
        said = _listed(
            f"{run['label']}: {numbers.figure(run['fastest'])} to {numbers.figure(run['slowest'])} s" for run in timed
        )
        title = _marked(f"Seconds of each iteration, {model}", timed)
        yield f"iterations-{index}", title, said, lambda: plots.iterations(timed)
    rated = [run for run in runs if run["rated"]]
    if rated and not timed:
        title = _marked(f"Images per second in each iteration, {model}", rated)
        said = _listed(run["label"] for run in rated)
        yield f"iterations-{index}", title, said, lambda: plots.iterations(rated, "images_per_s")


def wanted_efficiency(document: Mapping[str, Any]) -> float | None:
    """The lowest efficiency that passes, from the checks, else from the thresholds."""
    reported = [
        row["expected"]["low"]
        for layer in document["ladder"]
        for check in layer["checks"]
        for row in check["rows"]
        if check["check"] == "cluster.efficiency" and row["unit"] == "%"
    ]
    reported += [entry["low"] for entry in document["thresholds"] or [] if entry["check"] == "cluster.efficiency"]
    return next((low for low in reported if low is not None), None)


def _matrix(found: Mapping[str, Any]) -> tuple[str, str]:
    unit = numbers.unit(found["unit"])
    worst = found["worst"][0]
    kind = f", {found['kind']}" if found["kind"] else ""
    described = (
        f"{len(found['nodes'])} nodes, {found['pairs']} pairs, {numbers.figure(found['low'])} to "
        f"{numbers.figure(found['high'])} {unit}, median {numbers.figure(found['median'])} {unit}. "
        f"The worst is from {worst['from']} to {worst['to']} with {numbers.figure(worst['measured'])} {unit}."
    )
    return _marked(found["title"] + kind, [found]), described


def _marked(title: str, some: Iterable[Mapping[str, Any]]) -> str:
    return f"{title} (simulated)" if any(one["simulated"] for one in some) else title


def _listed(parts: Iterable[str]) -> str:
    return "; ".join(parts) + "."
