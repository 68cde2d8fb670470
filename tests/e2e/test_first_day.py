"""Wrong inputs of a first day that the site and the inventory show by themselves: cause, key and fix are reported."""

from __future__ import annotations

import functools
import subprocess

import pytest

from rehearse import playbook

PLAYBOOKS = playbook.ROOT / "playbooks"
SITE = """\
site:
  vcenter:
    hostname: vcenter.example.invalid
    username: administrator@vsphere.local
  cluster: gpu
  hosts:
    reboot: allow
  driver:
    depot: "[datastore-01] depots/NVD-AIE-800_550.54.16-1OEM.800.1.0.20613240_23471877.zip"
  network:
    path: pvrdma
    nics: [vmnic2]
    vmknic: vmk1
    portgroup: pg-rdma
  gpu:
    mode: vgpu
    profile: grid_a100-40c
  machine:
    template: ubuntu-template
    cpus: 16
    memory_gb: 64
  vms:
    - prefix: job-
      count: 2
site_vcenter_password: not-asked-for
"""
HOSTS = """\
all:
  hosts:
    localhost: {ansible_connection: local, ansible_python_interpreter: "{{ ansible_playbook_python }}"}
  children:
    esxi_hosts:
      hosts:
        esx-01.lab.example:
    switches:
      hosts:
        leaf-01:
          ansible_network_os: arista.eos.eos
          ansible_connection: ansible.netcommon.network_cli
          switch_host_ports: [Ethernet1]
"""
MACHINE = "    machine:\n      template: ubuntu-template\n      cpus: 16\n      memory_gb: 64\n"
# Input: what is replaced by what, the key that is named, the cause, and the fix.
SHAPES = {
    "key one level too high": (
        ("    portgroup: pg-rdma\n", "  portgroup: pg-rdma\n"),
        "site.portgroup",
        "the key is unknown.",
        "Did you mean site.network.portgroup? Indent it below site.network.",
    ),
    "part one level too deep": (
        (MACHINE.replace("\n  ", "\n")[2:], MACHINE),
        "site.gpu.machine",
        "the key is unknown.",
        "Did you mean site.machine? Indent it below site.",
    ),
    "key of another part": (
        ("    path: pvrdma\n", "    path: pvrdma\n    dscp: 26\n"),
        "site.network.dscp",
        "the key is unknown.",
        "Did you mean site.roce.dscp? Indent it below site.roce.",
    ),
    "boolean of YAML": (
        ("reboot: allow", "reboot: yes"),
        "site.hosts.reboot",
        "True is not one of refuse, allow.",
        "YAML reads yes, no, on and off as true and false. Use one of the words instead.",
    ),
    "number with its unit": (
        ("vmknic: vmk1", "mtu: 9000 bytes"),
        "site.network.mtu",
        "expected a whole number, but there is 9000 bytes.",
        "Correct it.",
    ),
    "name of a port": (
        ("    username: adm", "    port: https\n    username: adm"),
        "site.vcenter.port",
        "expected a whole number, but there is https.",
        "Correct it.",
    ),
    "dictionary instead of a list": (
        ("    - prefix: job-\n      count: 2", "    prefix: job-\n    count: 2"),
        "site.vms",
        "expected a list, but there is a dictionary.",
        "Begin each entry with a dash.",
    ),
    "password in the site": (
        ("    username: adm", "    password: a-secret\n    username: adm"),
        "site.vcenter.password",
        "the key is unknown.",
        "Set site_vcenter_password in a vault, or VMWARE_PASSWORD in the environment.",
    ),
    "choice that does not exist": (
        ("path: pvrdma", "path: roce"),
        "site.network.path",
        "roce is not one of tcp, pvrdma, sriov, passthrough, directpath.",
        "Use one of them.",
    ),
}
VALUES = {
    "address with https": (
        ("hostname: vc", "hostname: https://vc"),
        "site.vcenter.hostname",
        "https://vcenter.example.invalid is not a plain host name.",
        "Remove https:// and the path, and set the port in site.vcenter.port.",
    ),
    "port": (
        ("    username: adm", "    port: 70000\n    username: adm"),
        "site.vcenter.port",
        "70000 is not a valid port.",
        "Use a number from 1 to 65535.",
    ),
    "DSCP": (
        ("  gpu:\n", "  roce:\n    dscp: 64\n  gpu:\n"),
        "site.roce.dscp",
        "64 is out of range.",
        "Use a number from 0 to 63.",
    ),
    "priority": (
        ("  roce:\n", "  roce:\n    priority: 8\n"),
        "site.roce.priority",
        "8 is out of range.",
        "Use a number from 0 to 7.",
    ),
    "MTU": (
        ("    path: pvrdma\n", "    path: pvrdma\n    mtu: 90000\n"),
        "site.network.mtu",
        "90000 is not an MTU that ESXi accepts.",
        "Use 1280 to 9000; 9000 is recommended.",
    ),
    "VMkernel adapter": (
        ("vmknic: vmk1", "vmknic: 1"),
        "site.network.vmknic",
        "1 is not a valid name of a VMkernel adapter.",
        "Use a name such as vmk1.",
    ),
    "profile": (
        ("profile: grid_a100-40c", "profile: a100-40c"),
        "site.gpu.profile",
        "a100-40c is not a valid name of a vGPU profile.",
        "Use a name as vSphere shows it, such as grid_a100-40c or grid_a100x-40c.",
    ),
    "depot": (
        ('"[datastore-01] depots/', '"datastore-01/depots/'),
        "site.driver.depot",
        "is not a path on a datastore.",
        "Write it as [datastore] folder/file.zip",
    ),
    "template twice": (
        ("    template: u", "    content_item: u\n    template: u"),
        "site.machine",
        "template and content_item are both set, and each is a source for new VMs.",
        "Remove one of them.",
    ),
    "cluster left out": (
        ("  cluster: gpu\n", ""),
        "site.cluster",
        "it is not set, and new VMs are created in it.",
        "Set it to the cluster of the hosts.",
    ),
    "VM twice": (
        ("      count: 2", "      count: 2\n    - name: job-01"),
        "site.vms",
        "job-01 is listed 2 times.",
        "List each VM once, with all its profiles.",
    ),
    "port of a host twice": (
        ("nics: [vmnic2]", "nics: [vmnic2, vmnic2]"),
        "site.network.nics",
        "vmnic2 is listed more than once.",
        "List each port once.",
    ),
}
NAMES = {
    "group": (
        ("    switches:", "    switche:"),
        "switche",
        "The inventory has a group switche and none named switches, which is probably meant.",
        "Rename it.",
    ),
    "variable of a host": (
        ("esx-01.lab.example:", "esx-01.lab.example: {bmc_adress: bmc-01}"),
        "bmc_adress",
        "The inventory sets bmc_adress of esx-01.lab.example and not bmc_address, which is probably meant.",
        "Rename it.",
    ),
    "variable of a password": (
        ("site_vcenter_password", "site_vcenter_pasword"),
        "site_vcenter_pasword",
        "The inventory sets site_vcenter_pasword and not site_vcenter_password, which is probably meant.",
        "Rename it.",
    ),
}
# What YAML reads otherwise than it is written, and machines that are there twice.
WRITTEN = {
    "zero before a number": (
        ("cpus: 16", "cpus: 016"),
        "site.machine.cpus",
        "YAML reads 016 as the number 14.",
        "Write a number in digits, without leading zeros or colons, and put a text into quotes.",
    ),
    "word that is false": (
        ("cluster: gpu", "cluster: no"),
        "site.cluster",
        "expected a text, but YAML reads it as False.",
        "Put the text into quotes.",
    ),
    "space at the end": (
        ("template: ubuntu-template", 'template: "ubuntu-template "'),
        "site.machine.template",
        "it begins or ends with a space, which is part of the name.",
        "Remove the space.",
    ),
    "host in capitals again": (
        ("esx-01.lab.example:", "esx-01.lab.example:\n        ESX-01.lab.example:"),
        "esxi_hosts",
        "one host under the names esx-01.lab.example and ESX-01.lab.example",
        "Remove all but the name that vCenter shows.",
    ),
    "end of the line of a password": (
        ("site_vcenter_password: not-asked-for", 'site_vcenter_password: "a-secret\\n"'),
        "site_vcenter_password",
        "a text with a line break, which no password has.",
        "ansible-vault encrypt_string --name site_vcenter_password --prompt",
    ),
}
PLACES = {
    "site of a group": (
        ("site:\n", "sites:\n"),
        "site",
        "it is set only for hosts of the group esxi_hosts, and not for localhost.",
        "Move its file to group_vars/all/site.yml.",
    ),
}
UNREAD = {
    "hosts as a list": (
        ("        esx-01.lab.example:\n", "        - esx-01.lab.example\n"),
        "inventory",
        "Ansible could not read the inventory",
        "Correct its indentation, and write hosts as keys with a colon, not as list entries.",
    ),
}
UNDEFINED = {
    "variable that is not defined": (
        ("profile: grid_a100-40c", 'profile: "{{ my_profile }}"'),
        "my_profile",
        "the variable my_profile is not defined.",
        "Set my_profile in group_vars or in a vault, or correct its name where the site uses it.",
    ),
}
# Mistakes that can be reported together, and the stage whose playbook is run.
TOGETHER = {
    "shapes": (SHAPES, "machines"),
    "values": (VALUES, "hosts"),
    "names": (NAMES, "fabric"),
    "written": (WRITTEN, "machines"),
    "places": (PLACES, "machines"),
    "unread": (UNREAD, "hosts"),
    "undefined": (UNDEFINED, "machines"),
}
ROWS = [
    pytest.param(name, way, *row[1:], id=f"{title}, {way}")
    for name, (rows, stage) in TOGETHER.items()
    for way in ("check", "preflight", stage)
    for title, row in rows.items()
]


