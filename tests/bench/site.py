"""Costs of a site per host: preflight, plan, the run from factory state and a run with nothing to change.

Each number of hosts has a data centre of its own, with as many leaves as they need. The stages hosts, fabric and
machines run; no stage enters guests. Ansible's own cost is beside it: a play without a task over as many hosts. Growth
is the cost per host as a ratio to that of the first number: 1 is linear, more is worse.
"""

from __future__ import annotations

import argparse
import copy
import os
import resource
import shutil
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

import yaml

from rehearse import playbook
from vsphere_twin.launch import launch

PLAYBOOKS = playbook.ROOT / "playbooks"
SEED = playbook.ROOT / "tests" / "twin" / "src" / "vsphere_twin" / "seeds" / "factory.yml"
COUNTS = (2, 10, 100)
HOSTS_OF_A_LEAF = 16
EMPTY = [{"name": "Nothing", "hosts": "esxi_hosts:switches", "gather_facts": False}]
# Steps in their order: name, playbook, and arguments.
STEPS = (
    ("empty play", None, ()),
    ("preflight", "preflight.yml", ()),
    ("plan", "site.yml", ("--check", "--diff")),
    ("hosts", "hosts.yml", ()),
    ("fabric", "fabric.yml", ()),
    ("machines", "machines.yml", ()),
    ("hosts again", "hosts.yml", ()),
    ("fabric again", "fabric.yml", ()),
    ("machines again", "machines.yml", ()),
)


@dataclass(frozen=True)
class Figure:
    hosts: int
    step: str
    seconds: float
    processor_s: float  # of Ansible, without the simulated data centre
    requests: int
    memory_mb: float


class Memory:
    """The most memory that this process's children had together, their shared pages counted once."""

    def __init__(self):
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.most_mb = 0.0

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    def _look(self):
        while not self._ended.wait(0.5):
            self.most_mb = max(self.most_mb, sum(map(_memory_mb, _descendants(os.getpid()))))


def _descendants(pid):
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents.setdefault(int(path.read_text().rpartition(")")[2].split()[1]), []).append(int(path.parent.name))
        except OSError:
            continue  # it ended meanwhile
    found, open_ = [], [pid]
    while open_:
        children = parents.get(open_.pop(), [])
        found += children
        open_ += children
    return found


