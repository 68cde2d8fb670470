"""Command lines of switches as clients see them that nobody here wrote: ansible.netcommon, the vendors' modules."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from twin_labs.fabric_lab import EOS_LINES, NXOS_LINES, fabric, switch

# libssh looks for keys in the home of the user of the system alone, where those of a twin have no business. Its own
# option names another file; Ansible does not pass it on.
KNOWN = """
from pylibsshext import session


class Session(session.Session):
    def connect(self, **options):
        return super().connect(**{{**options, "knownhosts": {!r}}})


session.Session = Session
"""
ROCE = "qos profile ROCE"
EOS = [
    {
        "name": "show",
        "arista.eos.eos_command": {"commands": ["show version | json", "show hostname", "show priority-flow-control"]},
    },
    {"name": "unknown", "arista.eos.eos_command": {"commands": ["show nonsense"]}, "ignore_errors": True},
    {"name": "facts", "arista.eos.eos_facts": {"gather_subset": ["default", "interfaces", "config", "hardware"]}},
    {
        "name": "tried",
        "arista.eos.eos_config": {"lines": ["mtu 9214", "qos trust dscp"], "parents": ["interface Ethernet2"]},
        "check_mode": True,
        "diff": True,
    },
    {
        "name": "configured",
        "arista.eos.eos_config": {"lines": ["mtu 9214", "qos trust dscp"], "parents": ["interface Ethernet2"]},
        "diff": True,
    },
    {
        "name": "again",
        "arista.eos.eos_config": {"lines": ["mtu 9214", "qos trust dscp"], "parents": ["interface Ethernet2"]},
    },
    {
        "name": "nested",
        "arista.eos.eos_config": {
            "lines": ["no priority", "bandwidth percent 50"],
            "parents": [ROCE, "tx-queue 3"],
            "before": [],
        },
    },
    {
        "name": "nested again",
        "arista.eos.eos_config": {"lines": ["no priority", "bandwidth percent 50"], "parents": [ROCE, "tx-queue 3"]},
    },
    {
        "name": "refused",
        "arista.eos.eos_config": {"lines": ["mtu 9216"], "parents": ["interface Ethernet1"]},
        "ignore_errors": True,
    },
    {"name": "saved", "arista.eos.eos_config": {"save_when": "modified"}},
    {"name": "saved again", "arista.eos.eos_config": {"save_when": "modified"}},
    {"name": "cli", "ansible.netcommon.cli_command": {"command": "show running-config section priority-flow-control"}},
    {
        "name": "cli config",
        "ansible.netcommon.cli_config": {"config": "interface Ethernet3\n   description uplink"},
        "diff": True,
    },
]
NXOS = [
    {
        "name": "show",
        "cisco.nxos.nxos_command": {
            "commands": ["show version", "show interface priority-flow-control | json", "show running-config ipqos"]
        },
    },
    {"name": "unknown", "cisco.nxos.nxos_command": {"commands": ["show nonsense"]}, "ignore_errors": True},
    {"name": "facts", "cisco.nxos.nxos_facts": {"gather_subset": ["default", "interfaces", "config", "features"]}},
    {
        "name": "tried",
        "cisco.nxos.nxos_config": {"lines": ["mtu 9216"], "parents": ["interface Ethernet1/2"]},
        "check_mode": True,
    },
    {
        "name": "configured",
        "cisco.nxos.nxos_config": {
            "lines": ["mtu 9216", "priority-flow-control mode on"],
            "parents": ["interface Ethernet1/2"],
        },
    },
    {
        "name": "again",
        "cisco.nxos.nxos_config": {
            "lines": ["mtu 9216", "priority-flow-control mode on"],
            "parents": ["interface Ethernet1/2"],
        },
    },
    {
        "name": "nested",
        "cisco.nxos.nxos_config": {
            "lines": ["pause pfc-cos 3"],
            "parents": ["policy-map type network-qos MINE", "class type network-qos c-8q-nq3"],
        },
    },
    {
        "name": "refused",
        "cisco.nxos.nxos_config": {"lines": ["flowcontrol receive on"], "parents": ["interface Ethernet1/2"]},
        "ignore_errors": True,
    },
    {"name": "saved", "cisco.nxos.nxos_config": {"save_when": "modified"}},
    {"name": "saved again", "cisco.nxos.nxos_config": {"save_when": "modified"}},
    {"name": "cli", "ansible.netcommon.cli_command": {"command": "show queuing interface ethernet 1/1"}},
]


@pytest.fixture
def play(tmp_path):
    """Run tasks on one switch with Ansible's network_cli, host keys checked; the result of each task by its name."""

    def run(twin, name, network_os, tasks):
        address, port = twin.switch_endpoints[name]
        (tmp_path / "sitecustomize.py").write_text(KNOWN.format(str(twin.known_hosts_file)))
        variables = {
            "ansible_connection": "ansible.netcommon.network_cli",
            "ansible_network_os": network_os,
            "ansible_network_cli_ssh_type": "libssh",
            "ansible_host_key_checking": True,
            "ansible_host": address,
            "ansible_port": port,
            "ansible_user": "admin",
            "ansible_password": twin.password,
            "ansible_become": network_os == "arista.eos.eos",
            "ansible_become_method": "ansible.netcommon.enable",
            "ansible_buffer_read_timeout": 0.1,
        }
        (tmp_path / "hosts.yml").write_text(yaml.safe_dump({"all": {"hosts": {name: variables}}}))
        book = [{"hosts": "all", "gather_facts": False, "tasks": tasks}]
        (tmp_path / "book.yml").write_text(yaml.safe_dump(book, sort_keys=False))
        env = {
            **os.environ,
            "ANSIBLE_HOME": str(tmp_path / "home"),
            "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "ANSIBLE_HOST_KEY_CHECKING": "True",
            "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json",
            "ANSIBLE_DEPRECATION_WARNINGS": "False",
            "ANSIBLE_PERSISTENT_CONTROL_PATH_DIR": str(tmp_path / "pc"),
        }
        # The modules lie in the package `ansible`, beside the collections of this checkout.
        argv = [str(Path(sys.executable).parent / "ansible-playbook"), "-i", "hosts.yml", "book.yml"]
        done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False)
        text = done.stdout[done.stdout.find("{") :]
        assert text, done.stdout + done.stderr
        ran = json.JSONDecoder().raw_decode(text)[0]
        return {task["task"]["name"]: task["hosts"][name] for task in ran["plays"][0]["tasks"]}

    return run


