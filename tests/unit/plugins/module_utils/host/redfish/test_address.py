# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import address
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.args import check_bmc

GOOD = {"bmc_address": "bmc-01", "bmc_username": "u", "bmc_password": "p", "bmc_timeout_s": 60, "bmc_ca_file": None}


@pytest.mark.parametrize(
    "text, host, port, shown",
    [
        ("bmc-01.example.com", "bmc-01.example.com", 443, "bmc-01.example.com"),
        (" 192.0.2.7:8443 ", "192.0.2.7", 8443, "192.0.2.7:8443"),
        ("https://bmc-01/", "bmc-01", 443, "bmc-01"),
        ("https://bmc-01:444/redfish/v1", "bmc-01", 444, "bmc-01:444"),
        ("2001:db8::7", "2001:db8::7", 443, "[2001:db8::7]"),
        ("[2001:db8::7]:8443", "2001:db8::7", 8443, "[2001:db8::7]:8443"),
    ],
)
def test_an_address_is_taken_in_every_form_that_people_write(text, host, port, shown):
    found = address.parse(text)
    assert (found.host, found.port, str(found)) == (host, port, shown)
    assert found.url == f"https://{shown}"
    assert check_bmc({**GOOD, "bmc_address": text}) == []


@pytest.mark.parametrize(
    "changed, says",
    [
        ({"bmc_address": "http://bmc-01"}, "use https"),
        ({"bmc_address": "https://root:calvin@bmc-01"}, "without a user"),
        ({"bmc_address": "bmc-01:port"}, "it is not an address"),
        ({"bmc_address": None}, "environment variable AIREADY_BMC_ADDRESS"),
        ({"bmc_username": " "}, "environment variable AIREADY_BMC_USER"),
        ({"bmc_password": None}, "environment variable AIREADY_BMC_PASSWORD"),
        ({"bmc_timeout_s": 0}, "between 1 and 3600"),
        ({"bmc_ca_file": "/nonexistent/ca.pem"}, "is not a usable file of certificates"),
        ({"bmc_ca_file": __file__}, "is not a usable file of certificates"),
    ],
)
def test_what_is_wrong_with_the_connection_is_reported_before_anything_is_sent(changed, says):
    (problem,) = check_bmc({**GOOD, **changed})
    assert says in problem
    assert "calvin" not in problem


def test_everything_that_is_missing_is_reported_at_once():
    nothing = {**GOOD, "bmc_address": "", "bmc_username": None, "bmc_password": None}
    assert len(check_bmc(nothing)) == 3
