# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Files and services of a guest that the roles and modules of this collection can change. One row per owner.

A house test compares the rows with the tasks of the roles and with the paths in the modules.
"""

from __future__ import annotations

from dataclasses import dataclass

STAGES = ("guests", "runtime", "training", "validation")


@dataclass(frozen=True)
class Row:
    """Paths of one owner, with the patterns * and ?. A path that begins with ~ is in the home of each user."""

    owner: str
    paths: tuple[str, ...]
    # Commands that make a change of these files effective, such as a restart of the service that reads them.
    then: tuple[tuple[str, ...], ...] = ()


RELOAD = ("systemctl", "daemon-reload")
ROWS = (
    Row("guest_vm", ("/etc/security/limits.d/90-aiready.conf",)),
    Row("guest_vm", ("/etc/systemd/system.conf.d/90-aiready.conf",), (("systemctl", "daemon-reexec"),)),
    Row(
        "guest_vm",
        ("/etc/systemd/logind.conf.d/90-aiready.conf",),
        (("systemctl", "try-restart", "systemd-logind"),),
    ),
    # With the copies that the role makes before it replaces one.
    Row(
        "guest_vm",
        ("/etc/chrony/chrony.conf", "/etc/chrony/chrony.conf.*~", "/etc/chrony.conf", "/etc/chrony.conf.*~"),
        (("systemctl", "try-restart", "chrony"), ("systemctl", "try-restart", "chronyd")),
    ),
    Row("guest_vm", ("/etc/modules-load.d/aiready-rdma.conf", "/etc/modules-load.d/aiready-peermem.conf")),
    Row("guest_vm", ("/var/lib/aiready.vsphere/driver-ca.pem", "/var/tmp/*.deb", "/var/tmp/*.rpm", "/var/tmp/*.run")),
    Row(
        "guest_vm",
        ("~/.ssh/id_ed25519", "~/.ssh/id_ed25519.pub", "~/.ssh/authorized_keys", "~/.ssh/known_hosts"),
    ),
    Row(
        "guest_interface",
        (
            "/etc/netplan/*.yaml",
            "/etc/systemd/network/*.network",
            "/etc/systemd/network/*.network.d/*.conf",
            "/etc/systemd/network/*.link",
        ),
        (("netplan", "generate"), ("networkctl", "reload")),
    ),
    Row(
        "guest_interface",
        (
            "/etc/NetworkManager/system-connections/*",
            "/etc/sysconfig/network-scripts/ifcfg-*",
            "/var/lib/aiready/adapters",
            "/var/lib/aiready/adapters/*",
        ),
        (("nmcli", "connection", "reload"),),
    ),
    Row("guest_interface", ("/etc/network/interfaces", "/etc/network/interfaces.d/*")),
    Row("guest_roce", ("/etc/systemd/system/aiready-roce-*.service",), (RELOAD,)),
    Row(
        "vgpu_guest_driver",
        ("/etc/modprobe.d/blacklist-nouveau.conf",),
        # One of them, as when the file was written. A guest without the other one ignores it.
        (("update-initramfs", "-u"), ("dracut", "--force")),
    ),
    Row("vgpu_guest_driver", ("/usr/bin/nvidia-uninstall", "/var/lib/aiready.vsphere/vgpu_guest_driver.json")),
    Row(
        "vgpu_licence",
        ("/etc/nvidia/gridd.conf", "/etc/nvidia/ClientConfigToken/*.tok"),
        (("systemctl", "try-restart", "nvidia-gridd"),),
    ),
    Row(
        "container_runtime",
        (
            "/etc/apt/apt.conf.d/50-aiready-*",
            "/etc/apt/keyrings/docker.asc",
            "/etc/apt/preferences.d/nvidia-container-toolkit",
            "/etc/apt/sources.list.d/*.list",
            "/etc/pki/rpm-gpg/RPM-GPG-KEY-*",
            "/etc/yum.repos.d/*.repo",
            "/usr/share/keyrings/nvidia-container-toolkit-keyring.asc",
        ),
    ),
    Row(
        "container_runtime",
        (
            "/etc/containerd/certs.d/*/*",
            "/etc/containers/certs.d/*/*",
            "/etc/containers/registries.conf.d/50-aiready.conf",
            "/etc/docker/certs.d/*/*",
        ),
    ),
    Row(
        "container_engine",
        (
            "/etc/docker/daemon.json",
            # Docker generates it at its first start.
            "/etc/docker/key.json",
            "/etc/docker/proxy.env",
            "/etc/systemd/system/docker.service.d/50-aiready-*.conf",
        ),
        (RELOAD, ("systemctl", "try-restart", "docker")),
    ),
    Row(
        "container_engine",
        (
            "/etc/containerd/config.toml",
            "/etc/containerd/proxy.env",
            "/etc/containerd/conf.d/99-nvidia.toml",
            "/etc/systemd/system/containerd.service.d/50-aiready-*.conf",
        ),
        (RELOAD, ("systemctl", "try-restart", "containerd")),
    ),
    Row(
        "nvidia_container_runtime",
        ("/etc/crio/crio.conf", "/etc/crio/crio.conf.d/99-nvidia.toml"),
        (("systemctl", "try-restart", "crio"),),
    ),
    Row("nvidia_container_runtime", ("/etc/cdi/nvidia.yaml", "/etc/nvidia-container-runtime/config.toml")),
    Row("container_registry_login", ("~/.docker/config.json", "~/.config/containers/auth.json")),
    # systemd enables a unit with a link.
    Row(
        "all",
        ("/etc/systemd/system/*.wants/*", "/etc/systemd/system/*.requires/*", "/etc/systemd/system/*.service"),
        (RELOAD,),
    ),
)

# Units whose activity the roles and modules change, and those that their packages replace.
UNITS = (
    "chrony",
    "chronyd",
    "containerd",
    "crio",
    "docker",
    "docker.socket",
    "ntp",
    "nvidia-gridd",
    "nvidia-persistenced",
    "podman.socket",
    "systemd-timesyncd",
)

# Files with one line per account.
ACCOUNTS = ("/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow", "/etc/subuid", "/etc/subgid")

# Kernel modules that the roles load. Modules of containers and firewalls load on demand.
MODULES = ("ib_", "iw_", "mlx5_", "nvidia", "rdma_", "vmw_pvrdma")

# What says that an engine is in use: its unit, its packages, and the command that lists its running containers.
ENGINES = (
    ("docker", ("docker.io", "docker-ce", "containerd", "containerd.io", "runc"), ("docker", "ps", "--quiet")),
    ("podman", ("podman",), ("podman", "ps", "--quiet")),
)

# Scripts that the purge of a package runs to delete the data of an engine. Data of a guest stays.
PURGE_DATA = ("/var/lib/docker/nuke-graph-directory.sh",)
