"""A host, its esxcli on the command line, and the same commands by their names."""

from __future__ import annotations

import json

import pytest

from vsphere_twin.esxcli import command, commandline
from vsphere_twin.model import seed

HOST = {
    "name": "esx-01.example",
    "driver": {"family": "nvaie", "version": "550.54.16"},
    "gpus": [{"board": "a100_pcie_40gb", "graphics_type": "sharedDirect"}],
}
DEPOT = "depots/NVD-AIE-800_550.90.05-1OEM.800.1.0.20613240_1.zip"


class Cli:
    """esxcli of one host."""

    def __init__(self, **host):
        cluster = {"name": "gpu", "hosts": [{**HOST, **host}]}
        newer = {"path": DEPOT, "depot": {"family": "nvaie", "version": "550.90.05"}}
        store = {"name": "ds", "capacity_gb": 100, "files": [newer]}
        center = {"name": "lab", "datastores": [store], "clusters": [cluster]}
        center["switches"] = [{"name": "dvs", "mtu": 9000, "portgroups": [{"name": "train", "vlan": 0}]}]
        users = {"root@vsphere.local": "secret"}
        self.world = seed.from_data({"release": "8.0.3", "users": users, "datacenters": [center]})
        self.host = self.world.of_kind("HostSystem")[0]
        self.depot = f"/vmfs/volumes/ds/{DEPOT}"

    def run(self, *words):
        """(text, exit code)."""
        return commandline.main(self.world, self.host, words)

    def text(self, line):
        text, rc = self.run(*line.split())
        assert rc == 0, text
        return text

    def rows(self, line):
        """What JSON gives."""
        return json.loads(self.text(f"--formatter=json {line}"))

    def call(self, name, **arguments):
        return command.run(self.world, self.host, name, arguments)


@pytest.fixture
def cli():
    return Cli
