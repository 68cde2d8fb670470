"""An upgrade of hosts and guests is validated before and after, and the playbook restore is its rollback."""

from __future__ import annotations

import json

import pytest

from e2e import dump

from .fleet import HOSTS, RELEASES, Fleet, depot_of, package_of, started
from .lab import until
from .trainings import PAIR

OLD, NEW = 0, 1
# What guests and one pair measure without containers.
SKIPPED = (
    *("fabric.settings", "fabric.counters", "pair.ping_mtu", "pair.rping", "pair.write_bw", "pair.write_bw_both"),
    *("pair.iperf3", "pair.mpi_lat", "pair.mpi_bw", "cluster.mpi_allreduce", "cluster.nccl", "cluster.hostname"),
    *("cluster.check_build", "cluster.training", "cluster.efficiency"),
)
# The date of a change, counters of the BMC, and what an installation writes for each VIB.
LASTING = ("bmc.", "software.modified", "software.installed_on")


class Validated(Fleet):
    """The same with a licence and a validation."""

    def run(self, name, number, *arguments, **variables):
        validation = {
            "skip": dict.fromkeys(SKIPPED, "This test has neither switches nor containers"),
            "simulated": ["rdma", "gpu", "network", "guests", "vcenter", "hosts"],
            "seconds": 1,
        }
        guests = {"licence": {"token_file": "{{ lab_endpoint.licence.token_file }}"}}
        return super().run(name, number, *arguments, guests=guests, lab_validation=validation, **variables)

    def states(self):
        """The hosts object by object, past the collection."""
        found = [dump.of_host(host) for host in self.hosts()]
        return [{path: value for path, value in host.items() if not path.startswith(LASTING)} for host in found]


@pytest.fixture
def fleet(guests, tmp_path, capfd):
    # The lab of other tests installs the engine where tests do.
    with started(Validated, tmp_path, capfd) as made:
        yield made


@pytest.mark.turn(4, of=6)
def test_an_upgrade_is_compared_with_its_validation_before_and_restore_returns_to_the_old_drivers(fleet):
    made = fleet.run("guests", OLD)
    assert made.status == 0, made.output
    before = fleet.states()
    folder = fleet.results / "upgrade"
    made = fleet.run(
        "upgrade",
        NEW,
        aiready_run_folder=str(folder),
        upgrade_waves="50%",
        upgrade_licence_server="3.5",
        upgrade_validate=True,
    )
    assert made.status == 0, made.output
    assert {fleet.driver(name) for name in PAIR} == {RELEASES[NEW][1]}
    assert [host.driver.version for host in fleet.hosts()] == [RELEASES[NEW][0]] * HOSTS
    assert "Figures after the upgrade, compared with those before it: same 2, " in made.text
    reports = [json.loads((one / "validation.json").read_text()) for one in (folder / "before", folder)]
    assert [drivers(one) for one in reports] == [[RELEASES[number][1]] * 2 for number in (OLD, NEW)]
    rollback = {
        "restore_from": folder.name,
        "restore_guest_driver": package_of(OLD),
        "restore_driver": {RELEASES[OLD][0]: depot_of(OLD)},
    }
    shown = fleet.run("restore", NEW, "--check", "--diff", **rollback)
    assert shown.status == 0, shown.output
    assert "driver: nvaie 580.65.05-1OEM.800.1.0.20613240 -> nvaie 570.124.03-1OEM.800.1.0.20613240" in shown.text
    assert {fleet.driver(name) for name in PAIR} == {RELEASES[NEW][1]}
    made = fleet.run("restore", NEW, **rollback)
    assert made.status == 0, made.output
    assert "restore_guest_driver restores the driver alone." in made.text
    assert "Set restore_guest_driver" not in made.text
    # The VMs have just started.
    until(lambda: {fleet.driver(name) for name in PAIR} == {RELEASES[OLD][1]})
    assert [dump.differences(*pair) for pair in zip(before, fleet.states(), strict=True)] == [{}] * HOSTS


def drivers(reported):
    return [row["measured"] for row in reported["checks"] if row["check"] == "guest.driver"]
