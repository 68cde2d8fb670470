# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power import params
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power.maintenance import Maintenance, Service
from ansible_collections.aiready.vsphere.plugins.modules import esxi_maintenance as module

from unit.plugins.modules import described

HOST = {**described.LOGIN, "host": "esx-01.example.com"}


class Noun(Maintenance):
    label = "Host esx-01.example.com"


def planned(there, **requested):
    checked = described.checked({**HOST, **requested}, module.ARGUMENTS)
    return described.plan(Noun(checked, None), checked, there)


def test_a_result_is_the_documented_one():
    described.assert_as_documented(module, planned(Service(False), reason="new host driver"))


@pytest.mark.parametrize(
    "there, requested, changed",
    [
        pytest.param(Service(True), {}, [], id="others took it out, which is as good"),
        pytest.param(Service(True), {"state": "left"}, [], id="others took it out, and it is theirs to put back"),
        pytest.param(
            Service(True), {"state": "left", "owner": "any"}, ["in_maintenance"], id="others, by explicit request"
        ),
        pytest.param(
            Service(True, "x"), {"state": "left"}, ["in_maintenance", "reason"], id="an earlier run took it out"
        ),
        pytest.param(Service(False, "aiready.vsphere"), {}, ["in_maintenance"], id="an earlier run only noted it"),
        pytest.param(Service(False, "x"), {"state": "left"}, ["reason"], id="a note that was left over"),
        pytest.param(Service(False), {"state": "left"}, [], id="in service"),
    ],
)
def test_only_what_the_collection_took_out_of_service_is_put_back(there, requested, changed):
    assert [change["path"] for change in planned(there, **requested)["changes"]] == changed


@pytest.mark.parametrize(
    "requested, named",
    [({"timeout_s": 0}, "timeout_s is 0"), ({"reason": " "}, "reason is empty")],
)
def test_wrong_parameter_is_named(requested, named):
    (problem,) = params.problems(described.checked({**HOST, **requested}, module.ARGUMENTS))
    assert named in problem
