"""Devices of a host that VMs can use, and their modes (vSphere 9.1)."""

from __future__ import annotations

from vsphere_twin.model import device_mode, pci
from vsphere_twin.model.device_mode import NAMES, Refused

from .api import Begun, route
from .errors import RestError

DEVICES = "/api/vcenter/host/{host}/hardware/direct-path-devices"
SERVICE = "com.vmware.vcenter.host.hardware.direct_path_devices"
PRIVILEGE = "Host.Config.PciPassthru"
MOST = 256  # the default and the most of page_size
SHORT_S = 0.05  # how long a configuration takes
REST_NAMES = {mode: name for name, mode in NAMES.items()}


@route("GET", DEVICES)
def devices(request, host):
    """The devices of a host, or those of the filter, a page at a time."""
    found = _host(request, host)
    asked = request.query.lists.get("devices")
    rows = {row.address: row for row in device_mode.devices(found)}
    # The result has no field for the next marker: that it is the last device of a page is [unsure].
    marker, size = request.query.get("marker", ""), _page_size(request.query.get("page_size"))
    ids = [one for one in sorted(rows) if (asked is None or one in asked) and one > marker]
    return {"items": [{"device": one, "info": _info(found, rows[one])} for one in ids[:size]]}


@route("POST", DEVICES, action="configure", vmw_task="true")
def configure(request, host):
    """Set the mode of one device, as a task; its result has the impacts."""
    found, world, body = _host(request, host), request.world, request.body
    if not world.permissions.may(request.user, PRIVILEGE, found):
        raise RestError("UNAUTHORIZED", f"Permission to perform this operation was denied: {PRIVILEGE}.")
    unknown = set(body) - {"device", "new_mode"}
    if unknown:
        raise RestError("INVALID_ARGUMENT", f"There is no field {min(unknown)} in this structure.")
    if not isinstance(body.get("device"), str):
        raise RestError("INVALID_ARGUMENT", "The field device is missing in this structure.")
    name = body.get("new_mode")
    if name is not None and name not in NAMES:
        raise RestError("INVALID_ARGUMENT", f"{name} is no value of DirectPathDeviceMode.")
    operation = world.operations.begin(world, SERVICE, "configure$task", request.user, found.moid)

    def end():
        if not found.reachable:
            operation.fail(RestError("ERROR", "The host does not respond.").body)
            return
        try:
            impact = device_mode.configure(world, found, body["device"], NAMES.get(name))
        except Refused as refusal:
            operation.fail(RestError(refusal.kind, refusal.text).body)
        else:
            operation.succeed({"configure_impacts": [impact]})

    world.timeline.after(SHORT_S, end)
    return Begun(operation.id)


def _host(request, moid):
    found = request.world.get(moid)
    if found is None or found.kind != "HostSystem":
        raise RestError("NOT_FOUND", f"There is no host with the identifier {moid}.")
    if not device_mode.known(found):
        # An older vCenter does not know the path.
        raise RestError("OPERATION_NOT_FOUND", "There is no such operation in this release.", status=404)
    return found


def _page_size(text):
    try:
        size = int(text or MOST)
    except ValueError:
        size = 0
    if not 1 <= size <= MOST:
        raise RestError("INVALID_ARGUMENT", f"page_size is {text}; it must be between 1 and {MOST}.")
    return size


def _info(host, row):
    gpu = next((one for one in host.gpus if one.pci_id == row.address), None)
    info = {
        "name": row.device_name,
        "current_mode": REST_NAMES[device_mode.current(host, row)],
        "configurable_modes": [REST_NAMES[mode] for mode in device_mode.configurable(host, row)],
        "vms": sorted(vm.moid for vm in device_mode.passthru.users(host, row.address)),
        "direct_path_profiles": [],
    }
    if row.module and row.module != pci.OWNED_BY_VMS:
        info["driver_name"] = row.module
    if gpu is not None:
        memory = {"used_memory": device_mode.used_memory_mb(host, row), "total_memory": gpu.board.memory_gb * 1024}
        info["memory_info"] = memory
        if host.driver.version:
            info["driver_version"] = host.driver.version
    return info
