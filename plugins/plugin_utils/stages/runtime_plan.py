# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The plan of the role container_runtime: packages, repositories, registries, and the values to verify. Pure."""

from __future__ import annotations

import json
import os.path
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages import repository_keys
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.guest_reads import (
    family_of,
    highest_status,
    installed,
    of_role,
    plain,
    query,
    read_again,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.proof_gaps import gaps
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.runtime_container import Container, container_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# Packages of an engine by source and family of the distribution. None: the source does not have the engine.
DOCKER_CE = ("docker-ce", "docker-ce-cli", "containerd.io")
ENGINES: dict[tuple[str, str], dict[str, Sequence[str]]] = {
    ("docker", "distribution"): {"debian": ("docker.io",), "redhat": ()},
    ("docker", "vendor"): {"debian": DOCKER_CE, "redhat": DOCKER_CE},
    ("containerd", "distribution"): {"debian": ("containerd",), "redhat": ()},
    ("containerd", "vendor"): {"debian": ("containerd.io",), "redhat": ("containerd.io",)},
    ("podman", "distribution"): {"debian": ("podman",), "redhat": ("podman",)},
    ("podman", "vendor"): {"debian": (), "redhat": ()},
}
# Packages of the other source. The two conflict.
OTHERS: dict[tuple[str, str], Sequence[str]] = {
    ("docker", "distribution"): DOCKER_CE,
    ("docker", "vendor"): ("docker.io", "containerd", "runc", "podman-docker"),
    ("containerd", "distribution"): ("containerd.io",),
    ("containerd", "vendor"): ("containerd", "runc"),
}
UNITS = {"docker": ["containerd", "docker"], "containerd": ["containerd"]}
# NVIDIA pins all four to one version.
TOOLKIT = (
    "nvidia-container-toolkit",
    "nvidia-container-toolkit-base",
    "libnvidia-container-tools",
    "libnvidia-container1",
)
TOOLKIT_URL = "https://nvidia.github.io/libnvidia-container/stable"
DOCKER_URL = "https://download.docker.com/linux/"
DOCKER_NAMES = {"Debian": "debian", "Ubuntu": "ubuntu", "RedHat": "rhel", "Rocky": "centos"}
RPM_KEYS = "/etc/pki/rpm-gpg/RPM-GPG-KEY-"
# dnf's documented urlopen() uses the proxy of dnf.conf. ansible-test confuses it with the standard library's.
DNF_DOWNLOAD = """\
import dnf, shutil, sys
url, authority, path = sys.argv[1:]
base = dnf.Base()
base.conf.read()
if authority:
    base.conf.sslcacert = authority
with base.%s(url, mode="w+b") as source, open(path, "wb") as copy:
    shutil.copyfileobj(source, copy)
""" % ("url" + "open")
# With the Python of dnf, which its first line names.
DNF_PYTHON = ("sh", "-c", """exec $(sed -n '1s/^#!//p' /usr/bin/dnf) -c "$0" "$@\"""")
FOLDERS = {
    "docker": "/etc/docker/certs.d",
    "containerd": "/etc/containerd/certs.d",
    "podman": "/etc/containers/certs.d",
}
RELOADS = "With this driver, a reload of systemd removes the GPUs from running containers, see container_runtime_cdi."


@dataclass(frozen=True)
class Inputs:
    """The request: inputs of the role without their prefix."""

    cdi: bool
    engine: str
    gpu: bool
    login_users: Sequence[str]
    packages: Sequence[str]
    proof_command: Sequence[str]
    proof_image: str
    proxy: Mapping[str, str]
    pull_timeout_s: int
    registries: Sequence[Mapping[str, Any]]
    source: str
    toolkit_repository: Mapping[str, Any]
    toolkit_version: str
    vendor_repository: Mapping[str, Any]


@dataclass(frozen=True)
class Packages:
    """query lists packages of the engine, the other source and the toolkit; exit status up to highest_status."""

    engine: list[str]
    query: list[str]
    highest_status: int
    missing: list[str]
    in_the_way: list[str]


@dataclass(frozen=True)
class Repository:
    """A repository with its key; download is the command without its output file."""

    name: str
    url: str
    suite: str
    key: str
    key_url: str
    fingerprints: list[str]
    setting: str
    ca: str
    download: list[str]
    due: bool = True


@dataclass(frozen=True)
class Toolkit:
    """versioned are the package names with the requested version."""

    packages: list[str]
    wrong: list[str]
    versioned: list[str]


@dataclass(frozen=True)
class Registries:
    """shown has no passwords, because Ansible prints the items of a loop."""

    folder: str
    insecure: list[str]
    secure: list[str]
    shown: list[dict[str, Any]]
    authorities: list[dict[str, Any]]
    logins: list[dict[str, Any]]
    proxy: str


@dataclass(frozen=True)
class Drivers:
    """The state that an engine reports."""

    storage: str
    cgroup: str
    note: str


@dataclass(frozen=True)
class Plan:
    """The result, see the filter runtime_plan."""

    family: str
    units: list[str]
    packages: Packages
    vendor: Repository
    toolkit_repository: Repository
    toolkit: Toolkit
    registries: Registries
    reads: dict[str, bool]
    gaps: list[dict[str, str]]
    drivers: Drivers
    container: Container


def plan(
    inputs: Mapping[str, Any], facts: Mapping[str, Any], seen: Mapping[str, Mapping[str, Any]], name: str = ""
) -> dict[str, Any]:
    """The due changes of a guest; seen: {read: result of its task, empty before it ran}."""
    requested, family = of_role(Inputs, "container_runtime_", inputs), family_of(facts)
    there = installed(seen["packages"])
    reads = {
        "settings": requested.engine != "podman" and read_again(seen["settings"]),
        "gpus": bool(requested.gpu and read_again(seen["gpus"])),
    }
    packages = _packages(requested, family, there)
    answer = Plan(
        family=family,
        units=UNITS.get(requested.engine, []),
        packages=packages,
        vendor=_vendor(requested, family, facts),
        toolkit_repository=_toolkit_repository(requested, family),
        toolkit=_toolkit(requested, family, there),
        registries=_registries(requested),
        reads=reads,
        gaps=gaps(_proofs(requested, packages, reads, seen, name)),
        drivers=_drivers(requested, seen["info"]),
        container=container_of(requested, seen),
    )
    made: dict[str, Any] = plain(answer)
    return made


def _packages(requested: Inputs, family: str, there: Mapping[str, str]) -> Packages:
    engine = list(requested.packages or ENGINES[requested.engine, requested.source][family])
    others = OTHERS.get((requested.engine, requested.source), ())
    concerned = list(dict.fromkeys([*engine, *others, *TOOLKIT]))
    return Packages(
        engine=engine,
        query=query(family, concerned),
        highest_status=highest_status(family, concerned),
        missing=[one for one in engine if one not in there],
        in_the_way=[one for one in others if one in there],
    )


def _toolkit(requested: Inputs, family: str, there: Mapping[str, str]) -> Toolkit:
    ending = f"={requested.toolkit_version}-*" if family == "debian" else f"-{requested.toolkit_version}"
    return Toolkit(
        packages=list(TOOLKIT),
        wrong=[one for one in TOOLKIT if not there.get(one, "").startswith(f"{requested.toolkit_version}-")],
        versioned=[f"{one}{ending}" for one in TOOLKIT],
    )


def _vendor(requested: Inputs, family: str, facts: Mapping[str, Any]) -> Repository:
    given, debian = requested.vendor_repository, family == "debian"
    url = given.get("url") or DOCKER_URL + DOCKER_NAMES.get(facts.get("distribution", ""), "centos")
    return _repository(
        given,
        family,
        due=requested.source == "vendor" and requested.engine != "podman",
        name="docker" if debian else "docker-ce-stable",
        url=url if debian else f"{url}/$releasever/$basearch/stable",
        suite=f"{facts.get('distribution_release', '')} stable",
        # As the vendor's own instructions name it, so that there is one entry and not two that contradict.
        key="/etc/apt/keyrings/docker.asc" if debian else f"{RPM_KEYS}docker-ce",
        key_url=given.get("key_url") or f"{url}/gpg",
        keys=repository_keys.DOCKER[family],
        setting="vendor_repository",
    )


def _toolkit_repository(requested: Inputs, family: str) -> Repository:
    given, debian = requested.toolkit_repository, family == "debian"
    url = given.get("url") or TOOLKIT_URL
    return _repository(
        given,
        family,
        name="nvidia-container-toolkit",
        # apt and dnf put their own names of the machine's kind there.
        url=f"{url}/deb/$(ARCH)" if debian else f"{url}/rpm/$basearch",
        suite="/",
        key=(
            "/usr/share/keyrings/nvidia-container-toolkit-keyring.asc"
            if debian
            else f"{RPM_KEYS}nvidia-container-toolkit"
        ),
        key_url=given.get("key_url") or f"{os.path.dirname(url)}/gpgkey",
        keys=repository_keys.NVIDIA,
        setting="toolkit_repository",
    )


def _repository(
    given: Mapping[str, Any], family: str, keys: Iterable[str], setting: str, key_url: str, **more: Any
) -> Repository:
    prints, authority = given.get("key_fingerprints"), given.get("ca") or ""
    return Repository(
        key_url=key_url,
        # An empty list disables the check.
        fingerprints=list(keys if prints is None else prints),
        setting=f"site.runtime.{setting} (container_runtime_{setting} of the role)",
        ca=authority,
        download=_download(family, key_url, authority),
        **more,
    )


def _download(family: str, url: str, authority: str) -> list[str]:
    if family == "redhat":
        return [*DNF_PYTHON, DNF_DOWNLOAD, url, authority]
    trusted = ["-o", f"Acquire::https::CaInfo={authority}"] if authority else []
    return ["/usr/lib/apt/apt-helper", *trusted, "download-file", url]


def _registries(requested: Inputs) -> Registries:
    folder = FOLDERS[requested.engine]
    insecure = [one["address"] for one in requested.registries if one.get("insecure")]
    shown = [{**one, "password": ""} for one in requested.registries]
    return Registries(
        folder=folder,
        insecure=insecure,
        secure=[one["address"] for one in requested.registries if one["address"] not in insecure],
        shown=shown,
        authorities=[one for one in shown if one.get("ca_file")],
        logins=[
            _login(one, user, folder)
            for one in requested.registries
            if one.get("username")
            for user in requested.login_users
        ],
        proxy=_proxy(requested.proxy),
    )


def _login(registry: Mapping[str, Any], user: str, folder: str) -> dict[str, Any]:
    return {
        "registry": registry["address"],
        "username": registry["username"],
        "password": registry.get("password", ""),
        "insecure": registry.get("insecure", False),
        "check": registry.get("check", "always"),
        "ca_file": f"{folder}/{registry['address']}/ca.crt" if registry.get("ca_file") else "",
        "user": user,
    }


def _proxy(proxy: Mapping[str, str]) -> str:
    """The proxy for the collection's own registry requests; the service of an engine has its own."""
    address = proxy.get("https") or proxy.get("http") or ""
    if not proxy.get("username"):
        return address
    login = ":".join(quote(str(proxy.get(key) or ""), safe="") for key in ("username", "password"))
    return address.replace("://", f"://{login}@")


def _proofs(
    requested: Inputs,
    packages: Packages,
    reads: Mapping[str, bool],
    seen: Mapping[str, Mapping[str, Any]],
    name: str,
) -> list[dict[str, Any]]:
    """The values that the verification compares."""
    names = [*packages.engine, *(TOOLKIT if requested.gpu else ())]
    return [
        {
            "step": "packages",
            "object": name,
            "requested": dict.fromkeys(names, "installed"),
            "found": dict.fromkeys(installed(seen["packages_proof"]), "installed"),
        },
        {"step": "engine", "object": name, "asked": reads["settings"], "answer": seen["settings_proof"]},
        {"step": "toolkit", "object": name, "asked": reads["gpus"], "answer": seen["gpus_proof"]},
    ]


def _drivers(requested: Inputs, info: Mapping[str, Any]) -> Drivers:
    """The state of Docker or Podman in the same form."""
    said = json.loads(info.get("stdout") or "{}")
    cgroup = said["CgroupDriver"] if "CgroupDriver" in said else (said.get("host") or {}).get("cgroupManager", "")
    reloads = cgroup == "systemd" and requested.gpu and not requested.cdi and requested.engine == "docker"
    return Drivers(
        storage=said["Driver"] if "Driver" in said else (said.get("store") or {}).get("graphDriverName", ""),
        cgroup=cgroup,
        note=RELOADS if reloads else "",
    )
