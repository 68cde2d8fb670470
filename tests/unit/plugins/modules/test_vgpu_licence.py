# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.smi_text import Gpu, Report
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence import params, plan, state, token
from ansible_collections.aiready.vsphere.plugins.modules import vgpu_licence

from .described import calls, checked

RETURNED = yaml.safe_load(vgpu_licence.RETURN)["licence"]["contains"]
UNLICENSED = Gpu(
    address="00000000:02:00.0",
    name="NVIDIA A100-40C",
    product="NVIDIA Virtual Compute Server",
    licence="Unlicensed (Unrestricted)",
)
LICENSED = replace(UNLICENSED, licence="Licensed", expiry="2026-11-23T10:41:16Z")


@pytest.mark.parametrize("call", calls(vgpu_licence, login={}))
def test_every_example_is_a_call_that_the_module_takes(call):
    assert params.check_params(checked(call or {}, params.ARGUMENTS)) == []


def test_the_example_of_a_result_is_what_the_module_makes_of_it():
    before = state.LicenceState(service="active", report=Report(gpus=(UNLICENSED,)))
    after = replace(
        before,
        settings={"FeatureType": "1"},
        tokens={token.NAME: "0123"},
        modes={token.NAME: "0744"},
        report=Report(gpus=(LICENSED,)),
    )
    assert state.project(before) == RETURNED["before"]["sample"]
    assert state.project(after) == RETURNED["after"]["sample"]
    assert set(RETURNED["after"]["contains"]) == set(state.project(after))
    assert [change.as_result() for change in plan.compare(before, after)] == RETURNED["changes"]["sample"]


def test_of_several_gpus_the_worst_counts():
    report = Report(gpus=(LICENSED, UNLICENSED, replace(LICENSED, licence=None)))
    assert state.LicenceState(report=report).status == "Unlicensed (Unrestricted)"
    assert state.LicenceState(report=Report(gpus=(LICENSED,))).licensed
    assert state.LicenceState().status is None
