"""Slices of a job template: hosts get the same result as in one run, and a slice of all stages is rejected."""

from __future__ import annotations

import copy
import itertools
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rehearse import center, playbook
from rehearse.awx_jobs import sliced, write_inventory

from . import dump
from .conftest import HOSTS
from .hosts import broken, hosts_of

SITE = playbook.ROOT / "playbooks" / "site.yml"
SLICE = {"awx_job_template_name": "aiready hosts", "awx_workflow_job_name": "aiready hosts"}
# The first one restarts. AIREADY_SLICED_HOSTS=100 repeats them, in four slices.
LACKING = ("kernel", "firewall", "mtu")
COUNT = int(os.environ.get("AIREADY_SLICED_HOSTS", str(len(LACKING))))
SLICES = 2 if len(LACKING) == COUNT else 4
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)")
# Names of a task and of a run, and the checksum of a line with them.
OWN = ("task", "run", "sum")


def seed():
    """A data centre without VMs, in which each host lacks one setting."""
    made = broken(LACKING)
    (datacenter,) = made["datacenters"]
    (cluster,) = datacenter["clusters"]
    datacenter["vms"] = []
    patterns = itertools.islice(itertools.cycle(cluster["hosts"]), COUNT)
    cluster["hosts"] = [
        {**copy.deepcopy(pattern), "name": f"esx-{number:03}-{pattern['name']}"}
        for number, pattern in enumerate(patterns, 1)
    ]
    return made


def listed(lab):
    """The inventory as its update imports it."""
    program = str(Path(sys.executable).with_name("ansible-inventory"))
    command = [program, "-i", str(lab.inventory()), "--list", "--export"]
    env = {**os.environ, "AIREADY_LAB": str(lab.work)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def in_slices(lab, count, results):
    """Run the stage for hosts in slices at the same time."""
    whole, paths = listed(lab), [lab.work / f"slice_{number}" for number in range(1, count + 1)]
    for number, path in enumerate(paths, 1):
        write_inventory(path, sliced(whole, number, count))

    def run(path):
        # Runs of one warm server would have one name, unlike jobs.
        variables = json.dumps({**SLICE, "aiready_run_folder": str(results / path.name)})
        arguments = ("--extra-vars", variables, "--limit", "esxi_hosts")
        return lab.run(*arguments, of=HOSTS, inventory=path, env=saved(results))

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, paths))


def saved(results):
    """A run keeps its record, and its part of the journal of the site, in this folder."""
    journal = str(results / "journal")
    callback = {"ANSIBLE_CALLBACKS_ENABLED": "aiready.vsphere.record"}
    return {**callback, "AIREADY_RESULTS": str(results), "AIREADY_JOURNAL": journal}


def of_records(results):
    """The number of runs and all their changes, in one order and without times."""
    records = [json.loads(path.read_text()) for path in results.glob("*/stages.json")]
    return len(records), in_order(change for one in records for stage in one["stages"] for change in stage["changes"])


def of_journals(results):
    """The number of files and all their lines, in one order and without times and names."""
    files = [[json.loads(line) for line in path.read_text().splitlines()] for path in results.glob("journal/*.jsonl")]
    return len(files), in_order({key: line[key] for key in line if key not in OWN} for one in files for line in one)


def in_order(rows):
    return sorted(TIME.sub("", json.dumps(row, sort_keys=True)) for row in rows)


def dumped(lab):
    """{path: value} of the models of all hosts, and how often each restarted."""
    found = {}
    for host in hosts_of(lab):
        # A read that is repeated changes nothing, and each session has a random name.
        own = {path: value for path, value in dump.of_host(host).items() if not path.startswith("bmc.requests.")}
        found |= {f"{host.name} {path}": value for path, value in {**own, "boots": str(host.boots)}.items()}
    return found


@pytest.mark.turn(1, of=3)
def test_hosts_in_slices_at_once_are_as_ready_as_by_one_run(host_lab, tmp_path):
    lab, slices, one = host_lab(seed()), tmp_path / "slices", tmp_path / "one"
    runs = in_slices(lab, SLICES, slices)
    assert not any(run.status for run in runs), "\n".join(run.output for run in runs)
    hosts = dumped(lab)
    lab = host_lab(seed())
    run = lab.run("--limit", "esxi_hosts", of=HOSTS, inventory=lab.inventory(), env=saved(one))
    assert run.status == 0, run.output
    assert dump.differences(hosts, dumped(lab)) == {}
    for kept in (of_records, of_journals):
        files, rows = kept(one)
        assert files == 1
        assert rows
        assert kept(slices) == (SLICES, rows)


def test_a_slice_of_the_whole_run_is_rejected_before_it_changes_anything(lab):
    lab = lab()
    names = dict.fromkeys(SLICE, "aiready site")
    before = center.whole(lab.twin)
    run = lab.run("--extra-vars", json.dumps(names), of=SITE, inventory=lab.inventory())
    assert run.status != 0
    assert "Set job_slice_count of aiready site to 1" in run.text, run.output
    assert center.whole(lab.twin) == before
