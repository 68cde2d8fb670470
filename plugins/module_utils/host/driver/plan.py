# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Required changes of a host's driver, and rejected ones: pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Iterable, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import depot, names, version
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import release

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.params import DriverRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.source import Local, Source
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.state import HostDriver

IMAGE = "image"
ESXCLI = "esxcli"


def method(label: str, now: HostDriver, requested: DriverRequest) -> str:
    """The method that changes the host: its cluster's image, or esxcli on the host alone."""
    if now.images_only and (requested.method == ESXCLI if now.by_image else not _accepted(now, requested)):
        raise image_required(label, now, requested)
    if requested.method == ESXCLI and now.by_image:
        raise OperatorError(
            label,
            "cannot change the driver with method=esxcli",
            "One image manages the software of its cluster, and the host would drift from it. vSphere Lifecycle "
            "Manager then reports the host as non-compliant, and a driver newer than that of the image can block the "
            "next remediation",
            "Use method=auto or method=image, which put the driver into the image",
            "image_managed",
        )
    if requested.method == IMAGE and not now.by_image:
        raise OperatorError(
            label,
            "cannot change the driver with method=image",
            "Baselines manage the software of its cluster, so the cluster has no image",
            "Use method=auto or method=esxcli",
            "not_image_managed",
        )
    return IMAGE if now.by_image else ESXCLI


def _accepted(now: HostDriver, requested: DriverRequest) -> bool:
    """Whether the request overrides that vCenter 9 has no baselines [unsure: two texts disagree on hosts of ESXi 8]."""
    return requested.method == ESXCLI and _older(now)


def _older(now: HostDriver) -> bool:
    return release.numbers(now.esxi) < (9,)


def image_required(label: str, now: HostDriver, requested: DriverRequest) -> OperatorError:
    """The error for a host whose software only the image of its cluster can change."""
    reason = "vCenter 9 and newer manage the software of a cluster only by its image"
    if now.by_image:
        return OperatorError(
            label,
            "cannot change the driver with method=esxcli",
            f"{reason}, and the host would drift from it",
            "Use method=auto or method=image, which put the driver into the image",
            "image_required",
            by_image=True,
        )
    todo = "Set up an image for the cluster in vCenter (Updates, Image), then run again"
    if _older(now):
        todo += f". If vCenter still has baselines for ESXi {now.esxi}, use method=esxcli instead"
    return OperatorError(
        label,
        f"cannot change the driver with method={requested.method}",
        f"{reason}, and this cluster has none yet",
        todo,
        "image_required",
        by_image=False,
    )


def demand_usable_source(label: str, source: Source | None, how: str) -> None:
    """Reject a source that this method cannot install from."""
    if source is None:
        return
    if how == IMAGE and not source.package.components:
        raise OperatorError(
            label,
            f"cannot put the driver {source.name} into the image of its cluster",
            "It is a single VIB, and an image consists of components",
            "Use the offline depot (zip) of the driver",
            "not_a_component",
        )
    if how == ESXCLI and source.url is not None and source.kind == "zip":
        raise OperatorError(
            label,
            f"cannot install the driver from {source.url}",
            "esxcli takes a zip depot only from a datastore of the host. By URL it takes a single VIB, or the "
            "index.xml of an online depot",
            "Use `file` with a copy on the controller, which the module uploads",
            "url_not_for_esxcli",
        )
    if how == ESXCLI and source.other is not None:
        raise other_file_there(cast("Local", source), source.other)


def other_file_there(source: Local, difference: str) -> OperatorError:
    """The error for a file of the same name that is not the one to be copied."""
    return OperatorError(
        source.place.in_brackets,
        f"cannot copy {source.local} to this path",
        f"Another file has this name ({difference})",
        "Remove it, or choose another `folder`",
        "other_file_there",
    )


def want_present(label: str, now: HostDriver, package: depot.Package, requested: DriverRequest) -> HostDriver:
    """The state with the driver of a package; raises for a package that must not be installed there."""
    vib = _driver_of(label, package)
    new = cast("version.DriverVersion", version.parse(vib.version))
    _demand_family(label, vib, requested.family)
    _demand_version(label, vib, requested.version)
    others = [one for one in now.vibs if one.family != vib.family]
    if others and not requested.replace:
        raise OperatorError(
            label,
            f"cannot install the driver {vib.version} of {names.FAMILIES[vib.family]}",
            f"A driver of another family is installed: {_listed(others)}, of {names.FAMILIES[others[0].family]}",
            "Set replace=true to remove it and to install this one",
            "other_family_installed",
            installed=[one.name for one in others],
        )
    ours = tuple(sorted(entry for entry in package.components if names.family_of(entry[0]) is not None))
    in_image = (ours or now.in_image) if now.by_image else ()
    same = [one for one in now.vibs if one.family == vib.family]
    if not others and len(same) == 1 and same[0].version == vib.version:
        return replace(_settled(label, now), in_image=in_image)
    for one in same:
        _refuse_older(label, one, vib, requested.downgrade)
    if requested.other_release == "refuse":
        _demand_release(label, now, vib, new)
    _demand_acceptance(label, now, vib)
    kept = tuple(entry for entry in now.components if names.family_of(entry[0]) is None)
    return replace(now, vibs=(vib,), components=tuple(sorted(kept + ours)), changed_since_boot=True, in_image=in_image)


