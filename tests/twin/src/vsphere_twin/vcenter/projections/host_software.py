"""Kernel modules and software packages of a host."""

from __future__ import annotations

import datetime
import zlib

from pyVmomi import vim

from .shape import EPOCH, make


def kernel_module(host, row):
    """A row of QueryModules."""
    section = make(vim.host.KernelModuleSystem.ModuleInfo.SectionInfo, address=0, length=0)
    return make(
        vim.host.KernelModuleSystem.ModuleInfo,
        id=zlib.crc32(row.name.encode()) & 0x7FFF,
        name=row.name,
        version=host.driver.version if row.name == "nvidia" else "",
        filename=f"/usr/lib/vmware/vmkmod/{row.name}",
        optionString=row.options,
        loaded=row.loaded,
        enabled=row.enabled,
        useCount=0,
        readOnlySection=section,
        writableSection=section,
        textSection=section,
        dataSection=section,
        bssSection=section,
    )


def image_profile(host):
    """Return the name of the image; a manual installation leaves a marker in the name."""
    release = host.release
    return make(
        vim.host.ImageConfigManager.ImageProfileSummary,
        name=f"ESXi-{release.version}-{release.build}-standard",
        vendor="VMware, Inc.",
    )


def package(host, one):
    """A VIB as HostImageConfigManager describes it."""
    return make(
        vim.host.SoftwarePackage,
        name=one.name,
        version=one.version,
        type="bootbank",
        vendor=one.vendor,
        acceptanceLevel=_LEVELS[one.acceptance],
        summary=one.name,
        description=one.name,
        creationDate=EPOCH,
        maintenanceModeRequired=bool(one.maintenance),
        capability=make(vim.host.SoftwarePackage.Capability),
    )


def installed_at(host):
    """Return the installation time of the host: that of its oldest package."""
    day = min(host.software.date_of(one) for one in host.software.vibs())
    return datetime.datetime.fromisoformat(day).replace(tzinfo=datetime.timezone.utc)


_LEVELS = {
    "community": "community",
    "partner": "partner",
    "accepted": "vmware_accepted",
    "certified": "vmware_certified",
}
