# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import params, state
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.state import HostDriver
from ansible_collections.aiready.vsphere.plugins.modules import nvaie_driver_info, nvaie_vib

LOGIN = {"hostname": "vcenter.example.com", "username": "user", "password": "secret", "host": "esx-01"}
DEPOT = "[datastore-01] depots/driver.zip"
MODULES = [
    pytest.param(nvaie_vib, params.ARGUMENTS, id="nvaie_vib"),
    pytest.param(nvaie_driver_info, params.INFO_ARGUMENTS, id="nvaie_driver_info"),
]


@pytest.mark.parametrize("module, spec", MODULES)
def test_the_documented_result_has_the_keys_of_the_projection(module, spec):
    host = yaml.safe_load(module.RETURN)["host"]["contains"]
    shown = host.get("after", {"contains": host})
    keys = set(shown["contains"]) - ({"name", "moid", "cluster", "pending"} if "after" not in host else set())
    assert keys == set(state.project(HostDriver()))


def validated(**call):
    return ArgumentSpecValidator(params.ARGUMENTS, **params.RELATIONS).validate({**LOGIN, **call})


@pytest.mark.parametrize(
    "call, says",
    [
        ({}, "state is present but any of the following are missing: depot, url, file"),
        ({"depot": DEPOT, "url": "https://x/y.vib"}, "parameters are mutually exclusive: depot|url|file"),
        ({"file": "/tmp/driver.zip"}, "missing parameter(s) required by 'file': datastore"),
        ({"depot": DEPOT, "family": "compute"}, "value of family must be one of: nvaie, graphics"),
        ({"depot": DEPOT, "downgrade": "yes"}, "value of downgrade must be one of: refuse, allow"),
        ({"depot": DEPOT, "method": "vlcm"}, "value of method must be one of: auto, esxcli, image"),
        ({"depot": DEPOT, "force": True}, "force. Supported parameters include"),
        ({"depot": DEPOT, "no_sig_check": True}, "no_sig_check. Supported parameters include"),
        ({"depot": DEPOT, "ssh_port": "ssh"}, "ssh_port"),
    ],
)
def test_a_call_that_cannot_be_meant_is_refused_before_the_login(call, says):
    assert says in " ".join(validated(**call).error_messages)


@pytest.mark.parametrize(
    "call, says",
    [
        ({"depot": DEPOT, "checksum": "md5:123"}, "64 hexadecimal digits"),
        ({"url": "https://x/y.vib", "checksum": "0" * 64}, "checksum does not apply to url"),
        ({"url": "ftp://repo/driver.zip"}, "must begin with http:// or https://"),
        ({"url": "https://operator:word@repo/driver.zip"}, "url contains a user or a password"),
        ({"url": "[datastore-01] x.zip"}, "must begin with http:// or https://"),
        ({"depot": DEPOT, "datastore": "datastore-01"}, "only together with file"),
        ({"depot": DEPOT, "host": " "}, "host is empty"),
        ({"depot": DEPOT, "esxcli_timeout_s": 0}, "between 1 and 86400"),
        ({"depot": DEPOT, "task_timeout_s": -1}, "between 1 and"),
        ({"depot": DEPOT, "ssh_port": 99999}, "between 1 and 65535"),
    ],
)
def test_values_that_contradict_each_other_are_reported_in_a_sentence(call, says):
    result = validated(**call)
    assert result.error_messages == []
    assert says in " ".join(params.check_params(result.validated_parameters))


@pytest.mark.parametrize("url", ["https://operator:word@repo/x.zip", "ftp://operator:word@repo/x.zip"])
def test_a_password_in_a_url_is_not_reported(url):
    assert "word@" not in " ".join(params.check_params(validated(url=url).validated_parameters))


def test_all_that_is_wrong_is_reported_at_once():
    result = validated(url="nowhere", checksum="x", esxcli_timeout_s=0)
    assert len(params.check_params(result.validated_parameters)) == 4


def test_absent_needs_no_source():
    assert validated(state="absent").error_messages == []
