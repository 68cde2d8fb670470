# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.request import settings_of
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.settings_noun import EngineSettings
from ansible_collections.aiready.vsphere.plugins.modules import container_engine as module

from unit.plugins.module_utils.guest.container.fake_guest import Guest, answer
from unit.plugins.modules import described


@pytest.mark.parametrize("call", described.calls(module, login={}))
def test_every_example_is_a_call_that_the_module_takes(call):
    assert module.check_params(described.checked(call, module.ARGUMENTS)) == []


def test_only_the_password_is_secret():
    assert [name for name, option in module.ARGUMENTS["proxy"]["options"].items() if option.get("no_log")] == [
        "password"
    ]


@pytest.mark.parametrize(
    "wrong, problem",
    [
        ({"insecure_registries": ["a:5000"], "secure_registries": ["a:5000"]}, "cannot be in both"),
        ({"engine": "containerd", "insecure_registries": ["a:5000"]}, "/etc/containerd/certs.d"),
        ({"proxy": {"http": "p.example"}}, "`proxy.http`"),
    ],
    ids=str,
)
def test_parameters_that_cannot_be_are_reported(wrong, problem):
    (reported,) = module.check_params(described.checked(wrong, module.ARGUMENTS))
    assert problem in reported


def test_the_result_is_as_documented(tmp_path):
    requested = settings_of(described.checked({}, module.ARGUMENTS))
    guest = Guest(tmp_path)
    guest.memlock["containerd.service"] = "infinity"
    result = answer(EngineSettings(requested, guest, guest.files), requested)["engine"]
    described.assert_as_documented(module, result, key="engine")