def test_modules_of_arista_eos_read_configure_and_save(twin, play):
    running = twin(fabric(switch("leaf-01", "eos", EOS_LINES), switch("leaf-02", "eos")), faces=("switches",))
    device = running.world.fabric.switches["leaf-02"].device
    said = play(running, "leaf-02", "arista.eos.eos", EOS)
    assert said["show"]["stdout"][0]["modelName"] == "DCS-7280CR3-32P4", said["show"]
    assert said["show"]["stdout"][1] == "Hostname: leaf-02\nFQDN:     leaf-02"
    assert "Invalid input" in json.dumps(said["unknown"])
    facts = said["facts"]["ansible_facts"]
    assert (facts["ansible_net_version"], facts["ansible_net_hostname"]) == ("4.30.1F", "leaf-02")
    assert facts["ansible_net_interfaces"]["Ethernet4"]["operstatus"] == "connected"
    assert facts["ansible_net_neighbors"]["Ethernet4"] == [{"host": "leaf-01", "port": "Ethernet3"}]
    assert said["tried"]["changed"]
    assert "+   mtu 9214" in said["tried"]["diff"]["prepared"]
    assert said["configured"]["changed"]
    assert "+   mtu 9214" in said["configured"]["diff"]["prepared"]
    assert not said["again"]["changed"]
    assert said["nested"]["changed"]
    assert not said["nested again"]["changed"]
    assert said["refused"]["failed"]
    assert "Invalid input" in said["refused"]["msg"]
    assert said["saved"]["changed"]
    assert not said["saved again"]["changed"]
    assert said["cli config"]["changed"]
    # What they left behind: their changes, saved, and no session that waits.
    assert device.treatment("Ethernet2").trust == "dscp"
    assert "description uplink" in device.running()
    assert "description" not in device.startup()
    assert device.sessions == {}
    assert running.switch_sessions == {"leaf-02": 1}


def test_modules_of_cisco_nxos_read_configure_and_save(twin, play):
    leaves = [switch("leaf-01", "nxos", NXOS_LINES), switch("leaf-02", "nxos", "feature lldp")]
    running = twin(fabric(*leaves), faces=("switches",))
    device = running.world.fabric.switches["leaf-02"].device
    said = play(running, "leaf-02", "cisco.nxos.nxos", NXOS)
    print(said["show"])
    rows = said["show"]["stdout"][1]["TABLE_module"]["ROW_module"]["TABLE_pfc_interface"]["ROW_pfc_interface"]
    assert [row["admin"] for row in rows] == ["Auto"] * 4, said["show"]
    assert "Invalid command" in json.dumps(said["unknown"])
    facts = said["facts"]["ansible_facts"]
    assert (facts["ansible_net_version"], facts["ansible_net_hostname"]) == ("10.3(4a)", "leaf-02")
    assert facts["ansible_net_interfaces"]["Ethernet1/4"]["mtu"] == "1500"
    assert facts["ansible_net_features_enabled"] == ["lldp"]
    assert "leaf-01" in json.dumps(facts["ansible_net_neighbors"])
    assert said["tried"]["changed"]
    assert said["configured"]["changed"]
    assert not said["again"]["changed"]
    assert said["nested"]["changed"]
    assert said["refused"]["failed"]
    assert "flowcontrol cannot be enabled" in said["refused"]["msg"]
    assert said["saved"]["changed"]
    assert not said["saved again"]["changed"]
    assert "Egress Queuing for Ethernet1/1" in said["cli"]["stdout"]
    assert device.treatment("Ethernet1/2").mtu == 9216
    assert device.startup().count("priority-flow-control mode on") == 1
    assert running.switch_sessions == {"leaf-02": 1}
