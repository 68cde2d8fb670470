# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Reading the driver of a host: VIBs and module through esxcli, devices and times through vCenter."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable, Mapping, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import depot, names, version
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.image import ClusterImage
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.state import Device, HostDriver
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import hosts
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import release as releases
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.esxcli_ssh import open_esxcli
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import retrieve
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.rest import Rest

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.esxcli import Esxcli
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.esxcli_ssh import SshEsxcli
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

MODULE = "nvidia"
_PROPERTIES = (
    "runtime.inMaintenanceMode",
    "runtime.bootTime",
    "config.product.version",
    "config.graphicsInfo",
    "vm",
)
# The major version of vCenter from which clusters have images only.
_IMAGES_ONLY = (9,)
_TIME = "%Y-%m-%dT%H:%M:%S"


@dataclass
class Reach:
    """Open connections to one host."""

    vcenter: VCenter
    host: hosts.HostFound
    esxcli: Esxcli | SshEsxcli
    rest: Rest


def open_reach(vcenter: VCenter, params: Mapping[str, Any]) -> Reach:
    """Find the host of a task, and open the ways to it."""
    host = hosts.find_host(vcenter, params["host"], _PROPERTIES)
    return Reach(vcenter, host, open_esxcli(vcenter, host, params), Rest(vcenter))


def read(reach: Reach) -> HostDriver:
    """The HostDriver as it is now."""
    host, esxcli = reach.host, reach.esxcli
    by_image = reach.rest.is_image_managed(host)
    vibs = esxcli.call("software.vib.list")
    staged = _reported(esxcli, "software.vib.list", rebooting_image=True)
    installed = _drivers(staged or vibs)
    loaded = any(row["Name"] == MODULE and row.get("IsLoaded") for row in esxcli.call("system.module.list"))
    return HostDriver(
        vibs=tuple(
            cast(
                "depot.DriverVib", depot.Vib(row["Name"], row["Version"], row.get("Vendor", ""), row["AcceptanceLevel"])
            )
            for row in installed
        ),
        components=_components(esxcli),
        loaded=loaded,
        **(_running(esxcli) if loaded else {}),
        changed_since_boot=(
            installed != _drivers(vibs) or _changed_since_boot(esxcli, installed, host.row.get("runtime.bootTime"))
        ),
        esxi=host.row.get("config.product.version", ""),
        acceptance=esxcli.call("software.acceptance.get") or "",
        in_maintenance=bool(host.row.get("runtime.inMaintenanceMode")),
        by_image=by_image,
        images_only=images_only(reach),
        in_image=_of_drivers(ClusterImage(reach).components().items()) if by_image else (),
        devices=_devices(host.row.get("config.graphicsInfo")),
        running_vms=_running_vms(reach.vcenter, host.row.get("vm") or ()),
    )


def images_only(reach: Reach) -> bool:
    """Whether the host is in a cluster of a vCenter without baselines (product support notes of vSphere 9.0)."""
    vcenter = reach.vcenter
    major = releases.numbers(vcenter.content.about.version)[:1]
    return reach.host.cluster_ref is not None and vcenter.is_vcenter and major >= _IMAGES_ONLY


def read_again(reach: Reach) -> HostDriver:
    """The HostDriver after a change."""
    reach.host = hosts.read_again(reach.vcenter, reach.host, _PROPERTIES)
    return read(reach)


def _drivers(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted((row for row in rows if names.family_of(row["Name"])), key=lambda row: row["Name"])


def _components(esxcli: Esxcli | SshEsxcli) -> tuple[tuple[str, str], ...]:
    rows = _reported(esxcli, "software.component.list") or []
    return _of_drivers((row["Name"], row["Version"]) for row in rows)


def _of_drivers(components: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(entry for entry in components if names.family_of(entry[0])))


def _running(esxcli: Esxcli | SshEsxcli) -> dict[str, Any]:
    """Return the version and the family of the loaded module, if the host reports them in the form of a driver."""
    reported = _reported(esxcli, "system.module.get", module=MODULE) or {}
    parsed = version.parse(str(reported.get("Version", "")).partition(" ")[0])
    return {
        "running": parsed.driver if parsed is not None else None,
        "running_family": names.family_of(str(reported.get("ContainingVIB", ""))),
    }


def _changed_since_boot(
    esxcli: Esxcli | SshEsxcli, installed: Iterable[Mapping[str, Any]], booted: datetime.datetime | None
) -> bool | None:
    """Return whether the driver may be younger than the boot.

    VIBs report only the day of their installation, the host's image profile reports the second of its last change. That
    change may concern another VIB. Then a driver of the same day causes one unnecessary reboot, but never a missing
    one.
    """
    profile = _reported(esxcli, "software.profile.get") or {}
    try:
        changed = datetime.datetime.strptime(str(profile.get("ModificationTime", ""))[:19], _TIME)
    except ValueError:
        return None
    if booted is None:
        return None
    booted = booted.astimezone(datetime.timezone.utc).replace(tzinfo=None) if booted.tzinfo else booted
    days = [row.get("InstallDate", "") for row in installed]
    return changed > booted and all(not day or day >= booted.date().isoformat() for day in days)


def _reported(esxcli: Esxcli | SshEsxcli, command: str, **arguments: Any) -> Any:
    """Return the answer of a command that some releases lack, or that fails if it has nothing to report."""
    try:
        return esxcli.call(command, **arguments)
    except OperatorError as error:
        if error.code not in ("esxcli_failed", "esxcli_unknown"):
            raise
        return None


def _devices(infos: Iterable[vim.host.GraphicsInfo] | None) -> tuple[Device, ...]:
    return tuple(
        Device(info.pciId, info.deviceName, info.graphicsType)
        for info in infos or ()
        if "nvidia" in info.vendorName.lower()
    )


def _running_vms(vcenter: VCenter, refs: Iterable[vim.VirtualMachine]) -> tuple[str, ...]:
    """The names of the VMs that run on the host."""
    if not refs:
        return ()
    rows = retrieve(vcenter, {"VirtualMachine": ("name", "runtime.powerState")}, refs, skip_gone=True)
    return tuple(sorted(row.get("name", row.moid) for row in rows if row.get("runtime.powerState") != "poweredOff"))
