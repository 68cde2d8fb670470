# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All filters by name; each is documented in a file of its own beside this one.

To find one filter, Ansible opens all files with filters of a collection, in the process of every task and host.
"""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self) -> dict[str, object]:
        return {
            "awx_objects": deferred("plugin_utils.awx.objects", "objects"),
            "awx_site": deferred("plugin_utils.awx.survey", "answered"),
            "controller_needs": deferred("plugin_utils.preflight.controller_needs", "needs"),
            "decided_later": deferred("plugin_utils.run.plan", "later"),
            "drift_asks": deferred("plugin_utils.drift.table", "asked"),
            "drift_recorded": deferred("plugin_utils.drift.recorded", "of_results"),
            "drift_report": deferred("plugin_utils.drift.table", "answer"),
            "drift_seen": deferred("plugin_utils.drift.seen", "seen"),
            "fabric_read": deferred("plugin_utils.stages.fabric_check", "read"),
            "fabric_report": deferred("plugin_utils.stages.fabric_check", "report"),
            "guest_plan": deferred("plugin_utils.stages.guest_plan", "plan"),
            "health_check": deferred("plugin_utils.health.judged", "check"),
            "health_last": deferred("plugin_utils.health.saved", "last"),
            "health_readings": deferred("plugin_utils.health.readings", "seen"),
            "host_gaps": deferred("plugin_utils.stages.host_gaps", "left"),
            "host_plan": deferred("plugin_utils.stages.host_plan", "plan"),
            "host_restore": deferred("plugin_utils.stages.host_restore", "plan"),
            "inventory_problems": deferred("plugin_utils.site.inventory_checks", "problems"),
            "journal_folder": deferred("plugin_utils.run.journal", "folder"),
            "key_problems": deferred("plugin_utils.stages.repository_keys", "key_problems"),
            "kubernetes_faults": deferred("plugin_utils.kubernetes.state", "faults"),
            "kubernetes_job_faults": deferred("plugin_utils.kubernetes.state", "job_faults"),
            "kubernetes_plan": deferred("plugin_utils.kubernetes.plan", "plan"),
            "kubernetes_ready": deferred("plugin_utils.kubernetes.state", "policy_ready"),
            "kubernetes_refused": deferred("plugin_utils.kubernetes.refused", "refused"),
            "kubernetes_secret": deferred("plugin_utils.kubernetes.gpu_operator", "licence_secret"),
            "kubernetes_settled": deferred("plugin_utils.kubernetes.state", "settled"),
            "machine_due": deferred("plugin_utils.stages.machine_due", "due"),
            "machine_facts": deferred("plugin_utils.stages.machine_facts", "facts"),
            "machine_left": deferred("plugin_utils.stages.machine_left", "left"),
            "machine_options": deferred("plugin_utils.stages.machine_options", "options"),
            "machine_restore": deferred("plugin_utils.stages.machine_restore", "plan"),
            "machine_steps": deferred("plugin_utils.stages.machine_steps", "steps"),
            "machine_table": deferred("plugin_utils.stages.machine_facts", "table"),
            "peer_keys": deferred("plugin_utils.stages.peer_keys", "peer_keys"),
            "preflight_findings": deferred("plugin_utils.preflight.findings", "answer"),
            "preflight_questions": deferred("plugin_utils.preflight.questions", "everything"),
            "preflight_seen": deferred("plugin_utils.preflight.seen", "seen"),
            "preflight_unknown": deferred("plugin_utils.preflight.findings", "unknown"),
            "proof_gaps": deferred("plugin_utils.stages.proof_gaps", "gaps"),
            "quarantine_enter": deferred("plugin_utils.health.quarantine", "entered"),
            "quarantine_guests": deferred("plugin_utils.health.quarantine", "held"),
            "quarantine_last": deferred("plugin_utils.health.quarantine", "last"),
            "quarantine_leave": deferred("plugin_utils.health.quarantine", "released"),
            "restore_plan": deferred("plugin_utils.restore.plan", "plan"),
            "restore_report": deferred("plugin_utils.restore.report", "report"),
            "run_state": deferred("plugin_utils.stages.run_state", "state"),
            "runtime_plan": deferred("plugin_utils.stages.runtime_plan", "plan"),
            "site_bmc_connection": deferred("plugin_utils.site.hosts", "bmc_connection"),
            "site_connection": deferred("plugin_utils.site.specification", "connection"),
            "site_fleet": deferred("plugin_utils.site.machines", "fleet"),
            "site_guests": deferred("plugin_utils.site.guests", "guests"),
            "site_hosts": deferred("plugin_utils.site.hosts", "hosts"),
            "site_kubernetes": deferred("plugin_utils.site.kubernetes", "kubernetes"),
            "site_machines": deferred("plugin_utils.site.machines", "machines"),
            "site_problems": deferred("plugin_utils.site.checks", "problems"),
            "site_runtime": deferred("plugin_utils.site.runtime", "runtime"),
            "site_switch_problems": deferred("plugin_utils.site.switches", "switch_problems"),
            "site_switches": deferred("plugin_utils.site.switches", "switches"),
            "site_training": deferred("plugin_utils.site.training", "training"),
            "site_unresolved": deferred("plugin_utils.site.inventory_checks", "unresolved"),
            "site_validation": deferred("plugin_utils.site.validation", "validation"),
            "stage_hosts": deferred("plugin_utils.stages.run_state", "hosts"),
            "switch_order": deferred("plugin_utils.stages.waves", "order"),
            "upgrade_plan": deferred("plugin_utils.upgrade.plan", "answer"),
            "validation_blocked": deferred("plugin_utils.validation.blocked", "blocked"),
            "validation_due": deferred("plugin_utils.validation.blocked", "due"),
            "validation_fabric": deferred("plugin_utils.validation.results", "fabric"),
            "validation_parts": deferred("plugin_utils.validation.results", "parts"),
            "validation_seen": deferred("plugin_utils.validation.results", "seen"),
            "validation_verdict": deferred("plugin_utils.validation.results", "verdict"),
            "wave_size": deferred("plugin_utils.stages.waves", "size"),
        }
