# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Each plot of the report as approved: lines, bars, marks and words with their places, colours and sizes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.document import document
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report import canvas, gallery, plots
from matplotlib.colors import to_hex
from matplotlib.ticker import FixedLocator

from browser import runs
from unit import approved

RUN, SHOWN = runs.mixed()
WHOLE = document(SHOWN, {"stages": runs.stages(RUN)})
COMPARED = [
    {"label": f"{nodes}: rdma", "simulated": nodes == 4, "before": 1480.0 * nodes, "after": 1400.0 * nodes + 160}
    for nodes in (1, 2, 4)
]
DRAWN = {
    **{name: draw for name, _title, _said, draw in gallery._wanted(WHOLE)},
    "rates": lambda: plots.iterations([run for run in WHOLE["trainings"] if run["rated"]], "images_per_s"),
    "before-and-after": lambda: plots.before_and_after(COMPARED),
    "many-before-and-after": lambda: plots.before_and_after(COMPARED * 9),
}


def short(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(map(short, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def colour(value: object) -> str:
    return "none" if isinstance(value, str) and value == "none" else to_hex(value, keep_alpha=True)


def artists(axes: object) -> Iterator[tuple[str, list[str]]]:
    """What is in the axes, one text each."""
    yield "limits", [short([float(one) for one in (*axes.get_xlim(), *axes.get_ylim())])]
    for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        yield f"{name} axis", [axis.get_label_text(), axis.get_scale()]
        # Where Matplotlib chooses the ticks, they depend on its version.
        if isinstance(axis.get_major_locator(), FixedLocator):
            labels = [label.get_text() for label in axis.get_ticklabels()]
            yield f"{name} ticks", [short([float(one) for one in axis.get_ticklocs()]), *labels]
    yield "titles", [axes.get_title(loc=place) for place in ("left", "center", "right")]
    yield (
        "lines",
        [
            ";".join(
                (
                    short([float(one) for one in line.get_xydata().ravel()]),
                    f"{colour(line.get_color())}_{line.get_linestyle()}_{line.get_linewidth():g}",
                    f"{line.get_marker()}_{line.get_markersize():g}_{line.get_alpha()}_{line.get_zorder():g}",
                    "" if line.get_label().startswith("_") else line.get_label(),
                )
            )
            for line in axes.get_lines()
        ],
    )
    yield (
        "bars",
        [
            f"{short([float(one) for one in box.get_bbox().bounds])};{colour(box.get_facecolor())};"
            f"{colour(box.get_edgecolor())};{box.get_hatch()};{box.get_linewidth():g}"
            for box in axes.patches
        ],
    )
    yield (
        "words",
        [
            f"{text.get_text()};{short([float(one) for one in text.get_position()])};{colour(text.get_color())};"
            f"{text.get_fontsize():g};{text.get_ha()};{text.get_va()};{short(getattr(text, 'xyann', ''))}"
            for text in axes.texts
        ],
    )
    yield (
        "images",
        [short([float(one) for one in image.get_array().filled(float("nan")).ravel()]) for image in axes.images],
    )
    yield "collections", [f"{type(one).__name__};{short(one.get_linewidth().tolist())}" for one in axes.collections]


def reported(figure: object) -> dict:
    found = {"size": short([float(one) for one in figure.get_size_inches()])}
    for legend in figure.legends:
        found["legend"] = [text.get_text() for text in legend.get_texts()]
    for number, axes in enumerate(figure.axes):
        found.update({f"{number} {name}": "|".join(said).replace(" ", "_") for name, said in artists(axes) if said})
    return found


@pytest.mark.parametrize("name", DRAWN)
def test_plot_is_as_approved(name):
    with canvas.ready():
        approved.check(__file__, name, reported(DRAWN[name]()))
