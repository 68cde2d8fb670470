"""pyVmomi's type system for a server: lookups by the names on the wire."""

from __future__ import annotations

import functools

# vmodl must be loaded before any lookup of types.
from pyVmomi import VmomiSupport, vmodl  # noqa: F401  # pylint: disable=unused-import

from . import reflect

VIM_NAMESPACE = "urn:vim25"
SERVICE_NAMESPACE = "vim25"
POLICY_SERVICE = "pbm"
DISK_SERVICE = "vslm"
OPTIONAL = VmomiSupport.F_OPTIONAL
check = VmomiSupport.CheckField  # raises TypeError


# Method to read a property without the property collector; no type declares it, every object answers it.
FETCH = VmomiSupport.Object(
    name="Fetch",
    wsdlName="Fetch",
    version=VmomiSupport.BASE_VERSION,
    params=(VmomiSupport.Object(name="prop", type=str, version=VmomiSupport.BASE_VERSION, flags=0),),
    result=object,
    privId="System.Anonymous",
)
_UNDECLARED = {FETCH.wsdlName: FETCH, **reflect.undeclared_methods()}


@functools.lru_cache(maxsize=None)
def managed_type(kind):
    """The class of a managed object type by its WSDL name, such as HostGraphicsManager."""
    try:
        found = VmomiSupport.GuessWsdlType(kind)
    except KeyError:
        found = None
    if found is None or not issubclass(found, VmomiSupport.ManagedObject):
        raise ValueError(f"{kind} is not the WSDL name of a managed object type.")
    return found


@functools.lru_cache(maxsize=None)
def ancestors(kind):
    """The WSDL names of a managed object type and of all it inherits from, nearest first."""
    return tuple(
        found._wsdlName for found in managed_type(kind).__mro__ if issubclass(found, VmomiSupport.ManagedObject)
    )


@functools.lru_cache(maxsize=None)
def is_kind(kind, wanted):
    """Return whether a kind of objects is or inherits from another one."""
    return wanted in ancestors(kind)


@functools.lru_cache(maxsize=None)
def method_of(name, kind=None):
    """The description of a method by its WSDL name."""
    if name in _UNDECLARED:
        return _UNDECLARED[name]
    try:
        found = VmomiSupport.GuessWsdlMethod(name).info
    except KeyError:
        raise ValueError(f"{name} is not the WSDL name of a method.") from None
    if kind is not None and not issubclass(managed_type(kind), found.type):
        related = [cls for cls in managed_type(kind).__mro__ if name in vars(cls)]
        if not related:
            raise ValueError(f"{kind} has no method {name}.")
        found = vars(related[0])[name].info
    return found


@functools.lru_cache(maxsize=None)
def property_of(owner, name):
    """The description of a property of a data or managed object type; KeyError where there is none."""
    try:
        return owner._GetPropertyInfo(name)
    except AttributeError:
        raise KeyError(f"{owner._wsdlName} has no property {name}.") from None


def reference(entity):
    """The managed object reference of an entity of the world."""
    return managed_type(entity.kind)(entity.moid)


@functools.lru_cache(maxsize=None)
def _by_parent():
    """Names of data object types by the name of the one they extend; read without loading any of them."""
    children = {}
    for name, _wsdl_name, parent, *_more in VmomiSupport._dataDefMap.values():
        children.setdefault(parent, []).append(name)
    return children


@functools.lru_cache(maxsize=None)
def subtypes(kind):
    """Return all data object types that extend this one, directly or not."""
    found = []
    for name in _by_parent().get(VmomiSupport.GetVmodlName(kind), ()):
        child = VmomiSupport.GetVmodlType(name)
        found += [child, *subtypes(child)]
    return tuple(found)


@functools.lru_cache(maxsize=None)
def is_base(kind):
    """Return whether other data object types extend this one."""
    return VmomiSupport.GetVmodlName(kind) in _by_parent()


@functools.lru_cache(maxsize=None)
def knows(version, introduced):
    """Return whether a client of this version supports the features of that one."""
    return VmomiSupport.IsChildVersion(version, introduced)


@functools.lru_cache(maxsize=None)
def version_of(version_id, service=SERVICE_NAMESPACE):
    """The type system's name for a version id such as 8.0.3.0; None where it has none."""
    return VmomiSupport.versionMap.get(f"{service}/{version_id}")


@functools.lru_cache(maxsize=None)
def service_of(version):
    """The service that a version belongs to: vim25, pbm or vslm."""
    return VmomiSupport.GetVersionNamespace(version).partition("/")[0]


def newest_beside(newest, service):
    """The version of a service beside a version of vCenter: the newest with an id that it knows."""
    for version in VmomiSupport.GetServiceVersions(service):
        beside = version_of(VmomiSupport.versionIdMap[version])
        if beside is not None and knows(newest, beside):
            return version
    raise ValueError(f"No version of {service} is beside {newest}.")


def version_ids():
    """Return all version ids of the vim25 service that the type system has, newest first."""
    found = [VmomiSupport.versionIdMap[version] for version in VmomiSupport.GetServiceVersions(SERVICE_NAMESPACE)]
    return [version_id for version_id in found if version_id]  # vmodl's own versions have no id
