# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""esxcli of one host, through vCenter: no SSH, and lockdown mode is no obstacle."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol, Sequence, cast
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import reflect
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import IMPORT_ERROR, vim, vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain, vendor_messages
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.transport import FateUnknown

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Data, Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

    class Host(Protocol):
        """Host data that a request needs."""

        @property
        def ref(self) -> Ref: ...

        @property
        def name(self) -> str: ...


# Fields that are texts even if they look like a number or a truth value: the payload carries no types.
TEXT_FIELDS = frozenset(
    (
        *("Name", "Version", "ID", "Value", "StringValue", "DefaultStringValue", "Options", "Address", "Build"),
        *("Configured", "Runtime", "Default", "Description", "Summary", "Message", "Tags", "Firmware"),
        *("Vendor", "VendorName", "DeviceName", "ModuleName"),
    )
)
_READS = ("list", "get", "stats")
_REPEATS = 2
HANGS = (
    "Check that the command answers in the shell of the host, and restart hostd there if it does not. If the host is "
    "only slow, raise `request_timeout_s`, in the site site.vcenter.request_timeout_s"
)
_INTEGER = re.compile(r"-?(0|[1-9]\d{0,17})\Z", re.ASCII)
_TRUTH = {"true": True, "True": True, "false": False, "False": False}
# Faults of vCenter for a command or an argument that the host does not have.
_UNKNOWN = (vmodl.fault.InvalidArgument, vmodl.fault.MethodNotFound, vim.fault.NotFound) if IMPORT_ERROR is None else ()
_TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"


class Esxcli:
    """Runs commands such as software.vib.list; names of commands, arguments and fields are esxcli's own."""

    def __init__(self, vcenter: VCenter, host: Host, timeout_s: int = 900, read_s: int = 0) -> None:
        """timeout_s: of a command that changes something. read_s: of others, at least that of a request."""
        self._vcenter = vcenter
        self._host = host
        self._timeout_s = timeout_s
        self._read_s = max(read_s, vcenter.request_timeout_s)
        self._executer: Ref = None
        reflect.register()

    def call(self, command: str, **arguments: object) -> Any:
        """Return the answer of a command: a list of dicts, a dict, or a single value; None if it prints nothing.

        An argument is named as on the command line, with _ for the dashes inside (dry_run=True). None is left out. A
        field that holds a list with one entry looks like a single value; see listed().
        """
        texts = [
            (name, "".join(f"<{name}>{escape(text)}</{name}>" for text in values))
            for name, values in ((key.replace("_", ""), spelled(value)) for key, value in arguments.items())
            if values
        ]
        return decode(self._answered(command, texts))

    def _answered(self, command: str, texts: Sequence[tuple[str, str]]) -> str | None:
        label = f"Host {self._host.name}"
        line = f"esxcli {command.replace('.', ' ')}"
        wanted = f"{line} failed"
        repeats, began = _REPEATS if is_read(command) else 0, self._vcenter.clock.now()
        while True:
            try:
                result = self._execute(command, texts)
            except FateUnknown as error:
                # A host that hangs would hold the task for each repeat.
                if repeats and self._vcenter.clock.now() - began < self._read_s:
                    repeats -= 1
                    continue
                failure, todo = f"{line} got no answer", HANGS if is_read(command) else error.todo
                raise OperatorError(label, failure, error.found, todo, error.code, command=command) from error
            except vmodl.MethodFault as fault:
                if reflect.is_cli_fault(fault):
                    raise refusal(
                        self._host.name, command, list(cast(Any, fault).errMsg or vendor_messages(fault))
                    ) from fault
                if isinstance(fault, _UNKNOWN):
                    raise _unknown(label, wanted, command, fault) from fault
                raise explain(fault, label, wanted) from fault
            if result is not None and result.fault is not None:
                raise refusal(self._host.name, command, _complaints(result.fault))
            return result.response if result is not None else None

    def _execute(self, command: str, texts: Sequence[tuple[str, str]]) -> Data:
        if self._executer is None:
            self._executer = reflect.retrieve_executer(self._host.ref)
        namespace = command.rpartition(".")[0]
        moid = f"ha-cli-handler-{namespace.replace('.', '-')}"
        with self._vcenter.patience(self._read_s if is_read(command) else self._timeout_s):
            return reflect.execute(self._executer, moid, f"vim.EsxCLI.{command}", texts)


def is_read(command: str) -> bool:
    """Return whether a command only reads, so that it may be sent again."""
    return command.rpartition(".")[2] in _READS


def spelled(value: object) -> list[str]:
    """The texts of an argument: none for None, several for a list."""
    if value is None:
        return []
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, (list, tuple)):
        return [text for entry in value for text in spelled(entry)]
    return [str(value)]


def typed(name: str, text: Any) -> Any:
    """Convert a field's text to the value that it represents."""
    if name in TEXT_FIELDS or not isinstance(text, str):
        return text
    if text in _TRUTH:
        return _TRUTH[text]
    return int(text) if _INTEGER.match(text) else text


def decode(response: str | None) -> Any:
    """Decode the answer of esxcli from the XML in which the host sends it."""
    if not response or not response.strip():
        return None
    root = ElementTree.fromstring(response)
    kind = _kind(root)
    if kind.startswith("ArrayOf"):
        return [_struct(child) if len(child) or _kind(child).startswith("Vim") else child.text or "" for child in root]
    if len(root) or kind.startswith("Vim"):
        return _struct(root)
    return root.text or "" if kind == "string" else typed("", root.text or "")


def refusal(host: str, command: str, lines: list[str] | list[str | None]) -> OperatorError:
    """Return the error for a refusal of esxcli itself, in its own words."""
    lines = [line.strip() for line in lines if line and line.strip()]
    return OperatorError(
        f"Host {host}",
        f"esxcli {command.replace('.', ' ')} failed",
        f"It reported: {' / '.join(lines) or 'an error without a message'}",
        "",
        "esxcli_failed",
        command=command,
        errors=lines,
    )


def _unknown(label: str, wanted: str, command: str, fault: vmodl.MethodFault) -> OperatorError:
    return OperatorError(
        label,
        wanted,
        f"The host does not know the command or one of its arguments (vCenter answered {fault._wsdlName})",
        "Check that this release of ESXi has the command",
        "esxcli_unknown",
        command=command,
    )


def _struct(element: ElementTree.Element) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for child in element:
        name = _local(child)
        value = _struct(child) if len(child) else typed(name, child.text or "")
        if name not in fields:
            fields[name] = value
        elif isinstance(fields[name], list):
            fields[name].append(value)
        else:
            fields[name] = [fields[name], value]
    return fields


def _kind(element: ElementTree.Element) -> str:
    return element.get(_TYPE, "").rpartition(":")[2]


def _local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _complaints(fault: Data) -> list[str | None]:
    """Return the lines of an error: those of esxcli are in the detail, other faults have only the message."""
    try:
        detail = ElementTree.fromstring(fault.faultDetail or "<none/>")
    except ElementTree.ParseError:
        return [fault.faultMsg, fault.faultDetail]
    lines = [element.text for element in detail.iter() if _local(element) == "errMsg"]
    return lines or [fault.faultMsg]
