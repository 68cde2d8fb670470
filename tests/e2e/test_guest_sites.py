"""What a site wants of guests and cannot be is refused, and Ansible gets to know the guests without touching them."""

from __future__ import annotations

import json
import time

import pytest
import yaml

from rehearse import playbook

PLAYBOOKS = playbook.ROOT / "playbooks"
KNOWN = PLAYBOOKS / "known_guests.yml"
CANARY = "nvapi-canary-0123456789"
TRAINING = {"image": "images.example.org/horovod:0.28.1", "builtin": "small"}
NGC = {"address": "nvcr.io", "username": "$oauthtoken"}
SITES = {
    "unknown key": (
        "guests",
        {"guests": {"usr": "ops"}},
        "site.guests.usr: the key is unknown. Did you mean user?",
    ),
    "DOCA-OFED with PVRDMA": (
        "guests",
        {
            "guests": {"rdma": {"stack": "ofed"}},
            "network": {"path": "pvrdma", "nics": ["vmnic2"], "vmknic": "vmk1", "portgroup": "pg-rdma"},
        },
        "site.guests.rdma.stack: ofed replaces the RDMA core that the PVRDMA module is built for.",
    ),
    "password of a registry in the site": (
        "runtime",
        {"runtime": {"registries": [{**NGC, "password": CANARY}]}},
        "site.runtime.registries[0].password: the key is unknown. Set site_registry_passwords in a vault",
    ),
    "secret for the ranks": (
        "training",
        {"training": {**TRAINING, "environment": {"NGC_API_KEY": CANARY}}},
        "site.training.environment: NGC_API_KEY looks like a secret",
    ),
    "elastic with MPI": (
        "training",
        {"training": {**TRAINING, "elastic": {"min_ranks": 1}, "launcher": "mpirun"}},
        "site.training.elastic: only Horovod with launcher: horovodrun and controller: gloo can add and remove ranks.",
    ),
    "training of a site in the other stage": (
        "machines",
        {"training": {**TRAINING, "slots": 9}},
        "site.training.slots: each guest has 9 ranks, each with its own GPU, but the site gives a VM",
    ),
}


@pytest.mark.parametrize("name, changes, message", SITES.values(), ids=SITES.keys())
def test_site_that_cannot_be_is_refused_before_vcenter_is_asked(lab, name, changes, message):
    lab = lab()
    lab.twin.requests.clear()
    run = lab.run(*lab.site(**changes), of=PLAYBOOKS / f"{name}.yml")
    assert run.status != 0
    assert message in run.text, run.output
    assert CANARY not in run.failed_on("localhost")
    assert not lab.twin.requests


def running(lab):
    """The lab's VMs, switched on, with guests that have come up."""
    with lab.twin.world.lock:
        vms = [vm for vm in lab.twin.world.of_kind("VirtualMachine") if vm.name.startswith("train-")]
    powered = lab.run(*lab.site(machine={"start": "all"}))
    assert powered.status == 0, powered.output
    while not all(vm.addresses for vm in vms):
        time.sleep(0.05)
    return {vm.name: vm.ip_address for vm in vms}


def report(tmp_path):
    """A playbook that gets to know the guests, and reports what Ansible knows of them then."""
    shown = "{{ [inventory_hostname, ansible_host, ansible_user | default('nobody'), aiready_guest.gpus] | join(' ') }}"
    plays = [
        {"name": "Identify the guests", "import_playbook": str(KNOWN)},
        {
            "name": "Report",
            "hosts": "training_guests",
            "gather_facts": False,
            "tasks": [{"name": "Report", "ansible.builtin.debug": {"msg": f"<{shown}>"}}],
        },
    ]
    (tmp_path / "report.yml").write_text(yaml.safe_dump(plays))
    return tmp_path / "report.yml"


def trained(tmp_path):
    """A playbook that names the guests of a training."""
    plays = yaml.safe_load(report(tmp_path).read_text())
    plays[1]["hosts"] = "{{ 'aiready_guests' | aiready.vsphere.stage_hosts('training', hostvars | default({})) }}"
    (tmp_path / "trained.yml").write_text(yaml.safe_dump(plays))
    return tmp_path / "trained.yml"


