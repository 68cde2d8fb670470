"""Hosts and guests go from vGPU 18 to 20 in two upgrades, and one training goes on after each of them."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml

from e2e.conftest import Lab
from rehearse import playbook
from vsphere_twin.launch import launch
from vsphere_twin.model import depot

from .conftest import SEED
from .lab import until
from .trainings import PAIR, TRAININGS, WORK

PLAYBOOKS = playbook.ROOT / "playbooks"
FACES = ("ssh", "redfish", "guests", "depot", "registry")
# Two upgrades with two guests take many minutes. Commits of their turn run neither guests on the oldest core, nor the
# image of the execution environment or the newest modules of other collections. Naming the file runs the test, too.
# One for each wave. Eight hosts take longer, and show nothing else about the training.
HOSTS = 2
# Host and guest driver of vGPU 18, 19 and 20.
RELEASES = (("570.124.03", "570.124.06"), ("580.65.05", "580.65.06"), ("595.58.02", "595.58.03"))
EACH, ALL = 10, 30
# Seconds of one playbook. The limit of pytest is too short for all of them.
LIMIT_S = 1200
# After each ten iterations, it waits until it is held. The last ones are not held.
STEPS = f"""
import sys, time
sys.path.insert(0, "/steps")
import engines, small
save, restore = small.Checkpoint.save, small.Checkpoint.restore

def restore_and_count(self):
    begin, first = restore(self)
    self.last = begin + {EACH} - 1
    return begin, first

def save_and_wait(self, iteration, first):
    save(self, iteration, first)
    while iteration == self.last < {ALL} - 1:
        time.sleep(0.2)

