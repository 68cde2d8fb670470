"""DirectPathProfileManager: profiles of devices, and how many more of them hosts can give (API 9.0)."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from vsphere_twin.model import direct_capacity
from vsphere_twin.model.direct_capacity import Uncountable
from vsphere_twin.model.permissions import exists
from vsphere_twin.model.services import DirectPathProfile

from ..projections.shape import make
from ..registry import method

KIND = "DirectPathProfileManager"
# The description of the API names this privilege for the changes. For the query it names none [unsure: that it is the
# same one, on the target].
MANAGE = "DirectPathProfileManager.Manage"
TYPES = vim.DirectPathProfileManager
CONFIGS = (
    TYPES.VmiopDirectPathConfig,
    TYPES.DvxDirectPathConfig,
    TYPES.DynamicDirectPathConfig,
    TYPES.VirtualDeviceGroupDirectPathConfig,
)


@method(KIND, "DirectPathProfileManagerCreate")
def create(call, this, spec):
    _require_name(this, spec.name)
    _require_config(spec.deviceConfig, "spec.deviceConfig")
    made = DirectPathProfile(call.world.new_uuid("DirectPath profile"), spec.name, spec.description, spec.deviceConfig)
    this.profiles[made.id] = made
    call.world.touch(this)
    return made.id


@method(KIND, "DirectPathProfileManagerUpdate")
def update(call, this, id, spec):  # pylint: disable=redefined-builtin
    profile = _found(this, id)
    if spec.name is not None and spec.name != profile.name:
        _require_name(this, spec.name)
        profile.name = spec.name
    if spec.description is not None:
        profile.description = spec.description
    call.world.touch(this)


@method(KIND, "DirectPathProfileManagerDelete")
def delete(call, this, id):  # pylint: disable=redefined-builtin
    profile = _found(this, id)
    if profile.users:
        raise vim.fault.ResourceInUse(msg=f"The resource '{profile.name}' is in use.", name=profile.name)
    del this.profiles[id]
    call.world.touch(this)


@method(KIND, "DirectPathProfileManagerList")
def listed(call, this, filterSpec):
    """The conditions hold together [unsure]; a cluster lists the profiles that its hosts have devices for [unsure]."""
    clusters = [call.resolve(one) for one in filterSpec.clusters or []]
    return [
        _info(one)
        for one in this.profiles.values()
        if (not filterSpec.ids or one.id in filterSpec.ids)
        and (not filterSpec.names or one.name in filterSpec.names)
        and (not clusters or any(_has(cluster, one.config) for cluster in clusters))
    ]


@method(KIND, "DirectPathProfileManagerQueryCapacity")
def query_capacity(call, this, target, querySpec=None):
    hosts = _hosts(call, target)
    specs = querySpec or [make(TYPES.CapacityQueryById, id=one) for one in this.profiles]
    return [_capacity(this, target, hosts, spec) for spec in specs]


def _hosts(call, target):
    if isinstance(target, TYPES.TargetHost):
        host = call.resolve(target.host)
        call.require_privilege(MANAGE, host)
        return [host]
    if isinstance(target, TYPES.TargetCluster):
        cluster = call.resolve(target.cluster)
        call.require_privilege(MANAGE, cluster)
        return list(cluster.hosts.values())
    raise _wrong("target")


def _capacity(this, target, hosts, spec):
    """The count of one query, or the reasons why there is none."""
    try:
        profile = _asked(this, spec)
        if isinstance(target, TYPES.TargetHost):
            direct_capacity.require_answering(hosts[0])
        counted = direct_capacity.count(hosts, profile.config)
    except Uncountable as reason:
        return make(TYPES.CapacityUnknown, querySpec=spec, faultList=[reason.fault])
    return make(
        TYPES.CapacityInfo,
        profile=_info(profile),
        consumed=counted.consumed,
        remaining=counted.remaining,
        max=counted.most,
        unusedReservation=profile.reserved,
    )


def _asked(this, spec):
    """The profile of a query; a device alone is a profile without id and name [unsure: that they are empty]."""
    if isinstance(spec, TYPES.CapacityQueryByDeviceConfig):
        _require_config(spec.deviceConfig, "querySpec.deviceConfig")
        return DirectPathProfile("", "", None, spec.deviceConfig)
    if isinstance(spec, TYPES.CapacityQueryById):
        profile = this.profiles.get(spec.id)
    elif isinstance(spec, TYPES.CapacityQueryByName):
        profile = this.named(spec.name)
    else:
        raise _wrong("querySpec")
    if profile is None:
        raise Uncountable(_not_found())
    return profile


def _has(cluster, config):
    try:
        return direct_capacity.count(cluster.hosts.values(), config).most > 0
    except Uncountable:
        return False


def _info(profile):
    return make(
        TYPES.DirectPathProfileInfo,
        id=profile.id,
        name=profile.name,
        description=profile.description,
        vendorName=direct_capacity.vendor_of(profile.config),
        deviceConfig=profile.config,
    )


def _found(this, name):
    if name not in this.profiles:
        raise _not_found()
    return this.profiles[name]


def _require_name(this, name):
    if not name.strip():
        raise _wrong("spec.name")
    if this.named(name) is not None:
        raise exists(name)


def _require_config(config, place):
    if not isinstance(config, CONFIGS):
        raise _wrong(place)


def _not_found():
    return vim.fault.NotFound(msg="The object or item referred to could not be found.")


def _wrong(place):
    return vmodl.fault.InvalidArgument(msg=f"A specified parameter was not correct: {place}", invalidProperty=place)
