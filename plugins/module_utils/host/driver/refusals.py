# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What to do when the installer of ESXi refuses, by the kind of error that it puts in brackets."""

from __future__ import annotations

import re

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

_KIND = re.compile(r"\[(\w+)\]")
_LOG = "Look at /var/log/esxupdate.log of the host"
_UNSIGNED = (
    "Use the package as NVIDIA has signed it; this collection neither lowers the acceptance level nor skips checks"
)
_TODO = {
    "MaintenanceModeError": "Put the host into maintenance mode and run again; the module esxi_maintenance does it",
    "AcceptanceConfigError": _UNSIGNED,
    "VibSigMissingError": _UNSIGNED,
    "VibSigInvalidError": _UNSIGNED,
    "DependencyError": "Take the package for the release of ESXi that the host runs, and remove what conflicts with it",
    "MetadataDownloadError": "Check that the host itself can reach the package, and that it is a depot",
    "VibDownloadError": "Check that the host itself can reach the package, and that the file is whole",
    "LockingError": "Another installation is at work on the host; wait for its end and run again",
    "LiveInstallationError": f"Reboot the host and run again. {_LOG} if it repeats",
    "InstallationError": f"{_LOG}; a full boot bank is a usual reason",
}


def advised(error: OperatorError) -> OperatorError:
    """The same error of esxcli with the next step."""
    said = " ".join(error.data.get("errors") or ())
    todo = next((_TODO[kind] for kind in _KIND.findall(said) if kind in _TODO), _LOG)
    # A signature that nobody trusts comes as an InstallationError.
    todo = _UNSIGNED if "trusted signer" in said else todo
    return OperatorError(error.subject, error.wanted, error.found, todo, error.code, **error.data)
