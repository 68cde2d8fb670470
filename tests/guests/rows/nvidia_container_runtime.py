from __future__ import annotations

import json

from ..contract import GuestRow

TOOLKIT = (
    "nvidia-container-toolkit",
    "nvidia-container-toolkit-base",
    "libnvidia-container-tools",
    "libnvidia-container1",
)
LIST = "/etc/apt/sources.list.d/toolkit.list"
SHOW = "import json, sys; print(json.dumps(json.load(open(sys.argv[1])), sort_keys=True))"


def installed(version, *engines):
    """Tasks that bring an engine and the toolkit, by means that are none of ours."""

    def before(guest):
        url = guest.twin.endpoint()["depot"]["url"]
        return (
            {
                "name": "the toolkit's repository",
                "ansible.builtin.copy": {
                    "dest": LIST,
                    "content": f"deb [trusted=yes] {url}/toolkit/stable/deb/amd64/ /\n",
                },
            },
            {
                "name": "an engine and the toolkit",
                "ansible.builtin.apt": {
                    "name": [*engines, *(f"{name}={version}-1" for name in TOOLKIT)],
                    "update_cache": True,
                    "install_recommends": False,
                },
            },
        )

    return before


def runtime(path):
    return {"nvidia": {"args": [], "path": path}}


def said(**settings):
    return json.dumps(settings, sort_keys=True)


DOCKER = {
    "file": ["python3", "-c", SHOW, "/etc/docker/daemon.json"],
    "runtime": ["sh", "-c", "docker info 2>/dev/null | sed -n 's/^ Runtimes:.* nvidia.*/known/p'"],
    "default": ["sh", "-c", "docker info 2>/dev/null | sed -n 's/^ Default Runtime: //p'"],
}
CONTAINERD = {
    "file": ["sh", "-c", "containerd config dump | grep BinaryName.*nvidia | tr -d ' '"],
    "default": ["sh", "-c", "containerd config dump | sed -n 's/ *default_runtime_name = //p'"],
    "service": ["systemctl", "is-active", "containerd"],
}
BY_PATH = "/usr/bin/nvidia-container-runtime"

ROWS = [
    GuestRow(
        module="nvidia_container_runtime",
        name="Docker",
        before=installed("1.20.0", "docker.io"),
        create={},
        modify={"runtime_path": BY_PATH, "default_runtime": True},
        delete={"state": "absent"},
        observe=DOCKER,
        created={"file": said(runtimes=runtime("nvidia-container-runtime")), "runtime": "known", "default": "runc"},
        modified={
            "file": said(**{"runtimes": runtime(BY_PATH), "default-runtime": "nvidia"}),
            "runtime": "known",
            "default": "nvidia",
        },
        deleted={"file": "{}", "runtime": "", "default": "runc"},
    ),
    GuestRow(
        module="nvidia_container_runtime",
        name="containerd, by a file of NVIDIA's own",
        before=installed("1.20.0", "containerd"),
        create={"engine": "containerd"},
        modify={"engine": "containerd", "default_runtime": True},
        delete={"engine": "containerd", "state": "absent"},
        observe=CONTAINERD,
        created={"file": f'BinaryName="{BY_PATH}"', "default": '"runc"', "service": "active"},
        modified={"file": f'BinaryName="{BY_PATH}"', "default": '"nvidia"', "service": "active"},
        deleted={"file": "", "default": '"runc"', "service": "active"},
    ),
]
