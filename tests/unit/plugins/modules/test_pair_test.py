# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.action import pair_test as action
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import params
from ansible_collections.aiready.vsphere.plugins.modules import pair_test

from unit.plugins.module_utils.validation.pairs.ends import params as parameters
from unit.plugins.plugin_utils.validation.test_pair_watch import World

from .described import calls, checked


@pytest.mark.parametrize("given", calls(pair_test, {}))
def test_every_example_can_be_run(given):
    wanted = checked(given, params.ARGUMENTS, params.RELATIONS)
    assert params.check_params(wanted) == []


def test_the_result_has_exactly_the_documented_keys():
    world = World(checks=[params.PING, params.RPING])
    world.run()
    reported = action.answer(world.watch, world.names, None)
    described = yaml.safe_load(pair_test.RETURN)
    assert set(reported) == set(described) - {"failure"}
    contains = described["measurements"]["contains"]
    for one in reported["measurements"]:
        assert set(one) == set(contains)
    assert set(described["planned"]["sample"][0]) == set(reported["planned"][0])


def test_a_documented_reason_is_what_is_said():
    failure = yaml.safe_load(pair_test.RETURN)["failure"]["sample"]
    assert params.check_params(parameters(1)) == failure["problems"]


class Warnings(list):
    def __call__(self, text):
        self.append(text)


def test_evidence_is_written_beside_the_results(tmp_path):
    kept = action.Evidence(str(tmp_path / "run"), Warnings())
    assert kept.keep(("pair.ping_mtu", "job-01", "job/02"), "all\n") == "evidence/pair.ping_mtu.job-01.job-02.txt"
    assert (tmp_path / "run" / "evidence" / "pair.ping_mtu.job-01.job-02.txt").read_text() == "all\n"


def test_evidence_that_cannot_be_written_is_reported_once_and_ends_nothing(tmp_path):
    (tmp_path / "run").write_text("a file")
    warnings = Warnings()
    kept = action.Evidence(str(tmp_path / "run"), warnings)
    assert [kept.keep(("a",), "text"), kept.keep(("b",), "text")] == ["", ""]
    assert len(warnings) == 1


def test_without_a_folder_nothing_is_kept():
    assert action.Evidence(None, Warnings()).keep(("a",), "text") == ""
