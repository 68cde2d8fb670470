# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report import comparison
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.document import document


def row(label, measured, verdict="pass", **more):
    return {
        "id": label, "check": label.split(" ")[0], "title": label.split(" ")[0], "layer": "pair", "measured": measured,
        "verdict": verdict, "unit": "Gb/s", **more,
    }  # fmt: skip


def run(*rows, **more):
    return document({"site": {"name": "lab"}, "checks": list(rows), **more}, None)


@pytest.mark.parametrize(
    "was,now,better,word",
    [
        (100, 104.9, "higher", "same"),
        (100, 105, "higher", "better"),
        (100, 95, "higher", "worse"),
        (100, 95, "lower", "better"),
        (100, 120, "lower", "worse"),
        (100, 120, "", "differs"),
        (0, 0, "lower", "same"),
        (0, 7, "lower", "differs"),
    ],
)
def test_a_change_has_a_direction_where_the_figure_has_one(was, now, better, word):
    assert comparison.change(was, now, better)["change"] == word


def test_verdicts_that_changed_are_named_and_what_got_worse_comes_first():
    before = run(row("a", 1), row("b", 1, "fail"), row("c", 1), row("d", 1, "warn"))
    after = run(row("a", 1, "warn"), row("b", 1), row("c", 1), row("d", 1, "fail"))
    found = comparison.comparison(before, after)["verdicts"]
    assert [(one["id"], one["before"], one["after"], one["change"]) for one in found] == [
        ("d", "warn", "fail", "worse"),
        ("a", "pass", "warn", "worse"),
        ("b", "fail", "pass", "better"),
    ]


def test_of_many_verdicts_the_rest_is_counted():
    many = [f"row {number:02}" for number in range(43)]
    found = comparison.comparison(run(*(row(one, 1) for one in many)), run(*(row(one, 1, "fail") for one in many)))
    assert ([one["id"] for one in found["verdicts"]], found["verdicts_more"]) == (many[:40], 3)
    assert comparison.comparison(run(row("a", 1)), run(row("a", 1, "fail")))["verdicts_more"] == 0


def test_one_pair_that_fell_behind_the_others_is_named_and_a_common_change_is_reported_once():
    before = run(*(row(f"bw {index}", 80.0) for index in range(5)))
    after = run(*(row(f"bw {index}", 90.0 if index else 60.0) for index in range(5)))
    found = comparison.comparison(before, after)
    assert [(one["id"], one["percent"]) for one in found["outliers"]] == [("bw 0", -25.0)]
    assert [(one["check"], one["before"], one["after"], one["change"]) for one in found["figures"]] == [
        ("bw", 80.0, 90.0, "better")
    ]


def test_figures_of_different_units_and_of_rows_that_one_run_lacks_do_not_compare():
    before = run(row("a", 100, unit="MB/s"), row("b", None, "not_run"), row("old", 1))
    after = run(row("a", 1), row("b", 1), row("new", 1))
    found = comparison.comparison(before, after)
    assert found["figures"] == []
    assert (found["only_before"]["rows"], found["only_after"]["rows"]) == (["old"], ["new"])


def test_a_rehearsal_beside_a_real_run_and_another_site_are_cautioned():
    before, after = run(row("a", 1, simulated=True)), run(row("a", 1), site={"name": "other"})
    cautions = " ".join(comparison.comparison(before, after)["cautions"])
    assert "Only one of the two runs depends on simulated parts" in cautions
    assert "lab before, other after" in cautions


def test_versions_that_changed_alike_stand_together():
    def of(version, *names):
        return [{"object": name, "what": "driver", "version": version} for name in names]

    before = run(versions=[*of("535", "a", "b"), *of("9", "gone")])
    after = run(versions=[*of("550", "a", "b"), *of("1", "new")])
    found = comparison.comparison(before, after)["versions"]
    assert [(one["before"], one["after"], one["objects"]) for one in found] == [
        ("535", "550", ["a", "b"]),
        (None, "1", ["new"]),
        ("9", None, ["gone"]),
    ]


def test_a_run_beside_itself_has_no_differences():
    one = run(row("a", 1), row("b", 2, "warn"))
    found = comparison.comparison(one, one)
    assert [found[key] for key in ("cautions", "verdicts", "outliers", "versions")] == [[], [], [], []]


def test_what_only_could_not_run_because_of_others_is_counted():
    before = run(row("a", 1), row("b", 1), row("c", 1))
    after = run(
        row("a", 1, "fail"), row("b", None, "not_run", needs=["a"]), row("c", None, "not_run", needs=["b"]),
        row("new", None, "not_run", needs=["a"]),
    )  # fmt: skip
    found = comparison.comparison(before, after)
    assert ([one["id"] for one in found["verdicts"]], found["held_up"]) == (["a"], 2)
    assert comparison.comparison(after, after)["held_up"] == 0


def test_one_node_alone_is_compared_guest_by_guest():
    def of(**rates):
        reported = {"nodes": 1, "ranks": 1, "transport": "rdma", "model": "m", "verdict": "pass"}
        return [{**reported, "images_per_s": rate, "guests": [name]} for name, rate in rates.items()]

    found = comparison.comparison(run(trainings=of(a=100.0, b=50.0)), run(trainings=of(a=100.0, b=100.0)))
    assert [(one["before"], one["after"]) for one in found["trainings"]] == [(100.0, 100.0), (50.0, 100.0)]
