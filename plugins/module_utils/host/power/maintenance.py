# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A host in and out of maintenance mode, and whose doing it was."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Callable, Mapping, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.host import marks
from ansible_collections.aiready.vsphere.plugins.module_utils.host.noun import HostNoun
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power import evacuation, journal
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args, tasks
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import retrieve

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row

ARGUMENTS = dict(
    args.CONNECTION,
    **args.HOST_IDENTITY,
    state={"type": "str", "choices": ["entered", "left"], "default": "entered"},
    reason={"type": "str", "default": "aiready.vsphere"},
    owner={"type": "str", "choices": ["ours", "any"], "default": "ours"},
    evacuation={"type": "str", "choices": ["refuse", "drs", "drs_vgpu"], "default": "refuse"},
    evacuate_powered_off={"type": "bool", "default": False},
    planned={"type": "dict", "options": {"powered_off": {"type": "list", "elements": "str", "default": []}}},
    timeout_s={"type": "int", "default": 1800},
)
MARK = "maintenance"
_ATTEMPTS = 3
_ON = ("1", "true")
# The key of the first PCI device of a VM.
_FIRST_KEY = 13000
# The server's own limit ends first, so that its message arrives.
_MARGIN_S = 30
_WALK = (("HostSystem", "vm"), ("HostSystem", "parent"))
_SELECT = {
    "VirtualMachine": ("name", "runtime.powerState", "config.hardware.device", "config.extraConfig"),
    "ClusterComputeResource": ("name", "configurationEx"),
}


@dataclass(frozen=True)
class Service:
    """A host, seen as in service or not."""

    in_maintenance: bool
    # The reason that this collection noted; empty for a host that it did not take out of service.
    reason: str = ""
    running: tuple[evacuation.Running, ...] = ()
    cluster: evacuation.Cluster | None = None
    tasks: tuple[journal.Entry, ...] = ()


@dataclass(frozen=True)
class MaintenanceRequest:
    """Maintenance mode of a host."""

    state: str
    owner: str
    reason: str
    evacuation: str
    evacuate_powered_off: bool
    timeout_s: int


