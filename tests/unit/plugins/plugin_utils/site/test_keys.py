"""Messages of modules name the keys of a site in a stage."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.keys import OTHERS, in_site

from house.collection import ROOT

# As module_utils/vcenter/args.py words it.
UNSET = "{} is not set; give it to the task, to module_defaults, or by the environment variable {}."


@pytest.mark.parametrize(
    "text, expected",
    [
        ("There are: gpu. Correct `cluster`.", "There are: gpu. Correct `site.cluster`."),
        ("There are: gpu. Correct cluster.", "There are: gpu. Correct site.cluster."),
        ("Accept it with `uncovered: report`.", "Accept it with `site.hosts.allow_reverted_settings: true`."),
        ("Let DRS move them with `evacuation: drs`.", "Let DRS move them with `site.hosts.evacuation: drs`."),
        (
            "Correct `host`, or check the user's permissions.",
            "Correct its name in the group esxi_hosts of the inventory, or check the user's permissions.",
        ),
        ("Correct portgroup.", "Correct site.network.portgroup."),
        ("Correct datastore.", "Correct site.machine.datastore."),
        ("Name the ports as the switch does.", "Correct switch_host_ports or switch_fabric_ports of the switch."),
        (
            "Correct `depot`, or use `file` to upload the file.",
            "Correct `site.driver.depot`, or upload the file with `site.driver.file`.",
        ),
        (
            "Choose one of these, or connect the host to the datastore.",
            "Correct the datastore in `site.driver.depot`, or connect the host to it.",
        ),
        ("Check `bmc_username` and `bmc_password`.", "Check `site.hosts.bmc.username` and `site_bmc_password`."),
        (
            "List fewer VMs, add hosts, or set mandatory=false.",
            "List fewer VMs, add hosts, or set site.placement.anti_affinity to false.",
        ),
        (
            UNSET.format("password", "VMWARE_PASSWORD"),
            "site_vcenter_password is not set. Set site_vcenter_password, or the environment variable VMWARE_PASSWORD.",
        ),
        ("Registry a.example: refused. Check `username`.", "Registry a.example: refused. Check `username`."),
        ("Correct the ports, and check the cluster.", "Correct the ports, and check the cluster."),
    ],
)
def test_option_becomes_the_key_of_the_site(text, expected):
    assert in_site(text) == expected


@pytest.mark.parametrize("words", OTHERS)
def test_words_that_become_others_are_in_a_message_of_a_module(words):
    sources = (ROOT / "plugins" / "module_utils").rglob("*.py")
    assert any(words in path.read_text(encoding="utf-8") for path in sources)
