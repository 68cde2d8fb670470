# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import json
import os

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.core import runner
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.params import ReportRequest
from ansible_collections.aiready.vsphere.plugins.modules import validation_report
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report import canvas, gallery, noun

from browser import runs
from unit.answers import Ended, Module


def make(folder, check=False, warnings=None, **params):
    """The answer of the module about a folder; without plots unless a test asks for them."""
    given = {"results": str(folder), "compare_with": None, "plots": "none", **params}
    report = noun.ValidationReport(request(ReportRequest, given), (warnings if warnings is not None else []).append)
    with pytest.raises(Ended) as ended:
        runner.run(Module(check), report, [Item(str(folder), given, {"name": str(folder)})], "report", single=True)
    return ended.value.args[0]


@pytest.fixture
def folder(tmp_path):
    run, reported = runs.mixed()
    return runs.write(tmp_path / "run", run, reported)


def written(folder):
    return {name: (folder / name).read_bytes() for name in noun.FILES if (folder / name).exists()}


def test_check_mode_writes_nothing_and_foresees_exactly_what_is_written(folder):
    foreseen = make(folder, check=True)
    assert (foreseen["changed"], written(folder)) == (True, {})
    made = make(folder)
    assert made == foreseen
    assert set(written(folder)) == set(noun.FILES)


def examples():
    entries = yaml.safe_load(validation_report.EXAMPLES)
    tasks = [task for entry in entries for task in entry.get("tasks", [entry])]
    return [task["aiready.vsphere.validation_report"] for task in tasks if "aiready.vsphere.validation_report" in task]


@pytest.mark.parametrize("given", examples(), ids="-".join)
def test_the_examples_make_reports_and_change_nothing_when_run_again(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    for name in ("before-upgrade", "after-upgrade"):
        runs.write(tmp_path / "results" / name, *runs.mixed())
    made = [make(**{"folder": given["results"], "plots": "auto", **given}) for _run in range(2)]
    assert [answer["changed"] for answer in made] == [True, False]


def test_the_same_results_give_the_same_bytes_so_that_a_second_run_changes_nothing(folder):
    make(folder)
    kept = written(folder)
    again = make(folder)
    assert (again["changed"], again["diff"], written(folder)) == (False, [], kept)
    assert again["report"]["before"]["files"] == again["report"]["after"]["files"]


@pytest.mark.parametrize("name", noun.FILES)
@pytest.mark.parametrize("how", ["gone", "half"])
def test_what_a_killed_run_or_somebody_else_left_is_mended(folder, name, how):
    make(folder)
    kept = written(folder)
    if how == "gone":
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(kept[name][:100])
    assert [change["path"] for change in make(folder)["report"]["changes"]] == [name]
    assert written(folder) == kept


def test_new_results_give_a_new_report_and_the_page_names_what_it_was_made_from(folder):
    make(folder)
    run = runs.perfect(2)
    runs.write(folder, run, runs.results(run))
    made = make(folder)
    assert (made["changed"], made["report"]["after"]["state"]) == (True, "pass")
    source = json.loads((folder / "report.json").read_text())["sources"][0]
    assert source["bytes"] == (folder / "validation.json").stat().st_size
    assert source["sha256"] in (folder / "report.html").read_text()


def test_a_verdict_that_is_bad_does_not_fail_the_task_that_reports_it(folder):
    made = make(folder)
    assert "failed" not in made
    assert made["report"]["after"]["state"] == "fail"
    assert made["report"]["after"]["title"] == "Failed in a rehearsal"


def test_an_earlier_run_is_compared_with_and_not_touched(folder, tmp_path):
    old = runs.perfect(4, fake=True)
    before = runs.write(tmp_path / "before", old, runs.results(old))
    kept = sorted(path.name for path in before.iterdir())
    make(folder, compare_with=str(before))
    assert json.loads((folder / "report.json").read_text())["comparison"]["verdicts"]
    assert sorted(path.name for path in before.iterdir()) == kept


def refused(answer, code):
    assert answer["failed"] is True
    assert answer["failure"]["code"] == code
    assert answer["report"]["failed"] is True
    return answer["msg"]


@pytest.mark.parametrize("which", ["results", "compare_with"])
def test_a_folder_that_is_not_there_is_named(folder, which):
    assert "elsewhere" in refused(make(folder, **{which: str(folder.parent / "elsewhere")}), "no_results")


def test_a_folder_without_results_is_refused(tmp_path):
    assert "neither validation.json nor stages.json" in refused(make(tmp_path), "no_results")


@pytest.mark.parametrize("content", [b'{"format": 1, "checks"', b"\xff\xfe\x00", b"[1, 2]"])
def test_results_that_are_damaged_are_refused_and_an_old_report_stays(folder, content):
    make(folder)
    kept = written(folder)
    (folder / "validation.json").write_bytes(content)
    assert "validation.json" in refused(make(folder), "results_damaged")
    assert written(folder) == kept


def test_a_full_disk_is_reported_and_leaves_the_old_report_whole(folder, monkeypatch):
    make(folder)
    kept = written(folder)
    run = runs.perfect(2)
    runs.write(folder, run, runs.results(run))

    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(noun.os, "replace", full)
    assert "No space left on device" in refused(make(folder), "not_written")
    assert written(folder) == kept
    assert not [path for path in folder.iterdir() if path.name.startswith(".report")]


def test_evidence_is_read_from_the_folder_and_never_from_outside(folder, tmp_path):
    (tmp_path / "secret.txt").write_text("outside")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "inside.txt").write_text("inside")
    os.mkfifo(folder / "pipe")
    report = noun.ValidationReport(ReportRequest(str(folder), None, "auto"), None)
    assert report._evidence("inside.txt") == "inside"
    for name in ("../secret.txt", "link.txt", str(tmp_path / "secret.txt"), "nowhere.txt", "pipe", ".", "a\0b"):
        assert report._evidence(name) is None


def test_of_a_huge_output_only_the_end_is_read(folder):
    (folder / "huge.txt").write_text("x" * noun.EVIDENCE_BYTES + "end")
    text = noun.ValidationReport(ReportRequest(str(folder), None, "auto"), None)._evidence("huge.txt")
    assert len(text) == noun.EVIDENCE_BYTES
    assert text.endswith("end")


@pytest.mark.parametrize("plots", ["auto", "required"])
def test_without_the_library_the_report_has_tables_unless_plots_were_required(folder, monkeypatch, plots):
    def missing(_document):
        raise canvas.NoPlots("Matplotlib cannot be imported: No module named 'matplotlib'")

    monkeypatch.setattr(gallery, "drawings", missing)
    warnings = []
    made = make(folder, warnings=warnings, plots=plots)
    if plots == "required":
        assert "No module named 'matplotlib'" in refused(made, "no_plots")
        return
    assert made["report"]["after"]["plots"] == 0
    assert noun.NO_LIBRARY in warnings[0]
    assert f"tables instead of plots. {noun.NO_LIBRARY}" in (folder / "report.html").read_text()


def test_files_of_a_report_may_be_read_by_whom_the_umask_allows(folder):
    before = os.umask(0o027)
    try:
        make(folder)
    finally:
        os.umask(before)
    assert {(folder / name).stat().st_mode & 0o777 for name in noun.FILES} == {0o640}
