"""Slices of a job template: hosts get the same result as in one run, and a slice of all stages is rejected."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rehearse import center, playbook
from rehearse.awx_jobs import sliced, write_inventory

from .conftest import HOSTS
from .hosts import READY, factory, hosts_of, state

SITE = playbook.ROOT / "playbooks" / "site.yml"
ESX_01, ESX_02 = "esx-01.lab.example", "esx-02.lab.example"
SLICE = {"awx_job_template_name": "aiready hosts", "awx_workflow_job_name": "aiready hosts"}


def listed(lab):
    """The inventory as its update imports it."""
    program = str(Path(sys.executable).with_name("ansible-inventory"))
    command = [program, "-i", str(lab.inventory()), "--list", "--export"]
    env = {**os.environ, "AIREADY_LAB": str(lab.work)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture
def slices(tmp_path):
    """slices(listed, count): the inventories of all slices."""

    def made(listing, count):
        paths = [tmp_path / f"slice_{number}" for number in range(1, count + 1)]
        for number, path in enumerate(paths, 1):
            write_inventory(path, sliced(listing, number, count))
        return paths

    return made


def test_hosts_in_two_slices_at_once_are_as_ready_as_by_one_run(host_lab, slices):
    lab = host_lab(factory(2))
    arguments = ("--extra-vars", json.dumps(SLICE), "--limit", "esxi_hosts")
    whole = listed(lab)
    assert [sliced(whole, number, 2)["esxi_hosts"]["hosts"] for number in (1, 2)] == [[ESX_01], [ESX_02]]
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda path: lab.run(*arguments, of=HOSTS, inventory=path), slices(whole, 2)))
    assert [run.status for run in runs] == [0, 0], "\n".join(run.output for run in runs)
    assert [(state(host), host.boots) for host in hosts_of(lab)] == [(READY, 1), (READY, 1)]
    again = lab.hosts()
    assert (again.status, again.changed) == (0, 0), again.output


def test_a_slice_of_the_whole_run_is_rejected_before_it_changes_anything(lab):
    lab = lab()
    names = dict.fromkeys(SLICE, "aiready site")
    before = center.whole(lab.twin)
    run = lab.run("--extra-vars", json.dumps(names), of=SITE, inventory=lab.inventory())
    assert run.status != 0
    assert "Set job_slice_count of aiready site to 1" in run.text, run.output
    assert center.whole(lab.twin) == before
