"""A playbook that is killed at any moment is started again, and ends where an undisturbed one does."""

from __future__ import annotations

import random

from wire.rows.esxi_maintenance import service

from .conftest import HOSTS
from .hosts import READY, factory, hosts_of, state
from .kills import kill_in

KILLS = 5
# Tasks of a whole run from the factory, roughly; a kill that comes later than the last finds nothing to kill.
TASKS = 45


def run_and_kill(lab, tasks, pause_s, site=None):
    """Start the stage for hosts and kill it, see kill_in."""
    kill_in(lab, tasks, pause_s, ["--inventory", str(lab.inventory(site)), str(HOSTS)])


def test_kills_at_random_moments_end_in_the_same_state_with_no_host_left_out_of_service(host_lab):
    chance = random.Random(20260301)
    lab = host_lab(factory(1))
    for _kill in range(KILLS):
        run_and_kill(lab, chance.randint(8, TASKS), chance.uniform(0, 1.5))
    last = lab.hosts()
    assert last.status == 0, last.output
    (host,) = hosts_of(lab)
    assert state(host) == READY
    assert host.maintenance is False
    assert [service.running for service in host.services if service.key == "TSM-SSH"] == [False]
    assert service(lab.twin, host.name) == {"in maintenance": False, "note": ""}


def test_kill_while_mig_is_switched_leaves_no_half_made_layout(host_lab):
    chance = random.Random(19)
    mig = {"gpu": {"mode": "mig", "profile": "grid_a100-3-20c"}}
    seed = factory(1, state="ready", driver={"family": "nvaie", "version": "550.54.16"})
    lab = host_lab(seed)
    for _kill in range(3):
        run_and_kill(lab, chance.randint(10, 30), chance.uniform(0, 1.5), site=mig)
    last = lab.hosts(site=mig)
    assert last.status == 0, last.output
    (host,) = hosts_of(lab)
    assert [(gpu.mig_enabled, gpu.mig.instances) for gpu in host.gpus] == [(True, [])]
    assert (host.maintenance, host.vgpu_types != []) == (False, True)
