# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The summary of the validations before and after an upgrade."""

from __future__ import annotations

import json

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.comparison import change
from ansible_collections.aiready.vsphere.plugins.plugin_utils.upgrade.compared import SHOWN, answer, summary

FIGURE = {"title": "Bandwidth", "variant": "tcp", "unit": "Gbit/s"}
COMPARISON = {
    "figures": [
        {**FIGURE, **change(90, 91, "higher")},
        {**FIGURE, **change(90, 99, "higher")},
        {**FIGURE, **change(90, 45, "higher")},
        {**FIGURE, **change(90, 45, "")},
    ],
    "trainings": [{"label": "two nodes", **change(100, 80, "higher")}],
    "verdicts": [
        {"id": "guest.mtu job-01", "before": "pass", "after": "fail", "change": "worse"},
        {"id": "guest.ecc job-01", "before": "fail", "after": "pass", "change": "better"},
    ],
    "only_before": {"rows": ["pair.write_bw job-01 > job-02"], "count": 3},
    "cautions": ["The runs are of different sites."],
}


def test_figures_are_the_same_better_worse_or_no_longer_measured():
    reported = summary(COMPARISON)
    assert reported["counts"] == {"same": 1, "better": 1, "worse": 2, "differs": 1, "no longer measured": 3}
    assert reported["lines"] == [
        "Figures after the upgrade, compared with those before it: same 1, better 1, worse 2, differs 1, "
        "no longer measured 3.",
        "Worse: Bandwidth tcp is 45 Gbit/s instead of 90 Gbit/s (-50 %).",
        "Worse: Training two nodes is 80 samples/s instead of 100 samples/s (-20 %).",
        "Worse: The check guest.mtu job-01 is fail instead of pass.",
        "No longer measured: pair.write_bw job-01 > job-02",
        "The report names 2 more.",
        "The runs are of different sites.",
    ]


def test_a_long_summary_names_the_first_ones():
    verdicts = [{"id": f"check-{number}", "before": "pass", "after": "fail", "change": "worse"} for number in range(30)]
    reported = summary({"verdicts": verdicts})
    assert (len(reported["worse"]), len(reported["lines"])) == (30, SHOWN + 2)
    assert reported["lines"][-1] == "The report names 10 more."


def test_the_summary_reads_the_report_of_the_folder(tmp_path):
    (tmp_path / "report.json").write_text(json.dumps({"comparison": COMPARISON}))
    assert answer(str(tmp_path)) == summary(COMPARISON)
    for text in ("{", "[]"):
        (tmp_path / "report.json").write_text(text)
        with pytest.raises(AnsibleFilterError, match="Cannot compare the validations"):
            answer(str(tmp_path))
    with pytest.raises(AnsibleFilterError, match="Cannot compare the validations"):
        answer(str(tmp_path / "none"))
