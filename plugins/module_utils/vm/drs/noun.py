# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""DRS settings for the VMs of a training job: the five steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun, planned
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import recent, session, tasks
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs import cluster as clusters
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs import rules, spec
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs import state as states
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs.params import DrsRequest

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref, vim
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

_ATTEMPTS = 3


class DrsPlacement(Noun[DrsRequest, states.Drs]):
    """Manage one anti-affinity rule of VMs, and their automation levels."""

    def __init__(self, module: AnsibleModule) -> None:
        self._params: dict[str, Any] = module.params
        self._warn: Callable[[str], None] = module.warn
        self._planned: set[str] = set(planned(module, module.params["planned"]) or ())
        self._vcenter: VCenter = None  # type: ignore[assignment]
        self._cluster: clusters.Cluster = None  # type: ignore[assignment]

    def read(self, items: Sequence[Item[DrsRequest, states.Drs]]) -> None:
        self._vcenter = session.connect(self._params, self._warn)
        ref = clusters.locate(self._vcenter, self._params["cluster"].strip(), self._params["datacenter"])
        self._cluster = clusters.read(self._vcenter, ref)
        for item in items:
            item.ids.update(name=self._cluster.name, moid=self._cluster.moid, vms=self._names(item))
            item.now = self._state(item)

    def want(self, item: Item[DrsRequest, states.Drs]) -> states.Drs:
        requested, names = item.requested, item.ids["vms"]
        if requested.state == "absent":
            rule = item.now.rule
            if rule is not None or not rules.rules_of_name(self._cluster, requested.name):
                return states.Drs(None, tuple((name, states.ON_ITS_OWN) for name in names))
            raise self._not_ours(requested)
        if requested.anti_affinity or requested.automation not in ("ignore", states.ON_ITS_OWN):
            rules.refuse_impossible(self._cluster, requested, names, self._planned)
        rule = None
        if requested.anti_affinity:
            rule = states.Rule(tuple(names), requested.mandatory)
        elif item.now.rule is None and rules.rules_of_name(self._cluster, requested.name):
            raise self._not_ours(requested)
        levels = item.now.automation
        if requested.automation != "ignore":
            levels = tuple((name, requested.automation) for name in names)
        return states.Drs(rule, levels)

    def compare(self, now: states.Drs, wanted: states.Drs) -> list[Change]:
        return states.compare(now, wanted)

    def explain(self, item: Item[DrsRequest, states.Drs]) -> None:
        if item.requested.state == "absent" or not item.requested.anti_affinity:
            return
        for host, vms in rules.together(self._cluster, item.ids["vms"]).items():
            self._warn(
                f"{', '.join(vms)} run together on {host} now. The rule does not move VMs that cannot migrate "
                "while they run. Power off all but one of them, and move those with vm_clone and move=cold."
            )

    def apply(self, items: Sequence[Item[DrsRequest, states.Drs]]) -> None:
        (item,) = items
        # Wait for the changes of a killed run: a rule that is added at the same time would exist twice. The change may
        # have ended since the cluster was read.
        self._await_unended()
        self._cluster = clusters.read(self._vcenter, self._cluster.ref)
        for attempt in range(_ATTEMPTS):
            now = self._state(item)
            if not states.compare(now, item.wanted):
                return
            item.error = rules.gone(self._cluster, item.wanted)
            if item.error is not None:
                return
            wanted = spec.reconfiguration(self._cluster, item.requested.name, now, item.wanted)
            item.touched = True
            job = tasks.Job(
                f"Cluster {self._cluster.name}",
                cast(
                    "Callable[[], Ref]",
                    lambda wanted=wanted: self._cluster.ref.ReconfigureComputeResource_Task(spec=wanted, modify=True),
                ),
                "cannot change its DRS configuration",
            )
            (outcome,) = tasks.run_tasks(self._vcenter, [job], timeout_s=self._params["task_timeout_s"])
            if _is_lost(outcome):
                self._await_unended()
            self._cluster = clusters.read(self._vcenter, self._cluster.ref)
            # A change of another run since the reading may cause a refusal: "add" of an existing rule.
            again = attempt < _ATTEMPTS - 1 and (_is_lost(outcome) or self._state(item) != now)
            if outcome.error is not None and not again:
                item.error = outcome.error
                return

    def prove(self, items: Sequence[Item[DrsRequest, states.Drs]]) -> None:
        if not items:
            # A change that was running when the task began has applied all of it.
            return
        (item,) = items
        self._cluster = clusters.read(self._vcenter, self._cluster.ref)
        item.proved = self._state(item)
        left = states.compare(item.proved, item.wanted)
        if item.error is None and left:
            item.error = OperatorError(
                f"Cluster {self._cluster.name}",
                "did not change as requested",
                "vSphere reported success, but these settings did not change: "
                f"{'; '.join(str(change) for change in left)}",
                "Run the task again. If the error repeats, check the cluster's events in vCenter",
                "not_proved",
                left=[change.as_result() for change in left],
            )

    def project(self, state: states.Drs) -> dict[str, object]:
        return states.project(state)

    def close(self) -> None:
        if self._vcenter is not None:
            self._vcenter.close()

    def _await_unended(self) -> None:
        """Wait for changes of the cluster that are on their way."""
        label, timeout_s = f"Cluster {self._cluster.name}", self._params["task_timeout_s"]
        recent.await_unended(self._vcenter, self._cluster.ref, label, _is_change, timeout_s)

    def _names(self, item: Item[DrsRequest, states.Drs]) -> list[str]:
        """Return the VMs of the task by name, sorted; without any, those of the rule."""
        cluster = self._cluster
        named = item.requested.vms
        if named is None:
            rule = next((one for one in rules.rules_of_name(cluster, item.requested.name) if rules.is_ours(one)), None)
            return sorted(cluster.name_of(ref) for ref in (rule.vm if rule is not None else ()))
        meant = [(name, cluster.vms_named(name)) for name in named]
        return sorted({cluster.label(found[0]) if len(found) == 1 else name for name, found in meant})

    def _state(self, item: Item[DrsRequest, states.Drs]) -> states.Drs:
        """Return the reported state of the task's rule and VMs in the cluster."""
        cluster = self._cluster
        found = [rule for rule in rules.rules_of_name(cluster, item.requested.name) if rules.is_ours(rule)]
        rule = None
        if found:
            names = sorted(cluster.name_of(ref) for ref in found[0].vm or ())
            rule = states.Rule(tuple(names), bool(found[0].mandatory), found[0].enabled is not False)
        levels = []
        for name in item.ids["vms"]:
            there = cluster.vms_named(name)
            entry = cluster.overrides.get(there[0].moid) if there else None
            levels.append((name, states.automation_of(entry)))
        return states.Drs(rule, tuple(levels))

    def _not_ours(self, requested: DrsRequest) -> OperatorError:
        return OperatorError(
            f"Cluster {self._cluster.name}",
            f"cannot remove rule {requested.name}",
            "The rule of this name has another type",
            "Correct `name`; this module removes only rules that keep VMs apart",
            "rule_of_other_type",
        )


def _is_change(info: vim.TaskInfo) -> bool:
    # ComputeResource.reconfigureEx or ClusterComputeResource.reconfigureEx.
    return (info.descriptionId or "").endswith(".reconfigureEx")


def _is_lost(outcome: tasks.Outcome) -> bool:
    return outcome.uncertain and cast(OperatorError, outcome.error).code != "task_timeout"
