"""A rehearsal on the user's own site as captured: it names what somebody forgot, and what the capture lacks."""

from __future__ import annotations

import json

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import add, compare, view
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture, load
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.captured import Outputs, addition
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import parsed, platform_of
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import first

from rehearse import __main__ as rehearsal
from rehearse import captured
from vsphere_twin.launch import launch
from wire import drive_action
from wire.drive import Driver, connection
from wire.linux_host import LinuxHost

from .conftest import Lab
from .fabric import ready, switch
from .test_fabric_check import check, reported
from .test_first_site import PREFLIGHT, filled_in
from .test_first_site import captured as first_site

ENCRYPTED = "$ANSIBLE_VAULT;1.1;AES256\n3132\n"
VM = "train-02"
LIBRARIES = [
    {"name": "images", "datastore": "datastore-01", "items": [{"name": "ubuntu-24.04", "from": "ubuntu-template"}]}
]
ITEM = "    content_library: images\n    content_item: ubuntu-24.04\n"
FACES = ("ssh", "redfish", "switches")
SITE = "group_vars/all/site.yml"
# The site requests a driver of another branch than the guest of the second VM has.
DRIVER = {"user": "ops", "driver": {"package": "/srv/nvidia-linux-grid-550_550.90.07_amd64.deb"}}
GUEST = {
    "uname -r": "6.8.0-45-generic",
    "grep PRETTY_NAME /etc/os-release": 'PRETTY_NAME="Ubuntu 24.04.1 LTS"\n',
    "ls /sys/module": "ib_core\nib_uverbs\n",
    "nvidia-smi -q -x": "<nvidia_smi_log><driver_version>535.161.08</driver_version><attached_gpus>1</attached_gpus>"
    '<gpu id="00000000:02:01.0"><product_name>NVIDIA A100-40C</product_name></gpu></nvidia_smi_log>',
}


def forgotten():
    """Two leaves and two hosts that are ready, and two VMs with a vGPU, of which one has no reservation."""
    seed = ready(("leaf-01", "leaf-03"))
    ports = {"esx-01.lab.example/vmnic2", "esx-02.lab.example/vmnic2"}
    seed["fabric"]["switches"] = [one for one in seed["fabric"]["switches"] if one["name"].startswith("leaf")]
    seed["fabric"]["cables"] = [one for one in seed["fabric"]["cables"] if ports.intersection(one)]
    (center,) = seed["datacenters"]
    vm = {**center["vms"][0], "vgpus": ["grid_a100-40c"]}
    del vm["count"]
    center["vms"][:1] = [{**vm, "name": "train-01", "memory_reservation": "all"}, {**vm, "name": VM}]
    return seed


def plant(lab):
    """What somebody forgot on the switches: the VLAN and an MTU."""
    vlan = ["vlan 222", "interface Ethernet1", "switchport mode access", "switchport access vlan 222"]
    switch(lab, "leaf-01").device.load(vlan)
    switch(lab, "leaf-03").device.load(["nv set interface swp1 link mtu 1500"])


@pytest.fixture
def live():
    """The errors of a check of the cables of the site itself, and what its preflight finds that a run changes."""
    return []


@pytest.fixture
def own(tmp_path, live):
    """The capture and the inventory of a site that is gone before the rehearsal. Its passwords are encrypted."""
    work = tmp_path / "live"
    work.mkdir()
    with launch(seed=forgotten(), faces=FACES) as twin:
        lab = Lab(twin, work)
        # Their cables to spines do not exist here.
        made = lab.fabric("--extra-vars", '{"switch_fabric_ports": []}')
        assert made.status == 0, made.output
        plant(lab)
        live += [line.removeprefix("error ") for line in reported(check(lab), "error")]
        made = first_site(lab, tmp_path / "site.zip")
        live += preflight(twin, made, tmp_path / "preflight")
    with LinuxHost(tmp_path / "linux", {}, GUEST).running() as guest:
        asked = {"dest": str(tmp_path / "site.zip")}
        answer = drive_action.act(guest, "guest_capture_info", asked, variables={"inventory_hostname": VM})
        assert not answer["failed"], answer["msg"]
    folder = written(made, tmp_path / "own")
    variables = yaml.safe_load((folder / SITE).read_text())
    variables["site"]["guests"] = DRIVER
    (folder / SITE).write_text(yaml.safe_dump(variables))
    return folder


def preflight(twin, made, work):
    """What preflight of the site itself finds that a run changes, with the same inventory."""
    work.mkdir()
    lab = Lab(twin, work)
    run = lab.run(of=PREFLIGHT, inventory=filled_in(lab, made), env={"AIREADY_RUN_FOLDER": str(work / "run")})
    written_down = work / "run" / "preflight.json"
    assert written_down.is_file(), run.output
    return captured.changes_of(json.loads(written_down.read_text())["findings"])


