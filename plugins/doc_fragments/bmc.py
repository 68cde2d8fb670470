# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How modules reach a server's BMC over Redfish; the spec is BMC in module_utils/host/redfish/args.py."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  bmc_address:
    description:
      - The name or address of the BMC (iDRAC, iLO, ...), with a port where it is not 443. A URL with C(https://) is
        taken as well.
      - If the task does not set it, the environment variable E(AIREADY_BMC_ADDRESS) is used. One of them has to be set.
    type: str
  bmc_username:
    description:
      - The user to log in as. It needs the privileges to log in, to configure the server and to control its power.
      - If the task does not set it, the environment variable E(AIREADY_BMC_USER) is used. One of them has to be set.
    type: str
  bmc_password:
    description:
      - The password of O(bmc_username). It is written nowhere.
      - If the task does not set it, the environment variable E(AIREADY_BMC_PASSWORD) is used. One of them has to be
        set.
    type: str
  bmc_validate_certs:
    description:
      - Whether the certificate of the BMC must be valid and made for O(bmc_address).
      - With V(false) anybody between this machine and the BMC can read the password.
      - If the task does not set it, the environment variable E(AIREADY_BMC_VALIDATE_CERTS) is used.
      - A task that does not verify the certificate warns and names the setting. With O(bmc_ca_file) it is refused.
    type: bool
    default: true
  bmc_ca_file:
    description:
      - A file of certificates in PEM format that are trusted instead of those of the system. BMCs come with a
        certificate that they signed themselves, which can stand in this file when you have compared its fingerprint.
      - If the task does not set it, the environment variable E(AIREADY_BMC_CA_FILE) is used.
    type: path
  bmc_timeout_s:
    description:
      - How many seconds the BMC may take for one answer. Reads that failed in passing, and requests that a busy BMC did
        not look at, are repeated within this time.
    type: int
    default: 60
  system_id:
    description:
      - The ID of the server, such as V(System.Embedded.1) or V(1), where the BMC looks after several.
      - Without it the BMC's only server is taken.
    type: str
notes:
  - The module runs on a machine that reaches the BMC, which is usually the controller, with C(delegate_to).
  - Proxies are taken from the environment variables E(HTTPS_PROXY) and E(NO_PROXY).
"""

    # What modules that talk to a BMC, and not to vCenter, say of themselves.
    ATTRIBUTES = r"""
options: {}
attributes:
  check_mode:
    description: Can say what it would change without changing anything.
    support: full
  diff_mode:
    description: Returns what changes, before and after, when run with C(--diff).
    support: full
  action_group:
    description: Use C(group/aiready.vsphere.bmc) in C(module_defaults) to set the connection once.
    support: full
    membership:
      - aiready.vsphere.bmc
  platform:
    description: Where the module itself runs. It needs Python 3.8 or newer, and a route to the BMC.
    support: full
    platforms: posix
"""
