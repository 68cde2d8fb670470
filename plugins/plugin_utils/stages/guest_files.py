# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Files that the role guest_vm writes and that the playbook drift compares. Pure."""

from __future__ import annotations

LIMITS_FILE = "/etc/security/limits.d/90-aiready.conf"
MODULES_FILE = "/etc/modules-load.d/aiready-rdma.conf"
