# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import system
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.session import ROOT
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.wire import Answer

from .test_session import SERVICE, bmc

SYSTEMS = "/redfish/v1/Systems"


def service(*names, **root):
    """A BMC that looks after these systems."""
    links = {"Systems": {"@odata.id": SYSTEMS}} if names or not root else {}
    members = [{"@odata.id": f"{SYSTEMS}/{name}"} for name in names]
    return bmc(
        {
            ("GET", ROOT): Answer(200, {**SERVICE.body, **links, **root}),
            ("GET", SYSTEMS): Answer(200, {"Members": members}),
            **{("GET", f"{SYSTEMS}/{name}"): Answer(200, {"Id": name, "Model": "X"}) for name in names},
        }
    )[0]


def test_the_only_server_needs_no_name():
    assert system.find(service("1")).ids["system_id"] == "1"


def test_one_of_several_servers_is_found_by_its_name_without_regard_to_case():
    assert system.find(service("Node-A", "Node-B"), "node-b").path == f"{SYSTEMS}/Node-B"


@pytest.mark.parametrize(
    "names, wanted, says",
    [
        (("A", "B"), None, "The BMC has these systems: A, B. Set `system_id` to one of them."),
        (("A", "B"), "C", "cannot find the system C. The BMC has these systems: A, B."),
        ((), None, "The BMC has these systems: none. Check that the BMC belongs to a server."),
    ],
)
def test_a_server_is_never_guessed(names, wanted, says):
    with pytest.raises(OperatorError) as reported:
        system.find(service(*names), wanted)
    assert reported.value.failure["code"] == "system_not_found"
    assert says in reported.value.message


def test_a_service_without_servers_is_reported():
    with pytest.raises(OperatorError) as reported:
        system.find(service(Name="a chassis"))
    assert reported.value.failure["code"] == "bmc_without_system"


@pytest.mark.parametrize(
    "root, body, vendor",
    [
        ({}, {"Manufacturer": "Dell Inc."}, "dell"),
        ({}, {"Manufacturer": "HPE"}, "hpe"),
        ({}, {"Manufacturer": "Hewlett Packard Enterprise"}, "hpe"),
        ({}, {"Manufacturer": "Supermicro"}, "supermicro"),
        ({}, {"Manufacturer": "Super Micro Computer"}, "supermicro"),
        ({"Vendor": "Dell"}, {"Manufacturer": None}, "dell"),
        ({"Oem": {"Hpe": {}}}, {}, "hpe"),
        ({"Vendor": "AMI"}, {"Manufacturer": "Gigabyte"}, "other"),
        ({}, {}, "other"),
    ],
)
def test_the_make_is_what_the_server_says_of_itself(root, body, vendor):
    assert system.vendor_of(root, body) == vendor


@pytest.mark.parametrize(
    "vendor, body, serial",
    [
        ("dell", {"SKU": "7XYZ123", "SerialNumber": "CNIVC0099B00AA"}, "7XYZ123"),
        ("dell", {"SKU": "", "SerialNumber": "CNIVC0099B00AA"}, "CNIVC0099B00AA"),
        ("hpe", {"SKU": "P19720-B21", "SerialNumber": "CZ2311004H"}, "CZ2311004H"),
        ("supermicro", {"SKU": "To be filled by O.E.M.", "SerialNumber": "S411795X1A17866"}, "S411795X1A17866"),
        ("supermicro", {"SerialNumber": "          "}, None),
        ("dell", {"SKU": "  ", "SerialNumber": "CNIVC0099B00AA "}, "CNIVC0099B00AA"),
        ("other", {}, None),
    ],
)
def test_the_serial_number_is_the_one_on_the_label(vendor, body, serial):
    assert system.System("/redfish/v1/Systems/1", body, vendor).ids["serial"] == serial


def test_a_make_is_found_beside_empty_extensions():
    assert system.vendor_of({"Oem": None, "Vendor": "HPE"}, {"Oem": None}) == "hpe"
