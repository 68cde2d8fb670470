# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.reading import recorded


@pytest.mark.parametrize(
    "texts,code,words",
    [
        ({}, "no_results", "neither validation.json nor stages.json"),
        ({"validation.json": "{"}, "results_damaged", "not JSON"),
        ({"validation.json": ""}, "results_damaged", "not JSON"),
        ({"validation.json": "[]"}, "results_damaged", "no JSON object"),
        ({"validation.json": '{"format": 2}'}, "unknown_format", "format 2"),
        ({"validation.json": "{}", "stages.json": '{"format": "x"}'}, "unknown_format", "format x"),
    ],
)
def test_what_cannot_be_understood_is_refused_with_its_place(texts, code, words):
    with pytest.raises(OperatorError) as refused:
        recorded("results/run", texts)
    assert refused.value.failure["code"] == code
    assert words in refused.value.message
    assert "results/run" in refused.value.message


def test_either_file_will_do_and_a_figure_that_is_none_was_not_measured():
    assert recorded("r", {"validation.json": '{"format": 1, "x": NaN}'}) == ({"format": 1, "x": None}, None)
    assert recorded("r", {"stages.json": '[{"name": "hosts"}]'}) == (None, {"stages": [{"name": "hosts"}]})
