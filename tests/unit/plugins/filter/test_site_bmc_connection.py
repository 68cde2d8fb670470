"""How the modules reach the BMC of a host."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.args import BMC
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import specification

site_bmc_connection = FilterModule().filters()["site_bmc_connection"]


def test_only_what_is_set_is_given_so_that_the_environment_has_the_rest():
    site = {"hosts": {"bmc": {"username": "automation", "ca_file": None}}}
    assert site_bmc_connection(site, "bmc-01") == {"bmc_address": "bmc-01", "bmc_username": "automation"}
    assert site_bmc_connection(site, "bmc-01", "secret")["bmc_password"] == "secret"


@pytest.mark.parametrize("site", [{}, {"hosts": None}, {"hosts": {"bmc": "x"}}, "x", None], ids=repr)
def test_wrong_site_is_left_to_the_task_that_says_what_is_wrong(site):
    assert site_bmc_connection(site) == {}


def test_site_takes_the_options_of_the_modules_but_what_belongs_to_one_host_or_a_vault():
    options = specification()["site"]["options"]["hosts"]["options"]["bmc"]["options"]
    assert {f"bmc_{name}" for name in options} == set(BMC) - {"bmc_address", "bmc_password", "system_id"}
    assert {f"bmc_{name}": option["type"] for name, option in options.items()} == {
        f"bmc_{name}": BMC[f"bmc_{name}"]["type"] for name in options
    }
