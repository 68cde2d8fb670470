# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A module whose secrets may have several lines."""

from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule


class CloneModule(AnsibleModule):
    """Keeps userdata out of the system's log, too."""

    def _log_invocation(self) -> None:
        # ansible-core logs options that are lists or dictionaries in Python notation, with \n for the end of a line. It
        # searches that text for secrets in plain form and does not find a secret of several lines.
        self.no_log_values |= {repr(secret)[1:-1] for secret in self.no_log_values}
        super()._log_invocation()
