# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Checks a site and the inventory's variables of single hosts and switches, without contacting any of them.

Pure, except that it reads files of hosts if Ansible found no host.
"""

from __future__ import annotations

import difflib
import glob
import os
import re
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleError
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import inventory_loader
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import checks
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.inventory_doubles import GROUPS, doubles, value_of
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.places import is_plain, place, placed
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.switches import switch_problems

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# Variables beside the site that plays read, by group. The empty name means all hosts.
VARIABLES = {
    "esxi_hosts": ("bmc_address",),
    "switches": ("switch_host_ports", "switch_fabric_ports"),
    "": (
        "site_vcenter_password",
        "site_vcenter_session_id",
        "site_vcenter_rest_session_id",
        "site_bmc_password",
        "site_switch_password",
        "site_registry_passwords",
        "site_licence_token",
        "site_proxy_password",
        "site_userdata",
    ),
}
CONTROLLER = "localhost"
PASSWORDS = (
    *("site_vcenter_password", "site_vcenter_session_id", "site_vcenter_rest_session_id"),
    *("site_bmc_password", "site_switch_password", "site_proxy_password"),
)
# What the filter awx_site rejects. Ansible before 2.19 repeats the message.
ANSWER = re.compile(r".*(Cannot (?:use the answer|use the prepared site|put the answers of the survey)\b.*)", re.DOTALL)
UNDEFINED = re.compile(r"'([A-Za-z_][A-Za-z0-9_]*)' is undefined")
NOT_HOSTS = re.compile(r"Plugin configuration YAML file|no vault secrets|decrypt", re.IGNORECASE)
# Variables with less similar names are the user's own.
ALIKE_VARIABLE = 0.9
# Groups with less similar names are the user's own.
ALIKE = 0.8


def problems(
    site: Any,
    groups: Mapping[str, Sequence[str]] | None = None,
    variables: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[str]:
    """Every problem, as sentences; variables are those of each host by name, as hostvars has them."""
    groups = groups or {}
    found = elsewhere(site, groups, variables) or checks.problems(site)
    found += names(groups, variables)
    known = set(found)
    for name in groups.get("esxi_hosts") or ():
        own = of_host(variables, name).get("site_host")
        found += [f"{name}: {one}" for one in checks.problems(site, own) if one not in known] if own else []
    switches = list(groups.get("switches") or ())
    # Problems of the site itself would be repeated for each switch.
    return found if known else found + placed(switch_problems(site, switches, variables, switches), site)


def elsewhere(
    site: Any,
    groups: Mapping[str, Sequence[str]] | None = None,
    variables: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[str]:
    """The problem of a site that only some hosts of the inventory have: its file is in the folder of their group."""
    if site:
        return []
    for group in GROUPS:
        for name in (groups or {}).get(group) or ():
            own = of_host(variables, name)
            if "site" in own:
                where = place(_key(own, "site")) or f" (variables of {name})"
                return [
                    f"site: it is set only for hosts of the group {group}, and not for localhost. Move its file to "
                    f"group_vars/all/site.yml.{where}"
                ]
    return []


def unresolved(message: object) -> str:
    """Why a site cannot be evaluated. Ansible's own message contains internal names."""
    answer = ANSWER.search(str(message))
    if answer is not None:
        return answer[1]
    found = UNDEFINED.search(str(message))
    if found is None:
        return f"site: It cannot be evaluated. {message} Correct it in the inventory."
    return (
        f"site: It cannot be evaluated, because the variable {found[1]} is not defined. Set {found[1]} in "
        "group_vars or in a vault, or correct its name where the site uses it."
    )


def names(groups: Mapping[str, Sequence[str]], variables: Mapping[str, Mapping[str, Any]] | None = None) -> list[str]:
    """Problems of the names of groups and variables, which Ansible ignores silently."""
    return [
        *_unread(groups, variables),
        *_misspelled(groups),
        *_misspelled_variables(groups, variables),
        *doubles(groups, variables),
        *_broken_passwords(variables),
    ]


