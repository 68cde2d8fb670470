# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.request import RuntimeRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.runtime_noun import ContainerRuntime
from ansible_collections.aiready.vsphere.plugins.modules import nvidia_container_runtime as module

from unit.plugins.module_utils.guest.container.fake_guest import Guest, answer
from unit.plugins.modules import described


@pytest.mark.parametrize("call", described.calls(module, login={}))
def test_every_example_is_a_call_that_the_module_takes(call):
    assert module.check_params(described.checked(call, module.ARGUMENTS)) == []


@pytest.mark.parametrize(
    "wrong, problem",
    [
        ({"engine": "podman", "default_runtime": True}, "`default_runtime`"),
        ({"engine": "podman", "config": "/etc/containers/containers.conf"}, "`config`"),
        ({"config": "daemon.json"}, "not an absolute path"),
    ],
    ids=str,
)
def test_parameters_that_cannot_be_are_reported(wrong, problem):
    (reported,) = module.check_params(described.checked(wrong, module.ARGUMENTS))
    assert problem in reported


def test_the_result_is_as_documented(tmp_path):
    requested = request(RuntimeRequest, described.checked({}, module.ARGUMENTS))
    guest = Guest(tmp_path)
    guest.version = "20.10.24+dfsg1"
    result = answer(ContainerRuntime(requested, guest, guest.files), requested)["engine"]
    described.assert_as_documented(module, result, key="engine")