def _memory_mb(pid):
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def leaves_of(count):
    """Return the number of leaves for this many hosts: two at least, since a path has two ends."""
    return max(2, -(-count // HOSTS_OF_A_LEAF))


def seed(count):
    """The seed `factory` with this many hosts, and EOS switches for all of them."""
    found = yaml.safe_load(SEED.read_text())
    (datacenter,) = found["datacenters"]
    (cluster,) = datacenter["clusters"]
    pattern = cluster["hosts"][0]
    cluster["hosts"] = [
        {**copy.deepcopy(pattern), "name": f"esx-{number:03}.lab.example"} for number in range(1, count + 1)
    ]
    datacenter["vms"] = [row for row in datacenter["vms"] if row.get("template")]
    leaves, spines = leaves_of(count), ("spine-01", "spine-02")
    found["fabric"] = {
        "switches": [{"name": name, "platform": "eos"} for name in (*spines, *map(_leaf, range(leaves)))],
        "cables": [
            [f"{host['name']}/vmnic2", f"{_leaf(place % leaves)}/Ethernet{place // leaves + 1}"]
            for place, host in enumerate(cluster["hosts"])
        ]
        + [
            [f"{_leaf(leaf)}/Ethernet{31 + side}", f"{spine}/Ethernet{leaf + 1}"]
            for leaf in range(leaves)
            for side, spine in enumerate(spines)
        ],
    }
    return found


def _leaf(place):
    return f"leaf-{place + 1:02}"


def inventory(work, count, serial):
    """The lab's inventory for that seed: its variables, and groups of as many hosts and switches."""
    folder = work / "inventory"
    shutil.copytree(playbook.LAB, folder, ignore=shutil.ignore_patterns("hosts.yml"))
    leaves = leaves_of(count)
    ports = {
        _leaf(leaf): {
            "switch_host_ports": [f"Ethernet1-{-(-(count - leaf) // leaves)}"],
            "switch_fabric_ports": ["Ethernet31-32"],
        }
        for leaf in range(leaves)
    }
    ports.update({name: {"switch_fabric_ports": [f"Ethernet1-{leaves}"]} for name in ("spine-01", "spine-02")})
    groups = yaml.safe_load((playbook.LAB / "hosts.yml").read_text())["all"]
    eos = groups["children"]["command_lines"]["children"]["eos"]["vars"]
    names = [f"esx-{number:03}.lab.example" for number in range(1, count + 1)]
    groups["children"] = {
        "esxi_hosts": {"hosts": dict.fromkeys(names, {})},
        "switches": {"hosts": ports},
        "command_lines": {"children": {"eos": {"hosts": dict.fromkeys(ports, {}), "vars": eos}}},
    }
    (folder / "hosts.yml").write_text(yaml.safe_dump({"all": groups}, sort_keys=False))
    site = folder / "group_vars" / "all" / "site.yml"
    variables = yaml.safe_load(site.read_text())
    variables["site"]["vms"] = [{"prefix": "job-", "count": count}]
    variables["site"]["hosts"]["serial"] = serial
    site.write_text(yaml.safe_dump(variables, sort_keys=False))
    return folder


def measure(twin, count, step, work, folder):
    """Run a playbook once."""
    name, file, arguments = step
    path = PLAYBOOKS / file if file else work / "empty.yml"
    if file is None:
        path.write_text(yaml.safe_dump(EMPTY))
    before, spent = twin.requests.total(), _processor_s()
    with Memory() as memory:
        run = playbook.run(path, *arguments, env=playbook.environment(work), inventory=folder)
    if run.status or (name.endswith("again") and run.changed):
        sys.exit(f"{count} hosts, {name}: failed or changed something\n{run.output[-4000:]}")
    return Figure(count, name, run.seconds, _processor_s() - spent, twin.requests.total() - before, memory.most_mb)


def _processor_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def table(figures):
    """The figures as a table of Markdown."""
    first = {figure.step: figure for figure in reversed(figures)}
    lines = [
        "| hosts | run | seconds | per host | growth | s of processors, per host | requests | per host | growth "
        "| MB of the controller |",
        "|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for one in figures:
        least = first[one.step]
        asked = f"{one.requests / one.hosts / (least.requests / least.hosts):.2f}" if least.requests else "-"
        lines.append(
            f"| {one.hosts} | {one.step} | {one.seconds:.1f} | {one.seconds / one.hosts:.2f} "
            f"| {one.seconds / one.hosts / (least.seconds / least.hosts):.2f} "
            f"| {one.processor_s / one.hosts:.2f} | {one.requests} "
            f"| {one.requests / one.hosts:.1f} | {asked} | {one.memory_mb:.0f} |"
        )
    return "\n".join(lines)


def main(arguments=()):
    """Print a line for each run, and the table of all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, nargs="+", default=list(COUNTS), help="how many hosts, ascending")
    parser.add_argument("--serial", default="25%", help="how many hosts restart at the same time")
    names = [name for name, *_ in STEPS]
    parser.add_argument("--steps", nargs="+", default=names, choices=names, help="the steps to run, in their order")
    options = parser.parse_args(arguments)
    figures = []
    os.environ["AIREADY_BENCH"] = "1"  # see tests/sitecustomize.py
    for count in options.hosts:
        with (
            tempfile.TemporaryDirectory() as folder,
            launch(seed=seed(count), faces=("ssh", "redfish", "switches")) as twin,
        ):
            work = Path(folder)
            playbook.write_endpoint(twin, work)
            where = inventory(work, count, options.serial)
            for step in (one for one in STEPS if one[0] in options.steps):
                figures.append(measure(twin, count, step, work, where))
                last = figures[-1]
                print(
                    f"  {count} hosts: {last.step} in {last.seconds:.1f} s, {last.processor_s:.1f} s of processors, "
                    f"{last.requests} requests, {last.memory_mb:.0f} MB",
                    file=sys.stderr,
                    flush=True,
                )
    print("\nA site on the simulated data centre, by number of hosts\n")
    print(table(figures))


if __name__ == "__main__":
    main(sys.argv[1:])
