"""Resource pools: their shares, reservations and limits, and what a change of them requires."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from . import inventory, kept, resources

ALLOCATIONS = ("cpuAllocation", "memoryAllocation")
SCALE = "scaleDescendantsShares"
# Shares of a pool by level (vSphere Resource Management, Resource Allocation Shares): a VM of 4 vCPUs and 16 GB.
SHARES = {
    "cpuAllocation": {"low": 2000, "normal": 4000, "high": 8000},
    "memoryAllocation": {"low": 81920, "normal": 163840, "high": 327680},
}


def allocation(name):
    """The allocation of a pool that nobody configured."""
    return vim.ResourceAllocationInfo(
        reservation=0,
        expandableReservation=True,
        limit=-1,
        shares=vim.SharesInfo(shares=SHARES[name]["normal"], level="normal"),
    )


def create(world, above, name, spec):
    """CreateResourcePool: a pool below another one."""
    inventory.refuse_new_name(above, name)
    pool = inventory.ResourcePool(world.new_moid("resgroup"), inventory.encoded(name), above, above.owner)
    pool.allocations = _allocations(pool, spec)
    above.pools[pool.moid] = world.add(pool)
    world.touch(above)
    return pool


def update(world, pool, name, spec):
    """UpdateConfig: name and allocations; unset fields stay."""
    changed = pool.allocations if spec is None else _allocations(pool, spec)
    if name and name != pool.name:
        inventory.rename(world, pool, name)
    pool.allocations = changed
    world.touch(pool, pool.parent)


def _allocations(pool, spec):
    """The allocations after a change; InvalidArgument or a lack of resources where they cannot be."""
    if getattr(spec, SCALE) is not None:
        _check_scale(pool, getattr(spec, SCALE))
    merged = dict(pool.allocations)
    kept.keep(merged, spec, (SCALE,))
    for name in ALLOCATIONS:
        before = pool.allocations.get(name) or allocation(name)
        wanted = kept.overlay(before, getattr(spec, name))
        kept.check_allocation(wanted, f"spec.{name}")
        level = str(wanted.shares.level)
        if level in SHARES[name]:
            wanted.shares = vim.SharesInfo(level=level, shares=SHARES[name][level])
        merged[name] = wanted
    _require_room(pool, merged)
    return merged


def _check_scale(pool, value):
    """Scalable shares need a cluster, and a pool below scalable ones cannot have its own setting."""
    kept.require_one_of(value, vim.ResourceConfigSpec.ScaleSharesBehavior.values, f"spec.{SCALE}")
    if pool.owner.kind != "ClusterComputeResource":
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object.")
    above = pool.parent
    while isinstance(above, inventory.ResourcePool):
        if above.allocations.get(SCALE) == "scaleCpuAndMemoryShares":
            raise vmodl.fault.InvalidArgument(
                msg="A specified parameter was not correct: ResourceConfigSpec", invalidProperty="ResourceConfigSpec"
            )
        above = above.parent


def _require_room(pool, wanted):
    hosts = [host for host in pool.owner.hosts.values() if host.connection == "connected"]
    mhz = sum(resources.cpu_capacity_mhz(host) for host in hosts)
    megabytes = sum(resources.effective_memory_mb(host) for host in hosts)
    for name, capacity, lack, unit in (
        ("cpuAllocation", mhz, vim.fault.InsufficientCpuResourcesFault, 1),
        ("memoryAllocation", megabytes, vim.fault.InsufficientMemoryResourcesFault, 1024 * 1024),
    ):
        left = _left(pool, pool.parent, name, capacity)
        if wanted[name].reservation > left:
            raise lack(
                msg="The available resources in the parent resource pool are insufficient for the operation.",
                unreserved=max(0, left) * unit,
                requested=wanted[name].reservation * unit,
            )


def _left(pool, above, name, capacity):
    """What a pool below this one may reserve; an expandable parent reserves more from its own parent."""
    others = sum(_demand(one, name) for one in above.pools.values() if one is not pool)
    if above.parent is not above.owner:
        own = above.allocations.get(name) or allocation(name)
        borrowed = _left(above, above.parent, name, capacity) if own.expandableReservation else 0
        capacity = max(own.reservation, borrowed)
    return capacity - others


def _demand(pool, name):
    """What a pool takes from its parent: its reservation, and what its own pools borrow beyond it."""
    own = pool.allocations.get(name) or allocation(name)
    if not own.expandableReservation:
        return own.reservation
    return max(own.reservation, sum(_demand(one, name) for one in pool.pools.values()))
