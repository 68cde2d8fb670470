# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Replaces option names in messages of modules by the site keys that set them. Pure."""

from __future__ import annotations

import re

# The option of a module, and the key or variable that sets it in a stage.
KEYS = {
    "bmc_address": "bmc_address of the host in the inventory",
    "bmc_ca_file": "site.hosts.bmc.ca_file",
    "bmc_password": "site_bmc_password",
    "bmc_username": "site.hosts.bmc.username",
    "ca_file": "site.vcenter.ca_file",
    "cluster": "site.cluster",
    "customization.spec": "site.machine.customization",
    "datacenter": "site.datacenter",
    "datastore": "site.machine.datastore",
    "depot": "site.driver.depot",
    "folder": "site.machine.folder",
    "hostname": "site.vcenter.hostname",
    "library": "site.machine.content_library",
    "library_item": "site.machine.content_item",
    "password": "site_vcenter_password",
    "port": "site.vcenter.port",
    "portgroup": "site.network.portgroup",
    "rest_session_id": "site_vcenter_rest_session_id",
    "saml_token_file": "site.vcenter.saml_token_file",
    "session_id": "site_vcenter_session_id",
    "template": "site.machine.template",
    "username": "site.vcenter.username",
    "vmknic": "site.network.vmknic",
}
# In code font, as the object of a fix, or as a missing value.
_CODE = re.compile(r"`([a-z_.]+)`")
_ORDER = re.compile(r"\b(Correct|Check) ([a-z_.]+?)(?=[.,;]? |[.,;]?$)")
_UNSET = re.compile(
    r"\b([a-z_]+) is not set; give it to the task, to module_defaults, or by the environment variable (\w+)"
)
# Each is in a message of a module; a test checks this.
OTHERS = {
    "`uncovered: report`": "`site.hosts.allow_reverted_settings: true`",
    "Set `places`": "Set `site.hosts.profile_places`",
    "`evacuation: drs`": "`site.hosts.evacuation: drs`",
    "use `file` to upload the file": "upload the file with `site.driver.file`",
    "Choose one of these, or connect the host to the datastore": "Correct the datastore in `site.driver.depot`, or "
    "connect the host to it",
    "Name the ports as the switch does": "Correct switch_host_ports or switch_fabric_ports of the switch",
    "set mandatory=false": "set site.placement.anti_affinity to false",
    "Correct `host`, or check the user's": "Correct its name in the group esxi_hosts "
    "of the inventory, or check the user's",
}


def in_site(text: str) -> str:
    """The message with site keys in place of options."""
    # Registries have options of the same names, with other keys.
    if "registry" in text.lower():
        return text
    for words, others in OTHERS.items():
        text = text.replace(words, others)
    text = _UNSET.sub(_set, text)
    text = _CODE.sub(lambda found: f"`{KEYS[found[1]]}`" if found[1] in KEYS else found[0], text)
    return _ORDER.sub(lambda found: f"{found[1]} {KEYS.get(found[2], found[2])}", text)


def _set(found: re.Match[str]) -> str:
    key = KEYS.get(found[1])
    return f"{key} is not set. Set {key}, or the environment variable {found[2]}" if key else found[0]
