# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A site together with what the inventory says of single hosts and switches, without asking any of them. Pure."""

from __future__ import annotations

import difflib

from ansible_collections.aiready.vsphere.plugins.plugin_utils import site_checks
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site_places import placed
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site_switches import switch_problems

# The groups that plays of the collection look for.
GROUPS = ("esxi_hosts", "switches", "training_guests")
# Groups of other names are the user's own, unless one is nearly a name that is missing.
ALIKE = 0.8


def problems(site, groups=None, variables=None):
    """Everything that is wrong, as sentences; variables are those of each host by name, as hostvars has them."""
    groups = groups or {}
    found = site_checks.problems(site) + list(_misspelled(groups))
    known = set(found)
    for name in groups.get("esxi_hosts") or ():
        own = _of(variables, name).get("site_host")
        found += [f"{name}: {one}" for one in site_checks.problems(site, own) if one not in known] if own else []
    switches = list(groups.get("switches") or ())
    # Problems of the site itself would come once more for each switch.
    return found if known else found + placed(switch_problems(site, switches, variables, switches), site)


def _misspelled(groups):
    for wanted in GROUPS:
        near = difflib.get_close_matches(wanted, groups, n=1, cutoff=ALIKE) if wanted not in groups else []
        if near and near[0] not in GROUPS:
            yield f"The inventory has a group {near[0]} and none named {wanted}, which is probably meant. Rename it."


def _of(variables, name):
    return variables[name] if variables is not None and name in variables else {}
