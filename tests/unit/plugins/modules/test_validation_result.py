# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import yaml
from ansible_collections.aiready.vsphere.plugins.modules import validation_result as module

from unit.plugins.module_utils.validation.probe.test_record import judged, params
from wire.drive import run

from .described import calls, checked


def test_the_example_names_guests_and_a_folder():
    (call,) = calls(module, login={})
    given = dict(call.values[0], pairs={})
    assert module.check_params(checked(given, module.ARGUMENTS)) == []


def test_the_result_has_exactly_the_documented_keys(tmp_path):
    made, _files, kept = judged(tmp_path, runs=[])
    reported = module.answer(made, "results/validation.json", kept)
    contains = yaml.safe_load(module.RETURN)["validation"]["contains"]
    assert set(reported) == set(contains)
    assert set(reported["not_right"][0]) == set(contains["not_right"]["sample"][0])
    assert set(reported["verdict"]) == set(contains["verdict"]["sample"])


def test_what_cannot_be_meant_is_refused():
    given = {"intent": {}, "thresholds": {"pair.nothing": {"low": 1}}, "result_dir": "results"}
    assert module.check_params(checked(given, module.ARGUMENTS)) == [
        "thresholds.pair.nothing: there is no such check.",
        "intent: guests is missing. Name at least one guest.",
    ]


def test_check_mode_gives_the_same_answer_and_writes_nothing(tmp_path):
    given = params(tmp_path / "there", runs=[], baseline=str(tmp_path / "baseline.json"))
    predicted, written = run("aiready.vsphere.validation_result", given, check=True), sorted(tmp_path.rglob("*.json"))
    made = run("aiready.vsphere.validation_result", given)
    assert predicted == made
    assert made["changed"]
    assert written == []
    assert (tmp_path / "baseline.json").exists() is made["validation"]["baseline"]
