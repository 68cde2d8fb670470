# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import params
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args

LOGIN = {"hostname": "vcenter.example.com", "username": "user", "password": "secret"}


def test_the_module_that_looks_takes_nothing_that_could_change_something():
    assert set(params.INFO_ARGUMENTS) == {*args.CONNECTION, *args.HOST_IDENTITY, *args.ESXCLI_TRANSPORT}


def test_a_call_without_a_host_is_refused():
    result = ArgumentSpecValidator(params.INFO_ARGUMENTS).validate(LOGIN)
    assert result.error_messages == ["missing required arguments: host"]
