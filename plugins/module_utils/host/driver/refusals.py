# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The fix for an error of the ESXi installer, by the kind of error that it puts in brackets."""

from __future__ import annotations

import re

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

_KIND = re.compile(r"\[(\w+)\]")
_LOG = "Check /var/log/esxupdate.log on the host"
_UNSIGNED = (
    "Use the package that NVIDIA has signed. This collection neither lowers the acceptance level nor skips checks"
)
_TODO = {
    "MaintenanceModeError": "Put the host into maintenance mode with the module esxi_maintenance, and run again",
    "AcceptanceConfigError": _UNSIGNED,
    "VibSigMissingError": _UNSIGNED,
    "VibSigInvalidError": _UNSIGNED,
    "DependencyError": "Use the package for the release of ESXi that the host runs, and remove conflicting software",
    "MetadataDownloadError": "Check that the host itself can reach the package, and that it is a depot",
    "VibDownloadError": "Check that the host itself can reach the package, and that the file is complete",
    "LockingError": "Wait for the other installation on the host to end, and run again",
    "LiveInstallationError": f"Reboot the host and run again. {_LOG} if it fails again",
    "InstallationError": f"{_LOG}. A usual cause is a full boot bank",
}


def advised(error: OperatorError) -> OperatorError:
    """The same error of esxcli with the next step."""
    said = " ".join(error.data.get("errors") or ())
    todo = next((_TODO[kind] for kind in _KIND.findall(said) if kind in _TODO), _LOG)
    # The installer reports an untrusted signature as an InstallationError.
    todo = _UNSIGNED if "trusted signer" in said else todo
    return OperatorError(error.subject, error.wanted, error.found, todo, error.code, **error.data)
