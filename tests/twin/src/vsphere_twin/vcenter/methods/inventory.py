"""Methods of folders, datacenters, pools, compute resources, and common methods of all inventory objects."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from vsphere_twin.model import drs, fabric, inventory, joining, kept, members, pools, power, provision, tasks
from vsphere_twin.model.host import touch, wrong_state

from .. import vm_privileges
from ..projections.shape import make
from ..registry import method
from .tasking import begin, resolved

# Objects that cannot be removed while hosts are part of them.
IN_USE_BY_HOSTS = (inventory.ComputeResource, fabric.Datastore)


@method("ManagedEntity", "Rename_Task")
def rename(call, this, newName):
    return begin(call, "Rename_Task", this, lambda: inventory.rename(call.world, this, newName))


@method("ManagedEntity", "Reload")
def reload_entity(call, this):
    call.world.touch(this)


@method("ManagedEntity", "Destroy_Task")
def destroy(call, this):
    return begin(call, "Destroy_Task", this, lambda: destroyed(call.world, this))


@method("Folder", "CreateFolder")
def create_folder(call, this, name):
    inventory.refuse_name(name)
    return inventory.make_folder(call.world, this, name)


@method("Folder", "CreateDatacenter")
def create_datacenter(call, this, name):
    inventory.refuse_new_name(this, name)
    center = call.world.add(inventory.Datacenter(call.world, inventory.encoded(name), None))
    return inventory.put(call.world, this, center)


@method("Folder", "CreateClusterEx")
def create_cluster(call, this, name, spec):
    inventory.refuse_new_name(this, name)
    cluster = inventory.Cluster(call.world, inventory.encoded(name), None, drs="off")
    inventory.put(call.world, this, call.world.add(cluster))
    try:
        drs.configure(call.world, cluster, spec)
    except vmodl.MethodFault:
        destroyed(call.world, cluster)
        raise
    return cluster


@method("Folder", "MoveIntoFolder_Task")
def move_into_folder(call, this, list):
    entities = [call.resolve(ref) for ref in list]

    def work():
        for entity in entities:
            inventory.put(call.world, this, entity)

    return begin(call, "MoveIntoFolder_Task", this, work)


@method("Folder", "UnregisterAndDestroy_Task")
def unregister_and_destroy(call, this):
    if "VirtualMachine" not in this.child_types:
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object.")
    return begin(call, "UnregisterAndDestroy_Task", this, lambda: _unregister_and_destroy(call.world, this))


@method("Folder", "CreateVM_Task")
def create_vm(call, this, config, pool, host=None):
    target, wanted = call.resolve(pool), resolved(call, host)
    vm_privileges.create(call, this, config, target)

    return begin(
        call,
        "CreateVM_Task",
        this,
        lambda: provision.create(call.world, this, config, target, wanted),
        exclusive=False,
    )


@method("Folder", "RegisterVM_Task")
def register_vm(call, this, path, asTemplate, name=None, pool=None, host=None):
    target, wanted = resolved(call, pool), resolved(call, host)
    return begin(
        call,
        "RegisterVM_Task",
        this,
        lambda: provision.register(call.world, this, path, name, bool(asTemplate), target, wanted),
        exclusive=False,
    )


@method("Datacenter", "PowerOnMultiVM_Task")
def power_on_multi(call, this, vm, option=None):
    machines = [call.resolve(ref) for ref in vm]
    vm_privileges.require(call, [("VirtualMachine.Interact.PowerOn", machine) for machine in machines])

    def work():
        attempted, failed = [], []
        for machine in machines:
            task = tasks.start(
                call.world,
                "PowerOnVM_Task",
                machine,
                lambda machine=machine: power.power_on(call.world, machine),
            )
            attempted.append(
                vim.cluster.AttemptedVmInfo(vm=inventory.reference(machine), task=inventory.reference(task))
            )
        return vim.cluster.PowerOnVmResult(attempted=attempted, notAttempted=failed)

    return begin(call, "PowerOnMultiVM_Task", this, work, exclusive=False)


@method("ResourcePool", "CreateResourcePool")
def create_resource_pool(call, this, name, spec):
    return pools.create(call.world, this, name, spec)


@method("ResourcePool", "UpdateConfig")
def update_resource_pool(call, this, name=None, config=None):
    if this.parent.kind != "ResourcePool":
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object.")
    pools.update(call.world, this, name, config)


@method("ResourcePool", "DestroyChildren")
def destroy_children(call, this):
    for pool in list(this.pools.values()):
        destroy_children(call, pool)
        _dissolve(call.world, pool)


@method("ClusterComputeResource", "RefreshRecommendation")
def refresh_recommendation(call, this):
    """Find nothing to move: DRS of the model does not balance running VMs."""
    call.world.touch(this)


@method("ComputeResource", "ReconfigureComputeResource_Task")
def reconfigure_compute(call, this, spec, modify):
    def work():
        if this.kind == "ClusterComputeResource":
            drs.configure(call.world, this, spec, modify)
        else:
            kept.refuse_unserved(spec, ())

    return begin(call, "ReconfigureComputeResource_Task", this, work)


@method("ClusterComputeResource", "ReconfigureCluster_Task")
def reconfigure_cluster(call, this, spec, modify):
    return begin(call, "ReconfigureCluster_Task", this, lambda: drs.configure(call.world, this, spec, modify))


@method("ClusterComputeResource", "GetResourceUsage")
def resource_usage(call, this):
    hosts = list(this.hosts.values())
    running = [vm for host in hosts for vm in host.running_vms()]
    stores = {moid: store for host in hosts for moid, store in host.datastores.items()}.values()
    mb = 1024 * 1024
    return make(
        vim.cluster.ResourceUsageSummary,
        cpuUsedMHz=0,
        cpuCapacityMHz=sum(host.hardware.cores * host.hardware.mhz for host in hosts),
        memUsedMB=sum(vm.memory_reserved_mb for vm in running),
        memCapacityMB=sum(host.hardware.memory_gb for host in hosts) * 1024,
        pMemAvailableMB=0,
        pMemCapacityMB=0,
        storageUsedMB=sum(store.capacity - store.free for store in stores) // mb,
        storageCapacityMB=sum(store.capacity for store in stores) // mb,
    )


def destroyed(world, entity):
    """Remove an object of the inventory."""
    if isinstance(entity, inventory.Folder):
        if entity.parent is None or entity.parent.kind == "Datacenter":
            raise vmodl.fault.NotSupported(msg="The operation is not supported on the object.")
        for child in entity.descendants():
            if entity.kind == "StoragePod":
                inventory.put(world, entity.parent, child)  # datastores outlive their cluster
            else:
                _destroy_child(world, child)
    elif entity.kind == "HostSystem":
        joining.remove(world, entity)
        return
    elif isinstance(entity, inventory.ResourcePool):
        _dissolve(world, entity)
        return
    elif isinstance(entity, inventory.Datacenter):
        folders = entity.descendants()
        if any(folder.descendants() for folder in folders):
            raise inventory.in_use(entity)  # that it is refused while it has content, is [unsure]
        for folder in folders:
            world.remove(folder)
    elif isinstance(entity, fabric.Switch):
        members.dissolve(world, entity)
    elif isinstance(entity, fabric.Portgroup):
        members.require_unused(entity)
    elif getattr(entity, "vms", None) or isinstance(entity, IN_USE_BY_HOSTS) and entity.hosts:
        raise inventory.in_use(entity)
    entity.parent.children.pop(entity.moid, None)
    if isinstance(entity, inventory.ComputeResource):
        _remove_pools(world, entity.pool)
        world.remove(entity.browser)
    if isinstance(entity, inventory.Cluster):
        world.remove(entity.evc)
    if isinstance(entity, fabric.Portgroup):
        entity.switch.portgroups.pop(entity.moid, None)
        for host in entity.hosts.values():
            host.networks.pop(entity.moid, None)
            touch(world, host)
        world.touch(entity.switch)
    world.remove(entity)
    world.touch(*filter(None, (entity.parent, inventory.datacenter_of(entity.parent))))


def _destroy_child(world, child):
    if child.kind == "VirtualMachine":
        provision.destroy(world, child)
    else:
        destroyed(world, child)


def _unregister_and_destroy(world, folder):
    """Remove a folder and the folders in it; their VMs leave the inventory and keep their files."""
    if folder.parent.kind == "Datacenter":
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object.")
    machines = [one for one in _below(folder) if one.kind == "VirtualMachine"]
    if any(vm.power == "poweredOn" for vm in machines):
        raise wrong_state()
    for vm in machines:
        provision.unregister(world, vm)
    destroyed(world, folder)


def _below(folder):
    for child in folder.descendants():
        yield child
        if isinstance(child, inventory.Folder):
            yield from _below(child)


def _remove_pools(world, pool):
    """Remove the pools of a compute resource without hosts, which have no VMs."""
    for child in pool.pools.values():
        _remove_pools(world, child)
    world.remove(pool)


def _dissolve(world, pool):
    """Move the content of a pool to the pool above it."""
    above = pool.parent
    if above.kind != "ResourcePool":
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object.")
    for vm in pool.vms.values():
        vm.pool = above
        above.vms[vm.moid] = vm
        world.touch(vm)
    for child in pool.pools.values():
        child.parent = above
        above.pools[child.moid] = child
        world.touch(child)
    above.pools.pop(pool.moid)
    world.remove(pool)
    world.touch(above)
