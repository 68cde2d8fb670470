"""The packages of the lab's depot: NVIDIA's drivers and container toolkit, with the interfaces of the real ones."""

from __future__ import annotations

import json
import os
from pathlib import Path

from . import deb
from .programs import layout

FILES = Path(__file__).resolve().parent / "files"
ASK, INSTALLED = "/usr/lib/lab/ask", "/usr/lib/lab/installed"
GRID = ("535.161.08", "550.54.15", "550.90.07", "570.124.06", "580.65.06", "595.58.03")
DATACENTRE = ("550.54.15",)
TOOLKIT = ("1.17.8", "1.20.0")
OFED = "25.04-0.6.1"
DKMS = "3.1.8"
DCGM = "4.2.3"
PERFTEST = "25.04.0"
NCCL_TESTS = "2.17.6"
REFRESH_SINCE = (1, 18)


def grid(version):
    """The guest driver of NVIDIA's vGPU software as a Debian package."""
    branch = version.partition(".")[0]
    name = "nvidia-linux-grid"
    return deb.Package(
        name=f"{name}-{branch}",
        version=version,
        summary="NVIDIA vGPU guest driver (of the lab)",
        fields={"Conflicts": name, "Provides": name, "Replaces": name},
        files=_driver(version, "grid"),
        scripts={"postinst": _text("grid/postinst"), "prerm": _text("grid/prerm")},
    )


def datacentre(version, with_open=False):
    """Return the driver for whole GPUs, which does not support vGPUs; with the open kernel modules or the others."""
    name = f"nvidia-driver-{version.partition('.')[0]}"
    names = (f"{name}-open", name) if with_open else (name, f"{name}-open")
    return deb.Package(
        name=names[0],
        version=f"{version}-1",
        summary=f"NVIDIA data centre driver{', open kernel modules' * with_open} (of the lab)",
        fields={"Conflicts": names[1]},
        files=_driver(version, "datacentre", with_open),
        scripts={"postinst": '#!/bin/sh\nset -e\n/usr/lib/lab/build-nvidia "$(uname -r)" || true\n'},
    )


def installer(version, flavour="grid"):
    """The same driver as NVIDIA's installer for every distribution."""
    suffix = "-grid" if flavour == "grid" else ""
    files = {path.lstrip("/"): one for path, one in _driver(version, flavour).items()}
    files["usr/bin/nvidia-uninstall"] = (_text("grid/nvidia-uninstall").encode(), 0o755)
    listed = [*sorted(files), "usr/lib/nvidia/installed-files"]
    files["usr/lib/nvidia/installed-files"] = ("".join(f"{one}\n" for one in listed).encode(), 0o644)
    head = _text("grid/installer").replace("@VERSION@", version).replace("@SUFFIX@", suffix)
    return head.encode() + deb.tarball(files)


def installer_name(version, flavour="grid"):
    """NVIDIA-Linux-x86_64-550.54.15-grid.run."""
    return f"NVIDIA-Linux-x86_64-{version}{'-grid' if flavour == 'grid' else ''}.run"


def toolkit(version):
    """The four packages of the NVIDIA Container Toolkit at one version."""
    full = f"{version}-1"
    numbers = tuple(int(part) for part in version.split("."))
    units = {}
    if numbers[:2] >= REFRESH_SINCE:
        units = {
            f"/usr/lib/systemd/system/{name}": _file(f"toolkit/{name}")
            for name in ("nvidia-cdi-refresh.service", "nvidia-cdi-refresh.path")
        }
        units["/etc/nvidia-container-toolkit/nvidia-cdi-refresh.env"] = (b"# NVIDIA_CTK_CDI_GENERATE_...=\n", 0o644)
    facts = (json.dumps({"version": version}) + "\n").encode()
    programs = {name: _file(f"toolkit/{name}", 0o755) for name in ("nvidia-ctk", "nvidia-container-runtime")}
    base = deb.Package(
        name="nvidia-container-toolkit-base",
        version=full,
        summary="NVIDIA Container Toolkit Base (of the lab)",
        fields={"Depends": "python3"},
        files={
            **{f"/usr/bin/{name}": one for name, one in programs.items()},
            "/usr/bin/nvidia-cdi-hook": _file("toolkit/nvidia-ctk", 0o755),
            "/usr/lib/lab/toolkit/gpus.py": _file("toolkit/gpus.py"),
            "/usr/lib/lab/toolkit/nvidia-smi": _file("toolkit/nvidia-smi", 0o755),
            f"{INSTALLED}/nvidia-container-toolkit.json": (facts, 0o644),
            "/etc/nvidia-container-runtime/config.toml": _file("toolkit/config.toml"),
            **units,
        },
        scripts={"postinst": _text("toolkit/postinst")} if units else {},
        conffiles=("/etc/nvidia-container-runtime/config.toml",),
    )
    library = deb.Package(
        name="libnvidia-container1",
        version=full,
        summary="NVIDIA container runtime library (of the lab)",
        files={f"/usr/lib/x86_64-linux-gnu/libnvidia-container.so.{version}": (b"lab\n", 0o644)},
    )
    tools = deb.Package(
        name="libnvidia-container-tools",
        version=full,
        summary="NVIDIA container runtime library, command-line tools (of the lab)",
        fields={"Depends": f"libnvidia-container1 (>= {full}), libnvidia-container1 (<< 2.0.0)"},
        files={"/usr/bin/nvidia-container-cli": ASK},
    )
    hook = deb.Package(
        name="nvidia-container-toolkit",
        version=full,
        summary="NVIDIA Container toolkit (of the lab)",
        fields={
            "Depends": f"nvidia-container-toolkit-base (= {full}), libnvidia-container-tools (>= {full}), "
            "libnvidia-container-tools (<< 2.0.0)"
        },
        files={
            "/usr/bin/nvidia-container-runtime-hook": _file("toolkit/nvidia-container-runtime-hook", 0o755),
            "/usr/bin/nvidia-container-toolkit": "nvidia-container-runtime-hook",
        },
    )
    return [library, tools, base, hook]


