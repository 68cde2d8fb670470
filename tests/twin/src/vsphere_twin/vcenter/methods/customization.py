"""The customization specifications that a vCenter keeps."""

from __future__ import annotations

from ..registry import method

KIND = "CustomizationSpecManager"


@method(KIND, "DoesCustomizationSpecExist")
def exists(call, this, name):
    return name in this.specs.items


@method(KIND, "GetCustomizationSpec")
def get(call, this, name):
    return this.specs.get(name)


@method(KIND, "CreateCustomizationSpec")
def create(call, this, item):
    this.specs.add(item)
    call.world.touch(this)


@method(KIND, "OverwriteCustomizationSpec")
def overwrite(call, this, item):
    this.specs.change(item)
    call.world.touch(this)


@method(KIND, "DeleteCustomizationSpec")
def delete(call, this, name):
    this.specs.remove(name)
    call.world.touch(this)


@method(KIND, "CheckCustomizationResources")
def check_resources(call, this, guestOs):
    """Linux guests need nothing beside the perl or cloud-init of their own."""
