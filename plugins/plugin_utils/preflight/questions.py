# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The checks before a run that follow from a site: privileges, addresses, registries, secrets. Pure."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import job
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.privileges import NEEDS
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import directpath, guests, inventory_checks, trust
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.checks import problems
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.hosts import RDMA_PATHS
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.inventory_doubles import value_of
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.machines import creates
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.relaxed import host_keys
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import validate
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages import repository_keys

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

# Sources of packages and images if the site names no mirror.
TOOLKIT = "https://nvidia.github.io/libnvidia-container/stable"
VENDOR = "https://download.docker.com/linux"
# Docker's server has a key for each family of distributions. The guests' family is unknown before they run.
VENDOR_KEYS = {"debian": "debian", "centos": "redhat"}
HUB = "docker.io"


def everything(
    site: Any,
    passwords: Mapping[str, str] | None = None,
    given: Mapping[str, Any] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    variables: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """All checks and the secrets that they need; groups and variables are those of the inventory."""
    asked, misnamed = questions(site, passwords), inventory_checks.names(groups or {}, variables)
    hosts = (groups or {}).get("esxi_hosts") or ()
    bmcs = any(value_of(inventory_checks.of_host(variables, name), "bmc_address") for name in hosts)
    return dict(
        asked,
        problems=(inventory_checks.elsewhere(site, groups, variables) or asked["problems"]) + misnamed,
        objects=objects(site),
        unverified=asked["unverified"] + [list(one) for one in host_keys(groups or {}, variables)],
        plain=job.plain(inventory_checks.plain(variables)),
        job=job.pitfalls((given or {}).get("job") or {}),
        # A missing secret may exist under a wrong name.
        secrets=[] if misnamed else [list(one) for one in secrets(site, {"bmcs": bmcs, **(given or {})})],
    )


def questions(site: Any, passwords: Mapping[str, str] | None = None) -> dict[str, Any]:
    """All checks, or only the problems of the site if it has any."""
    wrong = problems(site)
    reported = {
        "problems": wrong,
        "stages": [],
        "datacenter": None,
        "privileges": [],
        "addresses": [],
        "asked_addresses": [],
        "registries": [],
        "paths": [],
        "unverified": [],
    }
    if wrong:
        return reported
    stages = guests.stages(site)
    site, dummy = validate(site)
    site = directpath.lowered(site)
    addresses = list(_addresses(site, stages))
    return dict(
        reported,
        stages=stages,
        datacenter=site["datacenter"],
        privileges=list(_privileges(site)),
        addresses=addresses,
        # Input of the module that requests them.
        asked_addresses=[{key: one[key] for key in ("url", "expect")} for one in addresses],
        registries=list(_registries(site, stages, passwords or {})),
        paths=list(_paths(site, stages)),
        unverified=[list(one) for one in trust.unverified(site)],
    )


def _privileges(site: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The objects of vcenter_access_info, each with its stage and the reason."""
    network, machine = site["network"], site["machine"]
    conditions = {
        "": True,
        "creates": creates(site),
        "grows": creates(site) and machine["disk_gb"] > 0,
        "customizes": creates(site) and bool(machine["customization"]),
        "removes": bool(site["absent"]) or site["prune"] == "delete",
        "drs": creates(site) and site["placement"]["drs"] == "enabled",
        "passthrough": network["path"] == "passthrough" or site["gpu"]["mode"] == "passthrough",
        "shared": site["gpu"]["mode"] in ("vgpu", "mig"),
        "pvrdma": network["path"] == "pvrdma",
        "rdma": network["path"] in RDMA_PATHS,
    }
    objects = {
        "vcenter": ("vcenter", None),
        "host": ("host", None),
        "cluster": ("cluster", site["cluster"]),
        "folder": ("folder", machine["folder"]),
        "template": ("vm", machine["template"]),
        "datastore": ("datastore", machine["datastore"]),
        "driver_datastore": ("datastore", (site["driver"] or {}).get("datastore")),
        "portgroup": ("network", network["portgroup"]),
    }
    for need in NEEDS:
        kind, name = objects[need.kind]
        # Objects that the site does not name are chosen and checked later.
        if conditions[need.when] and (name or need.kind in ("vcenter", "host", "cluster", "folder")):
            yield {
                "stage": need.stage,
                "why": need.why,
                "kind": kind,
                "name": name,
                "privilege": need.privilege,
                "without": need.without,
                "since": list(need.since),
            }


def objects(site: Any) -> list[dict[str, Any]]:
    """The same as an option of vcenter_access_info: one entry for each object."""
    wanted: dict[tuple[str, str | None], list[str]] = {}
    for need in questions(site)["privileges"]:
        wanted.setdefault((need["kind"], need["name"]), []).append(need["privilege"])
    return [
        {"kind": kind, "privileges": sorted(set(asked)), **({"name": name} if name else {})}
        for (kind, name), asked in wanted.items()
    ]


def _addresses(site: Mapping[str, Any], stages: Collection[str]) -> Iterator[dict[str, Any]]:
    """{url, expect, what, who}: who is hosts or guests."""
    driver = site["driver"] or {}
    if driver.get("url"):
        yield {"url": driver["url"], "expect": "file", "what": "host driver", "who": "hosts"}
    if "guests" in stages:
        package = (guests.part_of(site, "guests")["driver"] or {}).get("package") or ""
        if urlsplit(package).scheme in ("http", "https"):
            yield {"url": package, "expect": "file", "what": "guest driver", "who": "guests"}
    if "runtime" in stages:
        runtime = guests.part_of(site, "runtime")
        mirror = runtime["toolkit_repository"] or {}
        base = mirror.get("url") or TOOLKIT
        key = mirror.get("key_url") or f"{base.rstrip('/').rpartition('/')[0]}/gpgkey"
        yield _key("container toolkit", key, mirror, repository_keys.NVIDIA, "site.runtime.toolkit_repository")
        if runtime["source"] == "vendor":
            yield from _vendor_keys(runtime["vendor_repository"] or {})


def _vendor_keys(own: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The key of a mirror, or both keys of Docker."""
    url = own.get("key_url") or (f"{own['url'].rstrip('/')}/gpg" if own.get("url") else "")
    named = {url: sum(repository_keys.DOCKER.values(), ())} if url else {}
    found = named or {f"{VENDOR}/{name}/gpg": repository_keys.DOCKER[one] for name, one in VENDOR_KEYS.items()}
    for address, usual in found.items():
        yield _key("container engine", address, own, usual, "site.runtime.vendor_repository")


def _key(what: str, url: str, repository: Mapping[str, Any], usual: Iterable[str], setting: str) -> dict[str, Any]:
    """The check of a repository's key file, with the expected fingerprints."""
    given = repository.get("key_fingerprints")
    expected = list(usual if given is None else given)
    return {"url": url, "expect": "key", "what": what, "who": "guests", "fingerprints": expected, "setting": setting}


def _registries(
    site: Mapping[str, Any], stages: Collection[str], passwords: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    if "runtime" not in stages:
        return
    named = guests.part_of(site, "runtime")["registries"]
    for entry in named:
        yield {
            "address": entry["address"],
            "username": entry["username"],
            "password": passwords.get(entry["address"]) or "",
            "insecure": entry["insecure"],
            **({"ca_file": entry["ca_file"]} if entry["ca_file"] else {}),
        }
    if "training" in stages:
        address = registry_of(guests.part_of(site, "training")["image"])
        if address not in [entry["address"] for entry in named]:
            yield {"address": address, "username": "", "password": "", "insecure": False}


def registry_of(image: str) -> str:
    """The registry of an image: the part before the first slash, if it looks like a host."""
    first, slash, dummy = image.partition("/")
    return first if slash and (first == "localhost" or "." in first or ":" in first) else HUB


def _paths(site: Mapping[str, Any], stages: Collection[str]) -> Iterator[str]:
    if site["fabric"]["backup_dir"]:
        yield site["fabric"]["backup_dir"]
    for stage in ("training", "validation"):
        if stage in stages:
            yield guests.part_of(site, stage)["result_dir"]


# Variables of a login without a user and a password.
OTHER_LOGINS = ("AIREADY_SAML_TOKEN", "AIREADY_SAML_TOKEN_FILE", "AIREADY_SESSION_ID")


def secrets(
    site: Any, given: Mapping[str, Any], environment: Mapping[str, str] | None = None
) -> Iterator[tuple[str, str, bool, str]]:
    """[(where, what, whether it is there, what to do)] of the secrets that the site needs; never a secret itself.

    given: which variables hold one, by their names; site_registry_passwords is a list of addresses.
    """
    environment = os.environ if environment is None else environment
    if not isinstance(site, Mapping) or problems(site):
        return
    stages = guests.stages(site)
    vcenter, bmc = site.get("vcenter") or {}, (site.get("hosts") or {}).get("bmc") or {}
    wanted = list(_login(vcenter, given, environment))
    if given.get("bmcs"):
        wanted += [
            ("BMCs", "user", bool(bmc.get("username")), "AIREADY_BMC_USER", "Set site.hosts.bmc.username"),
            (
                "BMCs",
                "password",
                given.get("site_bmc_password"),
                "AIREADY_BMC_PASSWORD",
                "Set site_bmc_password in a vault",
            ),
        ]
    for where, what, there, variable, todo in wanted:
        yield where, what, bool(there or environment.get(variable)), f"{todo}, or {variable} in the environment."
    if "runtime" in stages:
        runtime = guests.part_of(validate(site)[0], "runtime")
        for entry in runtime["registries"]:
            if entry["username"]:
                there = entry["address"] in (given.get("site_registry_passwords") or ())
                todo = f"Set the key {entry['address']} of site_registry_passwords in a vault."
                yield f"Registry {entry['address']}", "password", there, todo
        if (runtime["proxy"] or {}).get("username"):
            yield "proxy", "password", bool(given.get("site_proxy_password")), "Set site_proxy_password in a vault."


def _login(
    vcenter: Mapping[str, Any], given: Mapping[str, Any], environment: Mapping[str, str]
) -> Iterator[tuple[str, str, Any, str, str]]:
    """The parts of the login to vCenter: a token or a session need no user and no password."""
    if given.get("site_vcenter_session_id"):
        yield "vCenter", "session", True, "AIREADY_SESSION_ID", "Set site_vcenter_session_id in a vault"
    elif vcenter.get("saml_token_file"):
        yield "vCenter", "SAML token", True, "AIREADY_SAML_TOKEN_FILE", "Set site.vcenter.saml_token_file"
    elif given.get("site_vcenter_password") or not any(environment.get(name) for name in OTHER_LOGINS):
        yield "vCenter", "user", bool(vcenter.get("username")), "VMWARE_USER", "Set site.vcenter.username"
        password = given.get("site_vcenter_password")
        yield "vCenter", "password", password, "VMWARE_PASSWORD", "Set site_vcenter_password in a vault"
