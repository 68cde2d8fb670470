"""Objects of vCenter as plain pyVmomi reads them over the wire, one by one, without the collection."""

from __future__ import annotations

import re

from pyVmomi import VmomiSupport, vim

from wire.observe import client

READ = {
    vim.HostSystem: ("config", "runtime"),
    vim.VirtualMachine: ("config", "runtime.powerState", "runtime.host"),
    vim.ClusterComputeResource: ("configurationEx",),
    vim.DistributedVirtualSwitch: ("config",),
    vim.dvs.DistributedVirtualPortgroup: ("config",),
}
# Counts and times, which grow with each change and each start.
LASTING = ("changeVersion", "configVersion", "modified", "bootTime", "createDate", "lastModified")
# Notes on the options of kernel modules at a boot, which no later boot uses.
OF_BOOT = re.compile(r"\.at_boot$")
# vCenter writes these keys when a VM starts.
OF_START = tuple(
    f"config.extraConfig[{key}]"
    for key in ("ethernet0.pciSlotNumber", "ethernet1.pciSlotNumber", "pciPassthru0.present", "pciPassthru1.present")
)
# dump.OF_DRIVER as a client sees it.
OF_DRIVER = ("config.graphicsConfig.deviceType[0].graphicsType",)
# The MTU of a distributed switch, which restore lists as *cannot*, at the switch and at its hosts.
OF_MTU = (
    "config.maxMtu",
    "config.network.proxySwitch[key-vim.host.HostProxySwitch-dvs-train].mtu",
    "config.network.rdmaDevice[key-vim.host.RdmaDevice-vmrdma0].connectionInfo.mtu",
)


def read(twin):
    """{name of an object: {path: value}}."""
    found = {}
    with client(twin) as service:
        content = service.RetrieveContent()
        notes = {field.key: field.name for field in content.customFieldsManager.field}
        for kind, properties in READ.items():
            view = content.viewManager.CreateContainerView(content.rootFolder, [kind], True)
            for one in view.view:
                values = {}
                for path in properties:
                    value = one
                    for part in path.split("."):
                        value = getattr(value, part, None)
                    _walk(path, value, values)
                named = {notes[note.key]: note.value for note in one.customValue}
                values.update({f"customValue.{name}": text for name, text in named.items() if not OF_BOOT.search(name)})
                found[f"{kind.__name__.rpartition('.')[2]} {one.name}"] = values
            view.Destroy()
    return found


def differences(before, after):
    """{name of an object: {path: (before, after)}}, without objects that are the same."""
    reported = {}
    for name in sorted({*before, *after}):
        old, new = before.get(name, {}), after.get(name, {})
        paths = {path: (old.get(path), new.get(path)) for path in {*old, *new} if old.get(path) != new.get(path)}
        if paths:
            reported[name] = paths
    return reported


def _walk(path, value, found):
    if isinstance(value, VmomiSupport.ManagedObject):
        found[path] = value._moId
    elif isinstance(value, VmomiSupport.DataObject):
        for part in value._GetPropertyList():
            if part.name not in LASTING:
                _walk(f"{path}.{part.name}", getattr(value, part.name), found)
    elif isinstance(value, list):
        for number, one in enumerate(value):
            _walk(f"{path}[{_key(one, number)}]", one, found)
    elif value is not None:
        found[path] = str(value)


def _key(one, number):
    """The name of a row in place of its number, so that another order is no difference."""
    for name in ("key", "id", "device", "pciId"):
        value = getattr(one, name, None)
        if isinstance(value, (str, int)) and value != "":
            return value
    return number