def inventory(folder, site, hosts):
    group = "esxi_hosts" if site.startswith("sites:") else "all"
    (folder / "group_vars" / group).mkdir(parents=True)
    (folder / "group_vars" / group / "site.yml").write_text(site.replace("sites:", "site:"))
    (folder / "hosts.yml").write_text(hosts)
    return folder


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """What a playbook says of the mistakes of a name, which are made together."""

    @functools.lru_cache(maxsize=None)
    def run(name, way):
        site, hosts = SITE, HOSTS
        for old, new in [row[0] for row in TOGETHER[name][0].values()]:
            assert old in site + hosts, old
            site, hosts = site.replace(old, new, 1), hosts.replace(old, new, 1)
        work = tmp_path_factory.mktemp("reported")
        env = playbook.environment(work, AIREADY_RUN_FOLDER=str(work / "run"))
        return playbook.run(PLAYBOOKS / f"{way}.yml", env=env, inventory=inventory(work / "mine", site, hosts))

    return run


@pytest.mark.parametrize("name, way, key, cause, fix", ROWS)
def test_cause_key_and_fix_are_shown_before_anything_is_changed(reported, name, way, key, cause, fix):
    run = reported(name, way)
    assert (run.status != 0, run.changed) == (True, 0), run.output
    for words in (key, cause, fix):
        assert words.lower() in run.text.lower(), run.output
    assert "Traceback" not in run.output
    assert "a-secret" not in run.output


