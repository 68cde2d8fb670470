# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""pyVmomi, or the reason why it is missing. Everything else imports it from here."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any, Callable

from ansible_collections.aiready.vsphere.plugins.module_utils.core.controller import missing_library

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule

    # A reference to an object of vCenter, and a value of its API. Their types are no help: only new releases of pyVmomi
    # have stubs, and those do not know methods by their names on the wire, such as PowerOnVM_Task.
    Ref = Any
    Data = Any

__all__ = ["IMPORT_ERROR", "SoapStubAdapter", "VmomiSupport", "managed_type", "require", "vim", "vmodl"]

try:
    from pyVmomi import SoapStubAdapter, VmomiSupport, vim, vmodl  # type: ignore[attr-defined]
except ImportError:
    SoapStubAdapter = VmomiSupport = vim = vmodl = None  # type: ignore[assignment,misc]
    IMPORT_ERROR: str | None = traceback.format_exc()
else:
    IMPORT_ERROR = None


def require(module: AnsibleModule) -> None:
    """Fail the module with installation advice when pyVmomi cannot be imported."""
    if IMPORT_ERROR is not None:
        module.fail_json(msg=missing_library("pyVmomi"), exception=IMPORT_ERROR)


def managed_type(kind: str) -> Callable[..., Ref]:
    """The type with this WSDL name, such as VirtualMachine or PropertyCollector."""
    return VmomiSupport.GetWsdlType("urn:vim25", kind)
