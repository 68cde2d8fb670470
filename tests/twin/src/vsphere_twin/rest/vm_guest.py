"""Guest, VMware Tools and console of a virtual machine over REST (com.vmware.vcenter.vm.guest, .tools, .console)."""

from __future__ import annotations

import secrets

from pyVmomi import vim

from ..model import customization, guest
from ..model.devices import wrong_power
from . import guest_os
from .api import Created, route
from .errors import RestError, message
from .fields import Struct, checked
from .refusals import Caller, Refusal, find, full_id, refused
from .vms import VM, require_idle

CREDENTIALS = Struct(
    "vm.guest.Credentials",
    ["interactive_session", "type"],
    interactive_session=bool,
    type=("USERNAME_PASSWORD", "SAML_BEARER_TOKEN"),
    user_name=str,
    password=str,
    saml_token=str,
)
TOOLS = Struct("vm.Tools.UpdateSpec", upgrade_policy=("MANUAL", "UPGRADE_AT_POWER_CYCLE"))
TICKET = Struct("vm.console.Tickets.CreateSpec", ["type"], type=("VMRC", "WEBMKS"))
CUSTOMIZE = Struct("vm.guest.Customization.SetSpec", name=str, spec=dict)
FAILED = "An error has occurred while invoking the operation."
PROCESSES = f"{VM}/guest/processes"
FILES = f"{VM}/guest/filesystem"


@route("GET", f"{VM}/guest/identity")
def identity(request, vm):
    """Name, family and address that VMware Tools report."""
    found = _reporting(request, vm)
    shown = {
        "name": guest_os.rest_name(found.guest_id),
        "family": guest_os.family(found.guest_id),
        "full_name": message(found.guest_name, f"vmsg.guestos.{found.guest_id}.label"),
        "host_name": found.host_name,
    }
    return {**shown, "ip_address": found.ip_address} if found.ip_address else shown


@route("GET", f"{VM}/guest/networking")
def networking(request, vm):
    """The name of the guest in DNS."""
    name, _dot, domain = _reporting(request, vm).host_name.partition(".")
    return {"dns_values": {"host_name": name, "domain_name": domain}}


@route("GET", f"{VM}/guest/networking/interfaces")
def interfaces(request, vm):
    """The network adapters of the guest, with their addresses."""
    found, shown = _reporting(request, vm), []
    for nic in found.nics:
        one, address = {"mac_address": nic.macAddress, "nic": str(nic.key)}, guest.interface(found, nic)
        if address is not None:
            row = {"ip_address": str(address.ip), "prefix_length": address.network.prefixlen, "state": "PREFERRED"}
            one["ip"] = {"ip_addresses": [row]}
        shown.append(one)
    return shown


@route("GET", f"{VM}/guest/networking/routes")
def routes(request, vm):
    """The routes of the guest; the model has none."""
    _reporting(request, vm)
    return []


@route("GET", f"{VM}/guest/local-filesystem")
def local_filesystem(request, vm):
    """The file systems of the guest; the model has none."""
    _reporting(request, vm)
    return {}


@route("GET", f"{VM}/guest/operations")
def operations(request, vm):
    """Whether the guest is ready for operations."""
    ready = find(request, vm, "VirtualMachine").tools_running
    return {"guest_operations_ready": ready, "interactive_guest_operations_ready": False}


@route("GET", f"{VM}/guest/customization")
def customized(request, vm):
    """The state of the customization."""
    return {"status": "PENDING" if find(request, vm, "VirtualMachine").customization is not None else "IDLE"}


@route("PUT", f"{VM}/guest/customization")
def customize(request, vm):
    """Customize the guest at its next start, by the name of a specification."""
    found, spec = find(request, vm, "VirtualMachine"), checked(request.body, CUSTOMIZE)
    Caller(request).require_privilege("VirtualMachine.Provisioning.Customize", found)
    if ("name" in spec) == ("spec" in spec):
        raise RestError("INVALID_ARGUMENT", "Exactly one of the fields name and spec has to be specified.")
    if "spec" in spec:
        raise RestError("UNSUPPORTED", "A customization needs the name of a specification.")
    require_idle(found)
    with refused():
        if found.power != "poweredOff":
            raise wrong_power(found)
        held = request.world.get("CustomizationSpecManager").specs.get(spec["name"])
        customization.accept(found, held.spec)
    found.changed()
    request.world.touch(found)


