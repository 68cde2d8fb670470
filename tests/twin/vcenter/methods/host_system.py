"""The methods of a host and of the managers below it."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from twin.model import host as hosts

from .. import types
from ..projections import host_gpu, host_network, host_system
from ..projections.shape import make
from ..registry import method
from .tasking import begin


@method("HostSystem", "EnterMaintenanceMode_Task")
def enter_maintenance(call, this, timeout, evacuatePoweredOffVms=None, maintenanceSpec=None):
    return begin(call, "EnterMaintenanceMode_Task", this, lambda: hosts.enter_maintenance(call.world, this))


@method("HostSystem", "ExitMaintenanceMode_Task")
def exit_maintenance(call, this, timeout):
    return begin(call, "ExitMaintenanceMode_Task", this, lambda: hosts.leave_maintenance(call.world, this))


@method("HostSystem", "RebootHost_Task")
def reboot(call, this, force):
    if not force and not this.maintenance:
        raise vim.fault.InvalidState(msg="The operation is not allowed in the current state.")
    return begin(call, "RebootHost_Task", this, lambda: hosts.reboot(call.world, this))


@method("HostSystem", "DisconnectHost_Task")
def disconnect(call, this):
    return begin(call, "DisconnectHost_Task", this, lambda: _connection(call.world, this, "disconnected"))


@method("HostSystem", "ReconnectHost_Task")
def reconnect(call, this, cnxSpec=None, reconnectSpec=None):
    return begin(call, "ReconnectHost_Task", this, lambda: _connection(call.world, this, "connected"))


@method("HostSystem", "QueryHostConnectionInfo")
def connection_info(call, this):
    return make(vim.host.ConnectInfo, host=host_system.summary(this, call.world))


@method("HostGraphicsManager", "UpdateGraphicsConfig")
def update_graphics(call, this, config):
    hosts.set_graphics(call.world, this.host, config)


@method("HostGraphicsManager", "RefreshGraphicsManager")
def refresh_graphics(call, this):
    call.world.touch(this)


@method("HostGraphicsManager", "IsSharedGraphicsActive")
def shared_graphics_active(call, this):
    return any(gpu.active_type == "shared" for gpu in this.host.gpus)


@method("HostGraphicsManager", "RetrieveVgpuDeviceInfo")
def vgpu_device_info(call, this):
    return host_gpu.device_info(this.host)


@method("HostGraphicsManager", "RetrieveVgpuProfileInfo")
def vgpu_profile_info(call, this):
    return host_gpu.profile_info(this.host)


@method("HostPciPassthruSystem", "UpdatePassthruConfig")
def update_passthrough(call, this, config):
    by_id = {gpu.pci_id: gpu for gpu in this.host.gpus}
    for entry in config:
        gpu = by_id.get(entry.id)
        if gpu is None:
            raise vim.fault.NotFound(msg=f"The PCI device {entry.id} does not exist on the host.")
        if gpu.vms():
            raise vim.fault.ResourceInUse(
                msg=f"The resource '{entry.id}' is in use.", type=vim.host.PciDevice, name=entry.id
            )
        gpu.passthrough = bool(entry.passthruEnabled)
    hosts.load_driver(this.host, this.host.driver.family, this.host.driver.version)
    call.world.touch(this, this.host, this.host.managers["graphicsManager"])


@method("HostServiceSystem", "StartService")
def start_service(call, this, id):
    _service(call, this, id).running = True


@method("HostServiceSystem", "StopService")
def stop_service(call, this, id):
    _service(call, this, id).running = False


@method("HostServiceSystem", "RestartService")
def restart_service(call, this, id):
    _service(call, this, id).running = True
    if id == "xorg":
        hosts.restart_xorg(call.world, this.host)


@method("HostServiceSystem", "UpdateServicePolicy")
def update_service_policy(call, this, id, policy):
    _service(call, this, id).policy = policy


@method("HostServiceSystem", "RefreshServices")
def refresh_services(call, this):
    call.world.touch(this)


@method("HostFirewallSystem", "EnableRuleset")
def enable_ruleset(call, this, id):
    _ruleset(call, this, id, True)


@method("HostFirewallSystem", "DisableRuleset")
def disable_ruleset(call, this, id):
    _ruleset(call, this, id, False)


@method("HostFirewallSystem", "UpdateRuleset")
def update_ruleset(call, this, id, spec):
    if id not in this.host.rulesets:
        raise vim.fault.NotFound(msg=f"The ruleset {id} does not exist.")
    this.host.allowed_hosts[id] = spec.allowedHosts
    call.world.touch(this, this.host)


@method("HostFirewallSystem", "RefreshFirewall")
def refresh_firewall(call, this):
    call.world.touch(this)


@method("HostVirtualNicManager", "QueryNetConfig")
def query_net_config(call, this, nicType):
    return next((row for row in host_network.nic_services(this.host) if row.nicType == nicType), None)


@method("HostNetworkSystem", "QueryNetworkHint")
def query_network_hint(call, this, device=None):
    """No neighbour announces itself to the model's ports."""
    return [
        make(vim.host.PhysicalNic.NetworkHint, device=nic.device)
        for nic in this.host.nics
        if not device or nic.device in device
    ]


