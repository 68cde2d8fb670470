"""Objects that a filter selects: start objects and the objects that traversals reach from them."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyVmomi import vmodl

from . import paths, registry, types

TraversalSpec = vmodl.query.PropertyCollector.TraversalSpec


@dataclass(eq=False)
class Step:
    """One traversal: from objects of a kind along a path, and on from there."""

    kind: str
    path: str
    skip: bool
    onward: list = field(default_factory=list)


@dataclass(eq=False)
class Start:
    """An object to begin with."""

    entity: object
    skip: bool
    onward: list


class Selection:
    """A filter specification, understood once and evaluated as often as needed."""

    def __init__(self, spec, resolve, version):
        self.version = version
        self.wanted = [_wanted(one, version) for one in spec.propSet]
        if not self.wanted:
            raise vmodl.fault.InvalidArgument(msg="A filter names no properties.", invalidProperty="propSet")
        self.starts = []
        for one in spec.objectSet:
            start = _start(one, resolve, version, bool(spec.reportMissingObjectsInResults))
            if start is not None:
                self.starts.append(start)
        self._paths_by_kind = {}

    def entities(self, reader):
        """Yield all selected objects with requested properties, each once."""
        found, walked = {}, set()
        for start in self.starts:
            if not start.skip:
                found[start.entity.moid] = start.entity
            todo = [(start.entity, start.onward)]
            while todo:
                entity, steps = todo.pop()
                for step in steps:
                    if (entity.moid, id(step)) in walked or not types.is_kind(entity.kind, step.kind):
                        continue
                    walked.add((entity.moid, id(step)))
                    reached = reader.entities(entity, paths.parse(step.kind, step.path, self.version))
                    if not step.skip:
                        found.update((one.moid, one) for one in reached)
                    if step.onward:
                        todo.extend((one, step.onward) for one in reached)
        return [entity for entity in found.values() if self.paths_of(entity.kind) is not None]

    def paths_of(self, kind):
        """Return the requested paths for objects of this kind; None if the kind is not mentioned."""
        try:
            return self._paths_by_kind[kind]
        except KeyError:
            found = [one for spec_kind, one in self.wanted if types.is_kind(kind, spec_kind)]
            listed = None
            if found:
                listed = list(dict.fromkeys(path for one in found for path in _expand(one, kind, self.version)))
            self._paths_by_kind[kind] = listed
            return listed


def _wanted(spec, version):
    kind = spec.type._wsdlName
    if spec.all:
        return kind, None
    for path in spec.pathSet:
        paths.parse(kind, path, version)
    return kind, list(spec.pathSet)


def _expand(listed, kind, version):
    if listed is not None:
        return listed
    owner = types.managed_type(kind)
    return [
        name for name in registry.properties_of(kind) if types.knows(version, types.property_of(owner, name).version)
    ]


def _start(spec, resolve, version, missing_is_fine):
    try:
        entity = resolve(spec.obj)
    except vmodl.fault.ManagedObjectNotFound:
        if missing_is_fine:
            return None
        raise
    named, made = {}, {}
    _collect_names(spec.selectSet, named)
    return Start(entity, bool(spec.skip), _steps(spec.selectSet, named, made, version))


def _collect_names(specs, named):
    for spec in specs or ():
        if isinstance(spec, TraversalSpec):
            if spec.name:
                named[spec.name] = spec
            _collect_names(spec.selectSet, named)


def _steps(specs, named, made, version):
    steps = []
    for given in specs or ():
        spec = given if isinstance(given, TraversalSpec) else named.get(given.name)
        if spec is None:
            raise vmodl.fault.InvalidArgument(msg=f"No traversal is named {given.name}.", invalidProperty="selectSet")
        step = made.get(id(spec))
        if step is None:
            step = made[id(spec)] = Step(spec.type._wsdlName, spec.path, bool(spec.skip))
            paths.parse(step.kind, step.path, version)
            step.onward = _steps(spec.selectSet, named, made, version)
        steps.append(step)
    return steps
