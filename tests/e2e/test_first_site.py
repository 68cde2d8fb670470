"""A first site from a capture: check accepts it, and preflight finds nothing but the values of a person."""

from __future__ import annotations

import json
import shutil

import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import compare, view
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture, load
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import parsed
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import first

from rehearse import playbook
from wire import drive_switch
from wire.drive import Driver, connection

CHECK, PREFLIGHT = playbook.ROOT / "playbooks" / "check.yml", playbook.ROOT / "playbooks" / "preflight.yml"
LINES, SHELLS = ("eos", "nxos", "onyx", "os10"), ("cumulus", "sonic")


def captured(lab, path):
    """A capture of everything that the lab has."""
    driver = Driver(connection(lab.twin, lab.work / "sessions"), lab.twin)
    answers = [driver("site_capture_info", dest=str(path)), driver("host_capture_info", dest=str(path))]
    answers += [driver("bmc_capture_info", at=host, dest=str(path)) for host in lab.twin.bmc_endpoints]
    switches = lab.twin.world.fabric.switches
    answers += [drive_switch.run(lab.twin, name, "switch_capture_info", {"dest": str(path)}) for name in switches]
    assert not [answer["msg"] for answer in answers if answer["failed"]]
    return first.write(view.read(Capture(str(path)), parsed), compare.originals(load(f"{path}.secret.json")))


def filled_in(lab, made):
    """The inventory, with the values that only a person knows; those of the lab's connections stand beside it."""
    folder = lab.work / "inventory"
    for name, text in made.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    site = yaml.safe_load(made.files["group_vars/all/site.yml"])
    twin = lab.twin
    ca = str(twin.ca_file)
    site["site"]["vcenter"] = {"hostname": twin.host, "port": twin.port, "username": twin.username, "ca_file": ca}
    site["site"]["hosts"]["reboot"] = "allow"
    site["site"]["hosts"]["bmc"] = {"username": twin.bmc_username, "ca_file": ca}
    (folder / "group_vars/all/site.yml").write_text(yaml.safe_dump(site))
    secrets = {
        "site_vcenter_password": "{{ lab_endpoint.password }}",
        "site_bmc_password": "{{ lab_endpoint.bmc_password }}",
        "site_switch_password": "{{ lab_endpoint.switch_password }}",
    }
    (folder / "group_vars/all/vault.yml").write_text(yaml.safe_dump(secrets))
    shutil.copy(playbook.LAB / "endpoint.sh", folder)
    for group in ("switches", "command_lines", "linux_switches", "esxi_hosts"):
        shutil.copytree(playbook.LAB / "group_vars" / group, folder / "group_vars" / group, dirs_exist_ok=True)
    there = yaml.safe_load(made.files["hosts.yml"])["all"]["children"]
    groups = {
        "command_lines": {"children": {name: {} for name in LINES if name in there}},
        "linux_switches": {"children": {name: {} for name in SHELLS if name in there}},
    }
    (folder / "connections.yml").write_text(yaml.safe_dump({"all": {"children": groups}}))
    return folder


def test_a_first_site_passes_the_checks(lab):
    started = lab("factory", faces=("ssh", "redfish", "switches"))
    made = captured(started, started.work / "site.zip")
    inventory = filled_in(started, made)
    env = playbook.environment(started.work, AIREADY_RUN_FOLDER=str(started.work / "run"))
    checked = playbook.run(CHECK, env=env, inventory=inventory)
    assert checked.status == 0, checked.output
    assert "The site and the inventory are consistent: 2 ESXi hosts, 4 switches." in checked.output
    playbook.run(PREFLIGHT, env=env, inventory=inventory)
    reported = json.loads((started.work / "run" / "preflight.json").read_text())
    assert {one["state"] for one in reported["findings"]} == {"ok", "will be changed", "open"}