def ofed():
    """DOCA-OFED: RDMA modules of its own, and the tools that no distribution has."""
    facts = (json.dumps({"version": OFED}) + "\n").encode()
    programs = {f"/usr/bin/{name}": ASK for name in ("ofed_info", "show_gids", "mst", "mlxconfig")}
    return deb.Package(
        name="doca-ofed",
        version=f"{OFED}-1",
        summary="DOCA-OFED (of the lab)",
        files={f"{INSTALLED}/doca-ofed.json": (facts, 0o644), **programs},
    )


def headers():
    """The headers of the kernel that guests run on, which is this machine's."""
    kernel = os.uname().release
    return deb.Package(
        name=f"linux-headers-{kernel}",
        version="1.0",
        summary="Header files of the kernel under the lab",
        fields={"Provides": "linux-headers"},
        files={
            f"/usr/src/linux-headers-{kernel}/Makefile": (b"# of the lab\n", 0o644),
            f"/lib/modules/{kernel}/build": f"/usr/src/linux-headers-{kernel}",
        },
    )


def dkms():
    """DKMS, whose builds are the model's affair: no compiler has to come with it."""
    return deb.Package(
        name="dkms",
        version=f"{DKMS}+lab",
        summary="Dynamic Kernel Module System (of the lab)",
        architecture="all",
        files={"/usr/sbin/dkms": ASK},
    )


def perftest():
    """Build perftest with CUDA, which no distribution ships; its own perftest comes from its repository."""
    facts = (json.dumps({"version": PERFTEST}) + "\n").encode()
    programs = {f"/usr/bin/ib_{verb}_{kind}": ASK for verb in ("write", "read", "send") for kind in ("bw", "lat")}
    return deb.Package(
        name="perftest-cuda",
        version=f"{PERFTEST}-1",
        summary="perftest with CUDA (of the lab)",
        fields={"Conflicts": "perftest", "Provides": "perftest", "Replaces": "perftest"},
        files={f"{INSTALLED}/perftest-cuda.json": (facts, 0o644), **programs},
    )


def dcgm():
    """DCGM, which comes from NVIDIA's repository of CUDA."""
    facts = (json.dumps({"version": DCGM}) + "\n").encode()
    return deb.Package(
        name="datacenter-gpu-manager-4-cuda12",
        version=f"1:{DCGM}-1",
        summary="NVIDIA Data Center GPU Manager (of the lab)",
        files={f"{INSTALLED}/datacenter-gpu-manager.json": (facts, 0o644), "/usr/bin/dcgmi": ASK},
    )


def nccl_tests():
    """NVIDIA's nccl-tests, which in life are built from their sources or come with an image."""
    names = ("all_gather", "all_reduce", "alltoall", "broadcast", "reduce", "reduce_scatter", "sendrecv")
    return deb.Package(
        name="nccl-tests",
        version=f"{NCCL_TESTS}-1",
        summary="nccl-tests (of the lab)",
        files={f"/usr/bin/{name}_perf": ASK for name in names},
    )


def _driver(version, flavour, with_open=False):
    facts = json.dumps({"version": version, "flavour": flavour, **({"open": True} if with_open else {})}) + "\n"
    found = {
        "/usr/bin/nvidia-smi": ASK,
        f"/usr/src/nvidia-{version}/dkms.conf": (
            f'PACKAGE_NAME="nvidia"\nPACKAGE_VERSION="{version}"\n'.encode(),
            0o644,
        ),
        f"{INSTALLED}/nvidia-driver.json": (facts.encode(), 0o644),
    }
    if flavour == "grid":
        found.update(
            {
                "/usr/bin/nvidia-gridd": ASK,
                "/usr/lib/systemd/system/nvidia-gridd.service": _file("grid/nvidia-gridd.service"),
                "/etc/nvidia/gridd.conf.template": _file("grid/gridd.conf.template"),
                "/etc/nvidia/ClientConfigToken/README": (b"Client configuration tokens go here.\n", 0o644),
                "/usr/lib/nvidia/grid-proxy-credentials.sh": (
                    b"#!/bin/sh\n# Asks for the credentials of a proxy.\n",
                    0o755,
                ),
            }
        )
    return found


def _file(name, mode=0o644):
    return (layout.content(FILES / name, mode), mode)


def _text(name):
    return (FILES / name).read_text(encoding="utf-8")
