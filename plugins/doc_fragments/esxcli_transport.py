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
      - Connection for C(esxcli) commands to the host.
      - V(vcenter) sends them through vCenter's own connection to the host. SSH stays off, and lockdown mode does not
        matter.
      - V(ssh) sends them through the C(ssh) program of the machine that runs the module, with a key and a verified host
        key. Use it if vCenter does not pass C(esxcli) commands to the host.
    type: str
    choices: [vcenter, ssh]
    default: vcenter
  esxcli_timeout_s:
    description:
      - Maximum time in seconds of one command that changes something. Installing a driver takes minutes.
      - A command that only reads has the limit O(request_timeout_s), with its repeats.
    type: int
    default: 900
  ssh_host:
    description:
      - Name or address for O(esxcli_transport=ssh). If not set, the module uses the name of the host in vCenter.
    type: str
  ssh_port:
    description:
      - Port for O(esxcli_transport=ssh).
    type: int
    default: 22
  ssh_user:
    description:
      - User for O(esxcli_transport=ssh). It must be an administrator of the host.
    type: str
    default: root
  ssh_key_file:
    description:
      - Private key for O(esxcli_transport=ssh). If not set, the C(ssh) program uses its own keys, such as those of an
        agent.
    type: path
  ssh_known_hosts_file:
    description:
      - File of known host keys for O(esxcli_transport=ssh). If not set, the C(ssh) program uses its own file.
      - The module rejects a host whose key is not in this file.
    type: path
"""
