# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Differences between container engines: their files, their service, and the settings that need no restart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Iterator, Mapping


@dataclass(frozen=True)
class Engine:
    """One container engine."""

    name: str
    # The systemd unit; empty for an engine without a daemon.
    unit: str
    program: str
    # Its configuration, and NVIDIA's own file beside it, if the engine reads one.
    config: str = ""
    drop_in: str = ""
    format: str = ""
    runtime_path: str = "nvidia-container-runtime"
    # True if containers stop with the service. With a monitor process each, they continue.
    loses_containers: bool = False
    # Keys at the top of the configuration that a reload is enough for, and those below them.
    reloadable: tuple[str, ...] = ()
    # Program behind its option for GPUs; the engine searches it once, when it starts.
    gpu_hook: str = ""


ENGINES = {
    "docker": Engine(
        "docker",
        "docker.service",
        "docker",
        config="/etc/docker/daemon.json",
        format="json",
        loses_containers=True,
        # docs.docker.com, dockerd, "Configuration reload behavior". The flag for CDI is read only at start.
        reloadable=("runtimes", "default-runtime"),
        gpu_hook="nvidia-container-runtime-hook",
    ),
    "containerd": Engine(
        "containerd",
        "containerd.service",
        "containerd",
        config="/etc/containerd/config.toml",
        drop_in="/etc/containerd/conf.d/99-nvidia.toml",
        format="toml",
        runtime_path="/usr/bin/nvidia-container-runtime",
    ),
    "crio": Engine(
        "crio",
        "crio.service",
        "crio",
        config="/etc/crio/crio.conf",
        drop_in="/etc/crio/crio.conf.d/99-nvidia.toml",
        format="toml",
        runtime_path="/usr/bin/nvidia-container-runtime",
    ),
    "podman": Engine("podman", "", "podman"),
}
# Tables of containerd's configuration that hold its runtimes, by the version of the configuration.
CONTAINERD_PLUGINS = ("io.containerd.cri.v1.runtime", "io.containerd.grpc.v1.cri", "cri")


@dataclass(frozen=True)
class Runtime:
    """NVIDIA's runtime as a configuration has it."""

    path: str = ""
    default: bool = False
    cdi: bool = False


def runtime_in(engine: str, trees: Iterable[Mapping[str, Any]], name: str) -> Runtime:
    """Return the settings of one runtime from the trees of an engine's files, in the order in which they are read."""
    path, default, cdi = "", None, False
    for tree in trees:
        for said_path, said_default, said_cdi in _said(engine, tree, name):
            path = said_path or path
            default = said_default if said_default is not None else default
            cdi = cdi or said_cdi
    return Runtime(path=path, default=default == name, cdi=cdi)


def _said(engine: str, tree: Mapping[str, Any], name: str) -> Iterator[tuple[str, str | None, bool]]:
    if engine == "docker":
        runtime = _below(tree, "runtimes", name)
        yield _text(runtime, "path"), tree.get("default-runtime"), _below(tree, "features").get("cdi") is True
    elif engine == "crio":
        runtime = _below(tree, "crio", "runtime", "runtimes", name)
        yield _text(runtime, "runtime_path"), _below(tree, "crio", "runtime").get("default_runtime"), False
    elif engine == "containerd":
        for plugin in CONTAINERD_PLUGINS:
            cri = _below(tree, "plugins", plugin)
            runtime = _below(cri, "containerd", "runtimes", name)
            default = _below(cri, "containerd").get("default_runtime_name")
            yield _text(_below(runtime, "options"), "BinaryName"), default, cri.get("enable_cdi") is True


def _below(tree: Any, *keys: str) -> dict[str, Any]:
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree if isinstance(tree, dict) else {}


def _text(tree: Mapping[str, Any], key: str) -> str:
    value = tree.get(key)
    return value if isinstance(value, str) else ""


def without_runtime(engine: str, tree: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the tree of docker's configuration without one runtime; other settings are unchanged."""
    left = {key: value for key, value in tree.items() if key != "runtimes"}
    runtimes = {key: value for key, value in _below(tree, "runtimes").items() if key != name}
    if runtimes:
        left["runtimes"] = runtimes
    if left.get("default-runtime") == name:
        del left["default-runtime"]
    return left


def mended(before: Mapping[str, Any], made: Mapping[str, Any], name: str, default: bool, cdi: bool) -> dict[str, Any]:
    """Return docker's configuration from nvidia-ctk without its side effects.

    When it enables CDI, it drops every other flag under features (1.20.0, EnableCDI), and it never unsets a default.
    """
    mended_tree = dict(made)
    flags = {key: value for key, value in _below(before, "features").items() if key != "cdi" or not cdi}
    if flags or cdi:
        mended_tree["features"] = dict(flags, **({"cdi": True} if cdi else {}))
    if not default and mended_tree.get("default-runtime") == name:
        del mended_tree["default-runtime"]
    return mended_tree
