# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Gather all facts of hosts: two requests to vCenter for any number, and the answers of each host itself."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Sequence, TypeVar

from ansible.module_utils.common import warnings
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import dvx, facts, port_groups
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import names
from ansible_collections.aiready.vsphere.plugins.module_utils.host.facts import LOCKDOWN, PROPERTIES, Answers
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import esxcli_ssh, hosts, pool, properties
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim, vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.esxcli import Esxcli
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.esxcli_ssh import SshEsxcli
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

    D = TypeVar("D")
    T = TypeVar("T")

VM_PROPERTIES = ("name", "runtime.powerState", "runtime.host")
RDMA_DRIVER = "nmlx5_core"
NVIDIA_MODULE = "nvidia"
# A further connection costs at most a login, which is less than the read of a host.
HOSTS_PER_CONNECTION = 2


def gather(
    vcenter: VCenter, params: Mapping[str, Any], warn: Callable[[str], None] = warnings.warn
) -> tuple[HostFound, list[Row], Answers]:
    """Return (found host, rows of its VMs, Answers); facts without a service on the host are omitted with a warning."""
    found = hosts.find_host(vcenter, params["host"], allow_unreachable=True)
    found, rows = _read(vcenter, found, PROPERTIES + dvx.properties_of(vcenter), True)
    return found, _vms(rows), _answers(vcenter, found, port_groups.groups_of(rows), params, warn)


