"""A shell on the first host of a small world."""

from __future__ import annotations

import pytest

from vsphere_twin.model import seed
from vsphere_twin.shell.interpreter import Shell

HOST = {
    "name": "esx-01.example",
    "driver": {"family": "nvaie", "version": "550.54.16"},
    "gpus": [{"board": "a100_pcie_40gb", "graphics_type": "sharedDirect"}],
}


def world_of(*hosts):
    """A world whose only cluster has these hosts."""
    cluster = {"name": "gpu", "hosts": [{**HOST, **host} for host in hosts or ({},)]}
    center = {"name": "lab", "datastores": [{"name": "ds", "capacity_gb": 100}], "clusters": [cluster]}
    center["switches"] = [{"name": "dvs", "mtu": 9000, "portgroups": [{"name": "train", "vlan": 0}]}]
    return seed.from_data({"release": "8.0.3", "users": {"root@vsphere.local": "secret"}, "datacenters": [center]})


class Console:
    """Lines in, outputs out; time passes by hand."""

    def __init__(self, *hosts):
        self.world = world_of(*hosts)
        self.host = self.world.of_kind("HostSystem")[0]
        self.shell = Shell(self.world, self.host)

    def run(self, line, stdin=""):
        return self.shell.run(line, lambda: stdin)

    def text(self, line):
        """What a line that succeeds prints."""
        output = self.run(line)
        assert (output.rc, output.stderr) == (0, ""), output
        return output.stdout

    def boot(self):
        """A restart of the host, as long as it takes."""
        self.run("reboot")
        self.world.timeline.settle()
        self.shell = Shell(self.world, self.host)


@pytest.fixture
def console():
    """console({...}, ...): hosts as a seed has them."""
    return Console