def by_image(now: HostDriver, wanted: HostDriver) -> HostDriver:
    """Return the desired state after vCenter has remediated the host, which includes a reboot."""
    if now.vibs == wanted.vibs:
        return wanted
    driver = wanted.installed.driver if wanted.installed is not None else None
    family = wanted.vib.family if wanted.vib is not None else None
    return replace(wanted, loaded=driver is not None, running=driver, running_family=family, changed_since_boot=False)


def want_absent(now: HostDriver, requested: DriverRequest) -> HostDriver:
    """The state without drivers of a family."""
    vibs = tuple(vib for vib in now.vibs if vib.family != requested.family)
    in_image = _without(now.in_image, requested.family)
    if vibs == now.vibs:
        return replace(now, in_image=in_image)
    components = _without(now.components, requested.family)
    return replace(now, vibs=vibs, components=components, changed_since_boot=True, in_image=in_image)


def _without(components: Iterable[tuple[str, str]], family: str) -> tuple[tuple[str, str], ...]:
    return tuple(entry for entry in components if names.family_of(entry[0]) != family)


def compare(now: HostDriver, wanted: HostDriver) -> list[Change]:
    """Return the driver as one change that needs the reboot, with the change of each VIB."""
    before: dict[str, depot.DriverVib] | dict[str, str]
    after: dict[str, depot.DriverVib] | dict[str, str]
    before, after = {vib.name: vib for vib in now.vibs}, {vib.name: vib for vib in wanted.vibs}
    changes = [
        Change(f"vibs.{name}", _version(before.get(name)), _version(after.get(name)))
        for name in sorted(set(before) | set(after))
        if _version(before.get(name)) != _version(after.get(name))
    ]
    if changes:
        needs = "reboot" if wanted.waits_for_reboot else None
        changes.insert(0, Change("driver", _spoken(now), _spoken(wanted), needs))
    before, after = dict(now.in_image), dict(wanted.in_image)
    return changes + [
        Change(f"image.{name}", before.get(name), after.get(name))
        for name in sorted(set(before) | set(after))
        if before.get(name) != after.get(name)
    ]


def demand_maintenance(label: str, now: HostDriver) -> None:
    """Reject a host in service; the error names the VMs that run on it, and never changes them."""
    if now.in_maintenance:
        return
    if now.running_vms:
        found = f"The host is not in maintenance mode, and these VMs run on it: {', '.join(now.running_vms)}"
        todo = "Move the VMs or shut them down, put the host into maintenance mode with the module esxi_maintenance"
    else:
        found = "The host is not in maintenance mode. No VM runs on it"
        todo = "Put it into maintenance mode with the module esxi_maintenance"
    raise OperatorError(
        label,
        "cannot change its driver",
        found,
        f"{todo}, and run again",
        "not_in_maintenance",
        running_vms=list(now.running_vms),
    )


def gap(label: str, proved: HostDriver, wanted: HostDriver) -> OperatorError | None:
    """The error if the installer reported success and the driver is not there; None otherwise."""
    # Compared by kind: the VIB name of a package is unknown if nothing could read the package before.
    if _drivers(proved) == _drivers(wanted):
        return None
    return OperatorError(
        label,
        f"the change of the host driver to {_spoken(wanted) or 'none'} failed",
        f"The installer reported success, and the host has {_spoken(proved) or 'no host driver'}",
        "Check /var/log/esxupdate.log on the host",
        "not_proved",
        vibs=[vib.name for vib in proved.vibs],
    )


def _drivers(now: HostDriver) -> tuple[list[tuple[str, str]], tuple[tuple[str, str], ...]]:
    return sorted((vib.family, vib.version) for vib in now.vibs), now.in_image


