# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Guest drivers that are refused before any change: each with the reason and the fix. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import os_release
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import source as sources
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import matrix
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import version as versions

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.params import DriverRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.state import DriverState, Surroundings

# Number of processes that a message names.
SHOWN = 5


def refuse(
    label: str, now: DriverState, around: Surroundings, requested: DriverRequest, source: sources.Source
) -> None:
    """Refuse a driver that cannot work on this guest, or that would do harm."""
    subject, wanted = label, f"cannot install the guest driver {source.version or source.base}"
    _refuse_kind(subject, wanted, around, source, requested.flavour)
    _refuse_company(subject, wanted, around, requested.flavour)
    if requested.flavour == "vgpu":
        refuse_pair(subject, wanted, requested.host_version, source.version)
    elif around.needs_open and not source.open:
        raise OperatorError(
            subject,
            wanted,
            f"By its name, {source.base} has the proprietary kernel modules. The GPU of this guest is of the Ada, "
            "Hopper or Blackwell generation, which needs the open ones",
            "Use a package with `open` in its name, such as nvidia-driver-580-open, or NVIDIA's .run file",
            "open_modules_needed",
        )
    kind = source.format or around.distribution.package_format
    if (source.version, kind) == (now.version, now.format) and not now.interrupted and now.built == now.version:
        return
    _refuse_downgrade(subject, wanted, now, source, requested.downgrade)
    if (source.version, kind) != (now.version, now.format):
        refuse_in_use(subject, now, around, wanted)
    if now.missing and not requested.install_requirements:
        raise OperatorError(
            subject,
            wanted,
            f"The build of its module for the kernel {around.kernel} needs {', '.join(now.missing)}, which "
            f"{'is' if len(now.missing) == 1 else 'are'} not installed",
            "Install the packages, or set `install_requirements: true`. If no repository has the headers of this "
            "kernel, update the kernel and reboot first",
            "requirements_missing",
            missing=list(now.missing),
            kernel=around.kernel,
        )
    _refuse_unsigned(subject, wanted, around, source, requested)


def refuse_pair(subject: str, wanted: str, host: str | None, guest: str | None) -> None:
    """Refuse a guest driver on a host driver that would disable the vGPU of the VM."""
    # The digest of a driver image has no version to compare.
    if not host or not guest or guest.startswith("sha256:"):
        return
    verdict = matrix.guest_allowed(host, guest)
    if verdict.allowed:
        return
    branches = matrix.guest_branches(host)
    names = " and ".join(f"R{branch}" for branch in branches) or "no known branch"
    raise OperatorError(
        subject,
        wanted,
        f"The host driver {host} does not support this guest driver. {verdict.reason}",
        f"Use a guest driver of {names}{_example(host)}, or update the host driver first",
        "driver_pair",
        host_version=host,
        guest_version=guest,
        allowed_branches=branches,
        rule=verdict.rule,
    )


def refuse_in_use(subject: str, now: DriverState, around: Surroundings, wanted: str) -> None:
    """Refuse to remove or replace a driver in use."""
    if not around.users:
        return
    named = ", ".join(around.users[:SHOWN])
    more = f" and {len(around.users) - SHOWN} more" if len(around.users) > SHOWN else ""
    raise OperatorError(
        subject,
        wanted,
        f"The GPU is in use by {named}{more}",
        "Stop them or wait until they end, then run the task again",
        "gpu_in_use",
        processes=list(around.users),
    )


