# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All filters by name; each is documented in a file of its own beside this one.

To find one filter, Ansible opens all files with filters of a collection, in the process of every task and host.
"""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {
            "controller_needs": deferred("plugin_utils.controller_needs", "needs"),
            "decided_later": deferred("plugin_utils.run_plan", "later"),
            "host_blockers": deferred("plugin_utils.host_blockers", "blockers"),
            "host_gaps": deferred("plugin_utils.host_promises", "gaps"),
            "host_restart": deferred("plugin_utils.host_restart", "restart"),
            "inventory_problems": deferred("plugin_utils.inventory_checks", "problems"),
            "key_problems": deferred("plugin_utils.repository_keys", "key_problems"),
            "machine_due": deferred("plugin_utils.machine_due", "due"),
            "machine_facts": deferred("plugin_utils.machine_facts", "facts"),
            "machine_left": deferred("plugin_utils.machine_left", "left"),
            "machine_options": deferred("plugin_utils.machine_options", "options"),
            "machine_steps": deferred("plugin_utils.machine_steps", "steps"),
            "machine_table": deferred("plugin_utils.machine_facts", "table"),
            "peer_keys": deferred("plugin_utils.peer_keys", "peer_keys"),
            "preflight_findings": deferred("plugin_utils.preflight_findings", "answer"),
            "preflight_questions": deferred("plugin_utils.preflight_questions", "everything"),
            "preflight_unknown": deferred("plugin_utils.preflight_findings", "unknown"),
            "proof_gaps": deferred("plugin_utils.proof_gaps", "gaps"),
            "site_bmc_connection": deferred("plugin_utils.site_hosts", "bmc_connection"),
            "site_connection": deferred("plugin_utils.site", "connection"),
            "site_fleet": deferred("plugin_utils.site_machines", "fleet"),
            "site_guests": deferred("plugin_utils.site_guests", "guests"),
            "site_hosts": deferred("plugin_utils.site_hosts", "hosts"),
            "site_machines": deferred("plugin_utils.site_machines", "machines"),
            "site_problems": deferred("plugin_utils.site_checks", "problems"),
            "site_runtime": deferred("plugin_utils.site_runtime", "runtime"),
            "site_switch_problems": deferred("plugin_utils.site_switches", "switch_problems"),
            "site_switches": deferred("plugin_utils.site_switches", "switches"),
            "site_training": deferred("plugin_utils.site_training", "training"),
            "site_unresolved": deferred("plugin_utils.inventory_checks", "unresolved"),
            "site_validation": deferred("plugin_utils.site_validation", "validation"),
            "validation_blocked": deferred("plugin_utils.validation_blocked", "blocked"),
            "validation_due": deferred("plugin_utils.validation_blocked", "due"),
            "validation_looks": deferred("plugin_utils.validation_results", "looks"),
            "validation_run": deferred("plugin_utils.validation_results", "run"),
        }