def gather_all(
    vcenter: VCenter, params: Mapping[str, Any], warn: Callable[[str], None] = warnings.warn
) -> dict[str, dict[str, Any] | OperatorError]:
    """{name: its facts, or why the host cannot be read} of the hosts of a task, of which several are asked at once."""
    named = hosts.find_each(vcenter, params["hosts"])
    refs = {one.moid: one.ref for one in named.values() if not isinstance(one, OperatorError)}
    rows = _rows(vcenter, list(refs.values()), PROPERTIES + dvx.properties_of(vcenter), True) if refs else []
    own, groups = {row.moid: row for row in rows}, port_groups.groups_of(rows)
    vms = _vms(rows)

    def read_one(mine: VCenter, one: HostFound | OperatorError) -> _Read:
        if isinstance(one, OperatorError):
            return _Read(one)
        if one.moid not in own:
            return _Read(hosts.unreachable(one))
        return _read_one(mine, _with_row(one, own[one.moid]), [vm for vm in vms if _runs_on(vm, one)], groups, params)

    workers = min(pool.AT_ONCE, -(-len(refs) // HOSTS_PER_CONNECTION))
    every = pool.each(vcenter, list(named.values()), read_one, workers)
    for one in every:
        for text in one.warnings:
            warn(text)
    return {name: one.facts for name, one in zip(named, every)}


@dataclass
class _Read:
    """The facts of one host, or why it cannot be read; and the warnings of its read."""

    facts: dict[str, Any] | OperatorError
    warnings: list[str] = field(default_factory=list)


def _read_one(
    vcenter: VCenter,
    found: HostFound,
    vms: list[Row],
    groups: dict[str, port_groups.Group],
    params: Mapping[str, Any],
) -> _Read:
    """Read one of several hosts. A failure of any kind is a failure of this host only."""
    said: list[str] = []
    try:
        answers = _answers(vcenter, hosts.over(vcenter, found), groups, params, said.append)
        return _Read(facts.facts(found, vms, answers, params), said)
    except OperatorError as error:
        return _Read(error, said)
    except Exception as error:  # noqa: BLE001  (an odd answer must not hide the other hosts)
        return _Read(_unexpected(found, error), said)


def _unexpected(found: HostFound, error: Exception) -> OperatorError:
    return OperatorError(
        f"Host {found.name}",
        "cannot read the host",
        f"The module cannot interpret an answer of this host ({type(error).__name__}: {error})",
        f"Run esxi_host_info with `host: {found.name}` to get the traceback, and report it as a defect",
        "unexpected_answer",
    )


def _answers(
    vcenter: VCenter,
    found: HostFound,
    groups: dict[str, port_groups.Group],
    params: Mapping[str, Any],
    warn: Callable[[str], None],
) -> Answers:
    """The answers of a host. vCenter has no request for several hosts for these."""
    if found.connection != "connected":
        return Answers(groups=groups)
    ports = [port.device for port in found.row.get("config.network").pnic or [] if port.driver == RDMA_DRIVER]
    asked = _Asked(warn)
    modules = asked(lambda: kernel_modules(found), [])
    esxcli = asked(lambda: esxcli_ssh.open_esxcli(vcenter, found, params), None)

    def called(command: str) -> Any:
        return asked(lambda: esxcli.call(command), None) if esxcli is not None else None

    vibs = called("software.vib.list")
    return Answers(
        modules=modules,
        kernel=called("system.settings.kernel.list") or [],
        options={
            name: value
            for name in params["options"]
            for value in asked(lambda name=name: option_values(found, name), [])
        },
        dcb={port: _dcb(esxcli, port) for port in ports if esxcli is not None},
        driver=None if vibs is None else driver_of(vibs, modules),
        pci=called("hardware.pci.list") or [],
        lockdown_exceptions=_exceptions(found),
        groups=groups,
    )


class _Asked:
    """Questions to services of a host, of which one may be missing; the others are asked all the same."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn

    def __call__(self, question: Callable[..., T], otherwise: D) -> T | D:
        try:
            return question()
        except OperatorError as error:
            if error.code not in ("service_missing", "method_not_found"):
                raise
            self._warn(error.message)
            return otherwise


def _manager(found: HostFound, name: str) -> Any:
    """A service of the host; one that vCenter does not name is missing as one that does not answer."""
    service = getattr(found.row.get("configManager"), name, None)
    if service is None:
        raise OperatorError(
            f"Host {found.name}",
            f"has no {name}",
            f"vCenter reports no {name} for this host",
            "Check the version of vCenter, and that the host responds",
            "service_missing",
        )
    return service


def _exceptions(found: HostFound) -> list[str] | None:
    """Return the exception users of lockdown mode; None if it is off, or if vCenter does not show them."""
    if LOCKDOWN.get(str(found.row.get("config.lockdownMode")), "disabled") == "disabled":
        return None
    try:
        return sorted(_manager(found, "hostAccessManager").QueryLockdownExceptions() or [])
    except (OperatorError, vmodl.MethodFault):
        # A user who may not read them may still be let in.
        return None


def read(vcenter: VCenter, found: HostFound, paths: Iterable[str]) -> tuple[HostFound, list[Row]]:
    """A host with these properties, and rows of its VMs, in one request."""
    found, rows = _read(vcenter, found, paths)
    return found, _vms(rows)


def _read(
    vcenter: VCenter, found: HostFound, paths: Iterable[str], with_groups: bool = False
) -> tuple[HostFound, list[Row]]:
    rows = _rows(vcenter, [found.ref], paths, with_groups)
    return _with_row(found, next(one for one in rows if one.moid == found.moid)), rows


def _rows(vcenter: VCenter, refs: Sequence[Ref], paths: Iterable[str], with_groups: bool) -> list[Row]:
    select = {
        "HostSystem": ("name", "runtime.connectionState", "runtime.powerState") + tuple(paths),
        "VirtualMachine": VM_PROPERTIES,
    }
    walk = [("HostSystem", "vm")]
    if with_groups:
        select[port_groups.KIND] = port_groups.PROPERTIES
        walk.append(port_groups.FROM_HOST)
    return properties.retrieve(vcenter, select, refs, walk)


def _with_row(found: HostFound, row: Row) -> HostFound:
    return replace(found, row=row, connection=str(row.get("runtime.connectionState")))


def _runs_on(vm: Row, found: HostFound) -> bool:
    host = vm.get("runtime.host")
    return host is not None and host._GetMoId() == found.moid


def _vms(rows: Iterable[Row]) -> list[Row]:
    return [one for one in rows if one.kind == "VirtualMachine"]


def kernel_modules(found: HostFound) -> list[vim.host.KernelModuleSystem.ModuleInfo]:
    """Return the host's report on its kernel modules."""
    try:
        return list(_manager(found, "kernelModuleSystem").QueryModules() or [])
    except vmodl.MethodFault as fault:
        raise explain(fault, f"Host {found.name}", "cannot list its kernel modules") from fault


def option_values(found: HostFound, name: str) -> list[Any]:
    """The values of an advanced option: one, or none where the host does not know it."""
    try:
        return [entry.value for entry in _manager(found, "advancedOption").QueryOptions(name=name) or []]
    except vim.fault.InvalidName:
        return []
    except vmodl.MethodFault as fault:
        raise explain(fault, f"Host {found.name}", f"cannot read the advanced option {name}") from fault


def driver_of(
    vibs: Iterable[Mapping[str, Any]] | None, modules: Iterable[vim.host.KernelModuleSystem.ModuleInfo]
) -> dict[str, Any]:
    """The installed host driver, and whether the kernel has loaded its module."""
    found = next((vib for vib in vibs or [] if names.family_of(str(vib.get("Name", "")))), None)
    loaded = any(module.name == NVIDIA_MODULE and module.loaded for module in modules)
    if found is None:
        return {"family": "none", "version": None, "loaded": loaded}
    return {
        "family": names.family_of(str(found["Name"])),
        # The part before the dash is the driver version, the rest names the ESXi release that it was built for.
        "version": str(found.get("Version", "")).partition("-")[0],
        "loaded": loaded,
    }


def _dcb(esxcli: Esxcli | SshEsxcli, port: str) -> dict[str, Any] | None:
    try:
        return esxcli.call("network.nic.dcb.status.get", nic_name=port)
    except OperatorError as error:
        # A port with a driver that does not support DCB is reported without DCB.
        if error.code != "esxcli_failed":
            raise
        return None
