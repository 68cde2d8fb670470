"""ServiceInstance: identity of the server, and the entry point of all clients."""

from __future__ import annotations

import datetime

from pyVmomi import VmomiSupport, vim

from ...model.services import SERVICES
from ...model.world import Entity
from .. import types
from ..registry import method, prop

# The folder is no service, and a host alone has local accounts (API reference of ServiceContent).
_NO_SERVICES = ("rootFolder", "accountManager")


class ServiceInstance(Entity):
    kind = "ServiceInstance"

    def __init__(self):
        super().__init__("ServiceInstance")
        self.version = None


@method("ServiceInstance", "RetrieveServiceContent")
def retrieve_service_content(call, this):
    return content(this, call.world)


@method("ServiceInstance", "CurrentTime")
def current_time(call, this):
    return call.world.clocks.now("")


@prop("ServiceInstance", "serverClock")
def server_clock(entity, world):
    return datetime.datetime.now(datetime.timezone.utc)


@prop("ServiceInstance", "capability")
def capability(entity, world):
    return vim.Capability(
        provisioningSupported=True,
        multiHostSupported=True,
        userShellAccessSupported=False,
        networkBackupAndRestoreSupported=True,
    )


@prop("ServiceInstance", "content")
def content(entity, world):
    """The service content names whatever services the world has, by the types that the API declares for them."""
    found = vim.ServiceInstanceContent(about=about(world), rootFolder=vim.Folder(world.root_folder.moid))
    for info in found._GetPropertyList():
        if issubclass(info.type, VmomiSupport.ManagedObject) and info.name not in _NO_SERVICES:
            service = _service(world, info)
            if service is not None:
                setattr(found, info.name, types.reference(service))
    return found


def about(world):
    """Return the about data of vCenter."""
    release = world.release
    return vim.AboutInfo(
        name="VMware vCenter Server",
        fullName=f"VMware vCenter Server {release.version} build-{release.vcenter_build}",
        vendor="VMware, Inc.",
        version=release.version,
        patchLevel="00000",
        build=release.vcenter_build,
        localeVersion="INTL",
        localeBuild="000",
        osType="linux-x64",
        productLineId="vpx",
        apiType="VirtualCenter",
        apiVersion=release.api_version,
        instanceUuid=world.instance_uuid,
        licenseProductName="VMware VirtualCenter Server",
        licenseProductVersion=f"{release.version.partition('.')[0]}.0",
    )


def _service(world, info):
    # Hosts and clusters have option managers of their own; this one is the vCenter's.
    if info.name == "setting":
        return world.get("VpxSettings")
    wanted = info.type._wsdlName
    for moid, kind in SERVICES.items():
        if types.is_kind(kind, wanted):
            return world.get(moid)
    return next(iter(world.of_kind(wanted)), None)
