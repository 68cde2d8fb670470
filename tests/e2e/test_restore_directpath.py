"""Restore takes hosts and VMs of sites for whole devices back to the state before the run, on vSphere 9.1."""

from __future__ import annotations

import shutil

import pytest
import yaml

from rehearse import sites

from . import dump, third_party
from .conftest import HOSTS, MACHINES, with_site
from .hosts import SEEDS, factory, hosts_of
from .test_restore import RESTORE

# Three playbooks on two hosts cost about 40 seconds of processors, so one commit in six runs both tests.
MODES = ("systemSelect", "none")
# SSH is started on each host to read the firmware of its port, and stopped again.
OF_SHELL = 2
# A VM that exists and a new one, on one host each. The template has no hardware version to raise.
DIRECT = {"power": "cycle", "machine": {"hardware_version": None}, "vms": [{"name": "train-01"}, {"name": "job-01"}]}
FUNCTIONS = {"network": {"path": "sriov", "nics": ["vmnic3"], "portgroup": "VM Network"}, "fabric": {"cables": []}}


class Site:
    """Hosts of the seed factory-9.1, and the site of inventories/directpath with some keys replaced."""

    def __init__(self, host_lab, changes, hosts):
        newer = yaml.safe_load((SEEDS / "factory-9.1.yml").read_text())
        self.lab = host_lab(factory(hosts) | {key: newer[key] for key in ("release", "every_host")})
        self.hosts = hosts_of(self.lab)
        self.inventory = self.lab.work / "site"
        (named,) = sites.of("directpath").inventories
        shutil.copytree(named, self.inventory)
        variables = self.inventory / "group_vars" / "all" / "site.yml"
        variables.write_text(yaml.safe_dump(with_site(yaml.safe_load(variables.read_text()), changes)))
        self.before = self.state()

    def run(self, of, *arguments):
        made = self.lab.run("--inventory", str(self.inventory), *arguments, of=of, inventory=self.lab.inventory())
        assert made.status == 0, made.output
        return made

    def restore(self, *arguments):
        return self.run(RESTORE, "--extra-vars", "restore_delete_vms=true", *arguments)

    def state(self):
        """The model of the twin, and what a third-party client reads."""
        model = {vm.name: dump.of_vm(vm) for vm in self.lab.twin.world.of_kind("VirtualMachine")}
        return model | {host.name: dump.of_host(host) for host in self.hosts}, third_party.read(self.lab.twin)

    def left(self):
        """What differs from the state before in the model, and for the client, but for what lasts."""
        parts = zip(self.before, self.state(), (dump.HISTORY, third_party.OF_START), strict=True)
        return [without(third_party.differences(before, now), lasting) for before, now, lasting in parts]


def without(found, lasting):
    """Differences by object without those whose paths begin with these."""
    fewer = {
        name: {path: pair for path, pair in paths.items() if not path.startswith(lasting)}
        for name, paths in found.items()
    }
    return {name: paths for name, paths in fewer.items() if paths}


turn = pytest.mark.turn(2, of=6)


@turn
def test_restore_ends_in_the_state_before_gpus_and_ports_were_passed_through(host_lab):
    site = Site(host_lab, DIRECT, 2)
    for stage in (HOSTS, MACHINES):
        site.run(stage)
    made, _seen = site.left()
    ports = [f"passthru.0000:3a:00.1.{part}" for part in ("active", "enabled", "label")]
    for host in site.hosts:
        assert made[host.name].keys() >= {"gpus[0].passthrough", "ports[3].firmware.ats", *ports}
    run = site.restore()
    for host in site.hosts:
        # Ports of several hosts have the same names.
        assert f"restored: mt4125_pciconf0.1 of {host.name} (hosts), ATS_ENABLED: True(1) -> False(0)" in run.text
    # Restore itself starts SSH.
    assert "changed since by another" not in run.text
    assert site.left() == [{}, {}]
    idle = site.restore()
    assert (idle.changed, site.left()) == (OF_SHELL * len(site.hosts), [{}, {}]), idle.output


@turn
def test_restore_removes_virtual_functions_and_names_a_device_mode_that_it_cannot_restore(host_lab):
    site = Site(host_lab, FUNCTIONS, 1)
    (host,) = site.hosts
    (gpu,) = host.gpus
    host.modes.left_to_host.add(gpu.pci_id)
    site.lab.twin.world.touch(host)
    site.before = site.state()
    site.run(HOSTS)
    made, _seen = site.left()
    assert made[host.name]["ports[3].vfs"] == ("0", "8")
    run = site.restore()
    # A GPU without a driver does not offer that mode. It is named before the first change and in the result.
    named = f"cannot: {host.name} (hosts), passthrough.{gpu.pci_id}.device_mode."
    assert run.text.index(named) < run.text.index("TASK [aiready.vsphere.esxi_host : Restore the settings]")
    assert run.text.count(named) == 2
    assert "cannot be configured to system_select. It can be configured to: none, direct_path" in run.text
    assert site.left() == [
        {host.name: {"modes.left_to_host": (f"['{gpu.pci_id}']", "[]")}},
        {f"HostSystem {host.name}": {f"config.pciPassthruInfo[{gpu.pci_id}].directPathState.mode": MODES}},
    ]
