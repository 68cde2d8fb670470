"""Faults of guests are named, take guests and hosts out of service, and a validation returns them after the repair."""

from __future__ import annotations

import json
import time

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import suite

from rehearse import playbook
from vsphere_twin.guests.programs import memory
from vsphere_twin.model import power

from .lab import until
from .sites import Site

PLAYBOOKS = playbook.ROOT / "playbooks"
FIRST, SECOND = "job-01", "job-02"
GPU = "00000000:02:00.0"
# Only what a guest measures of itself.
SKIPPED = [check for check in suite.CHECKS if not check.startswith("guest.")]
SITE = {
    "network": {"path": "pvrdma", "nics": ["vmnic1"], "vmknic": "vmk1", "portgroup": "pg-rdma"},
    "hosts": {"reboot": "allow"},
    "driver": None,
    "machine": {"template": "guest-template", "folder": "", "cores_per_socket": 1, "numa": "ignore"},
    "runtime": {},
    "training": {"image": "registry.lab.example/aiready:1", "builtin": "small"},
}


class Checked:
    """Both guests with their driver and licence, and the playbooks of their site."""

    def __init__(self, guests, work):
        self.twin, self.site, self.results = guests.twin, Site(guests.twin, work), work / "results"

    def vm(self, name):
        return next(one for one in self.twin.world.of_kind("VirtualMachine") if one.name == name)

    def run(self, name, *arguments, **variables):
        validation = {
            "skip": dict.fromkeys(SKIPPED, "This test has no fabric"),
            "simulated": ["gpu", "network", "guests"],
        }
        variables = {"lab_validation": {**validation, "result_dir": str(self.results)}, **variables}
        return playbook.run(
            PLAYBOOKS / f"{name}.yml",
            *arguments,
            "--extra-vars",
            json.dumps(variables),
            env=playbook.environment(self.site.work, AIREADY_RESULTS=str(self.results)),
            inventory=self.site.inventory(SITE),
        )

    def health(self, **variables):
        made = self.run("health", health_fail_on="never", **variables)
        assert made.status == 0, made.output
        return made, json.loads((self.results / "health" / "health.json").read_text())


@pytest.fixture
def checked(guests, tmp_path):
    made = Checked(guests, tmp_path)
    prepared = made.run("guests")
    assert prepared.status == 0, prepared.output
    return made


def failing(reported):
    return {(row["object"], row["reading"]) for row in reported["rows"] if row["state"] == "failing"}


# The stage and seven other playbooks take minutes beside other work.
@pytest.mark.turn(2, of=6)
def test_a_gpu_error_and_a_licence_that_expires_take_guests_and_a_host_out_until_a_validation_passes(checked, guests):
    made, reported = checked.health()
    assert reported["status"] == "healthy", made.output
    checked.twin.control.gpu_error(vm=SECOND, number=48)
    memory.of(checked.vm(FIRST)).lease.expires = time.time() + 3600
    made, reported = checked.health(health_quarantine="drs")
    faults = {(SECOND, "xid.hardware"), (SECOND, f"gpu.{GPU}.uncorrected"), (FIRST, f"licence.{GPU}.expiry")}
    assert failing(reported) == faults, made.output
    assert list(reported["quarantine"]) == [FIRST, SECOND]
    # Its VM runs, and vMotion cannot move it.
    host = checked.vm(SECOND).host
    assert f"Host {host.name}: cannot enter maintenance mode. 1 VMs run on it: {SECOND}" in made.text
    assert not host.maintenance
    made = checked.run("training")
    assert (made.status, f"All guests are in quarantine: {FIRST}, {SECOND}." in made.text) == (2, True), made.output
    with checked.twin.world.lock:
        power.power_off(checked.twin.world, checked.vm(SECOND))
    status, out, err = guests.guest(FIRST).run(["systemctl", "restart", "nvidia-gridd"])
    assert status == 0, out + err
    until(lambda: memory.of(checked.vm(FIRST)).lease is not None)
    made, reported = checked.health(health_quarantine="drs")
    assert (host.maintenance, failing(reported), list(reported["quarantine"])) == (True, set(), [FIRST, SECOND])
    for name, arguments in (("hosts", ["--limit", f"{host.name},localhost"]), ("machines", []), ("validate", [])):
        made = checked.run(name, *arguments)
        assert made.status == 0, made.output
    assert (host.maintenance, checked.vm(SECOND).power) == (False, "poweredOn")
    assert f"{FIRST}, {SECOND} passed the validation, so the quarantine ends." in made.text
    made, reported = checked.health(health_quarantine="drs")
    assert (reported["status"], reported["quarantine"]) == ("healthy", {}), made.output
