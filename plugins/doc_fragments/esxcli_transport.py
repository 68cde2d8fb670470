# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How esxcli of a host is reached; the spec is ESXCLI_TRANSPORT in module_utils/vcenter/args.py."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  esxcli_transport:
    description:
      - How commands of C(esxcli) reach the host.
      - With V(vcenter) they go through vCenter's own connection to the host. SSH stays off, and lockdown mode does not
        matter.
      - With V(ssh) they go through the C(ssh) program of the machine that runs the module, with a key and a verified
        host key. It is the fallback for a vCenter that does not pass C(esxcli) on.
    type: str
    choices: [vcenter, ssh]
    default: vcenter
  esxcli_timeout_s:
    description:
      - How many seconds one command that changes something may take. Installing a driver takes minutes.
    type: int
    default: 900
  ssh_host:
    description:
      - The name or address for O(esxcli_transport=ssh). Without it, the name of the host in vCenter.
    type: str
  ssh_port:
    description:
      - The port for O(esxcli_transport=ssh).
    type: int
    default: 22
  ssh_user:
    description:
      - The user for O(esxcli_transport=ssh). It has to be an administrator of the host.
    type: str
    default: root
  ssh_key_file:
    description:
      - The private key for O(esxcli_transport=ssh). Without it, what the C(ssh) program finds by itself, such as an
        agent.
    type: path
  ssh_known_hosts_file:
    description:
      - The file of known host keys for O(esxcli_transport=ssh). Without it, that of the C(ssh) program.
      - A host whose key is not in it is refused.
    type: path
"""
