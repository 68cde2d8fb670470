# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report import params
from ansible_collections.aiready.vsphere.plugins.modules import validation_report
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report.noun import ValidationReport

from browser import runs
from unit.answers import Ended, Module


def test_the_result_has_exactly_the_documented_keys(tmp_path):
    sample = runs.perfect(2)
    folder = str(runs.write(tmp_path / "run", sample, runs.results(sample)))
    given = {"results": folder, "compare_with": None, "plots": "none"}
    asked = request(params.ReportRequest, given)
    with pytest.raises(Ended) as ended:
        run(Module(), ValidationReport(asked, None), [Item(folder, asked, {"name": folder})], "report", single=True)
    result = ended.value.args[0]["report"]
    contains = yaml.safe_load(validation_report.RETURN)["report"]["contains"]
    assert set(result) == set(contains)
    assert set(result["after"]) == set(contains["after"]["contains"]) == set(contains["after"]["sample"])
    assert set(result["changes"][0]) == set(contains["changes"]["sample"][0])
