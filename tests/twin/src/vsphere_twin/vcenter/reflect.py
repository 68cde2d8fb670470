"""The executer through which clients run esxcli on a host: vSphere has its types, pyVmomi does not describe them."""

from __future__ import annotations

from pyVmomi import VmomiSupport

SINCE = "vim.version.version5"
PACKAGE = "vmodl.reflect.ManagedMethodExecuter"
EXECUTER = "ReflectManagedMethodExecuter"
TYPE_MANAGER = "InternalDynamicTypeManager"
_DATA = (
    ("SoapArgument", (("name", "string", 0), ("val", "string", 0))),
    ("SoapFault", (("faultMsg", "string", 0), ("faultDetail", "string", VmomiSupport.F_OPTIONAL))),
    (
        "SoapResult",
        (
            ("response", "string", VmomiSupport.F_OPTIONAL),
            ("fault", f"{PACKAGE}.SoapFault", VmomiSupport.F_OPTIONAL),
        ),
    ),
)


def register():
    """Add the types to pyVmomi's, unless a client in the same process did so first."""
    for name, fields in _DATA:
        props = [(field, kind, SINCE, flags) for field, kind, flags in fields]
        _unless_known(VmomiSupport.CreateDataType, f"{PACKAGE}.{name}", f"{EXECUTER}{name}", "vmodl.DynamicData", props)
    methods = [("executeSoap", "ExecuteSoap", SINCE, _EXECUTE, (0, _RESULT, _RESULT), None, None)]
    _unless_known(VmomiSupport.CreateManagedType, PACKAGE, EXECUTER, "vmodl.ManagedObject", None, methods)
    _unless_known(
        VmomiSupport.CreateManagedType,
        "vmodl.reflect.DynamicTypeManager",
        TYPE_MANAGER,
        "vmodl.ManagedObject",
        None,
        [],
    )


_RESULT = f"{PACKAGE}.SoapResult"
_EXECUTE = (
    ("moid", "string", SINCE, 0, None),
    ("version", "string", SINCE, 0, None),
    ("method", "string", SINCE, 0, None),
    ("argument", f"{PACKAGE}.SoapArgument[]", SINCE, VmomiSupport.F_OPTIONAL, None),
)


def _unless_known(create, name, wsdl_name, parent, *members):
    try:
        VmomiSupport.GetWsdlType("urn:vim25", wsdl_name)
    except KeyError:
        create(name, wsdl_name, parent, SINCE, *members)


def undeclared_methods():
    """Return descriptions of the methods by their WSDL names, for a server that finds none of them in a class."""
    register()
    return {
        "RetrieveManagedMethodExecuter": _method("RetrieveManagedMethodExecuter", (), "vmodl.ManagedObject"),
        "RetrieveDynamicTypeManager": _method("RetrieveDynamicTypeManager", (), "vmodl.ManagedObject"),
        "ExecuteSoap": _method("ExecuteSoap", _EXECUTE, _RESULT),
    }


def _method(wsdl_name, fields, result):
    params = tuple(
        VmomiSupport.LazyObject(name=name, typeName=kind, version=since, flags=flags, privId=privilege)
        for name, kind, since, flags, privilege in fields
    )
    return VmomiSupport.LazyObject(
        name=wsdl_name,
        typeName=PACKAGE,
        wsdlName=wsdl_name,
        version=SINCE,
        params=params,
        isTask=False,
        resultFlags=0,
        resultName=result,
        methodResultName=result,
        privId="System.Read",
        faults=[],
    )