@method("OptionManager", "QueryOptions")
def query_options(call, this, name=None):
    values = _values(this)
    found = [key for key in sorted(values) if not name or key == name or name.endswith(".") and key.startswith(name)]
    if name and not found:
        raise vim.fault.InvalidName(msg=f"The name '{name}' is not valid.", name=name)
    return [make(vim.option.OptionValue, key=key, value=values[key]) for key in found]


@method("OptionManager", "UpdateOptions")
def update_options(call, this, changedValue):
    values = _values(this)
    for option in changedValue:
        if hasattr(this, "host") and option.key not in values:
            raise vim.fault.InvalidName(msg=f"The name '{option.key}' is not valid.", name=option.key)
    for option in changedValue:
        values[option.key] = option.value
    call.world.touch(this, *([this.host] if hasattr(this, "host") else []))


@method("HostDatastoreBrowser", "SearchDatastore_Task")
def search_datastore(call, this, datastorePath, searchSpec=None):
    return begin(
        call, "SearchDatastore_Task", this.host, lambda: _found(call.world, this, datastorePath), exclusive=False
    )


@method("HostDatastoreBrowser", "SearchDatastoreSubFolders_Task")
def search_sub_folders(call, this, datastorePath, searchSpec=None):
    def work():
        found = _found(call.world, this, datastorePath)
        return vim.host.DatastoreBrowser.SearchResults.Array([found])

    return begin(call, "SearchDatastoreSubFolders_Task", this.host, work, exclusive=False)


def _found(world, browser, path):
    """The files of the VMs whose home lies in the directory; nothing else is on the model's datastores."""
    directory = path.rstrip("/")
    files = [
        vim.host.DatastoreBrowser.FileInfo(path=name.rpartition("/")[2])
        for vm in world.of_kind("VirtualMachine")
        for name in [vm.home, *(disk.backing.fileName for disk in vm.disks)]
        if name.rpartition("/")[0] == directory
    ]
    if not files and not directory.endswith("]"):
        raise vim.fault.FileNotFound(msg=f"File {path} was not found", file=path)
    store = next((one for one in browser.host.datastores.values() if path.startswith(f"[{one.name}]")), None)
    return make(
        vim.host.DatastoreBrowser.SearchResults,
        datastore=types.reference(store) if store is not None else None,
        folderPath=path,
        file=files,
    )


def _connection(world, host, state):
    host.connection = state
    for vm in host.vms.values():
        vm.connection = "connected" if state == "connected" else "disconnected"
    world.touch(host, *host.vms.values())


def _service(call, manager, key):
    for service in manager.host.services:
        if service.key == key:
            call.world.touch(manager, manager.host)
            return service
    raise vim.fault.NotFound(msg=f"The service {key} does not exist.")


def _ruleset(call, manager, key, enabled):
    if key not in manager.host.rulesets:
        raise vim.fault.NotFound(msg=f"The ruleset {key} does not exist.")
    manager.host.rulesets[key] = enabled
    call.world.touch(manager, manager.host)


def _values(manager):
    values = manager.host.options if hasattr(manager, "host") else getattr(manager, "values", None)
    if values is None:
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object.")
    return values
