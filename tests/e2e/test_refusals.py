"""What cannot be is refused with words that help, and nothing is touched."""

from __future__ import annotations

import socket

import pytest
import yaml

from rehearse import playbook

NOTHING = {"train-01": [], "train-02": []}
SITES = {
    "unknown key": ({"gpuu": {}}, "site.gpuu: the key is unknown. Did you mean gpu?"),
    "unknown key in a part": (
        {"gpu": {"mode": "vgpu", "profil": "grid_a100-40c"}},
        "site.gpu.profil: the key is unknown. Did you mean profile?",
    ),
    "settings that contradict each other": (
        {"gpu": {"mode": "mig", "profile": "grid_a100-20c"}},
        "site.gpu.profile: grid_a100-20c is time-sliced, but site.gpu.mode is mig. Set the mode to vgpu, or choose",
    ),
    "unknown VM": ({"vms": [{"name": "train-01"}, {"name": "train-3"}]}, "train-3"),
    "profile that the hosts do not offer": ({"gpu": {"mode": "vgpu", "profile": "nvidia_a40-48c"}}, "nvidia_a40-48c"),
    "cluster that the VMs are not in": (
        {"cluster": "gold"},
        "/lab/vm/training/train-01, /lab/vm/training/train-02: the VMs are not in the cluster gold. They are in "
        "gpu. Name other VMs",
    ),
    "datacenter that does not exist": ({"datacenter": "Nowhere"}, "Nowhere"),
}


@pytest.mark.parametrize("changes, message", SITES.values(), ids=SITES.keys())
def test_site_that_cannot_be_is_refused_before_any_vm_is_touched(lab, changes, message):
    lab = lab()
    run = lab.run(*lab.site(**changes))
    assert run.status != 0
    assert message in run.text, run.output
    assert lab.profiles() == NOTHING


def test_all_mistakes_are_reported_at_once_with_their_lines_and_nobody_is_asked(tmp_path):
    (tmp_path / "group_vars").mkdir()
    (tmp_path / "hosts.yml").write_text(
        "all: {hosts: {localhost: {ansible_connection: local}}}\n"
        "esxi_hosts: {hosts: {esx-01: {site_host: {network: {nicz: [vmnic4]}}}}}\n"
    )
    (tmp_path / "group_vars" / "all.yml").write_text(
        "site:\n  gpu:\n    mode: vgpu\n    profile: grid_a100-40c\n    per_vm: 0\n"
        "  vms: [{name: train-01}]\n  gpus: {}\n"
    )
    env = playbook.environment(tmp_path)
    run = playbook.run(playbook.ROOT / "playbooks" / "check.yml", env=env, inventory=tmp_path / "hosts.yml")
    assert run.status != 0
    for message in (
        "site.gpu.per_vm: 0 is not a valid number of GPUs. Use at least 1, and remove VMs without GPUs from "
        f"site.vms. ({tmp_path}/group_vars/all.yml, line 5)",
        f"site.gpus: the key is unknown. Did you mean gpu? ({tmp_path}/group_vars/all.yml, line 7)",
        f"esx-01: site.network.nicz: the key is unknown. Did you mean nics? ({tmp_path}/hosts.yml, line 2)",
    ):
        assert " ".join(message.split()) in run.text, run.output


def test_ambiguous_name_is_refused_with_the_paths_that_distinguish_the_vms(lab):
    seed = yaml.safe_load(
        (playbook.ROOT / "tests" / "twin" / "src" / "vsphere_twin" / "seeds" / "small.yml").read_text()
    )
    seed["datacenters"][0]["vms"].append({"name": "train-01", "folder": "templates", "firmware": "efi"})
    lab = lab(seed=seed)
    run = lab.run()
    assert run.status != 0
    assert "/lab/vm/training/train-01" in run.text, run.output
    assert "/lab/vm/templates/train-01" in run.text
    run = lab.run(*lab.site(vms=[{"path": "/lab/vm/training/train-01"}]))
    assert run.status == 0, run.output


def test_missing_site_is_named(lab, tmp_path):
    (tmp_path / "hosts.yml").write_text("all: {hosts: {localhost: {ansible_connection: local}}}\n")
    run = lab().run(inventory=tmp_path / "hosts.yml")
    assert run.status != 0
    assert (
        "site: it is not defined. Write it into group_vars/all/site.yml of your inventory, see docs/site.md."
        in run.text
    )


def test_wrong_password_is_reported_without_showing_it(lab):
    lab = lab()
    run = lab.run("--extra-vars", "site_vcenter_password=not-the-password")
    assert run.status != 0
    assert lab.twin.username in run.text, run.output
    assert "not-the-password" not in run.text


def test_vcenter_that_is_not_there_is_named(lab):
    lab = lab()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        run = lab.run(*lab.site(vcenter={"hostname": "127.0.0.1", "port": port, "username": "nobody"}))
    assert run.status != 0
    assert f"127.0.0.1:{port}" in run.text, run.output


def test_certificate_of_an_unknown_authority_is_refused_with_the_way_to_trust_it(lab):
    lab = lab()
    vcenter = {"hostname": lab.twin.host, "port": lab.twin.port, "username": lab.twin.username}
    run = lab.run(*lab.site(vcenter=vcenter))
    assert run.status != 0
    assert "ca_file" in run.text, run.output


def test_one_impossible_vm_leaves_the_possible_one_untouched(lab):
    lab = lab()
    vms = [{"name": "train-01"}, {"name": "train-02", "profiles": ["nvidia_a40-48c"]}]
    run = lab.run(*lab.site(vms=vms))
    assert run.status != 0
    assert lab.profiles() == NOTHING, run.output
