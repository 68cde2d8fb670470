"""What is wrong with a seed file is named with its line, and one mistake does not hide the next."""

from __future__ import annotations

import re

import pytest

from vsphere_twin.model import seed
from vsphere_twin.model.seed_file import SeedError

SEED = """\
release: 8.0.3
users: {someone: secret, reader: secret}
permissions:
  - {user: reader, role: ReadOnly, object: gpu}
datacenters:
  - name: lab
    datastores:
      - {name: disk, capacity_gb: 100}
    networks: [{name: VM Network}]
    switches:
      - name: dvs
        portgroups: [{name: train}]
    clusters:
      - name: gpu
        drs: manual
        hosts:
          - name: esx-{n}
            count: 2
            kernel:
              atsSupport: true
            bios:
              attributes: {}
            gpus:
              - board: a100_pcie_40gb
                root: "0000:36:02.0"
            nics:
              - {device: vmnic0, uplink_of: vSwitch0}
              - {device: vmnic1, uplink_of: dvs}
            vmkernel:
              - {device: vmk1, portgroup: train}
    vms:
      - name: job-1
        folder: ""
        networks:
          - train
        power: off
    libraries:
      - name: images
        items:
          - {name: iso, type: iso}
fabric:
  switches:
    - name: leaf
      platform: eos
      config:
        - vlan 7
  cables:
    - [esx-1/vmnic1, leaf/Ethernet1]
"""
# The text of a line, what is there instead, and what is said of it.
MISTAKES = {
    "unknown key": ("capacity_gb: 100", "capacity: 100", "seed.datacenters[0].datastores[0].capacity: unknown key. "),
    "unknown key with a hint": ("drs: manual", "dsr: manual", "Did you mean drs?"),
    "wrong type": ("drs: manual", "drs: [manual]", "clusters[0].drs: must be a text, not ['manual']."),
    "unknown choice": ("drs: manual", "drs: full", "'full' is none of off, manual"),
    "unknown board": ("board: a100_pcie_40gb", "board: a100_pcie_40", "Did you mean a100_pcie_40gb?"),
    "too small": ("count: 2", "count: 0", "hosts[0].count: must be at least 1, not 0."),
    "missing key": ("name: lab", "vm_folders: []", "seed.datacenters[0].name: this key is missing."),
    "missing key of an entry": ("{device: vmk1, ", "{", "vmkernel[0].device: this key is missing."),
    "key twice": ("folder:", "name:", "the key name is there twice, first in line"),
    "no YAML": ("drs: manual", "drs: manual: x", "This is no YAML: mapping values are not allowed here."),
    "kernel setting": ("atsSupport: true", "ats: true", "Host esx-1, kernel: Unable to find option ats"),
    "BIOS": ("attributes: {}", "attributes: {Sriov: Yes}", "a BIOS of dell has no attribute Sriov."),
    "root port": ('root: "0000:36:02.0"', "root: below", "Host esx-1: 'below' is no address of a root port"),
    "uplink": ("uplink_of: dvs", "uplink_of: dvs-1", "Host esx-1: there is no switch 'dvs-1'"),
    "port group": ("portgroup: train", "portgroup: x", "there is no distributed port group 'x'."),
    "network": ("- train", "- trains", "There is no network 'trains' in datacenter lab. Use one of VM Network,"),
    "folder": ('folder: ""', "folder: jobs", "There is no folder 'jobs' in datacenter lab. Add it."),
    "power": ("power: off", "power: on\n        vgpus: [grid_a100-40c]", "VM job-1: "),
    "library": ("type: iso", "type: ovf", "Library images, iso: None is no template of the seed."),
    "permission": ("object: gpu", "object: moon", "seed.permissions[0]: there are 0 objects of the name moon."),
    "platform": ("platform: eos", "platform: ios", "Switch leaf: There is no platform ios"),
    "switch line": ("- vlan 7", "- vlans 7", "Switch leaf: "),
    "cable": ("leaf/Ethernet1]", "leaf/Ethernet99]", "seed.fabric.cables[0]: leaf has no port Ethernet99"),
}
# Of an entry as a whole, where no key of it is at fault.
OF_ENTRY = {"power": "- name: job-1", "platform": "- name: leaf", "missing key": "- vm_folders: []"}
OF_ENTRY |= {"switch line": "config:", "network": "networks:", "root port": "- board:"}


def problems(tmp_path, text):
    file = tmp_path / "lab.yml"
    file.write_text(text)
    with pytest.raises(SeedError) as caught:
        seed.load(file)
    return str(caught.value).replace(f"{file}:", "lab.yml:").splitlines()


def test_the_seed_without_mistakes_loads(tmp_path):
    (tmp_path / "lab.yml").write_text(SEED)
    assert len(seed.load(tmp_path / "lab.yml").of_kind("HostSystem")) == 2


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_with_its_line(tmp_path, name):
    right, wrong, words = MISTAKES[name]
    assert SEED.count(right) == 1
    text = SEED.replace(right, wrong)
    (said,) = problems(tmp_path, text)
    place, line, rest = said.split(":", 2)
    assert place == "lab.yml"
    assert words in rest
    wanted = OF_ENTRY.get(name, wrong.partition("\n")[0])
    lines = [number for number, row in enumerate(text.splitlines(), start=1) if wanted in row]
    if name in ("network", "root port"):
        lines = lines[-1:]
    assert int(line) in lines


def test_mistakes_of_all_entries_come_at_once(tmp_path):
    text = (
        SEED.replace("drs: manual", "drs: full").replace("- {device: vmk1,", "- {devices: vmk1,").replace("eos", "[]")
    )
    said = problems(tmp_path, text)
    assert [int(row.split(":")[1]) for row in said] == sorted(int(row.split(":")[1]) for row in said)
    assert [re.sub(r"^lab.yml:\d+: seed\.(\S+): .*", r"\1", row) for row in said] == [
        "datacenters[0].clusters[0].drs",
        "datacenters[0].clusters[0].hosts[0].vmkernel[0].devices",
        "datacenters[0].clusters[0].hosts[0].vmkernel[0].device",
        "fabric.switches[0].platform",
    ]


def test_one_host_that_is_wrong_does_not_hide_the_next_and_copies_say_it_once(tmp_path):
    more = "          - {name: other, gpus: [{board: t4, root: above}]}\n"
    text = SEED.replace('root: "0000:36:02.0"', "root: below").replace("    vms:\n", f"{more}    vms:\n", 1)
    said = problems(tmp_path, text)
    assert [re.search("Host ([a-z0-9-]+): '(below|above)'", row).groups() for row in said] == [
        ("esx-1", "below"),
        ("other", "above"),
    ]


def test_a_file_that_is_no_text_is_named(tmp_path):
    file = tmp_path / "lab.yml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(SeedError, match=r"lab.yml: this is no text in UTF-8"):
        seed.load(file)


@pytest.mark.parametrize("text", ["", "[]", "7"])
def test_a_file_that_holds_no_table_is_refused(tmp_path, text):
    (said,) = problems(tmp_path, text)
    assert "seed: must be a table of description, release, users" in said


def test_every_shipped_seed_is_described():
    assert sorted(seed.shipped()) == ["factory", "factory-9.1", "large", "small", "small-9.0", "small-9.1"]
    assert all(text.endswith(".") for text in seed.shipped().values())
