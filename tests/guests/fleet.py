"""A site of two hosts or more and two guests that goes from one vGPU release to the next, and its playbooks."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os

import yaml

from rehearse import playbook
from vsphere_twin.launch import launch
from vsphere_twin.model import depot

from .conftest import PAIR, SEED
from .sites import Site

PLAYBOOKS = playbook.ROOT / "playbooks"
FACES = ("ssh", "redfish", "guests", "depot")
# One for each wave. Eight hosts take longer, and show nothing else: AIREADY_FLEET=8.
HOSTS = int(os.environ.get("AIREADY_FLEET", "2"))
# Host and guest driver of vGPU 18, 19 and 20.
RELEASES = (("570.124.03", "570.124.06"), ("580.65.05", "580.65.06"), ("595.58.02", "595.58.03"))
# Seconds of one playbook. The limit of pytest is too short for all of them.
LIMIT_S = 1200


def seed():
    made = yaml.safe_load(SEED.read_text())
    (datacenter,) = made["datacenters"]
    (cluster,) = datacenter["clusters"]
    (host,) = cluster["hosts"]
    host.update(count=HOSTS, driver={"family": "nvaie", "version": RELEASES[0][0]}, bios={"vendor": "dell"})
    depots = [{"depot": {"family": "nvaie", "version": version}} for version, _guest in RELEASES]
    datacenter["datastores"][0]["files"] = depots
    made["fabric"]["cables"] = [[f"esx-{n:02}.lab.example/vmnic1", f"leaf-01/Ethernet{n}"] for n in range(1, HOSTS + 1)]
    return made


def depot_of(number):
    """The depot of a host driver on the datastore, by its place in RELEASES."""
    return f"[datastore-01] depots/{depot.file_name(version=RELEASES[number][0])}"


def package_of(number):
    """The address of a guest driver, by its place in RELEASES."""
    version = RELEASES[number][1]
    return f"{{{{ lab_endpoint.depot.url }}}}/grid/nvidia-linux-grid-{version.partition('.')[0]}_{version}_amd64.deb"


class Fleet:
    """Hosts and two guests, and the playbooks of their site with the drivers of one release."""

    def __init__(self, twin, work, stderr):
        self.twin, self.site, self.stderr = twin, Site(twin, work), stderr
        self.hold, self.results = work / "hold", work / "results"

    def sh(self, name, text):
        return self.twin.guest(name).run(["sh", "-c", text])[1].strip()

    def hosts(self):
        return sorted(self.twin.world.of_kind("HostSystem"), key=lambda host: host.name)

    def driver(self, name):
        """The guest driver that runs, past the collection."""
        return self.sh(name, "nvidia-smi --query-gpu=driver_version --format=csv,noheader")

    def run(self, name, number, *arguments, site=None, guests=None, **variables):
        """Run a playbook of the site with the drivers of a release, by its place in RELEASES."""
        site = {
            "network": {"path": "pvrdma", "nics": ["vmnic1"], "vmknic": "vmk1", "portgroup": "pg-rdma"},
            "driver": {"depot": depot_of(number)},
            "hosts": {"reboot": "allow", "evacuation": "shutdown"},
            **(site or {}),
        }
        guests = {
            "user": "ops",
            "address_network": "VM Network",
            "driver": {"package": package_of(number)},
            "limits": {"memlock": "as_is", "nofile": 0},
            "reboot": "allow",
            **(guests or {}),
        }
        variables = {"lab_validation": {}, "lab_runtime": {}, "lab_guests": guests, **variables}
        # It replaces the limit of pytest, which ends with the test.
        faulthandler.dump_traceback_later(LIMIT_S, exit=True, file=self.stderr)
        return playbook.run(
            PLAYBOOKS / f"{name}.yml",
            *arguments,
            "--extra-vars",
            json.dumps(variables),
            env=playbook.environment(self.site.work, AIREADY_RESULTS=str(self.results)),
            inventory=self.site.inventory(site),
        )


@contextlib.contextmanager
def started(kind, work, capfd, faces=FACES):
    """A twin of the site, whose guests have started, as a Fleet of this kind."""
    with capfd.disabled():
        stderr = os.dup(2)
    with open(stderr, "w") as uncaptured, launch(seed(), faces=faces) as twin:
        for name in PAIR:
            twin.guest(name).wait()
        yield kind(twin, work, uncaptured)
