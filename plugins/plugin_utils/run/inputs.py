# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What a plan was made from: digests of the site and of the inventory. A run of the plan must have the same ones."""

from __future__ import annotations

import hashlib
import json
import os
import re
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.module_utils.core import logins
from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import FILE, SECRET, SECRET_VALUE
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import plan, record
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.safety import is_endless
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# The inventory has these groups before the run. Guests join theirs during the run. The variables select the machine or
# its settings. Other variables may be secrets, such as a community.
OF_GROUPS = {
    "esxi_hosts": ("ansible_host", "bmc_address", "site_host"),
    "switches": (
        *("ansible_host", "ansible_network_os", "site_switch", "switch_allow", "switch_backup_file", "switch_config"),
        *("switch_confirm_timeout_s", "switch_fabric_ports", "switch_host_mtu", "switch_host_ports", "switch_platform"),
        *("switch_reconnect_timeout_s", "switch_save", "switch_state", "switch_transaction", "switch_verify_timeout_s"),
    ),
}
# A credential of AWX names vCenter here.
VCENTER = "VMWARE_HOST"
# Longer lists do not help a reader.
SHOWN = 10
_LOGIN = re.compile(r"://[^/\s@]+@")


def inputs(site: Mapping[str, Any], groups: Mapping[str, Any], hostvars: Mapping[str, Any]) -> dict[str, str]:
    """{key: digest of its value}. Secrets are left out, because a new password needs no new plan.

    A short one could also be guessed from its digest.
    """
    found = dict(_digests("site", "site", _plain("site", site)))
    for group, names in OF_GROUPS.items():
        for host in groups.get(group, ()):
            of_host = hostvars[host]
            found[f"{group}.{host}"] = _digest({})
            for name in names:
                if name in of_host:
                    found.update(_digests(f"{group}.{host}.{name}", name, _plain(name, of_host[name])))
    found[VCENTER] = _digest(os.environ.get(VCENTER, ""))
    return found


def _plain(name: str, value: Any) -> Any:
    # The callback record asks before the role site rejects such a site.
    if is_endless(name, value):
        raise AnsibleFilterError(f"Cannot compute digests of {name}. Anchors make it too large. Use fewer anchors.")
    return plain(value)


def _digests(path: str, name: str, value: Any) -> Iterator[tuple[str, str]]:
    if _is_secret(name):
        return
    if isinstance(value, dict) and value:
        for key, one in value.items():
            yield from _digests(f"{path}.{key}", str(key), one)
    else:
        yield path, _digest(_open(value))


def _is_secret(name: str) -> bool:
    return bool(SECRET.search(name)) and not FILE.fullmatch(name)


def _open(value: Any) -> Any:
    """A value without the secrets in it."""
    if isinstance(value, dict):
        return {str(key): _open(one) for key, one in value.items() if not _is_secret(str(key))}
    if isinstance(value, (list, tuple)):
        return [_open(one) for one in value]
    if not isinstance(value, str):
        return value
    address = _LOGIN.sub("://", logins.hidden(value).replace(logins.HIDDEN, ""))
    return "" if SECRET_VALUE.search(address) else address


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]


def problem(folder: str, now: Mapping[str, str]) -> str:
    """Why a run with these inputs is not the one that the plan in the folder describes; empty if it is."""
    found = record.of_folder(folder)
    if not plan.planned(found)["stages"]:
        return (
            "The folder has no record of a run in check mode. Set aiready_plan to the folder of a dry run. In AWX, "
            "mount the folder of the results into all jobs."
        )
    before = (found or {}).get("inputs")
    # A plan that could not evaluate the site has none.
    if not isinstance(before, dict) or not before:
        return "The record of the plan has no digests of its site. Make a new plan."
    after = plain(now)
    changed = sorted(key for key in {*before, *after} if before.get(key) != after.get(key))
    if not changed:
        return ""
    more = f" and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
    return (
        f"The site or the inventory has changed since the plan: {', '.join(changed[:SHOWN])}{more}. Make a new plan, "
        "or set the values of the plan again."
    )
