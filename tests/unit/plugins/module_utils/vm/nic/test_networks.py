# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic import networks
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.networks import Fabric, Portgroup, plain, reaches
from pyVmomi import vim

from .worlds import FABRIC, GROUPS, HOST

TWIN = Portgroup("pg-7", "pg-7", "pg-rdma", "dc-1", True, "dvs-sriov", "uuid-sriov")
AWAY = Portgroup("pg-8", "pg-8", "pg-rdma", "dc-1", True, "dvs-away", "uuid-away")
SLASH = Portgroup("pg-6", "pg-6", "rack/1", "dc-1", True, "dvs-rdma", "uuid-rdma")


@pytest.mark.parametrize(
    "name, switch, more, key",
    [
        ("pg-rdma", None, (), "pg-1"),
        ("pg-rdma", "dvs-rdma", (), "pg-1"),
        ("pg-rdma", "dvs-sriov", (), None),
        ("pg-rdma", None, (TWIN,), None),
        ("pg-rdma", "dvs-sriov", (TWIN,), "pg-7"),
        ("pg-rdma", None, (AWAY,), "pg-1"),
        ("VM Network", "vSwitch0", (), "network-1"),
        ("rack/1", None, (SLASH,), "pg-6"),
        ("nothing", None, (), None),
    ],
    ids=[
        "by name",
        "by name and switch",
        "on no such switch",
        "twice",
        "twice, with the switch",
        "twice, once out of reach",
        "standard, with its switch",
        "with a slash",
        "none",
    ],
)
def test_a_port_group_is_found_by_name_in_the_datacenter_of_the_host(name, switch, more, key):
    found = Fabric((*GROUPS, *more), {"host-1": "dc-1"}).find(name, switch, HOST)
    assert (found.key if found else None) == key


def test_port_groups_of_other_datacenters_are_none_of_ours():
    assert FABRIC.find("pg-rdma", None, replace(HOST, moid="host-9")).key == "pg-9"


def test_a_host_reaches_the_switches_that_it_is_part_of_and_the_standard_networks_that_it_has():
    reached = {group.name for group in GROUPS if group.datacenter == "dc-1" and reaches(HOST, group)}
    assert reached == {"pg-rdma", "pg-rdma-2", "pg-sriov", "DVUplinks", "VM Network"}


def test_where_the_host_is_not_known_no_port_group_is_out_of_reach():
    assert all(reaches(None, group) for group in GROUPS)


def test_a_switch_that_reports_no_identity_is_not_taken_for_a_standard_one():
    assert HOST.by_uuid("") is None


@pytest.mark.parametrize("kind, opaque", [("Network", False), ("OpaqueNetwork", True)])
def test_a_segment_of_nsx_is_reported_apart_and_names_are_as_people_write_them(kind, opaque):
    row = Row(getattr(vim, kind)("network-7"), {"name": "rack%2f1"}, {})
    found = plain(row, "dc-1")
    assert (found.key, found.name, found.opaque, found.distributed) == ("network-7", "rack/1", opaque, False)


def test_names_that_may_be_meant_are_reported_and_those_of_uplinks_are_not():
    assert FABRIC.near("pg-rmda", HOST)[0] == "pg-rdma"
    assert "DVUplinks" not in FABRIC.near("DVUplink", HOST)


def test_a_distributed_port_group_has_the_names_that_people_write_and_its_switch(monkeypatch):
    kind, switch = vim.dvs.DistributedVirtualPortgroup, vim.dvs.VmwareDistributedVirtualSwitch("dvs-7")
    group = {
        "name": "rack%2f1",
        "key": "dvportgroup-8",
        "config.uplink": None,
        "config.distributedVirtualSwitch": switch,
    }
    uplinks = {"name": "up", "config.uplink": True, "config.distributedVirtualSwitch": switch}
    alone = {"name": "alone", "config.distributedVirtualSwitch": vim.dvs.VmwareDistributedVirtualSwitch("dvs-9")}
    rows = [
        Row(switch, {"name": "dvs%2fa", "uuid": "50 1e"}, {}),
        *(Row(kind(f"dvportgroup-{number}"), one, {}) for number, one in enumerate((group, uplinks, alone), start=8)),
    ]
    monkeypatch.setattr(networks.properties, "retrieve", lambda *_arguments, **_options: rows)
    owner = {f"dvportgroup-{number}": "dc-1" for number in (8, 9, 10)}
    assert list(networks._distributed(None, [], owner)) == [
        Portgroup("dvportgroup-8", "dvportgroup-8", "rack/1", "dc-1", True, "dvs/a", "50 1e"),
        Portgroup("dvportgroup-9", "dvportgroup-9", "up", "dc-1", True, "dvs/a", "50 1e", uplink=True),
    ]
