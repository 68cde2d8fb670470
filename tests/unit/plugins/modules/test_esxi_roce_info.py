# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts.endpoint import Endpoint, as_data
from ansible_collections.aiready.vsphere.plugins.modules import esxi_roce_info as module


def test_a_port_has_exactly_the_documented_keys():
    documented = yaml.safe_load(module.RETURN)["hosts"]["contains"]["ports"]["contains"]
    assert set(as_data(Endpoint("vmnic2", "esx-01"))) == set(documented)