@route("GET", f"{VM}/tools")
def tools(request, vm):
    """VMware Tools: version and state."""
    found = find(request, vm, "VirtualMachine")
    shown = {
        "auto_update_supported": False,
        "upgrade_policy": "MANUAL",
        "run_state": "RUNNING" if found.tools_running else "NOT_RUNNING",
        "version_status": "UNMANAGED" if found.tools_installed else "NOT_INSTALLED",
    }
    if found.tools_installed:
        shown.update(version_number=12352, version="12352", install_type="OPEN_VM_TOOLS")
    return shown


@route("PATCH", f"{VM}/tools")
def update_tools(request, vm):
    """The policy of upgrades of VMware Tools, which open-vm-tools do not take from vCenter."""
    found, spec = find(request, vm, "VirtualMachine"), checked(request.body, TOOLS)
    require_idle(found)
    if spec.get("upgrade_policy", "MANUAL") != "MANUAL":
        raise RestError("ERROR", FAILED, code="com.vmware.api.vcenter.error")


@route("POST", f"{VM}/tools", action="upgrade")
def upgrade_tools(request, vm):
    """open-vm-tools are upgraded by the guest."""
    found = find(request, vm, "VirtualMachine")
    with refused():
        guest.require_tools(found)
    raise RestError("ERROR", FAILED, "Error upgrading VMware Tools.", code="com.vmware.api.vcenter.error")


@route("GET", f"{VM}/tools/installer")
def installer(request, vm):
    """Whether the installer is in the CD drive; it never is."""
    find(request, vm, "VirtualMachine")
    return {"is_connected": False}


@route("GET", f"{VM}/library-item")
def library_item(request, vm):
    """The item of a content library that the machine is checked out of, if there is one."""
    found = find(request, vm, "VirtualMachine")
    for library in request.world.libraries.known.values():
        for item in library.items.values():
            if item.check_out is not None and item.check_out.vm is found:
                return {"check_out": {"library_item": item.id}}
    return {}


@route("POST", f"{VM}/console/tickets")
def console_ticket(request, vm):
    """A ticket for the console."""
    found, spec = find(request, vm, "VirtualMachine"), checked(request.body, TICKET)
    Caller(request).require_privilege("VirtualMachine.Interact.ConsoleInteract", found)
    if found.power != "poweredOn":
        text = "Unable to obtain console ticket because the virtual machine is powered off."
        code = "com.vmware.api.vcenter.vm.console.tickets.not_allowed_in_current_state"
        raise Refusal(wrong_power(found), message(text, code))
    host, kind = found.host.name, "ticket" if spec["type"] == "WEBMKS" else "mks"
    return Created({"ticket": f"wss://{host}:443/{kind}/{secrets.token_hex(8)}"})


def _in_guest(template, action):
    """Operations in the guest need running VMware Tools; the guest of the model has no user to log in as."""

    @route("POST", template, action=action)
    def operate(request, vm, **_names):
        found = find(request, vm, "VirtualMachine")
        given = checked(request.body.get("credentials") or {}, CREDENTIALS)
        with refused():
            guest.require_tools(found)
        needed = "user_name" if given["type"] == "USERNAME_PASSWORD" else "saml_token"
        if needed not in given:
            raise RestError("INVALID_ARGUMENT", f"The type of the credentials needs the field {needed}.")
        fault = vim.fault.InvalidGuestLogin(msg="Failed to authenticate with the guest operating system.")
        raise Refusal(fault, kind="UNAUTHENTICATED")


for _template, _actions in (
    (PROCESSES, ("create", "list")),
    (f"{PROCESSES}/{{pid}}", ("get", "delete")),
    (FILES, ("create",)),
    (f"{FILES}/directories", ("create", "create-temporary", "delete", "move")),
    (f"{FILES}/files", ("create-temporary", "delete", "get", "list", "move", "update")),
    (f"{VM}/guest/environment", ("list",)),
    (f"{VM}/guest/environment/{{name}}", ("get",)),
):
    for _action in _actions:
        _in_guest(_template, _action)


def _reporting(request, moid):
    """A virtual machine whose VMware Tools run; SERVICE_UNAVAILABLE where they report nothing."""
    found = find(request, moid, "VirtualMachine")
    if not found.tools_running:
        name = full_id(request.world, found.moid)
        text = f"VMware Tools in the virtual machine with identifier '{name}' provided no information."
        code = "com.vmware.api.vcenter.vm.guest.information_not_available"
        raise RestError("SERVICE_UNAVAILABLE", text, code=code, args=[name])
    return found
