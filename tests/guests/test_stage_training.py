"""A preview of all stages inside guests that run and are not ready: what earlier stages would make is no failure."""

from __future__ import annotations

import json

import pytest

from rehearse import playbook

from .lab import until

STAGES = playbook.ROOT / "playbooks" / "site.yml"
PAIR = ("job-01", "job-02")
# Nothing is fetched in a preview, so that nobody has to answer there.
REGISTRY = {"address": "registry.lab.example", "username": "lab", "password": "unused"}
LATER = "{}: everything will be planned after {}: "


def preview(guests, work, first):
    """Check mode from a stage on, of a site whose engine no test of this level installs."""
    endpoint = {**guests.twin.endpoint(), "registry": REGISTRY}
    (work / "endpoint.json").write_text(json.dumps(endpoint))
    toolkit = f"{endpoint['depot']['url']}/toolkit"
    repository = {"url": f"{toolkit}/stable", "key_url": f"{toolkit}/gpgkey"}
    keys = {"key_fingerprints": endpoint["depot"]["key_fingerprints"]}
    runtime = {"engine": "podman", "toolkit_repository": {**repository, **keys}}
    extra = {"site_start_at": first, "site_stop_after": "training", "lab_runtime": runtime}
    return playbook.run(STAGES, "--check", "--extra-vars", json.dumps(extra), env=playbook.environment(work))


@pytest.fixture(name="without_address")
def _without_address(guests):
    """The second guest, whose adapter of the training has lost its address; vCenter has heard of it."""
    guest = guests.guest(PAIR[1])
    (vm,) = [one for one in guests.twin.world.of_kind("VirtualMachine") if one.name == PAIR[1]]
    address = guest.address("ens224")
    guest.run(["ip", "address", "flush", "dev", "ens224"])
    until(lambda: address not in vm.addresses)
    yield guest
    guest.run(["networkctl", "reconfigure", "ens224"])
    until(lambda: guest.address("ens224") == address)


def test_a_preview_comes_to_its_end_where_no_engine_is_installed_yet(guests, tmp_path):
    run = preview(guests, tmp_path, "guests")
    assert run.status == 0, run.output
    why = f"{PAIR[0]}: cannot run the container of the training with podman"
    for name in PAIR:
        assert LATER.format(name, "runtime") + why in run.text


def test_a_preview_comes_to_its_end_where_an_address_is_missing(guests, tmp_path, without_address):
    run = preview(guests, tmp_path, "training")
    assert run.status == 0, run.output
    for name in PAIR:
        assert LATER.format(name, "guests") + f"{PAIR[1]}: its adapter ens224 has no IPv4 address." in run.text