def plain(variables: Mapping[str, Mapping[str, Any]] | None) -> list[list[str]]:
    """[(name, file and line)] of passwords that a file contains in plain text."""
    own = of_host(variables, CONTROLLER)
    keys = [_key(own, name) for name in (*PASSWORDS, "site_licence_token") if name in own]
    return [[str(key), place(key)[2:-1]] for key in keys if is_plain(key)]


def _broken_passwords(variables: Mapping[str, Mapping[str, Any]] | None) -> Iterator[str]:
    """Passwords that were encrypted with a line break at their end, as echo prints it."""
    own = of_host(variables, CONTROLLER)
    for name in PASSWORDS:
        if name in own and re.search(r"[\r\n]", value_of(own, name)):
            yield (
                f"The inventory sets {name} to a text with a line break, which no password has. Encrypt it again "
                f"without one, for example with `ansible-vault encrypt_string --name {name} "
                f"--prompt`.{place(_key(own, name))}"
            )


def _unread(groups: Mapping[str, Sequence[str]], variables: Mapping[str, Mapping[str, Any]] | None) -> Iterator[str]:
    """A file of hosts that Ansible could not read: Ansible only warns, and continues without hosts."""
    if set(groups.get("all", [None])) - {CONTROLLER}:
        return
    for source in of_host(variables, CONTROLLER).get("ansible_inventory_sources") or ():
        for file in sorted(glob.glob(os.path.join(glob.escape(source), "*"))) if os.path.isdir(source) else [source]:
            why = _refused(file)
            if why:
                yield (
                    f"Ansible could not read the inventory {file}: {why.rstrip('.')}. Correct its indentation, and "
                    "write hosts as keys with a colon, not as list entries."
                )


def _refused(file: str) -> str:
    """Why Ansible's own reader rejects a file of hosts in YAML; empty if it accepts it, or for other files."""
    reader = inventory_loader.get("yaml")
    try:
        if not os.path.isfile(file) or not reader.verify_file(file) or _is_program(file):
            return ""
        reader.parse(InventoryData(), DataLoader(), file, cache=False)
    except AnsibleError as error:
        # Such a file is for another reader, or needs decryption first.
        return "" if NOT_HOSTS.search(str(error)) else " ".join(str(error).split())
    return ""


def _is_program(file: str) -> bool:
    """Whether Ansible runs the file and reads its output. AWX passes the inventory of every job this way. [sure]"""
    with open(file, "rb") as stream:
        return os.access(file, os.X_OK) and stream.read(2) == b"#!"


def _misspelled_variables(
    groups: Mapping[str, Sequence[str]], variables: Mapping[str, Mapping[str, Any]] | None
) -> Iterator[str]:
    """Variables with nearly the name of one that is missing. Ansible ignores unknown variables silently."""
    reported: dict[tuple[str, str, str], list[str]] = {}
    for group, wanted in VARIABLES.items():
        for host in groups.get(group) or () if group else (CONTROLLER,):
            own = of_host(variables, host)
            for name in wanted:
                if name in own:
                    continue
                for near in difflib.get_close_matches(name, own, n=1, cutoff=ALIKE_VARIABLE):
                    if near not in sum(VARIABLES.values(), ()):
                        reported.setdefault((near, name, place(_key(own, near))), []).append(host)
    for (near, name, where), hosts in reported.items():
        of = "" if hosts == [CONTROLLER] else f" of {', '.join(hosts)}"
        yield f"The inventory sets {near}{of} and not {name}, which is probably meant. Rename it.{where}"


def _key(own: Mapping[str, Any], name: str) -> str:
    """The name as the inventory has it, with its file and line."""
    return next(key for key in own if key == name)


def _misspelled(groups: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for wanted in GROUPS:
        near = difflib.get_close_matches(wanted, groups, n=1, cutoff=ALIKE) if wanted not in groups else []
        if near and near[0] not in GROUPS:
            yield f"The inventory has a group {near[0]} and none named {wanted}, which is probably meant. Rename it."


def of_host(variables: Mapping[str, Mapping[str, Any]] | None, name: str) -> Mapping[str, Any]:
    return variables[name] if variables is not None and name in variables else {}