def quarantine(tmp_path, *names):
    entries = {name: {"kind": "guest", "at": "2026-03-01T08:15:30Z", "why": "xid.hardware: one."} for name in names}
    (tmp_path / "quarantine.json").write_text(json.dumps({"format": 1, "objects": entries}))
    return "--extra-vars", f"health_folder={tmp_path}"


def test_guests_become_known_by_what_vcenter_reports_and_secrets_are_not_shown(lab, tmp_path):
    lab = lab()
    addresses = running(lab)
    secrets = {"site_licence_token": CANARY, "site_registry_passwords": {"nvcr.io": CANARY}}
    site = lab.site(guests={"user": "ops", "licence": {"wait_s": 9}})
    run = lab.run("-vvv", *site, "--extra-vars", json.dumps(secrets), of=report(tmp_path))
    assert (run.status, run.changed) == (0, 0), run.output
    for name, address in addresses.items():
        assert f"<{name} {address} ops 1>" in run.output
    assert CANARY not in run.output
    site = lab.site(guests={"user": "ops"}, training=TRAINING)
    run = lab.run(*site, *quarantine(tmp_path, "train-02"), of=trained(tmp_path))
    assert (run.status, run.changed) == (0, 0), run.output
    assert "<train-01 " in run.output
    assert "<train-02 " not in run.output
    run = lab.run(*site, *quarantine(tmp_path, *addresses), of=PLAYBOOKS / "training.yml")
    assert run.status != 0
    assert "All guests are in quarantine: train-01, train-02." in run.failed_on("localhost")


def test_guests_that_the_inventory_lists_are_those_that_are_meant_and_are_reached_as_it_says(lab, tmp_path):
    lab = lab()
    running(lab)
    folder = lab.inventory()
    hosts = yaml.safe_load((folder / "hosts.yml").read_text())
    hosts["all"]["children"]["training_guests"] = {"hosts": {"train-02": {"ansible_host": "gate.lab.example"}}}
    (folder / "hosts.yml").write_text(yaml.safe_dump(hosts))
    run = lab.run(*lab.site(guests={"user": "ops", "host_keys": "accept_new"}), of=report(tmp_path), inventory=folder)
    assert run.status == 0, run.output
    assert "<train-02 gate.lab.example ops 1>" in run.output
    assert "<train-01" not in run.output


def test_guests_that_are_off_are_refused_by_name_with_the_way_to_them(lab):
    lab = lab()
    run = lab.run(*lab.site(guests={"user": "ops"}), of=KNOWN)
    assert run.status != 0
    said = run.failed_on("localhost")
    for name in ("train-01", "train-02"):
        assert f"{name}: the guest has no address for SSH. The VM is off. Start it with playbook" in said
    assert "train-01: the VM has no GPU, but site.gpu gives it one. Run playbook machines first." in said


def test_preview_without_vms_reports_so_and_goes_on(lab):
    lab = lab()
    vms = [{"name": "train-01"}, {"name": "new-01"}]
    run = lab.run("--check", *lab.site(vms=vms, guests={"user": "ops"}), of=KNOWN)
    assert run.status == 0, run.output
    assert "new-01: the VM does not exist yet." in run.text
    assert "train-01: the guest has no address for SSH." in run.text


def test_preview_of_a_stage_says_which_guests_are_planned_later(lab):
    lab = lab()
    site = lab.site(vms=[{"name": "train-01"}, {"name": "new-01"}], guests={"user": "ops"})
    run = lab.run("--check", "--tags", "guests", *site, of=PLAYBOOKS / "guests.yml")
    assert run.status == 0, run.output
    for name in ("new-01", "train-01"):
        later = f"{name}: everything will be planned after machines: the VM does not run yet or has no adapter"
        assert later in run.text


def test_vm_that_is_missing_is_named(lab):
    lab = lab()
    run = lab.run(*lab.site(vms=[{"name": "train-03"}], guests={"user": "ops"}), of=KNOWN)
    assert run.status != 0
    assert "VM train-03: cannot find the VM" in run.text, run.output


def test_site_without_stages_inside_guests_costs_nothing(lab):
    lab = lab()
    lab.twin.requests.clear()
    run = lab.run(*lab.site(guests={}), of=KNOWN)
    assert (run.status, run.changed) == (0, 0), run.output
    assert not lab.twin.requests
