"""ViewManager and its views: lists of objects that keep themselves up to date."""

from __future__ import annotations

from pyVmomi import vmodl

from ...model.world import Entity
from .. import paths, types
from ..registry import method, prop

# Properties of the API with the children of a container.
HOLDS = {
    "Folder": ("childEntity",),
    "Datacenter": ("vmFolder", "hostFolder", "datastoreFolder", "networkFolder"),
    "ComputeResource": ("host", "resourcePool", "datastore", "network"),
    "ResourcePool": ("resourcePool", "vm"),
    "HostSystem": ("vm", "datastore", "network"),
}


class ViewManager(Entity):
    kind = "ViewManager"

    def __init__(self):
        super().__init__("ViewManager")
        self.version = None


class ContainerView(Entity):
    """Everything of some kinds in a container."""

    kind = "ContainerView"

    def __init__(self, moid, container, wanted, recursive, call):
        super().__init__(moid)
        self.version = None
        self.container = container
        self.wanted = wanted
        self.recursive = recursive
        self._reader = call.reader
        self._api_version = call.version
        self._counted = (None, [])

    def members(self, world):
        if self._counted[0] != world.generation:
            self._counted = (world.generation, self._walk())
        return self._counted[1]

    def _walk(self):
        found, todo = {}, [self.container]
        while todo:
            for child in self._children(todo.pop()):
                if child.moid not in found:
                    found[child.moid] = child
                    if self.recursive:
                        todo.append(child)
        return [one for one in found.values() if self._wants(one.kind)]

    def _children(self, entity):
        for kind, names in HOLDS.items():
            if types.is_kind(entity.kind, kind):
                for name in names:
                    yield from self._reader.entities(entity, paths.parse(kind, name, self._api_version))

    def _wants(self, kind):
        return not self.wanted or any(types.is_kind(kind, wanted) for wanted in self.wanted)


class ListView(Entity):
    """The objects that the client puts in."""

    kind = "ListView"

    def __init__(self, moid):
        super().__init__(moid)
        self.version = None
        self.listed = {}

    def members(self, world):
        return [entity for entity in self.listed.values() if world.get(entity.moid) is entity]

    def put(self, call, references):
        """Add all existing objects; return the references of the rest."""
        missing = []
        for reference in references:
            try:
                entity = call.resolve(reference)
            except vmodl.fault.ManagedObjectNotFound:
                missing.append(reference)
            else:
                self.listed[entity.moid] = entity
        call.world.touch()
        return missing


@method("ViewManager", "CreateContainerView")
def create_container_view(call, this, container, recursive, type=()):
    entity = call.resolve(container)
    if not any(types.is_kind(entity.kind, kind) for kind in HOLDS):
        raise vmodl.fault.InvalidArgument(msg=f"{entity.kind} is no container for a view.", invalidProperty="container")
    wanted = [one._wsdlName for one in type]
    return call.session.add(ContainerView(call.session.new_moid(), entity, wanted, recursive, call))


@method("ViewManager", "CreateListView")
def create_list_view(call, this, obj=()):
    view = call.session.add(ListView(call.session.new_moid()))
    view.put(call, obj)
    return view


@method("ViewManager", "CreateListViewFromView")
def create_list_view_from_view(call, this, view):
    copied = call.session.add(ListView(call.session.new_moid()))
    copied.listed = {entity.moid: entity for entity in call.resolve(view).members(call.world)}
    return copied


@method("ListView", "ModifyListView")
def modify_list_view(call, this, add=(), remove=()):
    for reference in remove:
        this.listed.pop(reference._moId, None)
    return this.put(call, add)


@method("ListView", "ResetListView")
def reset_list_view(call, this, obj=()):
    this.listed.clear()
    return this.put(call, obj)


@method("View", "DestroyView")
def destroy_view(call, this):
    call.session.objects.pop(this.moid, None)


@prop("ViewManager", "viewList")
def view_list(entity, world):
    return []


@prop("ManagedObjectView", "view")
def view_members(entity, world):
    return entity.members(world)


@prop("ContainerView", "container")
def container_of(entity, world):
    return entity.container


@prop("ContainerView", "type")
def types_of(entity, world):
    return [types.managed_type(kind) for kind in entity.wanted]


@prop("ContainerView", "recursive")
def is_recursive(entity, world):
    return entity.recursive