def test_no_row_of_preflight_is_a_consequence_of_another(reported):
    for name in TOGETHER:
        output = reported(name, "preflight").output
        lines = [line for line in output.splitlines() if line.startswith("- ")]
        assert len(lines) == len(TOGETHER[name][0]), output


def test_line_of_the_key_is_reported(reported):
    line = next(number for number, text in enumerate(SITE.splitlines(), 1) if "reboot" in text)
    assert f"site.yml, line {line + 2})" in reported("shapes", "check").text


def vault(folder, password):
    """Encrypt the passwords of an inventory."""
    secret = folder.parent / "secret"
    secret.write_text(f"{password}\n")
    file = folder / "group_vars" / "all" / "vault.yml"
    file.write_text("site_bmc_password: of-the-bmc\n")
    command = ["ansible-vault", "encrypt", "--vault-password-file", str(secret), str(file)]
    subprocess.run(command, check=True, capture_output=True, env=playbook.environment(folder.parent))
    return secret


@pytest.mark.parametrize(
    "arguments, cause",
    [
        pytest.param([], "no vault secrets", id="no password"),
        pytest.param(["--vault-password-file", "other"], "Decryption failed", id="wrong password"),
    ],
)
def test_vault_that_cannot_be_read_ends_the_run_before_its_first_task(tmp_path, arguments, cause):
    folder = inventory(tmp_path / "mine", SITE, HOSTS)
    vault(folder, "right")
    (tmp_path / "other").write_text("wrong\n")
    arguments = [str(tmp_path / "other") if one == "other" else one for one in arguments]
    run = playbook.run(PLAYBOOKS / "check.yml", *arguments, env=playbook.environment(tmp_path), inventory=folder)
    assert (run.status != 0, "TASK [" in run.output) == (True, False), run.output
    assert cause in run.text
    assert "of-the-bmc" not in run.output


def test_yaml_that_cannot_be_read_ends_the_run_before_its_first_task(tmp_path):
    folder = inventory(tmp_path / "mine", SITE.replace("  cluster: gpu", "  cluster gpu"), HOSTS)
    env = playbook.environment(tmp_path)
    run = playbook.run(PLAYBOOKS / "check.yml", env=env, inventory=folder)
    assert (run.status != 0, "TASK [" in run.output) == (True, False), run.output
    # As docs/site.md says: this names the file and the line whatever the release of Ansible.
    command = ["ansible", "localhost", "-m", "debug", "-e", f"@{folder}/group_vars/all/site.yml"]
    shown = subprocess.run(command, check=False, capture_output=True, text=True, env=env)
    assert f"{folder}/group_vars/all/site.yml" in shown.stdout + shown.stderr


@pytest.mark.parametrize("way", ["check", "machines"])
@pytest.mark.parametrize(
    "cluster, words",
    [
        pytest.param(b"\tcluster: gpu", "line 5, column 1: found character", id="tab"),
        pytest.param("  cluster: gpü".encode("latin-1"), "line 5. It is not in UTF-8. Save it in UTF-8.", id="Latin 1"),
    ],
)
def test_callback_of_the_collection_names_the_file_that_cannot_be_read(tmp_path, way, cluster, words):
    folder = inventory(tmp_path / "mine", SITE, HOSTS)
    file = folder / "group_vars" / "all" / "site.yml"
    file.write_bytes(SITE.encode().replace(b"  cluster: gpu", cluster))
    env = playbook.environment(tmp_path, ANSIBLE_STDOUT_CALLBACK="aiready.vsphere.stages")
    run = playbook.run(PLAYBOOKS / f"{way}.yml", env=env, inventory=folder)
    assert (run.status != 0, "TASK [" in run.output) == (True, False), run.output
    assert f"Cannot read {file}, {words}" in run.output
