"""The playbook captures vCenter, hosts, BMCs and guests, and a guest that does not answer fails nothing."""

from __future__ import annotations

import json
import socket
from pathlib import Path

from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture

from house.collection import ROOT
from rehearse import playbook
from vsphere_twin.launch import launch

from .rows.host_shell_capture_info import LAB
from .test_examples import inventory


def closed_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(running, tmp_path, **variables):
    path = inventory(running, tmp_path)
    known = json.loads(path.read_text())
    lost = {"ansible_host": "127.0.0.1", "ansible_port": closed_port(), "ansible_connection": "ssh"}
    known["all"]["children"]["training_guests"] = {"hosts": {"train-01": lost}}
    path.write_text(json.dumps(known))
    vcenter = {"hostname": running.host, "port": running.port, "username": running.username}
    vcenter.update(password=running.password, ca_file=str(running.ca_file))
    given = {
        "capture_vcenter": vcenter,
        "capture_bmc": {
            "bmc_username": running.bmc_username,
            "bmc_password": running.bmc_password,
            "bmc_ca_file": str(running.ca_file),
        },
        "capture_dest": str(tmp_path / "site.zip"),
        **variables,
    }
    file = tmp_path / "variables.json"
    file.write_text(json.dumps(given))
    (tmp_path / "target").mkdir()
    env = playbook.environment(tmp_path, AIREADY_RESULTS_TARGET=str(tmp_path / "target"))
    ended = playbook.run(ROOT / "playbooks" / "capture.yml", "-e", f"@{file}", env=env, inventory=path)
    assert ended.status == 0, ended.output
    # The names behind the capture stay here.
    (copied,) = (tmp_path / "target").iterdir()
    assert copied.read_bytes() == (tmp_path / "site.zip").read_bytes()
    return Capture(given["capture_dest"]), Path(f"{given['capture_dest']}.secret.json"), ended.output


def sources(capture):
    return {name.partition("/")[0] for name in capture.manifest["coverage"]}


def test_all_sources_are_in_one_capture_with_one_name_for_each_host(tmp_path):
    with launch(LAB, faces=("ssh", "redfish")) as running:
        capture, secret, output = run(running, tmp_path)
        (host,) = running.world.of_kind("HostSystem")
    assert "Hosts: 1. Their commands: " in output
    own = json.loads(secret.read_text())["known"][host.name]
    guest = json.loads(secret.read_text())["known"]["train-01"]
    found = sources(capture)
    assert {f"esxcli {own}", f"shell {own}", f"guest {guest}"} <= found
    assert capture.manifest["coverage"][f"guest {guest}"]["refused"] == {"": "unreachable"}
    assert [name for name in found if name.startswith("bmc ")] != []
    assert capture.is_read(f"HostSystem-{host.moid}")
    assert json.loads(capture.files[f"hosts/{own}/shell/commands.json"])["commands"] != []


def test_sources_can_be_left_out(tmp_path):
    off = dict.fromkeys(("capture_hosts", "capture_host_shells", "capture_guests", "capture_switches"), False)
    with launch(LAB, faces=("ssh",)) as running:
        capture, _secret, output = run(running, tmp_path, **off)
    assert " hosts: " not in output
    assert {name.partition(" ")[0] for name in sources(capture)} & {"esxcli", "shell", "guest", "switch"} == set()
