# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The executer through which a host runs esxcli: an interface that vSphere has and pyVmomi does not describe."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Iterable

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import VmomiSupport, vim

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Data, Ref, vmodl

_NAMESPACE = "urn:vim25"
_SINCE = "vim.version.version5"
# F_OPTIONAL of VmomiSupport, which is None here where pyVmomi is missing.
_OPTIONAL = 4
_PACKAGE = "vmodl.reflect.ManagedMethodExecuter"
_ARGUMENT = "ReflectManagedMethodExecuterSoapArgument"
_RESULT = "ReflectManagedMethodExecuterSoapResult"

_DATA = (
    (f"{_PACKAGE}.SoapArgument", _ARGUMENT, (("name", "string", 0), ("val", "string", 0))),
    (
        f"{_PACKAGE}.SoapFault",
        "ReflectManagedMethodExecuterSoapFault",
        (("faultMsg", "string", 0), ("faultDetail", "string", _OPTIONAL)),
    ),
    (
        f"{_PACKAGE}.SoapResult",
        _RESULT,
        (("response", "string", _OPTIONAL), ("fault", f"{_PACKAGE}.SoapFault", _OPTIONAL)),
    ),
)
_EXECUTE = (
    ("moid", "string", 0),
    ("version", "string", 0),
    ("method", "string", 0),
    ("argument", f"{_PACKAGE}.SoapArgument[]", _OPTIONAL),
)
# Hosts are said to use either name for the object; vmware/govmomi's client uses the first, its simulator the second.
_EXECUTERS = ((_PACKAGE, "ReflectManagedMethodExecuter"), ("vim.ManagedMethodExecuter", "ManagedMethodExecuter"))
_REGISTERING = Lock()


def register() -> None:
    """Register the types with pyVmomi, unless this process has done so already."""
    with _REGISTERING:
        _register()


def _register() -> None:
    for vmodl_name, wsdl_name, fields in _DATA:
        if not _is_known(wsdl_name):
            props = [(name, kind, _SINCE, flags) for name, kind, flags in fields]
            VmomiSupport.CreateDataType(vmodl_name, wsdl_name, "vmodl.DynamicData", _SINCE, props)
    if not _is_known("VimEsxCLICLIFault"):
        props = [("errMsg", "string[]", _SINCE, _OPTIONAL)]
        VmomiSupport.CreateDataType("vim.EsxCLI.CLIFault", "VimEsxCLICLIFault", "vmodl.MethodFault", _SINCE, props)
    for vmodl_name, wsdl_name in _EXECUTERS:
        if not _is_known(wsdl_name):
            methods = [_execute_definition()] if vmodl_name == _PACKAGE else None
            VmomiSupport.CreateManagedType(vmodl_name, wsdl_name, "vmodl.ManagedObject", _SINCE, None, methods)


def retrieve_executer(host: Ref) -> Ref:
    """The executer of a host."""
    info = _method("RetrieveManagedMethodExecuter", (), "vmodl.ManagedObject")
    return host._stub.InvokeMethod(host, info, ())


def execute(executer: Ref, moid: str, method: str, arguments: Iterable[tuple[str, str]]) -> Data:
    """Let an object inside the host run a method; a result with a response or a fault, both in XML."""
    argument_type = VmomiSupport.GetWsdlType(_NAMESPACE, _ARGUMENT)
    argument = argument_type.Array(argument_type(name=name, val=text) for name, text in arguments)
    info = _method("ExecuteSoap", _EXECUTE, f"{_PACKAGE}.SoapResult")
    return executer._stub.InvokeMethod(executer, info, (moid, "urn:vim25/5.0", method, argument))


def is_cli_fault(fault: vmodl.MethodFault) -> bool:
    """Return whether a fault is esxcli's own, which carries the lines that the command would have printed."""
    return isinstance(fault, vim.EsxCLI.CLIFault)  # type: ignore[attr-defined]


def _is_known(wsdl_name: str) -> bool:
    try:
        VmomiSupport.GetWsdlType(_NAMESPACE, wsdl_name)
    except KeyError:
        return False
    return True


def _execute_definition() -> tuple[object, ...]:
    params = tuple((name, kind, _SINCE, flags, None) for name, kind, flags in _EXECUTE)
    result = (0, f"{_PACKAGE}.SoapResult", f"{_PACKAGE}.SoapResult")
    return ("executeSoap", "ExecuteSoap", _SINCE, params, result, None, None)


def _method(wsdl_name: str, fields: Iterable[tuple[str, str, int]], result: str) -> VmomiSupport.LazyObject:
    """Return a method in the form of pyVmomi's stubs, without a class."""
    params = tuple(
        VmomiSupport.LazyObject(name=name, typeName=kind, version=_SINCE, flags=flags, privId=None)
        for name, kind, flags in fields
    )
    return VmomiSupport.LazyObject(
        name=wsdl_name,
        typeName=_PACKAGE,
        wsdlName=wsdl_name,
        version=_SINCE,
        params=params,
        isTask=False,
        resultFlags=0,
        resultName=result,
        methodResultName=result,
        privId=None,
        faults=[],
    )
