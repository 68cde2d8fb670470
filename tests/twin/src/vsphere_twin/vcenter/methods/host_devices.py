"""Graphics, passthrough, kernel modules and the software image of a host."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from vsphere_twin.model import graphics, kernel, passthru, software

from ..projections import host_gpu, host_software
from .host_system import host_method

ACCEPTANCE = {
    "community": "CommunitySupported",
    "partner": "PartnerSupported",
    "vmware_accepted": "VMwareAccepted",
    "vmware_certified": "VMwareCertified",
}


@host_method("HostGraphicsManager", "UpdateGraphicsConfig")
def update_graphics(call, this, config):
    graphics.configure(call.world, this.host, config)


@host_method("HostGraphicsManager", "RefreshGraphicsManager")
def refresh_graphics(call, this):
    call.world.touch(this)


@host_method("HostGraphicsManager", "IsSharedGraphicsActive")
def shared_graphics_active(call, this):
    return any(gpu.active_type == "shared" for gpu in this.host.gpus)


@host_method("HostGraphicsManager", "RetrieveVgpuDeviceInfo")
def vgpu_device_info(call, this):
    return host_gpu.device_info(this.host)


@host_method("HostGraphicsManager", "RetrieveVgpuProfileInfo")
def vgpu_profile_info(call, this):
    return host_gpu.profile_info(this.host)


@host_method("HostPciPassthruSystem", "UpdatePassthruConfig")
def update_passthrough(call, this, config):
    passthru.configure(call.world, this.host, config)


@host_method("HostPciPassthruSystem", "Refresh")
def refresh_passthrough(call, this):
    call.world.touch(this)


@host_method("HostKernelModuleSystem", "QueryModules")
def query_modules(call, this):
    return [host_software.kernel_module(this.host, row) for row in this.host.kernel.modules.values()]


@host_method("HostKernelModuleSystem", "QueryConfiguredModuleOptionString")
def query_module_options(call, this, name):
    return _module(this.host, name).options


@host_method("HostKernelModuleSystem", "UpdateModuleOptionString")
def update_module_options(call, this, name, options):
    _module(this.host, name)
    kernel.set_options(call.world, this.host, name, options, check=False)


@host_method("HostImageConfigManager", "HostImageConfigGetAcceptance")
def acceptance(call, this):
    level = this.host.software.acceptance
    return next(key for key, name in ACCEPTANCE.items() if name == level)


@host_method("HostImageConfigManager", "UpdateHostImageAcceptanceLevel")
def update_acceptance(call, this, newAcceptanceLevel):
    if newAcceptanceLevel not in ACCEPTANCE:
        raise vmodl.fault.InvalidArgument(
            msg="A specified parameter was not correct: newAcceptanceLevel", invalidProperty="newAcceptanceLevel"
        )
    try:
        software.set_acceptance(call.world, this.host, ACCEPTANCE[newAcceptanceLevel])
    except software.Refused as refusal:
        raise vim.fault.HostConfigFault(
            msg="An error occurred during host configuration.",
            faultMessage=[vmodl.LocalizableMessage(key="esximage.refused", message=str(refusal))],
        ) from refusal


@host_method("HostImageConfigManager", "HostImageConfigGetProfile")
def image_profile(call, this):
    return host_software.image_profile(this.host)


@host_method("HostImageConfigManager", "fetchSoftwarePackages")
def packages(call, this):
    return [host_software.package(this.host, one) for one in this.host.software.vibs()]


@host_method("HostImageConfigManager", "installDate")
def install_date(call, this):
    return host_software.installed_at(this.host)


def _module(host, name):
    found = host.kernel.modules.get(name)
    if found is None:
        raise vim.fault.NotFound(msg=f"The module {name} could not be found.")
    return found
