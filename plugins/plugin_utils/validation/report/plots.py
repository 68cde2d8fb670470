# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The plots of the report: one function for each kind returns a figure from data of the document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report import numbers
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.trainings import TRANSPORTS
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.values import median
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report import canvas
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report.svg import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator

# Runs of one transport in a plot of iterations, and bars in one plot.
RUNS_DRAWN, BARS = 6, 24
# Nodes up to which a matrix shows its values, and up to which it shows all names.
WRITTEN, NAMED = 8, 16
MARKED = 300


def throughput(runs: Sequence[Mapping[str, Any]]) -> Figure:
    """Images per second over nodes for each transport, with the line of linear scaling."""
    made, (axes,) = canvas.figure(300)
    for transport, mine in _by_transport(runs, "images_per_s"):
        _through(axes, transport, _from_one(mine, runs, "images_per_s"), "images_per_s")
        nodes = [run["nodes"] for run in mine]
        style = {"fmt": "none", "ecolor": _series(transport, mine)["color"], "elinewidth": 1.5, "capsize": 3}
        axes.errorbar(nodes, [run["images_per_s"] for run in mine], yerr=[run["spread"] or 0 for run in mine], **style)
    base = median([run["images_per_s"] for run in runs if run["nodes"] == 1 and run["images_per_s"]])
    most = max(run["nodes"] for run in runs)
    if base is not None and most > 1:
        ideal: dict[str, Any] = {
            "color": COLOURS["idle"],
            "linestyle": ":",
            "linewidth": 1.5,
            "label": "linear scaling",
        }
        axes.plot([1, most], [base, base * most], **ideal)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda value, _at: f"{value:,.0f}")
    return _over_nodes(made, axes, runs, "images per second")


def efficiency(runs: Sequence[Mapping[str, Any]], wanted: float | None = None) -> Figure:
    """Throughput per node against one node, in percent; wanted is the lowest value that passes."""
    made, (axes,) = canvas.figure(300)
    for transport, mine in _by_transport(runs, "efficiency"):
        _through(axes, transport, _from_one(mine, runs, "efficiency"), "efficiency")
    if wanted is not None:
        line: dict[str, Any] = {"color": COLOURS["fail"], "linestyle": (0, (2, 2)), "linewidth": 1.3}
        axes.axhline(wanted, label=f"required: {wanted:g} %", **line)
    top = max([100, *(run["efficiency"] for run in runs if run["efficiency"] is not None)])
    axes.set_ylim(0, top * 1.06)
    return _over_nodes(made, axes, runs, "efficiency in percent")


def _by_transport(runs: Sequence[Mapping[str, Any]], key: str) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    for transport in dict.fromkeys(run["transport"] for run in runs):
        mine = [run for run in runs if run["transport"] == transport and run[key] is not None]
        if mine:
            yield transport, mine


def _from_one(mine: list[Mapping[str, Any]], runs: Sequence[Mapping[str, Any]], key: str) -> list[Mapping[str, Any]]:
    """The runs of a transport. One node alone uses no network, so that the line of each transport starts there."""
    if any(run["nodes"] == 1 for run in mine):
        return mine
    return [run for run in runs if run["nodes"] == 1 and run[key] is not None] + mine


def _through(axes: Axes, transport: str, runs: Sequence[Mapping[str, Any]], key: str) -> None:
    """A line through the median of each number of nodes, and a dot for each of several runs."""
    by_count: dict[int, list[float]] = {}
    for run in sorted(runs, key=lambda run: run["nodes"]):
        by_count.setdefault(run["nodes"], []).append(run[key])
    style = _series(transport, runs)
    axes.plot(list(by_count), [cast("float", median(some)) for some in by_count.values()], **style)
    dots = [(count, value) for count, some in by_count.items() if len(some) > 1 for value in some]
    if dots:
        axes.plot(*zip(*dots), linestyle="", marker=".", markersize=4, color=style["color"], label="_each")