def _refuse_kind(subject: str, wanted: str, around: Surroundings, source: sources.Source, asked: str) -> None:
    """A package of another system, of another processor, or of another kind of driver."""
    os_release.refuse_unsupported(subject, wanted, around.distribution)
    own = around.distribution.package_format
    if source.format in ("deb", "rpm") and source.format != own:
        raise OperatorError(
            subject,
            wanted,
            f"{source.base} is a .{source.format} package, but the guest runs {around.distribution}",
            f"Use the .{own} package of the same release, or its .run file",
            "wrong_format",
            format=source.format,
        )
    if source.architecture not in (None, "all", "noarch", around.machine):
        raise OperatorError(
            subject,
            wanted,
            f"{source.base} is for {source.architecture}, but the guest has {around.machine}",
            f"Use the package for {around.machine}",
            "wrong_architecture",
            architecture=source.architecture,
        )
    if asked == "data_centre":
        _refuse_shared(subject, wanted, source)
        return
    if source.kind == sources.REPOSITORY or source.flavour == "guest":
        return
    kinds = {"host": "a host driver", "data_centre": "a data centre driver for whole GPUs"}
    raise OperatorError(
        subject,
        wanted,
        f"By its name, {source.base} is {kinds[source.flavour]}. With it, the guest does not detect its vGPU",
        "Use the guest driver from NVIDIA's licensing portal or enterprise catalogue. Its name contains `grid`",
        "not_a_guest_driver",
        flavour=source.flavour,
    )


def _refuse_shared(subject: str, wanted: str, source: sources.Source) -> None:
    """Refuse a driver that is not for whole GPUs, as far as its name shows."""
    if source.flavour == "data_centre":
        return
    kinds = {"host": "a host driver", "guest": "a guest driver for vGPUs, which needs a licence"}
    raise OperatorError(
        subject,
        wanted,
        f"By its name, {source.base} is {kinds[source.flavour]}. `flavour` is data_centre",
        "Use the data centre driver, whose name contains neither `grid` nor `vgpu`, or set `flavour: vgpu`",
        "not_a_data_centre_driver",
        flavour=source.flavour,
    )


def _refuse_company(subject: str, wanted: str, around: Surroundings, flavour: str) -> None:
    """Refuse next to another driver with the same files."""
    if around.conflicting:
        names = " ".join(around.conflicting)
        remove = f"apt-get remove {names}" if around.distribution.family == "debian" else f"dnf remove {names}"
        raise OperatorError(
            subject,
            wanted,
            f"Packages of another NVIDIA driver are installed. It does not support vGPUs and has the same files: "
            f"{', '.join(around.conflicting)}",
            f"Remove them with `{remove}` and reboot, then run the task again",
            "conflicting_driver",
            packages=list(around.conflicting),
        )
    if around.other_run:
        raise OperatorError(
            subject,
            wanted,
            "A .run file installed the NVIDIA driver for "
            + (
                "whole GPUs: nvidia-uninstall exists, nvidia-gridd does not"
                if flavour == "vgpu"
                else "vGPUs: nvidia-uninstall and nvidia-gridd exist"
            ),
            "Remove it with `nvidia-uninstall --silent` and reboot, then run the task again",
            "conflicting_driver",
            packages=[],
        )


def _refuse_downgrade(subject: str, wanted: str, now: DriverState, source: sources.Source, word: str) -> None:
    have, asked = versions.parse(now.version), versions.parse(source.version)
    if word == "allow" or have is None or asked is None or asked >= have:
        return
    raise OperatorError(
        subject,
        wanted,
        f"The newer {now.version} is installed",
        "Set `downgrade: allow` to install the older version, for example if you cannot update the host",
        "downgrade",
        installed=now.version,
    )


def _refuse_unsigned(
    subject: str, wanted: str, around: Surroundings, source: sources.Source, requested: DriverRequest
) -> None:
    """Refuse a module that secure boot rejects: without a signature by a key of the firmware."""
    if not around.secure_boot or around.key_enrolled or requested.secure_boot == "signed":
        return
    if requested.signing_key and source.format == "run":
        return
    raise OperatorError(
        subject,
        wanted,
        "Secure boot is on in this VM, and its firmware has no key that signs the module. The kernel would refuse "
        "the module",
        "Run `mokutil --import` to enrol the DKMS key, then confirm it at the console after a reboot. Or set "
        "`signing_key` and `signing_certificate` of an enrolled key for a .run file. Or use a package with signed "
        "modules and set `secure_boot: signed`. Or switch off secure boot in the VM",
        "secure_boot",
    )


def _example(host: str) -> str:
    """The guest driver of the same release as a host driver, where the table has it."""
    found = versions.parse(host)
    names = [release.guest for release in matrix.RELEASES if found is not None and release.host == found.driver]
    return f", such as {names[0]}" if names else ""
