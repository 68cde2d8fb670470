"""Give 100 VMs a vGPU profile: vgpu_profile for a fleet, vgpu_profile in a loop, and the peer module in its usual loop.

All forms run on one twin, each on VMs of its own, first changing every VM and then changing nothing. The comparison
uses the wall time of the whole ansible-playbook process and the number of requests that the server received. A play
without tasks is measured too, since its time is in all the others.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import yaml

from vsphere_twin.launch import launch

PROFILE = "grid_a100-40c"


@dataclass(frozen=True)
class Form:
    name: str
    title: str
    hosts: str
    task: dict
    forks: int = 5


@dataclass(frozen=True)
class Figure:
    seconds: float
    requests: int


def forms(names, twin):
    ours = {
        "hostname": twin.host,
        "port": twin.port,
        "username": twin.username,
        "password": twin.password,
        "ca_file": str(twin.ca_file),
    }
    # The peer has no option for a certificate authority of one's own.
    peers = {key: ours[key] for key in ("hostname", "port", "username", "password")} | {"validate_certs": False}
    return [
        Form("nothing", "a play without tasks", "localhost", {}),
        Form(
            "fleet",
            "vgpu_profile, one task for the fleet",
            "localhost",
            {
                "aiready.vsphere.vgpu_profile": {
                    **ours,
                    "vms": [{"name": name, "profiles": [PROFILE]} for name in names["fleet"]],
                }
            },
        ),
        Form(
            "loop",
            "vgpu_profile, a play over the VMs, 10 forks",
            "loop",
            {"aiready.vsphere.vgpu_profile": {**ours, "name": "{{ inventory_hostname }}", "profiles": [PROFILE]}},
            forks=10,
        ),
        Form(
            "peer",
            "community.vmware.vmware_guest_vgpu, in a loop",
            "localhost",
            {
                "community.vmware.vmware_guest_vgpu": {**peers, "name": "{{ item }}", "vgpu": PROFILE},
                "loop": names["peer"],
            },
        ),
    ]


def measure(form, names, twin, work):
    tasks = [{"name": form.title, **form.task}] if form.task else []
    play = {"hosts": form.hosts, "gather_facts": False, "tasks": tasks}
    inventory = {
        "all": {
            "vars": {"ansible_connection": "local", "ansible_python_interpreter": sys.executable},
            "hosts": {"localhost": {}},
            "children": {"loop": {"hosts": dict.fromkeys(names["loop"], {})}},
        }
    }
    (work / "play.yml").write_text(yaml.safe_dump([play]))
    (work / "hosts.yml").write_text(yaml.safe_dump(inventory))
    before = twin.requests.total()
    start = time.monotonic()
    run = subprocess.run(
        [str(Path(sys.executable).with_name("ansible-playbook")), "-i", "hosts.yml", "-f", str(form.forks), "play.yml"],
        cwd=work,
        env={
            **os.environ,
            "ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.default",
            "AIREADY_SESSION_DIR": str(work / "sessions"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.monotonic() - start
    if run.returncode:
        sys.exit(f"{form.title} failed:\n{run.stdout[-3000:]}\n{run.stderr[-3000:]}")
    return Figure(seconds, twin.requests.total() - before)


def seed(names):
    """Ten VMs a host; nothing is powered on, so the GPUs need not suffice."""
    everyone = [name for some in names.values() for name in some]
    return {
        "release": "8.0.3",
        "users": {"administrator@vsphere.local": "VMware1!"},
        "datacenters": [
            {
                "name": "bench",
                "datastores": [{"name": "datastore-01", "capacity_gb": 102400, "free_gb": 90000}],
                "networks": [{"name": "VM Network"}],
                "clusters": [
                    {
                        "name": "gpu",
                        "hosts": [
                            {
                                "name": "esx-{n:02}.bench.example",
                                "count": max(1, len(everyone) // 10),
                                "driver": {"family": "nvaie", "version": "550.54.10"},
                                "gpus": [{"board": "a100_pcie_40gb", "graphics_type": "sharedDirect"}],
                            }
                        ],
                    }
                ],
                "vms": [
                    {"name": name, "cpus": 16, "memory_gb": 64, "firmware": "efi", "networks": ["VM Network"]}
                    for name in everyone
                ],
            }
        ],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vms", type=int, default=100, help="VMs in each form")
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    options = parser.parse_args()
    names = {
        form: [f"{form}-{number:03}" for number in range(1, options.vms + 1)] for form in ("fleet", "loop", "peer")
    }
    figures = {}
    with tempfile.TemporaryDirectory() as work, launch(seed=seed(names)) as twin:
        for form in forms(names, twin):
            for step in ("changed", "unchanged") if form.task else ("unchanged",):
                figures[form.name, step] = measure(form, names, twin, Path(work))
                print(f"  {form.title}: {step}", file=sys.stderr)
        titles = {form.name: form.title for form in forms(names, twin)}
    print(table(figures, titles, options.vms))
    if options.json:
        rows = [{"form": form, "step": step, **vars(figure)} for (form, step), figure in figures.items()]
        options.json.write_text(json.dumps(rows, indent=2))


def table(figures, titles, vms):
    floor = figures.pop(("nothing", "unchanged")).seconds
    lines = [
        f"{vms} VMs, one GPU profile each. A play without tasks takes {floor:.2f} s.",
        "",
        "| form | run | seconds | requests | per VM | less time | less time above that | fewer requests |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for (form, step), figure in figures.items():
        peer = figures["peer", step]
        above = (peer.seconds - floor) / (figure.seconds - floor)
        lines.append(
            f"| {titles[form]} | {step} | {figure.seconds:.2f} | {figure.requests} | {figure.requests / vms:.2f} "
            f"| {peer.seconds / figure.seconds:.1f} times | {above:.1f} times "
            f"| {peer.requests / figure.requests:.1f} times |"
        )
    return "\n".join(lines)
