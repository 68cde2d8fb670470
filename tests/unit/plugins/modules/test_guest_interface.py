# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import interface, interface_params
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.adapter import Link
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.kept import Kept
from ansible_collections.aiready.vsphere.plugins.modules import guest_interface

RETURNED = yaml.safe_load(guest_interface.RETURN)["interface"]["contains"]
REQUEST = interface_params.InterfaceRequest(None, "ens224", 9000, "192.168.50.11/24", "auto", ping=[], wait_s=10)


def test_the_example_of_a_result_is_what_the_module_makes_of_it():
    noun = interface.Interface(REQUEST, None, None, None)
    link = Link("ens224", "00:50:56:9a:10:01", 1500)
    item = Item("ens224", REQUEST, {})
    item.now = interface.State(link, Kept(), "networkd")
    item.wanted = noun.want(item)
    after = noun.project(item.wanted)
    assert noun.project(item.now) == RETURNED["before"]["sample"]
    # Where it is kept is known when it is kept.
    after["kept"]["where"] = RETURNED["after"]["sample"]["kept"]["where"]
    assert after == RETURNED["after"]["sample"]
    assert set(RETURNED["after"]["contains"]) == set(after)
    changes = [change.as_result() for change in noun.compare(item.now, item.wanted)]
    assert changes == RETURNED["changes"]["sample"]
