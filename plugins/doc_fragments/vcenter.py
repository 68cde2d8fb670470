# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How modules reach vCenter; the spec is CONNECTION in module_utils/vcenter/args.py."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  hostname:
    description:
      - The name or address of vCenter, without a scheme or a port.
      - If the task does not set it, the environment variable E(VMWARE_HOST) is used. One of them has to be set.
    type: str
  port:
    description:
      - The port of vCenter's web services.
      - If the task does not set it, the environment variable E(VMWARE_PORT) is used.
    type: int
    default: 443
  username:
    description:
      - The user to log in as, with the domain, such as V(automation@vsphere.local).
      - If the task does not set it, the environment variable E(VMWARE_USER) is used. One of them has to be set.
    type: str
  password:
    description:
      - The password of O(username). It is used for a login only, and is written nowhere.
      - If the task does not set it, the environment variable E(VMWARE_PASSWORD) is used. One of them has to be set.
    type: str
  validate_certs:
    description:
      - Whether the certificate of vCenter must be valid and made for O(hostname). This holds for V(localhost) too.
      - With V(false) anybody between this machine and vCenter can read the password. A certificate that changes
        while a session is kept is refused all the same.
      - If the task does not set it, the environment variable E(VMWARE_VALIDATE_CERTS) is used.
      - A task that does not verify the certificate warns and names the setting. With O(ca_file) it is refused.
    type: bool
    default: true
  ca_file:
    description:
      - A file of certificates in PEM format that are trusted instead of those of the system.
      - A vCenter with certificates of its own authority offers these under C(/certs/download.zip).
      - If the task does not set it, the environment variable E(AIREADY_VCENTER_CA_FILE) is used.
    type: path
  proxy_host:
    description:
      - An HTTP proxy through which vCenter is reached.
      - If the task does not set it, the environment variable E(VMWARE_PROXY_HOST) is used.
    type: str
  proxy_port:
    description:
      - The port of O(proxy_host).
      - If the task does not set it, the environment variable E(VMWARE_PROXY_PORT) is used.
    type: int
    default: 80
  session:
    description:
      - How long a vCenter session is used.
      - With V(reuse) one session serves all tasks and forks that use the same O(hostname), O(port) and O(username). Its
        cookie lies in a file that only you can read, in O(session_dir), until vCenter drops the idle session; then one
        task logs in again. While the session lives, O(password) is not looked at.
      - With V(once) the task logs in, logs out at its end, and writes nothing.
    type: str
    choices: [reuse, once]
    default: reuse
  session_dir:
    description:
      - The directory for O(session=reuse). It is created with mode 0700, and refused when others may enter it.
      - If neither the task nor the environment variable E(AIREADY_SESSION_DIR) sets it, it is
        C(aiready.vsphere/sessions) in E(XDG_CACHE_HOME), or in C(~/.cache).
    type: path
  request_timeout_s:
    description:
      - How many seconds one request to vCenter may take. Reads that failed in passing are repeated within this time.
    type: int
    default: 120
requirements:
  - pyVmomi
notes:
  - vCenter or ESXi 7.0 or newer is needed. The API version is the newest that the server and pyVmomi both speak.
  - Use C(module_defaults) with the group C(aiready.vsphere.vcenter) to write the connection once in a play.
  - Reads and logins are repeated after transient trouble. Once a request that changes something may have reached
    vCenter, it is sent again only if vCenter itself refuses to carry out the same request twice.
"""
