"""Templates of content libraries that are changed by checking out a VM and checking it in, and their versions."""

from __future__ import annotations

from pyVmomi import vim

from vsphere_twin.model import cloning, provision
from vsphere_twin.model.content_libraries import CheckOut, checked_out

from .api import route
from .deployment import TEMPLATE, entity_of, location_of, template_in, tried
from .errors import RestError
from .libraries import find_item, require_no_check_out
from .stamps import stamp

CHECK_OUTS = f"{TEMPLATE}/check-outs"
VERSIONS = f"{TEMPLATE}/versions"
KIND = "vm-template"


@route("GET", CHECK_OUTS)
def check_outs(request, item):
    """The VM that is checked out of an item; there is one at most."""
    held = checked_out(request.world, _item(request, item)[1])
    return [{"vm": held.vm.moid}] if held is not None else []


@route("POST", CHECK_OUTS, action="check-out")
def check_out(request, item):
    """A copy of the template, as a VM; the answer is its identifier."""
    source, body = template_in(request, item, KIND), request.body
    library, found = _item(request, item)
    placement, name = body.get("placement") or {}, body.get("name")
    if library.kind != "LOCAL":
        raise RestError("INVALID_ARGUMENT", f"The item {found.name} is a member of a subscribed library.")
    if not name or not isinstance(name, str) or not isinstance(placement, dict):
        raise RestError("INVALID_ARGUMENT", "The name or the placement of the virtual machine is missing or wrong.")
    if checked_out(request.world, found) is not None:
        raise RestError("UNABLE_TO_ALLOCATE_RESOURCE", f"A virtual machine is checked out of the item {found.name}.")
    folder, location = location_of(request, placement, source, beside=True)
    spec = vim.vm.CloneSpec(location=location, template=False, powerOn=bool(body.get("powered_on")))
    made = tried(cloning.clone, request.world, source, folder, name, spec)
    found.check_out = CheckOut(made, request.user)
    return made.moid


@route("GET", f"{CHECK_OUTS}/{{vm}}")
def check_out_of(request, item, vm):
    """Who checked out a VM, and when."""
    held = _held(request, item, vm)
    return {"time": stamp(held.time), "user": held.user}


@route("POST", f"{CHECK_OUTS}/{{vm}}", action="check-in")
def check_in(request, item, vm):
    """The VM becomes the template of the item; the answer is the new version."""
    held, found = _held(request, item, vm), _item(request, item)[1]
    _require_message(request)
    if held.vm.power != "poweredOff":
        raise RestError("NOT_ALLOWED_IN_CURRENT_STATE", f"The virtual machine {held.vm.name} is not powered off.")
    tried(provision.mark_as_template, request.world, held.vm)
    found.check_out = None
    return _replace(request, found, held.vm)


@route("DELETE", f"{CHECK_OUTS}/{{vm}}")
def delete_check_out(request, item, vm):
    """Delete the VM with its changes."""
    held = _held(request, item, vm)
    if held.vm.power != "poweredOff":
        raise RestError("NOT_ALLOWED_IN_CURRENT_STATE", f"The virtual machine {held.vm.name} is not powered off.")
    tried(provision.destroy, request.world, held.vm)


@route("GET", VERSIONS)
def versions(request, item):
    """The latest version, and the one before it while it is kept."""
    return [{"version": name, "vm_template": vm.moid} for name, vm in _versions(_item(request, item)[1]).items()]


@route("GET", f"{VERSIONS}/{{version}}")
def version_of(request, item, version):
    """The template of a version."""
    return {"vm_template": _version(_item(request, item)[1], version).moid}


@route("POST", f"{VERSIONS}/{{version}}", action="rollback")
def rollback(request, item, version):
    """The previous template becomes the latest one; the answer is its new version."""
    found = _item(request, item)[1]
    vm = _earlier(found, version)
    _require_message(request)
    require_no_check_out(request, found)
    found.previous = None
    return _replace(request, found, vm)


@route("DELETE", f"{VERSIONS}/{{version}}")
def delete_version(request, item, version):
    """Delete the previous template."""
    found = _item(request, item)[1]
    tried(provision.destroy, request.world, _earlier(found, version))
    found.previous = None


def _replace(request, item, vm):
    """A new version with this template; the one before it is kept, and older ones are deleted."""
    if item.previous is not None:
        tried(provision.destroy, request.world, item.previous[1])
    item.previous = (str(item.version), item.source)
    item.source, item.version = vm, item.version + 1
    return str(item.version)


def _item(request, item):
    library, found = find_item(request, item)
    if found.kind != KIND:
        raise RestError("INVALID_ARGUMENT", f"The item {found.name} is of type {found.kind}, not {KIND}.")
    return library, found


def _held(request, item, vm):
    found, machine = _item(request, item)[1], entity_of(request, vm, "VirtualMachine", "virtual machine")
    held = checked_out(request.world, found)
    if held is None or held.vm is not machine:
        raise RestError("INVALID_ARGUMENT", f"The virtual machine {machine.name} is not checked out of {found.name}.")
    return held


def _versions(item):
    found = {str(item.version): item.source}
    if item.previous is not None:
        found[item.previous[0]] = item.previous[1]
    return found


def _version(item, version):
    found = _versions(item).get(version)
    if found is None:
        raise RestError("NOT_FOUND", f"The item {item.name} has no version {version}.")
    return found


def _earlier(item, version):
    found = _version(item, version)
    if found is item.source:
        raise RestError("INVALID_ARGUMENT", f"The version {version} is the latest one of the item {item.name}.")
    return found


def _require_message(request):
    if not isinstance(request.body.get("message"), str):
        raise RestError("INVALID_ARGUMENT", "The field message is missing.")