def written(made, folder):
    """The files of a first site, and a vault with an unknown password."""
    for name, text in made.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "group_vars" / "all" / "vault.yml").write_text(ENCRYPTED)
    return folder


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rehearsed(own, tmp_path):
    """The result of a rehearsal, and its output."""
    (tmp_path / "work").mkdir()
    said, zipped = [], str(tmp_path / "site.zip")
    outcome = captured.rehearse(
        rehearsal.Report(), tmp_path / "work", tmp_path / "results", zipped, str(own), said.append
    )
    return outcome, "\n".join(said)


def test_a_rehearsal_on_a_capture_names_what_was_forgotten(own, live, tmp_path):
    before = files(own)
    outcome, output = rehearsed(own, tmp_path)
    reservation = [row for row in live if f"{VM}:" in row and "memory_reservation" in row]
    assert (len(reservation), set(reservation) - set(outcome.changes)) == (1, set()), (live, outcome.changes, output)
    assert not any("train-01:" in row and "memory" in row for row in outcome.changes)
    assert any(row.startswith("leaf-03: RoCE:") and "swp1.mtu" in row for row in outcome.changes), outcome.changes
    assert any("leaf-03 swp1 has MTU 1500" in row for row in outcome.disagreements), output
    # The site itself has the same errors, in the same words.
    same = [line for line in live if "swp1 has MTU 1500" in line or "carries VLAN 222" in line]
    assert len(same) == 2, live
    assert set(same) <= {row.removeprefix("error ") for row in outcome.disagreements}
    # The VLAN of a port belongs to nobody but the network team, so the run ends there.
    assert any("leaf-01 Ethernet1 carries VLAN 222 untagged, but not 111" in row for row in outcome.problems), output
    assert (outcome.verdict, outcome.status, outcome.unknown) == (captured.FAILED, 1, [])
    # Without guests, the run names what the capture shows of them.
    driver = f"{VM}: The driver version is 535.161.08 instead of 550.90.07. The stage guests changes it."
    modules = f"{VM}: Kernel modules not loaded: vmw_pvrdma. The stage guests changes it."
    assert {driver, modules} <= set(outcome.changes), output
    shown = "captured with Ubuntu 24.04.1 LTS, kernel 6.8.0-45-generic, driver 535.161.08"
    assert any(row["object"] == f"guest {VM}" and row["reason"].startswith(shown) for row in outcome.assumptions)
    assert any(row["object"] == "guest train-01" for row in outcome.assumptions)
    assert outcome.title in output
    assert outcome.title.startswith("rehearsed on your site as captured at 20")
    assert files(own) == before


JUNOS = {
    "show version": "Hostname: leaf-07\nModel: qfx5120-32c\nJunos: 21.4R3-S3.4\n",
    "show configuration interfaces": "et-0/0/1 {\n    mtu 9216;\n}\n",
    "show lldp neighbors": "Local Interface    Parent Interface    Chassis Id          Port info          System Name\n"
    "et-0/0/1           -                   b8:ce:f6:00:00:01   vmnic2             esx-01.lab.example\n",
}


def add_a_switch_without_a_twin(path):
    """Add a switch with Junos to a capture, as switch_capture_info does."""
    found = Outputs(texts=JUNOS, times=dict.fromkeys(JUNOS, "2026-11-28T19:00:00+00:00"))
    junos = platform_of("junos", None)
    add.add_all(path, False, lambda table: [addition(junos, "leaf-07", ["leaf-07"], found, table, False)])


def test_a_rehearsal_without_bmcs_and_switches_is_incomplete(tmp_path):
    path = str(tmp_path / "site.zip")
    seed = ready(())
    seed["datacenters"][0]["libraries"] = LIBRARIES
    with launch(seed=seed) as twin:
        tag = twin.world.tagging.add_tag(twin.world, "gpu", twin.world.tagging.add_category(twin.world, "use"))
        twin.world.tagging.attach(tag, "HostSystem", twin.world.of_kind("HostSystem")[0].moid)
        driver = Driver(connection(twin, tmp_path / "sessions"), twin)
        answers = [driver(module, dest=path) for module in ("site_capture_info", "host_capture_info")]
        assert not [one["msg"] for one in answers if one["failed"]]
    add_a_switch_without_a_twin(path)
    made = first.write(view.read(Capture(path), parsed), compare.originals(load(f"{path}.secret.json")))
    # The new VMs come from an item of a content library, whose names the anonymised capture gets back.
    made.files[SITE] = made.files[SITE].replace("    template: ubuntu-template\n", ITEM)
    assert ITEM in made.files[SITE]
    outcome, output = rehearsed(written(made, tmp_path / "own"), tmp_path)
    assert (outcome.verdict, outcome.status) == (captured.INCOMPLETE, 3), (outcome.problems, output)
    assert [row for row in outcome.changes if "job-01" in row] != []
    assert outcome.unknown == [
        "The capture has no data of the BMCs of esx-01.lab.example, esx-02.lab.example.",
        "The twin has no switch of the capture. No cable and no setting of a switch is compared.",
        "The twin has no data of the switches leaf-07 (the twin has no switch with junos).",
    ]
    assert "BIOS settings is assumed to be those that GPUs need" in "\n".join(outcome.lines())
