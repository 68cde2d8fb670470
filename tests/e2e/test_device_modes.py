"""Hosts of vSphere 9.1: device modes are set over REST, within the one restart of the stage."""

from __future__ import annotations

from wire.lab import NVAIE

from .hosts import factory, hosts_of
from .test_restore import RESTORE

# No network and no driver: the one that is installed stays.
PLAIN = {"network": {"path": "tcp", "ats": "ignore"}, "driver": None}


def _hosts(**gpu):
    seed = factory(1, state="ready", driver=NVAIE | {"version": "550.54.16"}, bios={"vendor": "dell"})
    (host,) = seed["datacenters"][0]["clusters"][0]["hosts"]
    host["gpus"][0].update(gpu)
    return {**seed, "release": "9.1.0"}


def _configured(lab):
    return sum(count for name, count in lab.twin.requests.items() if "action=configure" in name)


def test_a_gpu_for_vgpu_needs_only_maintenance_mode(host_lab):
    lab = host_lab(_hosts())
    run = lab.hosts(site=PLAIN)
    assert run.status == 0, run.output
    (host,) = hosts_of(lab)
    assert (host.boots, _configured(lab)) == (0, 1)
    assert [gpu.active_type for gpu in host.gpus] == ["sharedDirect"]
    assert host.maintenance is False


def test_a_gpu_that_is_left_to_the_host_gets_a_fixed_mode_until_restore(host_lab):
    lab = host_lab(_hosts(graphics_type="sharedDirect"))
    (host,) = hosts_of(lab)
    host.modes.left_to_host.update(gpu.pci_id for gpu in host.gpus)
    lab.twin.world.touch(host)
    run = lab.hosts(site=PLAIN)
    assert run.status == 0, run.output
    assert "system_select: the host picks it at power-on" in run.text
    assert host.modes.left_to_host == set()
    again = lab.hosts(site=PLAIN)
    assert (again.status, again.changed, _configured(lab)) == (0, 0, 1), again.output
    back = lab.run(of=RESTORE, inventory=lab.inventory(PLAIN))
    (gpu,) = host.gpus
    path = f"graphics.{gpu.pci_id}.device_mode"
    assert f"restored: {host.name} (hosts), {path}: vgpu_same_size -> system_select" in back.text, back.output
    assert host.modes.left_to_host == {gpu.pci_id}


def test_whole_gpus_are_configured_within_the_one_restart(host_lab):
    lab = host_lab(_hosts(graphics_type="sharedDirect"))
    site = {**PLAIN, "gpu": {"mode": "passthrough", "profile": None}}
    run = lab.hosts(site=site)
    assert run.status == 0, run.output
    (host,) = hosts_of(lab)
    assert ([gpu.passthrough for gpu in host.gpus], host.boots, _configured(lab)) == ([True], 1, 1)