class Maintenance(HostNoun[MaintenanceRequest, Service]):
    """Maintenance mode of one host. planned: the state after the earlier tasks, for check mode."""

    PROPERTIES = ("runtime.inMaintenanceMode",) + marks.PROPERTIES + journal.PROPERTIES

    def __init__(
        self, params: Mapping[str, Any], warn: Callable[[str], None], planned: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(params, warn)
        self._off = frozenset((planned or {}).get("powered_off") or ())

    def request(self) -> MaintenanceRequest:
        return request(MaintenanceRequest, self._params)

    def look(self, found: HostFound, requested: MaintenanceRequest) -> Service:
        row = found.row
        inside = _is_inside(row)
        running: tuple[evacuation.Running, ...]
        cluster: evacuation.Cluster | None
        running, cluster = (), None
        if requested.state == "entered" and not inside:
            running, cluster = self._neighbours(found)
        return Service(inside, marks.read(row).get(MARK, ""), running, cluster, tasks=journal.read(self._vcenter, row))

    def want(self, item: Item[MaintenanceRequest, Service]) -> Service:
        now, requested = item.now, item.requested
        if requested.state == "left":
            ours = bool(now.reason) or requested.owner == "any"
            return replace(now, in_maintenance=False, reason="") if ours else now
        if now.in_maintenance and not now.reason:
            return now
        if not now.in_maintenance:
            evacuation.refuse_blocked(self.label, now.running, now.cluster, requested.evacuation)
        cluster = now.cluster
        if evacuation.needs_option(now.running, cluster, requested.evacuation):
            cluster = replace(cast(evacuation.Cluster, cluster), drs_option=evacuation.DRS_VALUE)
        return replace(now, in_maintenance=True, reason=requested.reason, cluster=cluster, running=())

    def compare(self, now: Service, wanted: Service) -> list[Change]:
        changes = []
        if now.cluster and wanted.cluster and now.cluster.drs_option != wanted.cluster.drs_option:
            path = f"{now.cluster.name}.{evacuation.DRS_OPTION}"
            changes.append(Change(path, now.cluster.drs_option or None, wanted.cluster.drs_option))
        if now.in_maintenance != wanted.in_maintenance:
            changes.append(Change("in_maintenance", now.in_maintenance, wanted.in_maintenance))
        if now.reason != wanted.reason:
            changes.append(Change("reason", now.reason, wanted.reason))
        return changes

    def changed(self, now: Service, proved: Service) -> bool:
        return True  # DRS may have moved VMs before the failure.

    def gap(self, proved: Service, wanted: Service) -> list[Change]:
        return [change for change in self.compare(proved, wanted) if change.path in ("in_maintenance", "reason")]

    def change(self, item: Item[MaintenanceRequest, Service]) -> None:
        item.touched = True
        now, wanted = item.now, item.wanted
        if now.cluster and wanted.cluster and now.cluster.drs_option != wanted.cluster.drs_option:
            self._set_drs_option()
        # The note is written before the change: if this run ends in between, the next one knows the owner.
        if wanted.reason and now.reason != wanted.reason:
            marks.write(self._vcenter, self._found.ref, MARK, wanted.reason)
        if now.in_maintenance != wanted.in_maintenance:
            self._settle(item, wanted.in_maintenance)
        if now.reason and not wanted.reason:
            marks.write(self._vcenter, self._found.ref, MARK, "")

    def project(self, state: Service) -> dict[str, Any]:
        owner = "nobody" if not state.in_maintenance else "collection" if state.reason else "others"
        return {
            "in_maintenance": state.in_maintenance,
            "owner": owner,
            "reason": state.reason,
            "running_vms": sorted(vm.name for vm in state.running),
        }

    def _neighbours(self, found: HostFound) -> tuple[tuple[evacuation.Running, ...], evacuation.Cluster | None]:
        rows = retrieve(self._vcenter, _SELECT, [found.ref], _WALK)
        machines = [row for row in rows if row.kind == "VirtualMachine" and row.moid not in self._off]
        running = tuple(_running(row) for row in machines if str(row.get("runtime.powerState")) == "poweredOn")
        clusters = [row for row in rows if row.kind == "ClusterComputeResource"]
        if not clusters or not running:
            return running, None
        hot = any(vm.vgpus for vm in running) and self._hot_migrate()
        return running, _cluster(clusters[0], hot)

    def _hot_migrate(self) -> bool:
        with self.asking(f"cannot read vCenter's setting {evacuation.HOT_MIGRATE}"):
            try:
                options = cast("vim.option.OptionManager", self._vcenter.content.setting).QueryOptions(
                    name=evacuation.HOT_MIGRATE
                )
            except vim.fault.InvalidName:
                return False
        return any(str(option.value).lower() == "true" for option in options)

    def _set_drs_option(self) -> None:
        option = vim.option.OptionValue(key=evacuation.DRS_OPTION, value=evacuation.DRS_VALUE)
        spec = vim.cluster.ConfigSpecEx(drsConfig=vim.cluster.DrsConfigInfo(option=[option]))
        cluster = cast("vim.ClusterComputeResource", self._found.cluster_ref)
        job = tasks.Job(
            f"Cluster {self._found.cluster}",
            lambda: cluster.ReconfigureComputeResource_Task(spec=spec, modify=True),
            f"cannot set the DRS option {evacuation.DRS_OPTION}",
        )
        (outcome,) = tasks.run_tasks(self._vcenter, [job])
        if outcome.error is not None:
            raise outcome.error

    def _settle(self, item: Item[MaintenanceRequest, Service], inside: bool) -> None:
        """Run the task, or continue that of an earlier run, until a new reading shows the mode."""
        kind = journal.ENTER if inside else journal.EXIT
        error: OperatorError | None
        entries, error = item.now.tasks, None
        for _attempt in range(_ATTEMPTS):
            running = journal.under_way(entries, kind)
            outcome = self._run(item.requested, inside, running)
            row = self._again()
            if _is_inside(row) == inside:
                return
            error = outcome.error
            if error is not None and (not outcome.uncertain or error.code == "task_timeout"):
                break
            entries = journal.read(self._vcenter, row)
            # The task may have ended between the two readings.
            if journal.under_way(entries, kind) is None and _is_inside(self._again()) == inside:
                return
        raise self._reported(item, inside, error)

    def _run(self, requested: MaintenanceRequest, inside: bool, running: vim.Task | None) -> tasks.Outcome:
        ref, limit_s = self._found.ref, requested.timeout_s

        def start() -> vim.Task:
            if running is not None:
                return running
            if inside:
                powered_off_too = requested.evacuate_powered_off
                return ref.EnterMaintenanceMode_Task(timeout=limit_s, evacuatePoweredOffVms=powered_off_too)
            return ref.ExitMaintenanceMode_Task(timeout=limit_s)

        wanted = f"cannot {'enter' if inside else 'exit'} maintenance mode"
        job = tasks.Job(self.label, start, wanted)
        (outcome,) = tasks.run_tasks(self._vcenter, [job], timeout_s=limit_s + _MARGIN_S)
        return outcome

    def _again(self) -> Row:
        (row,) = retrieve(self._vcenter, {"HostSystem": self.PROPERTIES}, [self._found.ref])
        return row

    def _reported(
        self, item: Item[MaintenanceRequest, Service], inside: bool, error: OperatorError | None
    ) -> OperatorError:
        if error is None:
            return OperatorError(
                self.label,
                f"cannot {'enter' if inside else 'exit'} maintenance mode",
                f"vSphere reports success, but {_ATTEMPTS} readings show the other state",
                "Check the host's events in vCenter for another user or task that changes it",
                "not_proved",
            )
        if not inside or error.code == "task_timeout":
            return error
        # It failed and the host is in service, so the note is no longer valid.
        marks.write(self._vcenter, self._found.ref, MARK, "")
        running = [vm.name for vm in self._neighbours(self._found)[0]]
        still = f" These VMs still run on it: {', '.join(sorted(running))}." if running else ""
        return OperatorError(
            self.label, error.wanted, error.found + still, error.todo, error.code, **dict(error.data, vms=running)
        )


def _is_inside(row: Row) -> bool:
    return bool(row.get("runtime.inMaintenanceMode"))


def _running(row: Row) -> evacuation.Running:
    devices = row.get("config.hardware.device") or []
    kind = vim.vm.device.VirtualPCIPassthrough
    direct = [(device.key, device.backing) for device in devices if isinstance(device, kind)]
    backings = [backing for _key, backing in direct]
    shared = {key: backing for key, backing in direct if isinstance(backing, kind.VmiopBackingInfo)}
    vgpus = tuple(cast(str, backing.vgpu) for backing in shared.values())
    fixed = tuple(
        f"PCI {getattr(backing, 'id', None) or getattr(backing, 'assignedId', None) or 'device'}"
        for backing in backings
        if not isinstance(backing, kind.VmiopBackingInfo)
    )
    vfs = tuple(
        cast("vim.Description", device.deviceInfo).label
        for device in devices
        if isinstance(device, vim.vm.device.VirtualSriovEthernetCard)
    )
    keys = {option.key: str(option.value).lower() for option in row.get("config.extraConfig") or []}
    # By the number of the vGPU (NVIDIA AI Enterprise user guide 5.0, 2.7.8), or by its key, as vm_config does.
    numbers = {*range(len(shared)), *(key - _FIRST_KEY for key in shared)}
    unified = any(keys.get(f"pciPassthru{number}.cfg.enable_uvm") in _ON for number in numbers)
    return evacuation.Running(row.get("name", row.moid), vgpus, fixed + vfs, unified)


def _cluster(row: Row, hot_migrate: bool) -> evacuation.Cluster:
    drs = getattr(row.get("configurationEx"), "drsConfig", None)
    automatic = bool(drs and drs.enabled and str(drs.defaultVmBehavior) == "fullyAutomated")
    options = {option.key: str(option.value) for option in (drs.option if drs else None) or []}
    return evacuation.Cluster(row.get("name", row.moid), automatic, options.get(evacuation.DRS_OPTION, ""), hot_migrate)
