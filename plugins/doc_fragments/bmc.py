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
      - Name or address of the BMC (iDRAC, iLO, ...), with a port if it is not 443. A URL with C(https://) also works.
      - If the task does not set it, the module uses the environment variable E(AIREADY_BMC_ADDRESS). One of them is
        required.
    type: str
  bmc_username:
    description:
      - User of the BMC. It needs the privileges to log in, to configure the server and to control its power.
      - If the task does not set it, the module uses the environment variable E(AIREADY_BMC_USER). One of them is
        required.
    type: str
  bmc_password:
    description:
      - Password of O(bmc_username). The module writes it nowhere.
      - If the task does not set it, the module uses the environment variable E(AIREADY_BMC_PASSWORD). One of them is
        required.
    type: str
  bmc_validate_certs:
    description:
      - Whether to verify the certificate of the BMC. It must be valid and issued for O(bmc_address).
      - With V(false) anybody between this machine and the BMC can read the password.
      - If the task does not set it, the module uses the environment variable E(AIREADY_BMC_VALIDATE_CERTS).
      - With V(false) the module warns and names the setting. It rejects V(false) together with O(bmc_ca_file).
    type: bool
    default: true
  bmc_ca_file:
    description:
      - File of certificates in PEM format. The module trusts them instead of those of the system. BMCs come with a
        self-signed certificate. Compare its fingerprint before you add it to this file.
      - If the task does not set it, the module uses the environment variable E(AIREADY_BMC_CA_FILE).
    type: path
  bmc_timeout_s:
    description:
      - Maximum time in seconds for one answer of the BMC. Within this time the module repeats reads after a transient
        failure, and requests that a busy BMC did not process.
    type: int
    default: 60
  system_id:
    description:
      - ID of the server, such as V(System.Embedded.1) or V(1), if the BMC manages several.
      - If not set, the module uses the BMC's only server.
    type: str
notes:
  - The module runs on a machine that reaches the BMC, usually the controller. Use C(delegate_to).
  - The environment variables E(HTTPS_PROXY) and E(NO_PROXY) define the proxy.
"""

    # What modules that talk to a BMC, and not to vCenter, say of themselves.
    ATTRIBUTES = r"""
options: {}
attributes:
  check_mode:
    description: Reports the changes that it would make, without any change.
    support: full
  diff_mode:
    description: Returns the differences, before and after, with C(--diff).
    support: full
  action_group:
    description: Use C(group/aiready.vsphere.bmc) in C(module_defaults) to set the connection once.
    support: full
    membership:
      - aiready.vsphere.bmc
  platform:
    description: Platform of the machine that runs the module. It needs Python 3.8 or newer, and a route to the BMC.
    support: full
    platforms: posix
"""
