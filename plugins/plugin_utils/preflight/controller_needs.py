# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Missing parts of the controller for the hosts of an inventory: Python libraries, collections, variables. Pure."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.job import is_job
from jinja2 import TemplateError, Undefined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

NETWORK_CLI = "ansible.netcommon.network_cli"
# ansible.netcommon imports it, but does not depend on it.
NETWORK_CLI_NEEDS = ("ansible.netcommon", "ansible.utils")
SSH_LIBRARIES = ("pylibsshext", "paramiko")
PLUGINS = ("ansible_connection", "ansible_network_os", "ansible_become_method")
INCLUDED = ("ansible.builtin", "aiready.vsphere")
CONNECTION = (
    *PLUGINS,
    "ansible_host",
    "ansible_user",
    "ansible_password",
    "ansible_become_password",
    "ansible_ssh_private_key_file",
    "bmc_address",
)
UNDEFINED = re.compile(r"'(\w+)' is undefined|\{\{\s*(\w+)")


def needs(
    names: Iterable[str],
    variables: Mapping[str, Mapping[str, Any]],
    here: Mapping[str, Any] | None = None,
    find: Callable[[str], object] = importlib.util.find_spec,
    python: str = sys.executable,
    environment: Mapping[str, str] | None = None,
    program: Callable[[str], str | None] = shutil.which,
) -> list[dict[str, Any]]:
    """[{what, found, todo, blocks}] of missing parts; variables are those of each host, as hostvars has them."""
    known = {name: _Variables(variables[name]) for name in names if name in variables}
    there = _Finder(find)
    own = here or {}
    parts = [
        *_libraries(own, there, python),
        *_of_kubernetes(own, there, python, program),
        *_collections(known, there, python),
    ]
    if is_job(os.environ if environment is None else environment):
        # AWX removes the container of the job, with all that somebody installs in it.
        parts = [{**one, "todo": f"Add the {one['what']} to the execution environment of the job."} for one in parts]
    return [*parts, *_undefined(known)]


class _Finder:
    def __init__(self, find: Callable[[str], object]) -> None:
        self._find = find

    def __call__(self, name: str) -> bool:
        try:
            return self._find(name) is not None
        except (ImportError, ValueError):
            return False


class _Variables:
    """The variables of one host; one that cannot be evaluated has the reason as its value."""

    def __init__(self, own: Mapping[str, Any]) -> None:
        self.values: dict[str, str]
        self.unknown: dict[str, str]
        self.values, self.unknown = {}, {}
        for key in CONNECTION:
            if key not in own:
                continue
            try:
                value = own[key]
            except (AnsibleError, TemplateError) as error:
                self.unknown[key] = str(error)
                continue
            # The available ones depend on the version of Ansible.
            if isinstance(value, Undefined) or (isinstance(value, str) and "{{" in value):
                self.unknown[key] = getattr(value, "_undefined_message", None) or str(value)
            elif isinstance(value, str):
                self.values[key] = value


def _libraries(here: Any, there: _Finder, python: str) -> Iterator[dict[str, Any]]:
    own = here.get("ansible_python_interpreter") if isinstance(here, Mapping) else None
    # Another Python reports its own libraries when a module runs there.
    if isinstance(own, str) and own and os.path.realpath(own) != os.path.realpath(python):
        return
    if not there("pyVmomi"):
        yield _missing("Python library pyVmomi", "the modules for vCenter", f"{python} -m pip install pyvmomi")
    if not there("matplotlib"):
        yield _missing(
            "Python library matplotlib", "plots in the report", f"{python} -m pip install matplotlib", blocks=False
        )


def _of_kubernetes(
    here: Any, there: _Finder, python: str, program: Callable[[str], str | None]
) -> Iterator[dict[str, Any]]:
    site = here.get("site") if isinstance(here, Mapping) else None
    if not isinstance(site, Mapping) or not site.get("kubernetes"):
        return
    if not there("ansible_collections.kubernetes.core"):
        command = "ansible-galaxy collection install kubernetes.core"
        yield _missing("collection kubernetes.core", "the playbook kubernetes", command)
    if not there("kubernetes"):
        yield _missing("Python library kubernetes", "the playbook kubernetes", f"{python} -m pip install kubernetes")
    if _installs(site["kubernetes"]) and not program("helm"):
        yield {
            **_missing("program helm", "the installation of operators", ""),
            "todo": "Install Helm 3 in the search path, or set install to false in site.kubernetes and install the "
            "operators by other means.",
        }


def _installs(requested: Any) -> bool:
    """Whether an operator comes from its chart. The site is not validated yet."""
    for name in ("gpu_operator", "network_operator"):
        operator = requested.get(name) if isinstance(requested, Mapping) else None
        chart = operator.get("chart") if isinstance(operator, Mapping) else None
        if isinstance(chart, Mapping) and chart.get("install"):
            return True
    return False


def _collections(known: Mapping[str, _Variables], there: _Finder, python: str) -> Iterator[dict[str, Any]]:
    wanted: dict[str, list[str]] = {}
    cli = [name for name, own in known.items() if own.values.get("ansible_connection") in (NETWORK_CLI, "network_cli")]
    for name, own in known.items():
        for collection in filter(None, (_collection_of(own.values.get(key, "")) for key in PLUGINS)):
            wanted.setdefault(collection, []).append(name)
    for collection in NETWORK_CLI_NEEDS if cli else ():
        wanted.setdefault(collection, []).extend(cli)
    for collection in sorted(wanted):
        if collection not in INCLUDED and not there(f"ansible_collections.{collection}"):
            command = f"ansible-galaxy collection install {collection}"
            yield _missing(f"collection {collection}", _joined(wanted[collection]), command)
    if cli and not any(map(there, SSH_LIBRARIES)):
        command = f"{python} -m pip install ansible-pylibssh"
        yield _missing("Python library ansible-pylibssh", f"network_cli of {_joined(cli)}", command)


def _undefined(known: Mapping[str, _Variables]) -> Iterator[dict[str, Any]]:
    """One entry for each variable that is not defined, with the hosts and variables that use it."""
    hosts: dict[str, list[str]]
    keys: dict[str, list[str]]
    hosts, keys = {}, {}
    for name, own in known.items():
        for key, why in own.unknown.items():
            found = UNDEFINED.search(why)
            variable = (found[1] or found[2]) if found else key
            hosts.setdefault(variable, []).append(name)
            keys.setdefault(variable, []).append(key)
    for variable, names in hosts.items():
        yield {
            "what": f"variable {variable}",
            "found": f"It is not defined. It is needed for {_joined(keys[variable])} of {_joined(names)}.",
            "todo": f"Set {variable} in a vault, for example with: "
            "ansible-vault edit group_vars/all/vault.yml. Load an encrypted vault with --ask-vault-pass.",
            "blocks": True,
        }


def _missing(what: str, why: str, command: str, blocks: bool = True) -> dict[str, Any]:
    return {
        "what": what,
        "found": f"It is not installed. It is needed for {why}.",
        "todo": f"Run: {command}",
        "blocks": blocks,
    }


def _collection_of(plugin: str) -> str:
    parts = plugin.split(".")
    return ".".join(parts[:2]) if len(parts) > 2 else ""


def _joined(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))
