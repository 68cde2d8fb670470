"""A site file as a person writes it on a first day: what YAML makes of it is not always what was meant."""

from __future__ import annotations

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import checks, places

SITE = """\
site:
  vcenter:
    hostname: vcenter.example.invalid
    username: administrator@vsphere.local
  cluster: gpu
  network:
    path: sriov
    nics: [vmnic2]
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
"""


@pytest.fixture
def problems(tmp_path, monkeypatch):
    """What is said of a site file with these bytes."""
    monkeypatch.chdir(tmp_path)

    def reported(content):
        (tmp_path / "site.yml").write_bytes(content if isinstance(content, bytes) else content.encode())
        return checks.problems(DataLoader().load_from_file(str(tmp_path / "site.yml"))["site"])

    return reported


def changed(old, new):
    assert old in SITE
    return SITE.replace(old, new, 1)


MEANT = {
    "as it is": SITE,
    "line ends of Windows": SITE.replace("\n", "\r\n"),
    "a byte order mark": b"\xef\xbb\xbf" + SITE.encode(),
    "numbers in quotes": changed("cpus: 16", 'cpus: "16"'),
    "a tab behind a colon": changed("cluster: gpu", "cluster:\tgpu"),
    "an address of IPv6": changed("vcenter.example.invalid", "2001:db8::5"),
    "a number as a name": changed("portgroup: pg-rdma", "portgroup: 100"),
    "a power of ten as a name": changed("template: ubuntu-template", "template: 1e3"),
    "a date as a name": changed("template: ubuntu-template", "template: 2024-1-1"),
    "a name with a zero in front, in quotes": changed("portgroup: pg-rdma", 'portgroup: "0100"'),
    "zeros of a number in quotes": changed("cpus: 16", 'cpus: "016"'),
    "a decimal point in words of a command": SITE
    + "  training: {image: i.example.org/i:1, command: [train, --rate, 0.10]}\n",
}


@pytest.mark.parametrize("content", MEANT.values(), ids=MEANT.keys())
def test_what_is_read_as_it_was_meant_is_no_problem(problems, content):
    assert problems(content) == []


OTHERWISE = {
    "an empty site": ("site:\n", "site: it is empty. Indent its keys below it, each as 'key: value'."),
    "keys that are not indented": (
        SITE.replace("\n  ", "\n"),
        "site: it is empty. Indent its keys below it, each as 'key: value'.",
    ),
    "a list": (
        "site:\n  - cluster: gpu\n",
        "site: expected a dictionary, but there is a list. Write its keys below it",
    ),
    "a text": ("site: gpu\n", "site: expected a dictionary, but there is gpu. Write its keys below it"),
    "a number with a zero in front": (
        changed("cpus: 16", "cpus: 010  # ten"),
        "site.machine.cpus: YAML reads 010 as the number 8.",
    ),
    "a name with a zero in front": (
        changed("portgroup: pg-rdma", "portgroup: 0100"),
        "site.network.portgroup: YAML reads 0100 as the number 64. Write a number in digits, without leading "
        "zeros or colons, and put a text into quotes. (site.yml, line 9)",
    ),
    "a time as a name": (
        changed("prefix: job-", "prefix: 1:30"),
        "site.vms[0].prefix: YAML reads 1:30 as the number 90.",
    ),
    "a name in base 16": (
        changed("cluster: gpu", "cluster: 0xab"),
        "site.cluster: YAML reads 0xab as the number 171.",
    ),
    "no as a name": (
        changed("cluster: gpu", "cluster: no"),
        "site.cluster: expected a text, but YAML reads it as False. Put the text into quotes. (site.yml, line 5)",
    ),
    "a release as a name": (
        changed("template: ubuntu-template", "template: 24.10"),
        "site.machine.template: expected a text, but YAML reads it as 24.1. Put the text into quotes.",
    ),
    "a PCI address without letters": (
        changed("vmnic2", "0000:03:00.0"),
        "site.network.nics[0]: expected a text, but YAML reads it as 180.0. Put the text into quotes.",
    ),
    "a yes among words of a command": (
        SITE + "  training: {image: i.example.org/i:1, command: [train, --verbose, yes]}\n",
        "site.training.command[2]: expected a text, but YAML reads it as True. Put the text into quotes.",
    ),
    "a space at the end": (
        changed("cluster: gpu", 'cluster: "gpu "'),
        "site.cluster: it begins or ends with a space, which is part of the name. Remove the space.",
    ),
    "a space of a web page": (
        changed("template: ubuntu-template", "template: ubuntu-template\u00a0"),
        "site.machine.template: it begins or ends with a space, which is part of the name. Remove the space.",
    ),
    "a space before a port": (
        changed("vmnic2", '" vmnic2"'),
        "site.network.nics[0]: it begins or ends with a space, which is part of the name. Remove the space.",
    ),
    "brackets around an address": (
        changed("vcenter.example.invalid", '"[2001:db8::5]"'),
        "site.vcenter.hostname: [2001:db8::5] has brackets. Write an IPv6 address without them.",
    ),
    "brackets around an address without quotes": (
        changed("vcenter.example.invalid", "[2001:db8::5]"),
        "site.vcenter.hostname: expected a text, but there is a list. Write one value.",
    ),
}


@pytest.mark.parametrize("content, reported", OTHERWISE.values(), ids=OTHERWISE.keys())
def test_what_is_read_otherwise_is_reported_by_its_key_and_once(problems, content, reported):
    (one,) = problems(content)
    assert one.startswith(reported)


def test_a_number_in_a_list_is_read_where_ansible_notes_its_place(problems):
    reported = problems(changed("[vmnic2]", "[vmnic2, 0100]"))
    # Before ansible-core 2.19, numbers have no place, and vCenter knows no port of that name.
    words = ["site.network.nics[1]: YAML reads 0100 as the number 64."] if places.Origin is not None else []
    assert [one[: len(words[0])] for one in reported] == words
