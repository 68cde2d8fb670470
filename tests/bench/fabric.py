"""Set the RoCE traffic class on switches of all platforms with one task: time, sessions and lines, and their growth.

Each number of switches has a fabric of its own: configured from the factory state, then again with nothing to change.
Growth is shown as a ratio to the first number, per switch: 1 is linear, less is better.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rehearse import playbook
from vsphere_twin.launch import launch
from wire import drive_switch

PLATFORMS = ("eos", "nxos", "onyx", "os10", "cumulus", "sonic")
NAMES = {
    "cumulus": "swp{}",
    "eos": "Ethernet{}",
    "nxos": "Ethernet1/{}",
    "onyx": "Eth1/{}",
    "os10": "ethernet1/1/{}",
}
COUNTS = (8, 64)
PORTS = 32
PLAY = [
    {
        "name": "Give RoCE its class",
        "hosts": "switches",
        "gather_facts": False,
        "tasks": [
            {
                "name": "Give RoCE its class",
                "aiready.vsphere.roce_qos": {"host_ports": "{{ hosts_at }}", "fabric_ports": "{{ switches_at }}"},
            }
        ],
    }
]


@dataclass(frozen=True)
class Figure:
    switches: int
    step: str
    seconds: float
    sessions: float
    lines: float


def port(platform, number):
    """The name of a port; SONiC numbers them by lanes."""
    return f"Ethernet{4 * (number - 1)}" if platform == "sonic" else NAMES[platform].format(number)


def seed(count):
    """Create this number of switches, each cabled to the next, so that some links are up."""
    kinds = [PLATFORMS[number % len(PLATFORMS)] for number in range(count)]
    switches = [{"name": f"sw-{number:02}", "platform": kind, "ports": PORTS} for number, kind in enumerate(kinds)]
    pairs = zip(switches, switches[1:], strict=False)
    cables = [
        [f"{one['name']}/{port(one['platform'], 31)}", f"{next_one['name']}/{port(next_one['platform'], 32)}"]
        for one, next_one in pairs
    ]
    return {
        "users": {"administrator@vsphere.local": "VMware1!"},
        "datacenters": [],
        "fabric": {"switches": switches, "cables": cables},
    }


def inventory(twin, work):
    """The switches with their connections and ports, as a file."""
    hosts = {}
    for name, switch in twin.world.fabric.switches.items():
        ports = list(switch.ports)
        hosts[name] = {**drive_switch.variables(twin, name), "hosts_at": ports[:30], "switches_at": ports[30:]}
    path = work / "inventory.json"
    path.write_text(json.dumps({"all": {"children": {"switches": {"hosts": hosts}}}}))
    return path


def measure(twin, count, step, work, forks):
    """Run the play once."""
    sessions, lines = twin.switch_sessions.total(), _lines(twin)
    play = work / "play.json"
    play.write_text(json.dumps(PLAY))
    # OpenSSH keeps connections for a while: with its own folder a run finds none of an earlier one.
    (work / step).mkdir()
    env = playbook.environment(work / step, ANSIBLE_FORKS=str(forks))
    run = playbook.run(play, env=env, inventory=inventory(twin, work))
    if run.status or (step == "again" and run.changed):
        sys.exit(f"{count} switches, {step}: failed\n{run.output}")
    opened, sent = twin.switch_sessions.total() - sessions, _lines(twin) - lines
    return Figure(count, step, run.seconds, opened / count, sent / count)


def _lines(twin):
    return sum(len(lines) for lines in twin.switch_commands.values())


def table(figures):
    """The figures as a table of Markdown."""
    first = {figure.step: figure for figure in reversed(figures)}
    lines = [
        "| switches | run | seconds | per switch | growth per switch | sessions per switch | lines per switch |",
        "|---:|---|---:|---:|---:|---:|---:|",
    ]
    for figure in figures:
        least, each = first[figure.step], figure.seconds / figure.switches
        growth = each / (least.seconds / least.switches)
        lines.append(
            f"| {figure.switches} | {figure.step} | {figure.seconds:.1f} | {each:.2f} | {growth:.2f} "
            f"| {figure.sessions:.1f} | {figure.lines:.0f} |"
        )
    return "\n".join(lines)


def main(arguments=()):
    """Print a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--switches", type=int, nargs="+", default=list(COUNTS), help="how many switches, ascending")
    parser.add_argument("--forks", type=int, default=16, help="how many switches Ansible works on at a time")
    options = parser.parse_args(arguments)
    figures = []
    for count in options.switches:
        with tempfile.TemporaryDirectory() as folder, launch(seed=seed(count), faces=("switches",)) as twin:
            for step in ("made", "again"):
                figures.append(measure(twin, count, step, Path(folder), options.forks))
                print(f"  {count} switches: {step} in {figures[-1].seconds:.1f} s", file=sys.stderr)
    print(f"\nSwitches of six platforms with {PORTS} ports each, {options.forks} at a time\n")
    print(table(figures))


if __name__ == "__main__":
    main(sys.argv[1:])
