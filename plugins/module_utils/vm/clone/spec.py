# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The specifications that vCenter is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vm import owner
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import cloud_init, disk

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.params import (
        CloneRequest,
        Customization,
        Network,
    )
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.state import Source, Store, Target

_TRANSFORM = {"thin": "sparse", "thick": "flat", "template": None}
# A full copy, also of a source that has snapshots: no VM must depend on the files of another one.
_FULL_COPY = "moveAllDiskBackingsAndDisallowSharing"


def clone(
    requested: CloneRequest,
    target: Target,
    source: Source,
    kind: str,
    customization: vim.vm.customization.Specification | None = None,
) -> vim.vm.CloneSpec:
    """CloneVM_Task's spec: switched off, with everything that has to be there before the first boot."""
    return vim.vm.CloneSpec(
        location=vim.vm.RelocateSpec(
            host=target.host.ref,
            pool=target.pool,
            datastore=cast("Store", target.store).ref,
            diskMoveType=_FULL_COPY,
            transform=_TRANSFORM[kind],
        ),
        powerOn=False,
        template=False,
        config=first_settings(requested, source, source.disk),
        customization=customization,
    )


def first_settings(
    requested: CloneRequest, source: Source, first: vim.vm.device.VirtualDisk | None
) -> vim.vm.ConfigSpec:
    """Return the ConfigSpec that turns a copy into the requested VM; first: its first disk."""
    extra = {owner.CLONED_FROM: source.path, owner.OWNER: owner.mark(requested.owner, requested.name)}
    if requested.cloud_init:
        extra.update(cloud_init.settings(requested.cloud_init, requested.name))
    spec = vim.vm.ConfigSpec(
        extraConfig=[vim.option.OptionValue(key=key, value=value) for key, value in sorted(extra.items())],
        deviceChange=disk.growth(first, requested.disk_gb),
    )
    # An empty text removes the annotation that came along with an item of a library.
    if requested.annotation is not None or source.item_id is not None:
        spec.annotation = requested.annotation or ""
    return spec


def claim(requested: CloneRequest) -> vim.vm.ConfigSpec:
    """The ConfigSpec that marks whose a VM is."""
    value = owner.mark(requested.owner, requested.name)
    return vim.vm.ConfigSpec(extraConfig=[vim.option.OptionValue(key=owner.OWNER, value=value)])


def relocate(target: Target, move_files: bool) -> vim.vm.RelocateSpec:
    """RelocateVM_Task's spec for a VM that is off."""
    spec = vim.vm.RelocateSpec(host=target.host.ref, pool=target.pool)
    if move_files:
        spec.datastore = cast("Store", target.store).ref
    return spec


def linux_prep(name: str, asked: Customization, nics: int) -> vim.vm.customization.Specification:
    """A customization specification from the inline options; adapters without an entry take DHCP."""
    networks = asked.networks or [{"type": "dhcp"}] * nics
    return vim.vm.customization.Specification(
        identity=vim.vm.customization.LinuxPrep(
            hostName=vim.vm.customization.FixedName(
                name=asked.hostname or cloud_init.host_name(name).partition(".")[0]
            ),
            domain=asked.domain,
            hwClockUTC=True,
        ),
        globalIPSettings=vim.vm.customization.GlobalIPSettings(
            dnsServerList=list(asked.dns_servers or []), dnsSuffixList=list(asked.dns_suffixes or [])
        ),
        nicSettingMap=[_adapter(network, asked) for network in networks],
    )


def _adapter(network: Network, asked: Customization) -> vim.vm.customization.AdapterMapping:
    if network["type"] == "dhcp":
        settings = vim.vm.customization.IPSettings(ip=vim.vm.customization.DhcpIpGenerator())
    else:
        settings = vim.vm.customization.IPSettings(
            ip=vim.vm.customization.FixedIp(ipAddress=network["ip"]),
            subnetMask=network["netmask"],
            gateway=[network["gateway"]] if network["gateway"] else [],
            dnsServerList=list(asked.dns_servers or []),
        )
    return vim.vm.customization.AdapterMapping(adapter=settings)
