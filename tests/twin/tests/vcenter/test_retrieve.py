"""RetrievePropertiesEx and its kin: what is selected, what is read, in pages."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl


def names(result):
    return sorted(one.propSet[0].val for one in result.objects)


def whole_tree(specs):
    """The traversal that clients have used for twenty years: folders within folders, by name."""
    _filter_spec, traversal = specs
    again = vmodl.query.PropertyCollector.SelectionSpec(name="folders")
    return [
        traversal(
            vim.Folder,
            "childEntity",
            again,
            traversal(vim.Datacenter, "vmFolder", again),
            traversal(vim.Datacenter, "hostFolder", again),
            traversal(vim.ComputeResource, "host"),
            name="folders",
        )
    ]


def test_recursive_traversal_reaches_every_vm_once(client, specs):
    spec = specs[0]([client.content.rootFolder], {vim.VirtualMachine: ["name"]}, whole_tree(specs))
    assert names(client.read(spec)) == ["vm-1", "vm-2", "vm-3"]


def test_traversal_follows_dotted_paths_and_skip_leaves_out_only_the_start(client, specs, vms):
    filter_spec, traversal = specs
    start = [client.reference(vm) for vm in vms.values()]
    to_host = [traversal(vim.VirtualMachine, "runtime.host", traversal(vim.ManagedEntity, "parent"))]
    wanted = {vim.HostSystem: ["name"], vim.VirtualMachine: ["name"], vim.ClusterComputeResource: ["name"]}
    skipped = names(client.read(filter_spec(start, wanted, to_host, skip=True)))
    assert "pair" in skipped
    assert not {"vm-1", "vm-2", "vm-3"} & set(skipped)
    assert {"vm-1", "vm-2", "vm-3"} < set(names(client.read(filter_spec(start, wanted, to_host))))


def test_property_of_a_base_type_is_read_from_all_that_inherit(client, specs):
    spec = specs[0]([client.content.rootFolder], {vim.ManagedEntity: ["name"]}, whole_tree(specs))
    assert {"here", "pair", "host-1", "host-2", "vm-1"} <= set(names(client.read(spec)))


def test_all_gives_every_property_that_is_set(client, specs, vms):
    (found,) = client.read(specs[0]([client.reference(vms["vm-1"])], {vim.VirtualMachine: None})).objects
    given = {one.name: one.val for one in found.propSet}
    assert {"name", "config", "runtime", "summary", "parent"} <= set(given)
    assert given["config"].hardware.numCPU == 2


def test_array_element_is_read_by_its_key(client, specs, vms):
    vm = vms["vm-1"]
    key = client.reference(vm).config.hardware.device[0].key
    path = f"config.hardware.device[{key}]"
    (found,) = client.read(specs[0]([client.reference(vm)], {vim.VirtualMachine: [path]})).objects
    assert (found.propSet[0].name, found.propSet[0].val.key) == (path, key)


def test_unset_property_is_left_out(client, specs, vms):
    paths = ["name", "snapshot", "config.hardware.device[99999]"]
    (found,) = client.read(specs[0]([client.reference(vms["vm-1"])], {vim.VirtualMachine: paths})).objects
    assert [one.name for one in found.propSet] == ["name"]


@pytest.mark.parametrize("path", ["nonsense", "config.nonsense", "name.length", "config..hardware", "name[1]", ""])
def test_path_that_leads_nowhere_is_an_invalid_property(client, specs, vms, path):
    with pytest.raises(vmodl.query.InvalidProperty) as caught:
        client.read(specs[0]([client.reference(vms["vm-1"])], {vim.VirtualMachine: [path]}))
    assert caught.value.name == path


def test_property_that_came_later_is_unknown_to_an_older_client(connect, specs, vms):
    older = connect(version_id="7.0.2.0")
    path = "config.fixedPassthruHotPlugEnabled"
    with pytest.raises(vmodl.query.InvalidProperty):
        older.read(specs[0]([older.reference(vms["vm-1"])], {vim.VirtualMachine: [path]}))


def test_property_that_may_not_be_read_is_in_the_missing_set(connect, specs):
    stranger = connect(login=False)
    wanted = {vim.SessionManager: ["defaultLocale", "sessionList"]}
    (found,) = stranger.read(specs[0]([stranger.content.sessionManager], wanted)).objects
    assert [one.name for one in found.propSet] == ["defaultLocale"]
    (missing,) = found.missingSet
    assert (missing.path, type(missing.fault)) == ("sessionList", vim.fault.NotAuthenticated)


def test_object_that_is_gone_is_a_fault_or_left_out_as_asked(client, specs, vms):
    gone = [vim.VirtualMachine("vm-99999"), client.reference(vms["vm-1"])]
    with pytest.raises(vmodl.fault.ManagedObjectNotFound) as caught:
        client.read(specs[0](gone, {vim.VirtualMachine: ["name"]}))
    assert caught.value.obj._moId == "vm-99999"
    spec = specs[0](gone, {vim.VirtualMachine: ["name"]}, reportMissingObjectsInResults=True)
    assert names(client.read(spec)) == ["vm-1"]


def test_nothing_found_is_no_result(client, specs):
    assert client.read(specs[0]([client.content.rootFolder], {vim.VirtualMachine: ["name"]})) is None


def test_traversal_that_names_an_unknown_one_is_refused(client, specs):
    unknown = [vmodl.query.PropertyCollector.SelectionSpec(name="elsewhere")]
    with pytest.raises(vmodl.fault.InvalidArgument):
        client.read(specs[0]([client.content.rootFolder], {vim.VirtualMachine: ["name"]}, unknown))


def test_pages_hold_as_much_as_asked_for_and_everything_in_the_end(client, specs):
    spec = specs[0]([client.content.rootFolder], {vim.VirtualMachine: ["name"]}, whole_tree(specs))
    first = client.read(spec, maxObjects=2)
    rest = client.collector.ContinueRetrievePropertiesEx(first.token)
    assert (len(first.objects), len(rest.objects), rest.token) == (2, 1, None)
    assert sorted(names(first) + names(rest)) == ["vm-1", "vm-2", "vm-3"]


def test_page_can_be_had_only_once_and_not_after_cancelling(client, specs):
    spec = specs[0]([client.content.rootFolder], {vim.VirtualMachine: ["name"]}, whole_tree(specs))
    cancelled = client.read(spec, maxObjects=1).token
    client.collector.CancelRetrievePropertiesEx(cancelled)
    with pytest.raises(vmodl.fault.InvalidArgument):
        client.collector.ContinueRetrievePropertiesEx(cancelled)


def test_object_destroyed_between_pages_is_left_out(client, specs, world):
    spec = specs[0]([client.content.rootFolder], {vim.VirtualMachine: ["name"]}, whole_tree(specs))
    first = client.read(spec, maxObjects=1)
    gone = next(vm for vm in world.of_kind("VirtualMachine") if vm.name not in names(first))
    world.remove(gone)
    rest = client.collector.ContinueRetrievePropertiesEx(first.token)
    assert gone.name not in names(first) + names(rest)
    assert len(rest.objects) == 1


def test_changed_object_is_never_answered_from_the_cache(client, specs, world, vms):
    spec = specs[0]([client.reference(vms["vm-1"])], {vim.VirtualMachine: ["name"]})
    assert names(client.read(spec)) == ["vm-1"]
    vms["vm-1"].name = "other"
    world.touch(vms["vm-1"])
    assert names(client.read(spec)) == ["other"]


def test_old_retrieve_properties_gives_the_same_objects(client, specs):
    spec = specs[0]([client.content.rootFolder], {vim.VirtualMachine: ["name"]}, whole_tree(specs))
    assert len(client.collector.RetrieveProperties([spec])) == 3


def test_property_of_one_object_is_fetched_without_the_collector(client, vms):
    vm = client.reference(vms["vm-1"])
    assert (vm.name, vm.snapshot) == ("vm-1", None)
    assert [type(one) for one in client.content.rootFolder.childEntity] == [vim.Datacenter]


def test_a_reference_of_another_type_names_no_object(client, world, specs):
    (pool,) = world.of_kind("ResourcePool")
    with pytest.raises(vmodl.fault.ManagedObjectNotFound):
        client.read(specs[0]([vim.VirtualApp(pool.moid)], {vim.VirtualApp: ["name"]}))
    with pytest.raises(vmodl.fault.ManagedObjectNotFound):
        vim.VirtualApp(pool.moid, client.stub).name  # noqa: B018 - reading it is the request
    assert vim.ManagedEntity(pool.moid, client.stub).name == pool.name
