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
      - Name or address of vCenter, without a scheme or a port.
      - If the task does not set it, the module uses the environment variable E(VMWARE_HOST). One of them is required.
    type: str
  port:
    description:
      - Port of the vCenter web services.
      - If the task does not set it, the module uses the environment variable E(VMWARE_PORT).
    type: int
    default: 443
  username:
    description:
      - Name of the vCenter user, with the domain, such as V(automation@vsphere.local).
      - A login has either O(username) and O(password), or O(saml_token_file), or O(session_id). The module rejects two
        of them in one task. A login in the task has precedence over the environment.
      - vCenter 9.0 and later reject the password of a user of a federated domain, as if it were wrong. Use a service
        account of the SSO domain, or O(saml_token_file). The behaviour of 9.1 is derived from that of 9.0 [unsure].
      - If the task does not set it, the module uses the environment variable E(VMWARE_USER).
    type: str
  password:
    description:
      - Password of O(username). The module uses it only to log in, and never writes it.
      - If the task does not set it, the module uses the environment variable E(VMWARE_PASSWORD).
    type: str
  saml_token_file:
    description:
      - Path of a file with a SAML 2.0 bearer token of the security token service (STS) of vCenter, as
        C(govc session.login -issue) prints it. The file must have mode 0600 or stricter.
      - The module logs in with C(LoginByToken), and to the REST services with C(SIGN). Holder-of-key tokens are
        rejected.
      - vCenter issues bearer tokens for at most 5 minutes. With O(session=reuse), the session outlives the token. A new
        token gets a new session.
      - If the task does not set it, the module uses the environment variable E(AIREADY_SAML_TOKEN_FILE), or the token
        itself in E(AIREADY_SAML_TOKEN). No option takes the token itself.
    type: path
  session_id:
    description:
      - ID of an existing session of the vSphere API, the value of the cookie C(vmware_soap_session).
      - The module does not log in, and never ends this session. It fails when the session expires. It does not use
        O(session).
      - If the task does not set it, the module uses the environment variable E(AIREADY_SESSION_ID).
    type: str
  rest_session_id:
    description:
      - ID of an existing session of the REST services, as C(POST /api/session) returns it. It must belong to the user
        of O(session_id).
      - Only modules that use the REST services need it. If omitted, they send O(session_id), which vCenter usually does
        not know there [unsure].
      - If the task does not set it, the module uses the environment variable E(AIREADY_REST_SESSION_ID).
    type: str
  validate_certs:
    description:
      - Whether to validate the certificate of vCenter and its name against O(hostname). This also applies to
        V(localhost).
      - With V(false), anybody on the network path to vCenter can read the password. The module still rejects a
        certificate that changes during a session.
      - If the task does not set it, the module uses the environment variable E(VMWARE_VALIDATE_CERTS).
      - A task without validation prints a warning that names the setting. The module rejects V(false) together with
        O(ca_file).
    type: bool
    default: true
  ca_file:
    description:
      - Path of a PEM file with certificates to trust instead of the system certificates.
      - A vCenter with its own certificate authority offers these certificates under C(/certs/download.zip).
      - If the task does not set it, the module uses the environment variable E(AIREADY_VCENTER_CA_FILE).
    type: path
  proxy_host:
    description:
      - Name or address of an HTTP proxy for the connection to vCenter.
      - If the task does not set it, the module uses the environment variable E(VMWARE_PROXY_HOST).
    type: str
  proxy_port:
    description:
      - Port of O(proxy_host).
      - If the task does not set it, the module uses the environment variable E(VMWARE_PROXY_PORT).
    type: int
    default: 80
  session:
    description:
      - Lifetime of a vCenter session.
      - With V(reuse), all tasks and forks with the same O(hostname), O(port) and O(username) (or the same SAML token)
        share one session. A file in O(session_dir), which only you can read, contains its cookie. When vCenter drops
        the idle session, one task logs in again. The module does not check O(password) while the session is valid.
      - With V(once), the task logs in, logs out at its end, and writes nothing.
    type: str
    choices: [reuse, once]
    default: reuse
  session_dir:
    description:
      - Directory for O(session=reuse). The module creates it with mode 0700, and rejects a directory that others can
        enter.
      - If neither the task nor the environment variable E(AIREADY_SESSION_DIR) sets it, it is
        C(aiready.vsphere/sessions) in E(XDG_CACHE_HOME), or in C(~/.cache).
    type: path
  request_timeout_s:
    description:
      - Maximum time in seconds for one request to vCenter. The module repeats reads after transient errors within this
        time.
    type: int
    default: 120
requirements:
  - pyVmomi
notes:
  - The module needs vCenter or ESXi 7.0 or newer. It uses the newest API version that the server and pyVmomi both
    support.
  - Use C(module_defaults) with the group C(aiready.vsphere.vcenter) to set the connection once per play.
  - The module repeats reads and logins after transient errors. Once a request for a change may have reached vCenter,
    the module repeats it only if vCenter itself rejects a second execution.
"""
