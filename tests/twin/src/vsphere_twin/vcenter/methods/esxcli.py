"""esxcli through vCenter: the executer of each host."""

from __future__ import annotations

from pyVmomi import VmomiSupport, vim, vmodl

from vsphere_twin.esxcli import soap
from vsphere_twin.esxcli.command import FAULT_SUMMARY, Refused, run
from vsphere_twin.model.host import require_answer
from vsphere_twin.model.world import Entity

from .. import reflect
from ..calls import ClientGone
from ..registry import method

CLI_INFO = "ha-dynamic-type-manager-local-cli-cliinfo"


class Executer(Entity):
    """Executer of commands on a host for clients of vCenter."""

    def __init__(self, kind, moid, host):
        self.kind = kind
        super().__init__(moid)
        self.host = host


@method("HostSystem", "RetrieveManagedMethodExecuter")
def executer(call, this):
    return _of(call.world, this, reflect.EXECUTER, "ManagedMethodExecuter")


@method("HostSystem", "RetrieveDynamicTypeManager")
def type_manager(call, this):
    return _of(call.world, this, reflect.TYPE_MANAGER, "DynamicTypeManager")


@method(reflect.EXECUTER, "ExecuteSoap")
def execute(call, this, moid, version, method, argument=()):
    """Run a command; its refusal is returned as a fault inside the result, in XML."""
    require_answer(this.host)
    if not version.startswith("urn:vim25/"):
        raise vmodl.fault.InvalidArgument(
            msg="A specified parameter was not correct: version", invalidProperty="version"
        )
    if moid == CLI_INFO:
        return _info(argument)
    try:
        command = soap.command_for(moid, method)
        arguments = soap.read_arguments(command, [(one.name, one.val) for one in argument])
        value = _run(call.world, this.host, command, arguments)
        return _type("SoapResult")(response=soap.write(command, value))
    except soap.BadCall as problem:
        raise vmodl.fault.InvalidArgument(
            msg=f"A specified parameter was not correct: {problem.what}", invalidProperty=problem.what
        ) from None
    except Refused as problem:
        fault = _type("SoapFault")(faultMsg=FAULT_SUMMARY, faultDetail=soap.write_fault(problem.lines))
        return _type("SoapResult")(fault=fault)


def _run(world, host, command, arguments):
    fault = world.command_faults.take(host.name, f"esxcli {command.name.replace('.', ' ')}")
    if fault is not None and not fault.after:
        raise Refused(*fault.text.splitlines())
    value = run(world, host, command.name, arguments)
    if fault is not None and fault.hangs_up:
        raise ClientGone
    if fault is not None:
        raise Refused(*fault.text.splitlines())
    return value


def _info(argument):
    (kind,) = [one.val for one in argument if one.name == "typeName"] or [""]
    namespace = kind.partition(">")[2].partition("<")[0].removeprefix(soap.METHOD)
    written = soap.write_info(namespace)
    if written is None:
        raise vim.fault.NotFound(msg="The object or item referred to could not be found.")
    return _type("SoapResult")(response=written)


def _of(world, host, kind, prefix):
    require_answer(host)
    moid = f"{prefix}-{host.moid}"
    return world.get(moid) or world.add(Executer(kind, moid, host))


def _type(name):
    return VmomiSupport.GetVmodlType(f"{reflect.PACKAGE}.{name}")
