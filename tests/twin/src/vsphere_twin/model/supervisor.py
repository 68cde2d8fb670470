"""VM classes and namespaces of the Supervisor, as vCenter holds them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pyVmomi import VmomiSupport, vim

ALL = 100
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_CLASS = {
    "cpu_count": int,
    "memory_MB": int,
    "cpu_reservation": int,
    "memory_reservation": int,
    "description": str,
    "devices": dict,
    "instance_storage": dict,
    "config_spec": dict,
}
_DEVICES = {"vgpu_devices": {"profile_name"}, "dynamic_direct_path_IO_devices": {"vendor_id", "device_id"}}
_SINCE = {"devices": (7, 0, 3), "instance_storage": (8, 0, 0), "config_spec": (8, 0, 2)}


class Refusal(Exception):
    """Refusal: the kind of the REST API's error, and a sentence."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind
        self.text = text


@dataclass
class Namespace:
    """A vSphere Namespace with what its VMs may use."""

    name: str
    cluster: str
    description: str = ""
    storage: list = field(default_factory=list)
    libraries: list = field(default_factory=list)
    classes: list = field(default_factory=list)


class Workloads:
    """VM classes by their names with the fields of the API, and namespaces."""

    def __init__(self):
        self.classes: dict[str, dict] = {}
        self.namespaces: dict[str, Namespace] = {}
        self.vms: dict[str, str] = {}  # the class of each VM that was created from one
        self.offered = []  # called with (namespace, {class: its fields}) after a change

    def create(self, release, given):
        """A new class."""
        name = given.get("id")
        if not isinstance(name, str) or not _LABEL.fullmatch(name):
            raise Refusal("INVALID_ARGUMENT", f"The identifier {name} is not a DNS label.")
        if name in self.classes:
            raise Refusal("ALREADY_EXISTS", f"A VM class with the name {name} exists.")
        fields = {key: value for key, value in given.items() if key != "id"}
        missing = [key for key in ("cpu_count", "memory_MB") if fields.get(key) is None]
        if missing:
            raise Refusal("INVALID_ARGUMENT", f"The field {missing[0]} is missing in this structure.")
        self._store(release, name, {}, fields)

    def update(self, release, name, given):
        """Change the fields that are given; others stay."""
        self._store(release, name, self.find(name), given)

    def find(self, name):
        if name not in self.classes:
            raise Refusal("NOT_FOUND", f"The VM class {name} could not be found.")
        return self.classes[name]

    def delete(self, name):
        """Remove a class that no namespace has."""
        self.find(name)
        users = self.users(name)
        if users:
            raise Refusal("RESOURCE_IN_USE", f"The VM class {name} is associated with {', '.join(users)}.")
        del self.classes[name]

    def users(self, name):
        """Names of the namespaces that offer a class."""
        return sorted(one.name for one in self.namespaces.values() if name in one.classes)

    def offer(self, namespace, classes):
        """Replace the classes of a namespace."""
        for name in classes:
            self.find(name)
        namespace.classes = sorted(set(classes))
        self._report(namespace)

    def _store(self, release, name, old, given):
        for key, value in given.items():
            if key not in _CLASS or release.numbers < _SINCE.get(key, ()):
                raise Refusal("INVALID_ARGUMENT", f"There is no field {key} in this structure.")
            if value is not None and (not isinstance(value, _CLASS[key]) or isinstance(value, bool)):
                raise Refusal("INVALID_ARGUMENT", f"The field {key} has a value of another type.")
        fields = {**old, **{key: value for key, value in given.items() if value is not None}}
        for key in ("cpu_reservation", "memory_reservation"):
            if not 0 <= fields.get(key, 0) <= ALL:
                raise Refusal("INVALID_ARGUMENT", f"The field {key} must be between 0 and {ALL}.")
        for key in ("cpu_count", "memory_MB"):
            if fields[key] < 1:
                raise Refusal("INVALID_ARGUMENT", f"The field {key} must be above 0.")
        _check_devices(fields.get("devices") or {})
        if "config_spec" in fields:
            check_typed(fields["config_spec"], "config_spec", vim.vm.ConfigSpec)
        if _has_devices(fields) and fields.get("memory_reservation") != ALL:
            raise Refusal("INVALID_ARGUMENT", f"A VM class with such devices must reserve {ALL} percent of its memory.")
        self.classes[name] = fields
        for namespace in self.namespaces.values():
            if name in namespace.classes:
                self._report(namespace)

    def _report(self, namespace):
        for listener in self.offered:
            listener(namespace.name, {name: self.classes[name] for name in namespace.classes})


def _check_devices(given):
    for key, rows in given.items():
        if key not in _DEVICES:
            raise Refusal("INVALID_ARGUMENT", f"There is no field {key} in this structure.")
        for row in rows:
            if not _DEVICES[key] <= set(row) <= {*_DEVICES[key], "custom_label"}:
                raise Refusal("INVALID_ARGUMENT", f"An element of {key} has other fields.")


def _has_devices(fields):
    changes = (fields.get("config_spec") or {}).get("deviceChange") or ()
    kinds = {(one.get("device") or {}).get("_typeName") for one in changes}
    return "VirtualPCIPassthrough" in kinds or any((fields.get("devices") or {}).values())


def _kind(name):
    """The type of the vSphere API with this name, or None."""
    try:
        return VmomiSupport.GetVmodlType(VmomiSupport.GetWsdlType("urn:vim25", name).__name__) if name else None
    except KeyError:
        return None


def built(value):
    """The object of the vSphere API from its JSON form, which check_typed accepted."""
    if isinstance(value, list):
        return [built(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "_value" in value:
        return value["_value"]
    made = _kind(value["_typeName"])()
    for key, one in value.items():
        if key != "_typeName":
            setattr(made, key, built(one))
    return made


def check_typed(value, path, expected):
    """Hold an object in the JSON form of the vSphere API to its type and its fields."""
    name = value.get("_typeName") if isinstance(value, dict) else None
    kind = _kind(name)
    if kind is None or not issubclass(kind, expected):
        raise Refusal("INVALID_ARGUMENT", f"{path} has no _typeName of {expected._wsdlName}.")
    fields = {one.name: one.type for one in kind._GetPropertyList()}
    for key, one in value.items():
        if key == "_typeName":
            continue
        if key not in fields:
            raise Refusal("INVALID_ARGUMENT", f"{path}.{key} is no field of {name}.")
        _check_value(one, f"{path}.{key}", fields[key])


def _check_value(value, path, kind):
    item = getattr(kind, "Item", None)
    if item is not None and isinstance(value, list):
        for number, one in enumerate(value):
            _check_value(one, f"{path}[{number}]", item)
    elif isinstance(kind, type) and issubclass(kind, VmomiSupport.DataObject):
        check_typed(value, path, kind)
    elif kind is object and not (isinstance(value, dict) and {"_typeName", "_value"} == set(value)):
        raise Refusal("INVALID_ARGUMENT", f"{path} needs _typeName and _value.")
