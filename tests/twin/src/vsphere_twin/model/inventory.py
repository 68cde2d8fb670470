"""The tree of the inventory: folders, datacenters, compute resources, pools, and how things move in it."""

from __future__ import annotations

import copy
import itertools
import re

from pyVmomi import VmomiSupport, vim, vmodl

from .configuration import Configuration
from .image import Image
from .world import Entity

VM_CHILDREN = ("Folder", "VirtualMachine", "VirtualApp")
HOST_CHILDREN = ("Folder", "ComputeResource")
DATASTORE_CHILDREN = ("Folder", "Datastore", "StoragePod")
NETWORK_CHILDREN = ("Folder", "Network")
DATACENTER_CHILDREN = ("Folder", "Datacenter")

STORAGE = vim.storageDrs
# Storage DRS of a new datastore cluster (vSphere API reference, StorageDrsPodConfigInfo).
POD_DEFAULTS = {
    "enabled": False,
    "ioLoadBalanceEnabled": True,
    "defaultVmBehavior": "manual",
    "loadBalanceInterval": 480,
    "defaultIntraVmAffinity": True,
    "spaceLoadBalanceConfig": STORAGE.SpaceLoadBalanceConfig(
        spaceThresholdMode="utilization",
        spaceUtilizationThreshold=80,
        freeSpaceThresholdGB=50,
        minSpaceUtilizationDifference=5,
    ),
    "ioLoadBalanceConfig": STORAGE.IoLoadBalanceConfig(
        reservablePercentThreshold=60,
        reservableThresholdMode="automated",
        ioLatencyThreshold=15,
        ioLoadImbalanceThreshold=5,
    ),
    "automationOverrides": None,
    "option": [],
}


class Managed(Entity):
    """Something with a name and a place in the tree."""

    def __init__(self, moid, name, parent=None):
        super().__init__(moid)
        self.name = name
        self.parent = parent
        self.recent_tasks = []
        self.busy_with = None  # the task that has this object for itself
        self.waiting_tasks = []  # those that wait for its end, each with its work
        self.custom_values = {}
        self.status = "green"

    def descendants(self):
        """Return the descendants in the tree, for the search by path."""
        return []

    def folder_kind(self):
        """Return the kind in the childType of folders."""
        return self.kind


class Folder(Managed):
    kind = "Folder"

    def __init__(self, moid, name, parent, child_types):
        super().__init__(moid, name, parent)
        self.child_types = child_types
        self.children: dict[str, Managed] = {}

    def descendants(self):
        return list(self.children.values())


class Pod(Folder):
    """A datastore cluster."""

    kind = "StoragePod"

    def __init__(self, world, name):
        super().__init__(world.new_moid("group-p"), name, None, ("Datastore",))
        self.settings = copy.deepcopy(POD_DEFAULTS)


class Datacenter(Managed):
    kind = "Datacenter"

    def __init__(self, world, name, parent):
        super().__init__(world.new_moid("datacenter"), name, parent)
        self.vm_folder = self._folder(world, "vm", "v", VM_CHILDREN)
        self.host_folder = self._folder(world, "host", "h", HOST_CHILDREN)
        self.datastore_folder = self._folder(world, "datastore", "s", DATASTORE_CHILDREN)
        self.network_folder = self._folder(world, "network", "n", NETWORK_CHILDREN)

    def _folder(self, world, name, letter, child_types):
        return world.add(Folder(world.new_moid(f"group-{letter}"), name, self, child_types))

    def descendants(self):
        return [self.vm_folder, self.host_folder, self.datastore_folder, self.network_folder]


class ResourcePool(Managed):
    kind = "ResourcePool"

    def __init__(self, moid, name, parent, owner):
        super().__init__(moid, name, parent)
        self.owner = owner
        self.allocations: dict = {}  # the fields of a ResourceConfigSpec, as far as they were requested
        self.pools: dict[str, ResourcePool] = {}
        self.vms: dict[str, Entity] = {}

    def descendants(self):
        return [*self.pools.values(), *self.vms.values()]


class ComputeResource(Managed):
    """Compute resource of a standalone host."""

    kind = "ComputeResource"
    pool_prefix, own_prefix = "resgroup", "domain-s"

    def __init__(self, world, name, parent):
        super().__init__(world.new_moid(self.own_prefix), name, parent)
        self.hosts: dict[str, Entity] = {}
        self.pool = world.add(ResourcePool(world.new_moid("resgroup"), "Resources", self, self))
        self.browser = world.add(EnvironmentBrowser(world.new_moid("envbrowser"), self))

    def descendants(self):
        return [*self.hosts.values(), self.pool]

    def folder_kind(self):
        return "ComputeResource"


class Cluster(ComputeResource):
    kind = "ClusterComputeResource"
    own_prefix = "domain-c"

    def __init__(self, world, name, parent, drs="manual", ha=False):
        super().__init__(world, name, parent)
        self.drs = drs  # off, manual, partiallyAutomated, fullyAutomated
        self.ha = ha
        self.rules = []
        self.groups = []  # of VMs and of hosts, which rules name
        self.vm_overrides: dict = {}  # VM's moid: its DrsVmConfigInfo
        self.ha_overrides: dict = {}  # VM's moid: its DasVmConfigInfo
        self.orchestration: dict = {}  # VM's moid: its VmOrchestrationInfo
        self.kept: dict = {}  # settings without a rule, by their names in a ConfigSpecEx
        self.honours_overrides = True
        self._rule_keys = itertools.count(1)
        self.options: dict[str, str] = {}
        self.vcls_stores: dict = {}  # the datastores that the VMs of vCLS may have, by id
        self.evc = world.add(EvcManager(f"evcmanager-{self.moid}", self))
        self.image = Image()
        self.configuration = Configuration()

    def next_rule_key(self):
        """Keys of rules are not used again."""
        return next(self._rule_keys)


