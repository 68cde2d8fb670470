"""Create VMs of a training job with playbooks/machines.yml on a large data centre: time, requests, and their growth.

Each number of VMs has a data centre of its own: created with their data path and powered on, then again with nothing to
change. Growth is shown as a ratio to the first number, per VM: 1 is linear, less is better.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from rehearse import playbook
from vsphere_twin.launch import launch

MACHINES = playbook.ROOT / "playbooks" / "machines.yml"
COUNTS = (8, 16, 32, 64)
# A cluster of the seed has 25 hosts. One GPU of each is near the ports, and with GPUDirect three VMs have to share it.
PROFILE = "grid_a100-10c"
NETWORKS = {
    "tcp": {"portgroup": "pg-train"},
    "pvrdma": {"nics": ["vmnic2"], "vmknic": "vmk1", "portgroup": "pg-rdma"},
    "sriov": {"nics": ["vmnic3"], "portgroup": "pg-sriov"},
    "passthrough": {"nics": ["0000:3b:00.0", "0000:3c:00.0", "0000:3c:00.1"]},
}


@dataclass(frozen=True)
class Figure:
    vms: int
    step: str
    seconds: float
    requests: int
    in_flight: int


class Watch:
    """The most tasks that vCenter worked on at the same time."""

    def __init__(self, twin):
        self._twin = twin
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.most = 0

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    def _look(self):
        while not self._ended.wait(0.02):
            with self._twin.world.lock:
                running = sum(task.state == "running" for task in self._twin.world.of_kind("Task"))
            self.most = max(self.most, running)


def site(twin, count, path):
    """A site with as many VMs, as extra variables."""
    return {
        "site": {
            "vcenter": {
                "hostname": twin.host,
                "port": twin.port,
                "username": twin.username,
                "ca_file": str(twin.ca_file),
            },
            "cluster": "gpu-01",
            "gpu": {"mode": "vgpu", "profile": PROFILE},
            "network": {"path": path, **NETWORKS[path]},
            "placement": {"anti_affinity": False},
            "machine": {"template": "ubuntu-template", "folder": "training", "cpus": 16, "memory_gb": 64},
            "vms": [{"prefix": "job-", "count": count}],
        },
        "site_vcenter_password": twin.password,
    }


def measure(twin, count, path, step, work):
    """Run the playbook once."""
    before = twin.requests.total()
    with Watch(twin) as watch:
        run = playbook.run(
            MACHINES, "--extra-vars", json.dumps(site(twin, count, path)), env=playbook.environment(work)
        )
    if run.status or (step == "again" and run.changed):
        sys.exit(f"{count} VMs, {path}, {step}: failed\n{run.output[-4000:]}")
    return Figure(count, step, run.seconds, twin.requests.total() - before, watch.most)


def table(figures):
    """The figures as a table of Markdown."""
    first = {figure.step: figure for figure in reversed(figures)}
    lines = [
        "| VMs | run | seconds | per VM | growth per VM | requests | per VM | most tasks at once |",
        "|---:|---|---:|---:|---:|---:|---:|---:|",
    ]
    for figure in figures:
        least = first[figure.step]
        growth = (figure.seconds / figure.vms) / (least.seconds / least.vms)
        lines.append(
            f"| {figure.vms} | {figure.step} | {figure.seconds:.1f} | {figure.seconds / figure.vms:.2f} | {growth:.2f} "
            f"| {figure.requests} | {figure.requests / figure.vms:.1f} | {figure.in_flight} |"
        )
    return "\n".join(lines)


def main(arguments=()):
    """Print a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vms", type=int, nargs="+", default=list(COUNTS), help="how many VMs, ascending")
    parser.add_argument("--path", choices=NETWORKS, default="pvrdma", help="their data path")
    options = parser.parse_args(arguments)
    figures = []
    for count in options.vms:
        with tempfile.TemporaryDirectory() as folder, launch(seed="large") as twin:
            work = Path(folder)
            playbook.write_endpoint(twin, work)
            for step in ("made", "again"):
                figures.append(measure(twin, count, options.path, step, work))
                print(f"  {count} VMs: {step} in {figures[-1].seconds:.1f} s", file=sys.stderr)
    print(f"\nTraining VMs with the data path {options.path}, created by the stage machines on the seed large\n")
    print(table(figures))


if __name__ == "__main__":
    main(sys.argv[1:])