def _driver_of(label: str, package: depot.Package) -> depot.DriverVib:
    if package.driver is not None and version.parse(package.driver.version) is not None:
        return package.driver
    held = ", ".join(f"{vib.name} {vib.version}" for vib in package.vibs)
    daemon = any(names.is_daemon(vib.name) for vib in package.vibs)
    raise OperatorError(
        label,
        "the package does not contain exactly one NVIDIA host driver",
        f"It contains {len(package.drivers)} host drivers. Its VIBs: {held or 'none'}"
        + (". This is the GPU management daemon, which NVIDIA ships apart from the driver" if daemon else ""),
        "Use the depot of the host driver. For NVIDIA AI Enterprise its VIB begins with NVIDIA-AIE or NVD-AIE",
        "no_driver_in_package",
        vibs=[vib.name for vib in package.vibs],
    )


def _demand_family(label: str, vib: depot.DriverVib, wanted: str) -> None:
    if vib.family == wanted:
        return
    if wanted == names.NVAIE:
        why = (
            ". On A100, A30, H100 and other compute boards the graphics driver installs and loads, and never offers a "
            "compute profile"
        )
    else:
        why = ""
    raise OperatorError(
        label,
        f"the package has no driver of {names.FAMILIES[wanted]}",
        f"It contains {vib.name} {vib.version}, which is of {names.FAMILIES[vib.family]}{why}",
        "Use the package of the other product, or set `family` to install this one",
        "wrong_family",
        family=vib.family,
        vib=vib.name,
    )


def _demand_version(label: str, vib: depot.DriverVib, wanted: str | None) -> None:
    if wanted is None or version.is_named(vib.version, wanted):
        return
    raise OperatorError(
        label,
        f"the package has another driver than {wanted}",
        f"It contains {vib.name} {vib.version}",
        "Use the package of that driver, or correct `version`",
        "other_version",
        vib=vib.name,
        version=vib.version,
    )


def newer_vibs(now: HostDriver, wanted: HostDriver) -> list[str]:
    """VIBs of the host that are newer than the desired driver of the same family."""
    new = wanted.installed
    if new is None or wanted.vib is None:
        return []
    found = [(vib, version.parse(vib.version)) for vib in now.vibs if vib.family == wanted.vib.family]
    return [vib.name for vib, old in found if old is not None and (old, old.esxi or "") > (new, new.esxi or "")]


def _refuse_older(label: str, there: depot.DriverVib, vib: depot.DriverVib, downgrade: str) -> None:
    old, new = version.parse(there.version), cast("version.DriverVersion", version.parse(vib.version))
    if old is None or downgrade == "allow" or (new, new.esxi or "") >= (old, old.esxi or ""):
        return
    raise OperatorError(
        label,
        f"cannot install the driver {vib.version}",
        f"A newer one is installed: {there.version}. Guests with drivers of branch R{old.branch} would lose their vGPU "
        "on an older host driver",
        "Set downgrade=allow to install the older driver",
        "downgrade",
        installed=there.version,
    )


def _demand_release(label: str, now: HostDriver, vib: depot.DriverVib, new: version.DriverVersion) -> None:
    if version.fits_release(new.esxi, now.esxi):
        return
    raise OperatorError(
        label,
        f"cannot install the driver {vib.version}",
        f"It was built for ESXi {new.esxi}, and the host runs {now.esxi}",
        "Use the package for the host's release from the same NVIDIA release. The module derives the release from the "
        "version. If that is wrong, set other_release=allow, and the host's own installer decides",
        "wrong_esxi_release",
        built_for=new.esxi,
        esxi=now.esxi,
    )


def _demand_acceptance(label: str, now: HostDriver, vib: depot.DriverVib) -> None:
    allowed, level = depot.rank(now.acceptance), depot.rank(vib.acceptance)
    if allowed is None or level is None or level <= allowed:
        return
    raise OperatorError(
        label,
        f"cannot install the driver {vib.version}",
        f"Its acceptance level is {vib.acceptance}, and the host accepts {now.acceptance} or stricter",
        "Use the package that NVIDIA has signed. This collection does not lower the level of a host",
        "acceptance_level",
        vib=vib.acceptance,
        host=now.acceptance,
    )


def _settled(label: str, now: HostDriver) -> HostDriver:
    if now.failed_to_load:
        names_of = ", ".join(f"{device.name} ({device.id})" for device in now.devices)
        raise OperatorError(
            label,
            f"the driver {cast('depot.DriverVib', now.vib).version} is not loaded",
            f"It was installed before the last boot. The host has {names_of}, and the module nvidia is not loaded",
            "Check /var/log/vmkernel.log for NVRM. The usual cause is a BIOS without memory mapped I/O above 4 GB",
            "driver_not_loaded",
        )
    return now


def _version(vib: depot.DriverVib | None) -> str | None:
    return vib.version if vib is not None else None


def _spoken(now: HostDriver) -> str | None:
    return _listed(now.vibs) or None


def _listed(vibs: Iterable[depot.DriverVib]) -> str:
    return ", ".join(f"{vib.family} {vib.version}" for vib in vibs)
