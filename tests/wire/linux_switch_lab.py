"""Somebody at the shell of a switch that is Linux: without SSH in between, and with it."""

from __future__ import annotations

import json

from vsphere_twin.model import seed as seeds
from vsphere_twin.switches.linux import LinuxShell


def seed(platform, **switch):
    """A world with one switch and nothing else."""
    return {
        "users": {"administrator@vsphere.local": "VMware1!"},
        "datacenters": [],
        "fabric": {"switches": [{"name": "leaf-01", "platform": platform, "ports": 4, **switch}]},
    }


def neighbours(platform, near, far):
    """A world with a leaf and a spine, and a cable between two of their ports."""
    switches = [{"name": name, "platform": platform, "ports": 2} for name in ("leaf-01", "spine-01")]
    return {**seed(platform), "fabric": {"switches": switches, "cables": [[f"leaf-01/{near}", f"spine-01/{far}"]]}}


class Console:
    """A user of the first switch of a world."""

    def __init__(self, data, user="admin"):
        self.world = seeds.from_data(data)
        self.switch = self.world.fabric.switches["leaf-01"]
        self.shell = LinuxShell.of(self.switch, user)

    def __call__(self, *lines, stdin=""):
        """What the last line writes; all of them must succeed."""
        for line in lines:
            output = self.run(line, stdin)
            assert output.rc == 0, f"{line}: {output}"
        return output.stdout

    def run(self, line, stdin=""):
        """What a line writes, however it ends."""
        return self.shell.run(line, lambda: stdin)

    def refused(self, line, stdin="", rc=None):
        """The complaint about a line."""
        output = self.run(line, stdin)
        assert output.rc != 0 if rc is None else output.rc == rc, f"{line}: {output}"
        return output.stderr

    def document(self, line):
        """The JSON that a line writes."""
        return json.loads(self(line))

    def treatment(self, port):
        """What the hardware does at a port."""
        return self.switch.device.treatment(port)
