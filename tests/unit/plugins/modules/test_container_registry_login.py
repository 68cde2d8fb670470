# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.login_noun import (
    RegistryLogin,
    check_params,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.request import LoginRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files
from ansible_collections.aiready.vsphere.plugins.modules import container_registry_login as module

from unit.plugins.module_utils.guest.container.fake_guest import answer
from unit.plugins.modules import described

RELATIONS = {"required_if": module.REQUIRED_IF}


@pytest.mark.parametrize("call", described.calls(module, login={}))
def test_every_example_is_a_call_that_the_module_takes(call):
    assert check_params(described.checked(call, module.ARGUMENTS, RELATIONS)) == []


def test_everything_that_can_hold_a_password_is_secret():
    secret = [name for name, option in module.ARGUMENTS.items() if option.get("no_log")]
    assert secret == ["password", "proxy"]


class Takes:
    def __init__(self, *_args, **_options):
        pass

    def takes(self, _login):
        return "token"


def test_the_result_is_as_documented(tmp_path):
    call = {
        "registry": "nvcr.io",
        "username": "$oauthtoken",
        "password": "x",
        "config_file": "/home/ops/.docker/config.json",
    }
    requested = request(LoginRequest, described.checked(call, module.ARGUMENTS, RELATIONS))
    noun = RegistryLogin(requested, Files(str(tmp_path)), ask=Takes)
    result = answer(noun, requested, key="login")["login"]
    described.assert_as_documented(module, {"registry": "nvcr.io", **result}, key="login")
