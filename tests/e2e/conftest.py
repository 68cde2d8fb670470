"""One line makes a lab: a twin, and the way to run playbooks against it as an operator would."""

from __future__ import annotations

import contextlib
import json
import os
import shutil

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.hosts import overlaid

from rehearse import playbook
from vsphere_twin.launch import launch
from wire.observe import gpu_setup

from .fabric import SWITCHES, ready

# Hundreds of playbooks, most of whose time would be the start of Python.
os.environ[playbook.WARM] = "1"
MACHINES = playbook.ROOT / "playbooks" / "machines.yml"
HOSTS = playbook.ROOT / "playbooks" / "hosts.yml"
FABRIC = playbook.ROOT / "playbooks" / "fabric.yml"


class Lab:
    """A twin, and playbooks that are run against it."""

    def __init__(self, twin, work):
        self.twin = twin
        self.work = work
        playbook.write_endpoint(twin, work)

    def site(self, **changes):
        """The site of the lab with some keys replaced, as extra variables; None takes a key away."""
        vcenter = {"hostname": self.twin.host, "port": self.twin.port, "username": self.twin.username}
        whole = {
            "vcenter": {**vcenter, "ca_file": str(self.twin.ca_file)},
            "gpu": {"mode": "vgpu", "profile": "grid_a100-40c"},
            "vms": [{"name": "train-01"}, {"name": "train-02"}],
            **changes,
        }
        return ["--extra-vars", json.dumps({"site": {key: value for key, value in whole.items() if value is not None}})]

    def hosts(self, *arguments, site=None, echo=lambda line: None):
        """Run the stage for hosts with the lab's site, some of its keys replaced, on the hosts of the twin."""
        return self.run(*arguments, of=HOSTS, inventory=self.inventory(site), echo=echo)

    def fabric(self, *arguments, site=None, echo=lambda line: None):
        """Run the stage for switches with the lab's site, some of its keys replaced, on the switches of the twin."""
        return self.run(*arguments, of=FABRIC, inventory=self.inventory(site), echo=echo)

    def inventory(self, site=None):
        """The lab's inventory with the hosts and switches that this twin has, and some keys of its site replaced."""
        folder = self.work / "inventory"
        shutil.copytree(playbook.LAB, folder, dirs_exist_ok=True)
        for file, change in (
            ("hosts.yml", self._with_hosts),
            ("group_vars/all/site.yml", lambda now: with_site(now, site)),
        ):
            now = yaml.safe_load((folder / file).read_text())
            (folder / file).write_text(yaml.safe_dump(change(now), sort_keys=False))
        return folder

    def _with_hosts(self, inventory):
        names = sorted(host.name for host in self.twin.world.of_kind("HostSystem"))
        inventory["all"]["children"]["esxi_hosts"]["hosts"] = dict.fromkeys(names, {})
        for group, entry in inventory["all"]["children"].items():
            if group != "esxi_hosts":
                without_others(entry, self.twin.world.fabric.switches)
        return inventory

    def run(self, *arguments, of=MACHINES, inventory=playbook.LAB, env=None, echo=lambda line: None):
        """Run a playbook, machines.yml for VMs that exist unless another one or another site is named."""
        if inventory is playbook.LAB and not any(argument.startswith('{"site"') for argument in arguments):
            arguments = (*self.site(), *arguments)
        env = playbook.environment(self.work, **(env or {}))
        return playbook.run(of, *arguments, env=env, inventory=inventory, echo=echo)

    def profiles(self, *names):
        """What an observer that is none of ours sees on these VMs."""
        seen = gpu_setup(self.twin, *(names or ("train-01", "train-02")))
        return {name: setup["profiles"] for name, setup in seen.items()}


def without_others(group, names):
    """Take the hosts out of a group and its children that are not among these names."""
    for name in [name for name in group.get("hosts", {}) if name not in names]:
        del group["hosts"][name]
    for child in group.get("children", {}).values():
        without_others(child, names)


def with_site(variables, site):
    """The variables of an inventory with some keys of the site replaced, at every depth."""
    return {**variables, "site": overlaid(variables["site"], site or {})}


@pytest.fixture
def lab(tmp_path):
    with contextlib.ExitStack() as running:

        def start(seed="small", **options):
            return Lab(running.enter_context(launch(seed=seed, **options)), tmp_path)

        yield start


@pytest.fixture
def fabric_lab(lab):
    """A lab whose switches have command lines, and whose hosts are ready."""
    return lambda names=SWITCHES, **changes: lab(ready(names, **changes), faces=("switches",))


@pytest.fixture
def host_lab(lab):
    """A lab whose hosts have shells and BMCs too."""
    return lambda seed: lab(seed, faces=("ssh", "redfish"))
