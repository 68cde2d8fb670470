# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import re
import sys
from functools import cache
from xml.etree import ElementTree

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.document import document
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report import canvas, gallery, plots, svg

from browser import runs


@pytest.fixture(autouse=True)
def settings():
    with canvas.ready():
        yield


def mixed():
    run, reported = runs.mixed()
    return document(reported, {"stages": runs.stages(run)})


MIXED = mixed()


@cache
def drawings():
    with canvas.ready():
        return gallery.drawings(MIXED)


def points(line):
    return [(float(x), float(y)) for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_throughput_has_each_run_at_its_nodes_and_its_rate():
    (axes,) = plots.throughput(MIXED["trainings"]).axes
    lines = {tuple(points(line)) for line in axes.get_lines()}
    for transport in ("rdma", "tcp"):
        mine = [run for run in MIXED["trainings"] if run["transport"] == transport]
        assert tuple((run["nodes"], run["images_per_s"]) for run in mine) in lines
    base = MIXED["trainings"][0]["images_per_s"]
    assert ((1.0, base), (4.0, 4 * base)) in lines


def test_efficiency_shows_what_is_wanted_beside_what_is():
    (axes,) = plots.efficiency(MIXED["trainings"], gallery.wanted_efficiency(MIXED)).axes
    rdma, tcp, wanted = axes.get_lines()
    assert points(rdma) == [
        (run["nodes"], run["efficiency"]) for run in MIXED["trainings"] if run["transport"] == "rdma"
    ]
    assert set(wanted.get_ydata()) == {90}
    assert axes.get_ylim()[0] == 0


def test_numbers_of_nodes_do_not_stand_on_each_other():
    reported = {"transport": "rdma", "verdict": "pass"}
    runs_of = [{**reported, "nodes": nodes, "images_per_s": nodes} for nodes in (1, 2, 3, 4, 8, 16, 32, 64)]
    (axes,) = plots.throughput(document({"trainings": runs_of}, None)["trainings"]).axes
    assert list(axes.get_xticks()) == [4, 8, 16, 32, 64]


def test_what_is_reported_apart_by_colour_is_reported_apart_by_dashes_and_markers_too():
    (axes,) = plots.efficiency(MIXED["trainings"]).axes
    rdma, tcp = axes.get_lines()
    assert rdma.get_color() != tcp.get_color()
    assert rdma.get_linestyle() != tcp.get_linestyle()
    assert rdma.get_marker() != tcp.get_marker()


def test_what_was_simulated_is_said_in_the_plot_itself_and_its_markers_are_hollow():
    real = document(runs.results(runs.perfect(4)), None)
    for made, words, hollow in ((MIXED, "simulated", True), (real, "", False)):
        (axes,) = plots.efficiency(made["trainings"]).axes
        assert axes.get_title(loc="right") == words
        assert (axes.get_lines()[0].get_markerfacecolor() == svg.COLOURS["page"]) is hollow


def bandwidth(made):
    return next(one for one in made["matrices"] if one["check"] == "pair.write_bw")


def test_a_matrix_has_its_figures_and_frames_what_failed():
    figure = plots.matrix(bandwidth(MIXED))
    axes = figure.axes[0]
    grid = axes.images[0].get_array()
    assert float(grid[1][2]) == 61.2
    assert bool(grid.mask[0][0])
    assert "61.2 ✕" in texts(figure)
    frames = [patch for patch in axes.patches if patch.get_edgecolor()[:3] != (0.0, 0.0, 0.0)]
    assert {(round(frame.get_x() + 0.45), round(frame.get_y() + 0.45)) for frame in frames} == {(2, 1)}


def test_a_scale_does_not_make_much_of_little_differences():
    found = document(runs.results(runs.perfect(4)), None)
    axes = plots.matrix(bandwidth(found)).axes[0]
    low, high = axes.images[0].get_clim()
    assert high - low > 20


def test_a_matrix_of_many_nodes_names_some_and_writes_no_figures():
    figure = plots.matrix(bandwidth(document(runs.results(runs.perfect(64)), None)))
    assert texts(figure) == []
    assert len(figure.axes[0].get_xticks()) <= plots.NAMED


def test_a_plot_of_iterations_has_every_one_of_them():
    figure = plots.iterations(MIXED["trainings"])
    assert len(figure.axes) == 2
    for axes, transport in zip(figure.axes, ("rdma", "tcp"), strict=True):
        mine = [run for run in MIXED["trainings"] if run["transport"] == transport]
        assert [points(line) for line in axes.get_lines()] == [
            [(one["iteration"], one["seconds"]) for one in run["iterations"]] for run in mine
        ]


def test_where_only_rates_of_iterations_were_reported_those_are_drawn():
    rounds = [{"iteration": index, "seconds": None, "images_per_s": 100.0 + index} for index in (1, 2, 3)]
    reported = {"trainings": [{"nodes": 2, "transport": "tcp", "images_per_s": 102, "iterations": rounds}]}
    made = document(reported, None)
    assert "iterations-1" in gallery.drawings(made)
    (axes,) = plots.iterations(made["trainings"], "images_per_s").axes
    assert points(axes.get_lines()[0]) == [(1, 101), (2, 102), (3, 103)]


def test_bars_are_as_long_as_stages_took_and_one_that_failed_is_hatched_and_named():
    some = [{**stage, "state": "failed" if stage["name"] == "guests" else "ok"} for stage in MIXED["stages"]]
    figure = plots.stages(some)
    (axes,) = figure.axes
    assert [one.get_width() * 60 for one in axes.patches] == pytest.approx([stage["seconds"] for stage in some])
    assert [bool(one.get_hatch()) for one in axes.patches] == [stage["state"] == "failed" for stage in some]
    assert "5 min 32 s failed" in texts(figure)


def test_before_and_after_stand_beside_each_other():
    old = document(runs.results(runs.perfect(4, step=1.1), step=1.1), None)
    made = document(runs.results(runs.perfect(4)), None, earlier=old)
    figure = plots.before_and_after(made["comparison"]["trainings"])
    widths = [one.get_width() for one in figure.axes[0].patches]
    compared = made["comparison"]["trainings"]
    assert widths == [entry["before"] for entry in compared] + [entry["after"] for entry in compared]
    assert "before-and-after" in gallery.drawings(made)
    assert "before-and-after" not in gallery.drawings(MIXED)


@pytest.mark.parametrize(
    "trainings",
    [
        [{"nodes": 1, "transport": "tcp", "images_per_s": 10}],
        [{"nodes": 2, "transport": "", "images_per_s": 0, "iterations": [{"seconds": 0}]}],
        [
            {"nodes": 2, "transport": "rdma", "model": "a"},
            {"nodes": 2, "transport": "rdma", "model": "b", "images_per_s": 3},
        ],
        [
            {"nodes": nodes, "transport": "rdma", "images_per_s": nodes, "iterations": [{"seconds": 1}] * 3000}
            for nodes in range(1, 40)
        ],
    ],
    ids=["one", "zero", "two models", "many"],
)
def test_odd_trainings_are_drawn_all_the_same(trainings):
    reported = {"trainings": [{"verdict": "pass", **one} for one in trainings], "stages": [{"seconds": 0}]}
    for drawing in gallery.drawings(document(reported, None)).values():
        ElementTree.fromstring(drawing)
        assert len(drawing) < 200_000


def test_drawings_are_sound_named_apart_and_of_the_colours_of_the_page():
    names = ["throughput-1", "efficiency-1", "iterations-1", "matrix-1", "matrix-2", "matrix-3", "stages"]
    assert list(drawings()) == names
    seen = set()
    for name, text in drawings().items():
        root = ElementTree.fromstring(text)
        ids = [element.get("id") for element in root.iter() if element.get("id")]
        assert len(ids) == len(set(ids))
        assert not seen & set(ids)
        seen |= set(ids)
        used = set(re.findall(r"url\(#([^)]+)\)", text)) | set(re.findall(r'href="#([^"]+)"', text))
        assert used <= set(ids)
        assert not re.search("|".join(svg.COLOURS.values()), text)
        assert "var(--muted)" in text
        assert root.get("aria-labelledby") == f"{name}-title {name}-desc"
        assert [child.tag.rpartition("}")[2] for child in root][:2] == ["title", "desc"]
        assert {"style", "metadata", "script"}.isdisjoint(element.tag.rpartition("}")[2] for element in root.iter())
        for reference in re.findall(r'(?:href|src)="([^"]*)"', text):
            assert reference.startswith(("#", "data:image/png;base64,"))


def test_titles_and_names_of_others_are_escaped_in_drawings():
    run = runs.perfect(2)
    reported = runs.results(run)
    for row in reported["checks"]:
        row["subject"] = {
            key: f"<script>$x^2${value}" for key, value in row["subject"].items() if isinstance(value, str)
        }
    text = "".join(gallery.drawings(document(reported, None)).values())
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_the_same_data_gives_the_same_drawing():
    assert gallery.drawings(mixed()) == drawings()


def test_settings_of_the_user_do_not_show():
    import matplotlib

    made = {**MIXED, "matrices": [], "stages": [], "trainings": MIXED["trainings"][:2]}
    reported = gallery.drawings(made)
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path"}):
        assert gallery.drawings(made) == reported


@pytest.mark.parametrize("how", ["missing", "old"])
def test_a_library_that_is_missing_or_too_old_is_reported(monkeypatch, how):
    import matplotlib

    if how == "missing":
        monkeypatch.setitem(sys.modules, "matplotlib", None)
    else:
        monkeypatch.setattr(matplotlib, "__version_info__", (3, 6, 3))
    with pytest.raises(canvas.NoPlots):
        gallery.drawings(MIXED)
