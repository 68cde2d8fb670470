"""The inventory file of the template project that reads hosts from vCenter, with what its credential sets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.credential_types import TYPES

from rehearse import playbook

from .awx import PROJECT, vcenter_of

FILE = PROJECT / "vcenter" / "esxi_hosts.yml"


def listed(lab, **changes):
    """The inventory as its update in AWX reads it: the credential sets the environment."""
    twin = lab.twin
    inputs = vcenter_of(twin)
    env = TYPES["vcenter"]["injectors"]["env"]
    given = {name: inputs.get(text.strip("{ }"), text) for name, text in env.items()}
    given |= {"VMWARE_PORT": str(twin.port), "SSL_CERT_FILE": str(twin.ca_file), **changes}
    given["ANSIBLE_INVENTORY_UNPARSED_FAILED"] = "True"
    program = str(Path(sys.executable).with_name("ansible-inventory"))
    command = [program, "-i", str(FILE), "--list", "--export"]
    return subprocess.run(
        command, env=playbook.environment(lab.work, **given), capture_output=True, text=True, check=False
    )


def test_hosts_of_vcenter_are_in_the_group_of_hosts(lab):
    started = lab()
    twin = started.twin
    done = listed(started)
    assert done.returncode == 0, done.stderr
    names = sorted(host.name for host in twin.world.of_kind("HostSystem"))
    assert sorted(json.loads(done.stdout)["esxi_hosts"]["hosts"]) == names
    rejected = listed(started, SSL_CERT_FILE=os.devnull)
    assert rejected.returncode != 0
    assert "certificate verify failed" in rejected.stderr.lower()