def _series(transport: str, runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The colour, dashes and marker of a transport. Hollow markers are simulated."""
    colour = canvas.COLOUR_OF.get(transport, COLOURS["ink"])
    hollow = any(run["simulated"] for run in runs)
    return {
        "color": colour,
        "linestyle": canvas.DASHES.get(transport, "-."),
        "marker": "o" if transport == "rdma" else "s",
        "markersize": 7,
        "markerfacecolor": COLOURS["page"] if hollow else colour,
        "markeredgewidth": 1.8,
        "label": TRANSPORTS.get(transport, transport) or "no network",
    }


def _over_nodes(made: Figure, axes: Axes, runs: Sequence[Mapping[str, Any]], label: str) -> Figure:
    canvas.whole(axes, [run["nodes"] for run in runs])
    axes.set_xlabel("nodes")
    axes.margins(x=0.06)
    canvas.named(axes, label, any(run["simulated"] for run in runs))
    canvas.legend(made, axes.get_legend_handles_labels()[0])
    return made


def matrix(found: Mapping[str, Any]) -> Figure:
    """Values from each node (down) to each other node (across). Failed and warned cells have a frame."""
    count = len(found["nodes"])
    made, (axes,) = canvas.figure(380 if count > 2 else 320)
    blank = float("nan")
    grid = [[blank if value is None else value for value in row] for row in found["values"]]
    # A scale that does not exaggerate small differences; dark is bad.
    lower = found["better"] == "lower"
    low = min(found["low"], found["median"] * (0.95 if lower else 0.75))
    high = max(found["high"], found["median"] * (1.25 if lower else 1.05))
    shades = "viridis_r" if lower else "viridis"
    image = axes.imshow(grid, cmap=shades, vmin=low, vmax=high, interpolation="none")
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    if count <= NAMED:
        gaps: dict[str, Any] = {"color": COLOURS["page"], "linewidth": 2}
        axes.hlines([edge + 0.5 for edge in range(count - 1)], -0.5, count - 0.5, **gaps)
        axes.vlines([edge + 0.5 for edge in range(count - 1)], -0.5, count - 0.5, **gaps)
    step = 1 if count <= NAMED else -(-count // NAMED)
    names = [numbers.shortened(name, 12) for name in found["nodes"][::step]]
    # Long names are vertical.
    turned: dict[str, Any] = {} if count * max(len(name) for name in names) < 40 else {"rotation": 90}
    axes.set_xticks(range(0, count, step), names, **turned)
    axes.set_yticks(range(0, count, step), names)
    axes.tick_params(length=0)
    _frames(axes, found)
    if count <= WRITTEN:
        _written(axes, image, found)
    scale = made.colorbar(image, ax=axes, shrink=0.85, pad=0.02)
    scale.outline.set_visible(False)
    canvas.named(axes, f"from (down) to (across), {numbers.unit(found['unit'])}", found["simulated"])
    return made


def _frames(axes: Axes, found: Mapping[str, Any]) -> None:
    from matplotlib.patches import Rectangle

    bad = [
        (row, column, verdict)
        for row, line in enumerate(found["verdicts"])
        for column, verdict in enumerate(line)
        if verdict in ("fail", "warn")
    ]
    for row, column, verdict in bad[:MARKED]:
        style = {"linestyle": "-" if verdict == "fail" else (0, (2, 1.5)), "linewidth": 2.5, "zorder": 3}
        # On a light border, so that it is visible on dark shades too.
        border = {"linestyle": "-", "linewidth": 5.5, "zorder": 2}
        for colour, drawn in ((COLOURS["page"], border), (COLOURS[verdict], style)):
            box = Rectangle((column - 0.45, row - 0.45), 0.9, 0.9, fill=False, edgecolor=colour, **drawn)
            axes.add_patch(box)


def _written(axes: Axes, image: AxesImage, found: Mapping[str, Any]) -> None:
    size = canvas.FONT if len(found["nodes"]) <= 6 else canvas.FONT - 3
    signs = {"fail": " ✕", "warn": " !"}
    for row, line in enumerate(found["values"]):
        for column, value in enumerate(line):
            if value is None:
                missed = found["verdicts"][row][column] is not None
                text = "○" if missed else numbers.NOTHING
                axes.text(column, row, text, ha="center", va="center", color=COLOURS["muted"])
                continue
            # The colour with more contrast. The shades are the same in dark mode.
            colour = "#000000" if _luminance(image.cmap(cast("float", image.norm(value)))) > 0.179 else "#ffffff"
            text = numbers.figure(value) + signs.get(found["verdicts"][row][column], "")
            axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=size)


def _luminance(colour: Sequence[float]) -> float:
    """The relative luminance of a colour (WCAG 2)."""
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def iterations(runs: Sequence[Mapping[str, Any]], key: str = "seconds") -> Figure:
    """Seconds or rate of each iteration, the transports one below the other, a line for each run."""
    runs = [run for run in runs if any(one[key] is not None for one in run["iterations"])]
    groups = list(_by_transport(runs, "iterations"))
    made, panels = canvas.figure(60 + 190 * len(groups), len(groups))
    counts = sorted({run["nodes"] for _transport, mine in groups for run in _some(mine)})
    markers = {count: canvas.MARKERS[index % len(canvas.MARKERS)] for index, count in enumerate(counts)}
    for axes, (transport, mine) in zip(panels, groups):
        for run in _some(mine):
            known = [one for one in run["iterations"] if one[key] is not None]
            style = _series(transport, [run])
            style.update(marker=markers[run["nodes"]], markersize=5.5, linewidth=1.2)
            style.update(markevery=max(1, len(known) // 25), markeredgewidth=1.3, linestyle="-")
            axes.plot([one["iteration"] for one in known], [one[key] for one in known], **style)
        most = max(one[key] or 0 for run in mine for one in run["iterations"])
        axes.set_ylim(0, most * 1.15 or 1)
        cast("MaxNLocator", axes.xaxis.get_major_locator()).set_params(integer=True)
        what = "seconds of each iteration" if key == "seconds" else "images per second in each iteration"
        label = f"{TRANSPORTS.get(transport, transport) or 'no network'}: {what}"
        canvas.named(axes, label, any(run["simulated"] for run in mine))
    panels[-1].set_xlabel("iteration")
    canvas.legend(made, [_marker(count, markers[count]) for count in counts], 4)
    return made


def _marker(count: int, marker: str) -> Line2D:
    """A line of the legend for a number of nodes of any transport."""
    from matplotlib.lines import Line2D

    style: dict[str, Any] = {
        "color": COLOURS["muted"],
        "markerfacecolor": COLOURS["page"],
        "linewidth": 1.2,
        "markersize": 5.5,
    }
    return Line2D([], [], marker=marker, label=f"{count} {'node' if count == 1 else 'nodes'}", **style)


def _some(runs: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """As many runs as are distinguishable, with the first and the last."""
    if len(runs) <= RUNS_DRAWN:
        return runs
    return [runs[round(index * (len(runs) - 1) / (RUNS_DRAWN - 1))] for index in range(RUNS_DRAWN)]


def stages(some: Sequence[Mapping[str, Any]]) -> Figure:
    """Duration of each stage. Failed stages are hatched."""
    known = [stage for stage in some if stage["seconds"] is not None][-BARS:]
    made, (axes,) = canvas.figure(60 + 26 * len(known))
    colours = {"ok": COLOURS["first"], "failed": COLOURS["fail"]}
    longest = max(stage["seconds"] for stage in known) or 1
    unit, divisor = ("minutes", 60) if longest > 180 else ("seconds", 1)
    for index, stage in enumerate(known):
        colour = colours.get(stage["state"], COLOURS["idle"])
        style: dict[str, Any] = (
            {"facecolor": "none", "hatch": "////"} if stage["state"] == "failed" else {"facecolor": colour}
        )
        axes.barh(index, stage["seconds"] / divisor, height=0.62, edgecolor=colour, linewidth=1.2, **style)
        word = {"ok": "", "open": " so far"}.get(stage["state"], f" {stage['state']}")
        _beside(axes, stage["seconds"] / divisor, index, f"{numbers.duration(stage['seconds'])}{word}")
    axes.set_yticks(range(len(known)), [numbers.shortened(stage["name"], 18) for stage in known])
    axes.tick_params(axis="y", length=0, labelcolor=COLOURS["ink"])
    axes.invert_yaxis()
    axes.set_xlim(0, longest / divisor * 1.42)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(unit)
    return made


def before_and_after(trainings: Sequence[Mapping[str, Any]]) -> Figure:
    """Throughput of the same training in two runs."""
    some = trainings[-BARS // 2 :]
    made, (axes,) = canvas.figure(90 + 44 * len(some))
    for offset, key, style in (
        (-0.19, "before", {"facecolor": "none", "hatch": "////", "edgecolor": COLOURS["idle"]}),
        (0.19, "after", {"facecolor": COLOURS["first"], "edgecolor": COLOURS["first"]}),
    ):
        values = [entry[key] for entry in some]
        axes.barh(
            [index + offset for index in range(len(some))],
            values,
            height=0.34,
            label=key,
            **cast("dict[str, Any]", style),
        )
        for index, value in enumerate(values):
            _beside(axes, value, index + offset, numbers.figure(value))
    axes.set_yticks(range(len(some)), [entry["label"] for entry in some])
    axes.tick_params(axis="y", length=0, labelcolor=COLOURS["ink"])
    axes.invert_yaxis()
    axes.set_xlim(0, max(max(entry["before"], entry["after"]) for entry in some) * 1.2 or 1)
    cast("MaxNLocator", axes.xaxis.get_major_locator()).set_params(nbins=5)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("images per second")
    canvas.named(axes, "", any(entry["simulated"] for entry in some))
    canvas.legend(made, axes.get_legend_handles_labels()[0])
    return made


def _beside(axes: Axes, x: float, y: float, text: str) -> None:
    """A number at the end of a bar."""
    style: dict[str, Any] = {"va": "center", "color": COLOURS["ink"], "fontsize": canvas.FONT - 1}
    axes.annotate(text, (x, y), xytext=(5, 0), textcoords="offset points", **style)
