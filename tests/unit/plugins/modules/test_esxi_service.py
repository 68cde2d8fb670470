# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power.service import Daemon, Services
from ansible_collections.aiready.vsphere.plugins.modules import esxi_service as module

from unit.plugins.modules import described

SSH = {**described.LOGIN, "host": "esx-01.example.com", "service": "TSM-SSH"}


def planned(there, **requested):
    checked = described.checked({**SSH, **requested}, module.ARGUMENTS)
    return described.plan(Services(checked, None), checked, there)


def test_a_result_is_the_documented_one():
    described.assert_as_documented(module, planned(Daemon(False, "off")))


@pytest.mark.parametrize(
    "there, state, changed",
    [
        pytest.param(Daemon(True), "started", [], id="it runs already, so that nothing is borrowed"),
        pytest.param(Daemon(True), "restored", [], id="others started it, so that it stays"),
        pytest.param(Daemon(True, borrowed=True), "restored", ["running", "borrowed"], id="an earlier run started it"),
        pytest.param(Daemon(False, borrowed=True), "restored", ["borrowed"], id="a restart of the host stopped it"),
        pytest.param(Daemon(False, borrowed=True), "started", ["running"], id="needed again after a restart"),
        pytest.param(Daemon(True), "stopped", ["running"], id="stopped by explicit request"),
    ],
)
def test_only_what_the_collection_started_is_stopped(there, state, changed):
    assert [change["path"] for change in planned(there, state=state)["changes"]] == changed
