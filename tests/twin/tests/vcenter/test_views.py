"""Views: what they hold, and that they keep up."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl


@pytest.mark.parametrize(
    "kinds, names",
    [
        ([vim.VirtualMachine], {"vm-1", "vm-2", "vm-3"}),
        ([vim.HostSystem, vim.Datacenter], {"host-1", "host-2", "here"}),
        ([vim.ComputeResource], {"pair"}),
        ([vim.Datastore], {"disk"}),
        ([vim.Network], {"VM Network"}),
    ],
)
def test_container_view_finds_kinds_and_what_inherits_from_them(client, kinds, names):
    assert {one.name for one in client.view(*kinds).view} == names


def test_container_view_without_recursion_holds_the_children_only(client):
    assert [type(one) for one in client.view(recursive=False).view] == [vim.Datacenter]


def test_container_view_of_a_cluster_holds_its_hosts_and_vms_once(client, world):
    cluster = client.reference(world.of_kind("ClusterComputeResource")[0])
    found = client.view(vim.HostSystem, vim.VirtualMachine, container=cluster).view
    assert sorted(one.name for one in found) == ["host-1", "host-2", "vm-1", "vm-2", "vm-3"]


def test_container_view_keeps_up_with_the_inventory(client, world, vms):
    view = client.view(vim.VirtualMachine)
    assert len(view.view) == 3
    gone = vms["vm-1"]
    gone.parent.children.pop(gone.moid)
    world.remove(gone)
    assert {one.name for one in view.view} == {"vm-2", "vm-3"}


def test_vm_is_no_container(client, vms):
    with pytest.raises(vmodl.fault.InvalidArgument):
        client.view(vim.VirtualMachine, container=client.reference(vms["vm-1"]))


def test_list_view_holds_what_the_client_puts_in(client, vms):
    first, second = client.reference(vms["vm-1"]), client.reference(vms["vm-2"])
    view = client.content.viewManager.CreateListView([first])
    unknown = vim.VirtualMachine("vm-99999")
    assert list(view.ModifyListView(add=[second, unknown], remove=[first])) == [unknown]
    assert list(view.view) == [second]
    view.ResetListView([first])
    assert list(view.view) == [first]


def test_view_belongs_to_its_session_and_is_gone_when_destroyed(client, connect):
    view = client.view(vim.VirtualMachine)
    stranger = vim.view.ContainerView(view._moId, connect().stub)
    with pytest.raises(vmodl.fault.ManagedObjectNotFound):
        stranger.view  # noqa: B018 - reading it is the request
    view.DestroyView()
    with pytest.raises(vmodl.fault.ManagedObjectNotFound):
        view.DestroyView()
