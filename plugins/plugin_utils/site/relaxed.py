# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Settings of a site that are less strict than the collection's defaults, with the consequence of each. Pure."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from ansible.errors import AnsibleError
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import rounds
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import relaxed_marks as marks
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.hosts import RDMA_PATHS
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.relaxed_rules import (
    ALL_HOSTS,
    FABRIC,
    OF_PAIRS,
    RULES,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import identities
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages import machine_left
from jinja2 import UndefinedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# Compared by their own functions, because they have no single strict value.
COMPARED = (
    *("validation.rounds", "validation.nodes", "validation.arguments", "validation.nccl_command"),
    *("validation.skip", "validation.thresholds", "validation.speed_gb"),
)
# Options of the built-in benchmark (roles/horovod/files/trainings/synthetic.py) whose lower values measure less.
BENCHMARK = {"--iterations": "10", "--warmup": "10", "--batch": "32", "--image-size": "224", "--width": "64"}
# nccl-tests: (short, long): default. Fewer rounds, smaller messages, and no check of the results (--check 0).
NCCL: dict[tuple[str, ...], str] = {
    ("-n", "--iters"): "20",
    ("-w", "--warmup_iters"): "1",
    ("-c", "--check"): "1",
    ("-e", "--maxbytes"): "1G",
}
_SIZE = re.compile(r"(\d+)([KMG]?)", re.IGNORECASE)
# Groups of the inventory with SSH connections.
GROUPS = {"esxi_hosts": ALL_HOSTS, "switches": ("fabric",), "training_guests": ("guests", "runtime", "training")}
SSH, HOST_KEYS = "hosts and switches over SSH", "ANSIBLE_HOST_KEY_CHECKING"
BY_CONFIGURATION = "host_key_checking of Ansible's configuration: false"
UNCHECKED = "Host keys are not checked, so an attacker on the network can read passwords and impersonate a host."
# Variables of the connection plugins ssh, paramiko, libssh and network_cli.
OFF = ("host_key_checking", "ssh_host_key_checking", "paramiko_host_key_checking", "libssh_host_key_checking")
ON = ("host_key_auto_add", "paramiko_host_key_auto_add", "libssh_host_key_auto_add")
ARGUMENTS = ("ssh_args", "ssh_common_args", "ssh_extra_args")
WEAK = re.compile(r"StrictHostKeyChecking[ =]+(no|off|accept-new)\b|UserKnownHostsFile[ =]+/dev/null", re.IGNORECASE)


def relaxed(site: Mapping[str, Any], surroundings: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """[{setting, value, strict, means, checks, stages}] of a validated site, in the order of its keys.

    surroundings contains settings outside the site: hosts ({group of the inventory: [variables of each host]}),
    host_key_checking of Ansible's configuration, the environment, the speed_gb that was read, and owners (VMs of the
    cluster from vm_owner_info).
    """
    found = []
    for path, rule in RULES.items():
        for setting, value in _values(site, path):
            if value is not None and rule.looser(value, site):
                found.append(_reported(f"site.{setting}", value, rule.strict, rule.means, rule.checks, rule.stages))
    if site["validation"] is not None:
        found += _of_validation(site, site["validation"])
    return found + _of_surroundings(site, surroundings or {})


def _reported(
    setting: str, value: Any, strict: str, means: str, checks: Iterable[str] = (), stages: Iterable[str] = ()
) -> dict[str, Any]:
    return {
        "setting": setting,
        "value": _shown(value),
        "strict": strict,
        "means": means,
        "checks": list(checks),
        "stages": list(stages),
    }


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return (" ".join(map(str, value)) if isinstance(value, list) else str(value)) or "empty"


def _values(part: Mapping[str, Any], path: str, before: str = "") -> list[tuple[str, Any]]:
    """[(path, value)] of a key, with one entry for each element of a list; nothing below a missing section."""
    head, _point, rest = path.partition(".")
    name = head[:-2] if head.endswith("[]") else head
    value = part.get(name)
    if not rest:
        return [(before + name, value)]
    if head.endswith("[]"):
        entries = [(f"{before}{name}[{index}].", one) for index, one in enumerate(value or [])]
    else:
        entries = [(f"{before}{name}.", value)]
    return [one for place, below in entries if isinstance(below, Mapping) for one in _values(below, rest, place)]


def _of_validation(site: Mapping[str, Any], requested: Mapping[str, Any]) -> list[dict[str, Any]]:
    many = sum(len(identities(entry)) for entry in site["vms"])
    found = []
    every = len(rounds.rounds([str(number) for number in range(many)]))
    if requested["rounds"] is not None and requested["rounds"] < every:
        means = "Some pairs of guests are not tested."
        found.append(_reported("site.validation.rounds", requested["rounds"], str(every), means, OF_PAIRS))
    if requested["nodes"] is not None and many not in requested["nodes"]:
        means = "No training runs on all guests."
        found.append(
            _reported("site.validation.nodes", requested["nodes"], f"up to {many}", means, ("cluster.training",))
        )
    fewer = less(requested["arguments"], {(key,): value for key, value in BENCHMARK.items()})
    if fewer:
        means = "The benchmark computes and measures less than by default."
        checks = ("cluster.training", "cluster.efficiency", "cluster.rdma_gain")
        found.append(_reported("site.validation.arguments", fewer[0], fewer[1], means, checks))
    found += _nccl(requested["nccl_command"])
    for check, why in requested["skip"].items():
        found.append(_reported(f"site.validation.skip.{check}", why, "not skipped", "The check is left out.", (check,)))
    found += [
        _reported(f"site.validation.thresholds.{name}", *cast("list[Any]", more))
        for name, *more in marks.looser(site, many)
    ]
    return found


def _nccl(command: Sequence[str]) -> list[dict[str, Any]]:
    if not command:
        return [
            _reported(
                "site.validation.nccl_command", "empty", "all_reduce_perf", "NCCL is not measured.", ("cluster.nccl",)
            )
        ]
    fewer = less(command, NCCL)
    means = "NCCL is measured with fewer rounds or smaller messages, or its results are not checked."
    return [_reported("site.validation.nccl_command", fewer[0], fewer[1], means, ("cluster.nccl",))] if fewer else []


def less(words: Sequence[object], defaults: Mapping[tuple[str, ...], str]) -> tuple[str, ...] | None:
    """(options that are smaller than their defaults, these defaults) as texts, or None."""
    given = dict(part for word in words for part in [str(word).partition("=")[::2]] if part[1])
    given.update({str(word): str(value) for word, value in zip(words, words[1:])})
    low = [
        (name, given[name], default)
        for names, default in defaults.items()
        for name in names
        if _SIZE.fullmatch(given.get(name, "")) and _number(given[name]) < _number(default)
    ]
    if not low:
        return None
    return tuple(" ".join(f"{one[0]} {one[which]}" for one in low) for which in (1, 2))


def _number(text: str) -> int:
    digits, unit = cast("re.Match[str]", _SIZE.fullmatch(text)).groups()
    return int(digits) << (10 * "KMG".index(unit.upper()) + 10 if unit else 0)


def _of_surroundings(site: Mapping[str, Any], around: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = []
    requested_one, read = (site["validation"] or {}).get("speed_gb"), around.get("speed_gb")
    if requested_one and read and requested_one < read:
        means = "Bandwidth is compared with less than the speed of the adapters."
        found.append(_reported("site.validation.speed_gb", requested_one, str(read), means, OF_PAIRS))
    environment = around.get("environment") or {}
    for path, name in (("vcenter", "VMWARE_VALIDATE_CERTS"), ("hosts.bmc", "AIREADY_BMC_VALIDATE_CERTS")):
        ((_place, own),) = _values(site, f"{path}.validate_certs") or [("", None)]
        if own is None and str(environment.get(name) or "").strip().lower() in ("0", "no", "false", "off", "n", "f"):
            rule = RULES[f"{path}.validate_certs"]
            found.append(_reported(name, environment[name], rule.strict, rule.means, rule.checks, rule.stages))
    if site["network"]["path"] in RDMA_PATHS and (around.get("hosts") or {}).get("switches") == []:
        means = "No switch is configured or read."
        strict = "each switch on the data path"
        found.append(_reported("group switches of the inventory", "empty", strict, means, FABRIC, ("fabric",)))
    found += _left(site, around.get("owners") or ())
    by_default = around.get("host_key_checking")
    for group, stages in GROUPS.items():
        # The connection setting of each host that disables the check.
        why: dict[str, list[str]] = {}
        for own in (around.get("hosts") or {}).get(group) or []:
            word = unchecked(own, by_default)
            # The site's own setting is in the list already.
            if word and not (word.endswith("accept-new") and (site["guests"] or {}).get("host_keys") == "accept_new"):
                why.setdefault(word, []).append(str(own.get("inventory_hostname")))
        for word, names in why.items():
            reported = f"{word} ({_few(names)})"
            found.append(_reported(f"host keys of {group}", reported, "checked", UNCHECKED, (), stages))
    return found


def _left(site: Mapping[str, Any], owners: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """VMs that left the site and still exist, because they hold resources that the site does not count."""
    vms = [identity for entry in site["vms"] for identity in identities(entry)]
    inputs = {"owner": site["name"], "absent": site["absent"], "prune": site["prune"]}
    there = machine_left.left(owners, vms, inputs)
    if there["left"]:
        names = [vm["name"] for vm in there["left"]]
        yield _reported("VMs that left the site", names, "none", " ".join(there["reported"]), (), ("machines",))


def unchecked(own: Mapping[str, Any], by_default: Any = None) -> str:
    """The setting that disables the host key check of a host; empty if it is checked, or SSH is not used."""
    if (_of_host(own, "ansible_connection") or "ssh").rpartition(".")[2] in ("local", "httpapi", "winrm", "psrp"):
        return ""
    for name in ARGUMENTS:
        weak = WEAK.search(_of_host(own, f"ansible_{name}") or "")
        if weak is not None:
            return f"ansible_{name}: {weak.group()}"
    said = [(name, _of_host(own, f"ansible_{name}")) for name in OFF]
    for name, value in said:
        if value is not None and not _is_true(value):
            return f"ansible_{name}: false"
    for name in ON:
        if _is_true(_of_host(own, f"ansible_{name}")):
            return f"ansible_{name}: true"
    if by_default is not None and not _is_true(by_default) and all(value is None for _name, value in said):
        return BY_CONFIGURATION
    return ""


def host_keys(
    groups: Mapping[str, Sequence[str]],
    variables: Mapping[str, Mapping[str, Any]] | None,
    environment: Mapping[str, str] | None = None,
) -> list[tuple[str, str]]:
    """[(what, setting with its hosts)] if the environment disables the host key check, as AWX does; at most one.

    The variables of a host have precedence. The stage guests sets them for guests, so guests are not listed.
    """
    by_default = (os.environ if environment is None else environment).get(HOST_KEYS, "")
    if not by_default.strip() or _is_true(by_default):
        return []
    why: dict[str, list[str]] = {}
    for name in [*(groups.get("esxi_hosts") or ()), *(groups.get("switches") or ())]:
        word = unchecked((variables or {}).get(name) or {}, by_default)
        if word:
            why.setdefault(word, []).append(name)
    of_awx = f"the environment variable {HOST_KEYS} is {by_default}, as AWX sets it"
    shown = [f"{of_awx if word == BY_CONFIGURATION else word} ({_few(names)})" for word, names in why.items()]
    return [(SSH, ", and ".join(shown))] if shown else []


def _few(names: Sequence[str]) -> str:
    return f"{', '.join(names[:4])}{f' and {len(names) - 4} more' if len(names) > 4 else ''}"


def _of_host(own: Mapping[str, Any], name: str) -> str | None:
    """A variable of a host as a text; a variable that cannot be templated fails its own task, not the report."""
    try:
        value = own.get(name)
        return None if value is None else str(value)
    except (AnsibleError, UndefinedError):
        return None


def _is_true(value: object) -> bool:
    return str(value).strip().lower() in ("1", "yes", "true", "on", "y", "t")