small.Checkpoint.save, small.Checkpoint.restore = save_and_wait, restore_and_count
engines.run(small.train, small.parser().parse_args())
"""


def seed():
    made = yaml.safe_load(SEED.read_text())
    (datacenter,) = made["datacenters"]
    (cluster,) = datacenter["clusters"]
    (host,) = cluster["hosts"]
    host.update(count=HOSTS, driver={"family": "nvaie", "version": RELEASES[0][0]}, bios={"vendor": "dell"})
    new = [{"depot": {"family": "nvaie", "version": version}} for version, _guest in RELEASES[1:]]
    datacenter["datastores"][0]["files"] = new
    made["fabric"]["cables"] = [[f"esx-{n:02}.lab.example/vmnic1", f"leaf-01/Ethernet{n}"] for n in range(1, HOSTS + 1)]
    return made


class Site(Lab):
    """The inventory of the lab with the hosts of this twin. Its switches are no part of an upgrade."""

    def _with_hosts(self, inventory):
        made = super()._with_hosts(inventory)
        made["all"]["children"] = {"esxi_hosts": made["all"]["children"]["esxi_hosts"]}
        return made


class Fleet:
    """Hosts and two guests, and the playbooks of their site with the drivers of one release."""

    def __init__(self, twin, work, stderr):
        self.twin, self.site, self.stderr = twin, Site(twin, work), stderr
        self.hold, self.results = work / "hold", work / "results"

    def sh(self, name, text):
        return self.twin.guest(name).run(["sh", "-c", text])[1].strip()

    def prepare(self):
        """Both guests have the oldest driver, a container engine and the training."""
        for name in PAIR:
            for file in ("engines.py", "small.py"):
                text = (TRAININGS / file).read_text(encoding="utf-8")
                self.twin.guest(name).put(f"/srv/steps/{file}", text)
            self.twin.guest(name).put("/srv/steps/steps.py", STEPS)
        for stage in ("guests", "runtime"):
            made = self.run(stage, 0)
            assert made.status == 0, made.output

    def hosts(self):
        return sorted(self.twin.world.of_kind("HostSystem"), key=lambda host: host.name)

    def driver(self, name):
        """The guest driver that runs, past the collection."""
        return self.sh(name, "nvidia-smi --query-gpu=driver_version --format=csv,noheader")

    def result(self):
        """That of the training, from its file."""
        (file,) = self.results.glob("training-*.json")
        return json.loads(file.read_text())

    def run(self, name, number, **variables):
        """Run a playbook of the site with the drivers of a release, by its place in RELEASES."""
        host, guest = RELEASES[number]
        package = f"{{{{ lab_endpoint.depot.url }}}}/grid/nvidia-linux-grid-{guest.split('.')[0]}_{guest}_amd64.deb"
        training = {
            "engine": "torchrun",
            "command": ["python3", "/steps/steps.py", "--engine", "torchrun"],
            "arguments": ["--threads", "1", "--iterations", str(ALL), "--checkpoint", "/steps/kept"]
            + ["--checkpoint-every", str(EACH)],
            "mounts": [{"source": "/srv/steps", "target": "/steps", "writable": True}],
            "limits": {"wall_s": 7200, "stall_s": 7200},
            "image": "{{ lab_endpoint.registry.address }}/aiready/horovod:0.28.1-cpu",
            "result_dir": str(self.results),
            "gpus": "none",
        }
        site = {
            "network": {"path": "pvrdma", "nics": ["vmnic1"], "vmknic": "vmk1", "portgroup": "pg-rdma"},
            "driver": {"depot": f"[datastore-01] depots/{depot.file_name(version=host)}"},
            "hosts": {"reboot": "allow", "evacuation": "shutdown"},
            "training": training,
        }
        guests = {
            "user": "ops",
            "address_network": "VM Network",
            "driver": {"package": package},
            "limits": {"memlock": "as_is", "nofile": 0},
            "reboot": "allow",
        }
        runtime = {
            "engine": "docker",
            "memlock": "ignore",
            "toolkit_repository": {
                "url": "{{ lab_endpoint.depot.url }}/toolkit/stable",
                "key_url": "{{ lab_endpoint.depot.url }}/toolkit/gpgkey",
                "key_fingerprints": "{{ lab_endpoint.depot.key_fingerprints }}",
            },
            "registries": [
                {
                    "address": "{{ lab_endpoint.registry.address }}",
                    "username": "{{ lab_endpoint.registry.username }}",
                    "ca_file": "{{ lab_endpoint.ca_file }}",
                }
            ],
        }
        variables = {"lab_validation": {}, "lab_runtime": runtime, "lab_guests": guests, **variables}
        # It replaces the limit of pytest, which ends with the test.
        faulthandler.dump_traceback_later(LIMIT_S, exit=True, file=self.stderr)
        inventory = self.site.inventory(site)
        return playbook.run(
            PLAYBOOKS / f"{name}.yml",
            "--extra-vars",
            json.dumps(variables),
            env=playbook.environment(self.site.work, AIREADY_RESULTS=str(self.results)),
            inventory=inventory,
        )

    @contextlib.contextmanager
    def training(self):
        """The playbook training, which runs meanwhile and can be held. If the test fails, the training is ended."""
        with ThreadPoolExecutor(max_workers=1) as pool:
            running = pool.submit(self.run, "training", 0, horovod_hold_file=str(self.hold))
            try:
                yield running
                running.result()
            finally:
                self.hold.unlink(missing_ok=True)
                until(lambda: running.done() or self.ends())

    def ends(self):
        """Whatever trains ends. A training that is about to start is not there yet."""
        for name in PAIR:
            self.sh(name, "docker kill $(docker ps -q --filter label=aiready.training)")

    def waits_after(self, iteration):
        """Whether the rank of the first guest has reported this iteration."""
        return f'"iteration": {iteration},' in self.sh(PAIR[0], f"cat {WORK}/*/out/output 2>/dev/null")


@pytest.fixture
def fleet(guests, tmp_path, capfd):
    # The lab of other tests installs the engine where tests do.
    with capfd.disabled():
        stderr = os.dup(2)
    with open(stderr, "w") as uncaptured, launch(seed(), faces=FACES) as twin:
        for name in PAIR:
            twin.guest(name).wait()
        yield Fleet(twin, tmp_path, uncaptured)


@pytest.mark.turn(1, of=6)
def test_a_training_goes_on_after_each_of_two_upgrades(fleet):
    fleet.prepare()
    guests = [fleet.twin.guest(name) for name in PAIR]
    boots = [guest.boots for guest in guests]
    with fleet.training() as training:
        for number in (1, 2):
            until(lambda number=number: training.done() or fleet.waits_after(EACH * number - 1))
            assert not training.done(), training.result().output
            options = {
                "upgrade_waves": "50%",
                "upgrade_training_hold": str(fleet.hold),
                "upgrade_licence_server": "3.5",
            }
            made = fleet.run("upgrade", number, **options)
            assert made.status == 0, made.output
            host, guest = RELEASES[number]
            assert f"Wave 2 of 2 is complete: esx-02.lab.example runs {host}." in made.text
            assert {fleet.driver(name) for name in PAIR} == {guest}
            # Each host restarts once, and each guest once with its host and once for its own driver.
            assert [(one.driver.version, one.boots) for one in fleet.hosts()] == [(host, number)] * HOSTS
            assert [guest.boots for guest in guests] == [count + 2 * number for count in boots]
        trained = training.result()
    assert trained.status == 0, trained.output
    assert not fleet.hold.exists()
    each_step_is_done_once(fleet.result())


def each_step_is_done_once(reported):
    assert reported["verdict"]["code"] == "trained"
    assert reported["weights"]["equal"]
    assert [
        (one["code"], one["first_iteration"], one["last_iteration"]) for one in reported["restarts"]["attempts"]
    ] == [
        ("held", 0, EACH - 1),
        ("held", EACH, 2 * EACH - 1),
        ("trained", 2 * EACH, ALL - 1),
    ]
    assert (reported["restarts"]["used"], reported["restarts"]["lost_steps"]) == (0, 0)
    assert [(rank["host"], rank["ended"]) for rank in reported["ranks"]] == [(name, True) for name in PAIR]
    steps = sorted((one["rank"], one["iteration"]) for one in reported["iterations"])
    assert steps == [(rank, step) for rank in (0, 1) for step in range(2 * EACH, ALL)]