class EvcManager(Entity):
    """The EVC manager of a cluster."""

    kind = "ClusterEVCManager"

    def __init__(self, moid, cluster):
        super().__init__(moid)
        self.cluster = cluster
        self.mode = None


class EnvironmentBrowser(Entity):
    kind = "EnvironmentBrowser"

    def __init__(self, moid, owner):
        super().__init__(moid)
        self.version = None  # that of a VM leads to the VM's host
        self.owner = owner  # a compute resource or a VM


def find_child(parent, name):
    """The child with this name; names are compared as vCenter does, without regard to case."""
    wanted = name.casefold()
    for child in parent.descendants():
        if child.name.casefold() == wanted:
            return child
    return None


def path_of(entity):
    """The inventory path, as FindByInventoryPath takes it: without the root folder."""
    names = []
    while entity is not None and entity.parent is not None:
        names.append(entity.name)
        entity = entity.parent
    return "/".join(reversed(names))


def find_by_path(world, path):
    """The entity at an inventory path, or None."""
    entity = world.root_folder
    for name in path.strip("/").split("/"):
        if name:
            entity = find_child(entity, name)
        if entity is None:
            return None
    return entity


def datacenter_of(entity):
    """The datacenter above an entity, or None."""
    while entity is not None and entity.kind != "Datacenter":
        entity = entity.parent
    return entity


def put(world, folder, entity):
    """Place an entity into a folder, by the folder's rules."""
    if entity.folder_kind() not in folder.child_types and not _base_kind_fits(entity, folder):
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object.")
    if entity.kind == Folder.kind and entity.child_types != folder.child_types:
        # A folder of VMs holds VMs and folders of VMs only (API reference of MoveIntoFolder_Task).
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object.")
    if entity in _line(folder):  # a folder in itself would be a circle; the words are [unsure]
        raise vim.fault.InvalidFolder(msg=f"The folder '{folder.name}' is not valid.", target=reference(folder))
    refuse_duplicate(folder, entity.name, but=entity)
    before = entity.parent
    if before is not None and isinstance(before, Folder):
        before.children.pop(entity.moid, None)
    folder.children[entity.moid] = entity
    entity.parent = folder
    world.touch(*(one for one in (before, folder, entity, datacenter_of(folder)) if one is not None))
    return entity


def _line(entity):
    """An entity and all that it lies in."""
    return [] if entity is None else [entity, *_line(entity.parent)]


def refuse_duplicate(folder, name, but=None):
    """Two siblings never have one name."""
    other = find_child(folder, encoded(name))
    if other is not None and other is not but:
        raise vim.fault.DuplicateName(
            msg=f"The name '{name}' already exists.",
            name=name,
            object=reference(other),
        )


def in_use(entity):
    """Return the fault for the removal of an object that others use."""
    return vim.fault.ResourceInUse(
        msg=f"The resource '{entity.name}' is in use.",
        type=VmomiSupport.GuessWsdlType(entity.kind),
        name=entity.name,
    )


def reference(entity):
    """A managed object reference for use inside a fault."""
    return VmomiSupport.GuessWsdlType(entity.kind)(entity.moid)


def rename(world, entity, name):
    """Give an entity another name."""
    refuse_name(name)
    if isinstance(entity.parent, (Folder, ResourcePool)):
        refuse_duplicate(entity.parent, name, but=entity)
    entity.name = encoded(name)
    world.touch(*world.entities())  # hosts, VMs and switches show the names of others


def refuse_name(name):
    """A name has one to eighty characters."""
    if not name or len(name) > 80:
        raise vim.fault.InvalidName(msg=f"The name '{name or ''}' is not valid.", name=name or "")


def refuse_new_name(parent, name):
    """A new object has a valid name that none of its siblings has."""
    refuse_name(name)
    refuse_duplicate(parent, name)


def encoded(name):
    """Escape slash, backslash and percent, as in vSphere's names; escaped text stays unchanged."""
    name = re.sub("%(?!2f|5c|25)", "%25", name, flags=re.IGNORECASE)
    return name.replace("/", "%2f").replace("\\", "%5c")


def make_folder(world, parent, name):
    """Create a folder with the same child types as its parent."""
    refuse_duplicate(parent, name)
    letter = {VM_CHILDREN: "v", HOST_CHILDREN: "h", DATASTORE_CHILDREN: "s", NETWORK_CHILDREN: "n"}
    moid = world.new_moid(f"group-{letter.get(parent.child_types, 'd')}")
    return put(world, parent, world.add(Folder(moid, encoded(name), None, parent.child_types)))


def _base_kind_fits(entity, folder):
    bases = {"DistributedVirtualPortgroup": "Network", "VmwareDistributedVirtualSwitch": "Network"}
    return bases.get(entity.kind) in folder.child_types
