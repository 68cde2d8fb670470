"""Drift of a site: an untouched one has none, and every change behind the collection's back is named with its value."""

from __future__ import annotations

import json
import shutil

from pyVim import task
from pyVmomi import vim

from rehearse import playbook
from wire.drive import Driver, connection
from wire.observe import virtual_machine

from . import recaptured
from .fabric import ready, switch
from .hosts import hosts_of
from .machines import vms_of
from .test_preflight import FACES, everything, nothing_but_reads

VMIOP = vim.vm.device.VirtualPCIPassthrough.VmiopBackingInfo
RDMA = vim.vm.device.VirtualVmxnet3Vrdma
DRIFT = playbook.ROOT / "playbooks" / "drift.yml"
# Another user of vCenter.
USER, PASSWORD = "ops@vsphere.local", "Changed-It-1!"
RECORD = {"ANSIBLE_CALLBACKS_ENABLED": "aiready.vsphere.record"}


def applied(lab):
    """A lab to which the stages of the site were applied, with their record."""
    # The capture of a switch without LLDP does not have its cables.
    one = lab(ready(configs={"leaf-02": ["feature lldp"]}), faces=FACES)
    env = {"AIREADY_RUN_FOLDER": str(one.work / "results" / "first"), **RECORD}
    inventory = one.inventory()
    for stage in ("hosts", "fabric", "machines"):
        run = one.run(of=playbook.ROOT / "playbooks" / f"{stage}.yml", inventory=inventory, env=env)
        assert run.status == 0, run.output
    forget_requests(one)
    return one


def forget_requests(lab):
    lab.twin.requests.clear()
    for host in hosts_of(lab):
        host.esxcli_calls.clear()
        host.bmc.requests.clear()


def drift(lab, *arguments, site=None):
    """Run the playbook; the run, and what it wrote down."""
    run = lab.run(
        *arguments, of=DRIFT, inventory=lab.inventory(site), env={"AIREADY_RESULTS": str(lab.work / "results")}
    )
    folders = sorted((lab.work / "results" / "drift").iterdir())
    assert folders, run.output
    return run, json.loads((folders[-1] / "drift.json").read_text()), folders[-1]


def planted(lab):
    """Change one setting of each kind behind the back of vCenter and the collection."""
    first, dummy = hosts_of(lab)
    first.bmc.active["MmioAbove4Gb"] = "Disabled"
    setting = first.kernel.settings["atsSupport"]
    setting.configured = setting.runtime = "FALSE"
    core, rdma = first.kernel.modules["nmlx5_core"], first.kernel.modules["nmlx5_rdma"]
    core.options = core.active = "pfctx=0x08 pfcrx=0x10 trust_state=2"
    rdma.options = rdma.active = "dscp_force=34"
    first.options["Net.PVRDMAVmknic"] = "vmk0"
    first.rulesets["pvrdma"] = False
    next(one for one in first.vmkernel if one.device == "vmk1").mtu = 1500
    first.gpus[0].configured_type = first.gpus[0].active_type = "shared"
    first.driver.version = "550.54.10"
    first.default_graphics_type = "shared"
    for dvs in first.switches.values():
        dvs.mtu = 1500
    eos, os10 = switch(lab, "leaf-01").device, switch(lab, "leaf-04").device
    eos.load(["interface Ethernet1", "mtu 1500", "qos trust cos", "interface Ethernet31", "shutdown"])
    eos.load(["qos map dscp 26 to traffic-class 1"])
    switch(lab, "leaf-03").device.load(["nv set interface swp1 link mtu 1500"])
    os10.load(["interface ethernet1/1/1", "no priority-flow-control mode"])
    queues = "service-policy output type queuing AIREADY-OUT-3-50-6-150-1500-100"
    os10.load(["interface ethernet1/1/31", f"no {queues}"])
    dummy, job = vms_of(lab)
    job.memory_mb, job.memory_locked = 32768, False
    job.cores_per_socket, job.cores_per_numa_node = 4, 4
    job.extra["pciPassthru.use64bitMMIO"] = "FALSE"
    job.extra.update({"pciPassthru.64bitMMIOSizeGB": "16", "numa.nodeAffinity": "1"})
    job.power = "poweredOff"
    job.devices[:] = [one for one in job.devices if not isinstance(one, RDMA) and not isinstance(one.backing, VMIOP)]
    cluster = job.host.compute
    cluster.rules[0].enabled = False
    cluster.vm_overrides.pop(job.moid)
    for one in (first, job, cluster):
        lab.twin.world.touch(one)


def by_another_user(lab):
    """Power a VM off and change its vCPUs, as another user of vCenter; the time of the change."""
    world = lab.twin.world
    with world.lock:
        world.users[USER] = PASSWORD
        world.permissions.grant(world.root_folder, USER, world.permissions.roles["Admin"], True)
    with virtual_machine(lab.twin, "job-02", USER, PASSWORD) as machine:
        task.WaitForTask(machine.PowerOffVM_Task())
        task.WaitForTask(machine.ReconfigVM_Task(vim.vm.ConfigSpec(numCPUs=8, numCoresPerSocket=4)))
    (event,) = [one for one in world.journal.of("VmReconfiguredEvent") if one.user == USER]
    return event.created.strftime("%Y-%m-%dT%H:%M:%SZ")


ESX_01, JOB_01, JOB_02 = "esx-01.lab.example", "/lab/vm/training/job-01", "/lab/vm/training/job-02"
# What the rows say of the planted changes: object, setting, value found.
PLANTED = {
    (ESX_01, "bios.MmioAbove4Gb", "Disabled"),
    (ESX_01, "kernel.atsSupport", "FALSE"),
    (ESX_01, "nmlx5_core.pfcrx", "0x10"),
    (ESX_01, "nmlx5_rdma.dscp_force", "34"),
    (ESX_01, "Net.PVRDMAVmknic", "vmk0"),
    (ESX_01, "firewall.pvrdma", "closed"),
    (ESX_01, "vmk1.mtu", "1500"),
    (ESX_01, "graphics.0000:39:00.0.type", "shared"),
    (ESX_01, "graphics.default_type", "shared"),
    (ESX_01, "dvs-train.mtu", "1500"),
    (ESX_01, "driver", "configured, waits for a reboot"),
    ("leaf-01", "Ethernet1.mtu", "1500"),
    ("leaf-01", "Ethernet1.trust", "pcp"),
    ("leaf-01", "Ethernet1, Ethernet31-32.roce_priority", "1"),
    ("leaf-01", "Ethernet31.link", "administratively down"),
    ("leaf-03", "swp1.mtu", "1500"),
    ("leaf-04", "ethernet1/1/1.pfc_mode", "off"),
    ("leaf-04", "ethernet1/1/31.ecn", "none"),
    (JOB_02, "cpus", "8"),
    (JOB_02, "memory_gb", "32"),
    (JOB_02, "memory_reservation", "65536 MB"),
    (JOB_02, "cores_per_socket", "4"),
    (JOB_02, "cores_per_numa_node", "4"),
    (JOB_02, "pciPassthru.use64bitMMIO", "FALSE"),
    (JOB_02, "pciPassthru.64bitMMIOSizeGB", "16"),
    (JOB_02, "numa.nodeAffinity", "1"),
    (JOB_02, "profiles", "none"),
    (JOB_02, "new adapter 1", "none"),
    (JOB_02, "power", "off"),
    ("gpu", "rule.enabled", "false"),
    ("gpu", "automation.job-02", "cluster"),
}


def differing(reported):
    return {
        (row["object"], row["setting"], row["found"]) for row in reported["rows"] if row["state"] == "changed since"
    }


def captured_again(lab, folder):
    """The capture of the untouched site in this folder, and a later one of its vCenter, with the same pseudonyms."""
    first, today = (str(folder / name) for name in ("1.zip", "today.zip"))
    shutil.copy(f"{first}.secret.json", f"{today}.secret.json")
    driver = Driver(connection(lab.twin, folder / "sessions-today"), lab.twin)
    answer = driver("site_capture_info", dest=today, keep=["names"])
    assert not answer["failed"], answer["msg"]
    return first, today


def test_untouched_site_has_no_drift_and_each_planted_change_is_named_with_its_value(lab, tmp_path):
    one = applied(lab)
    before = everything(one)
    run, reported, folder = drift(one)
    assert (run.status, run.changed) == (0, 0), run.output
    assert (reported["status"], reported["code"], reported["runs"]) == ("no drift", 0, ["first"])
    assert {row["state"] for row in reported["rows"]} == {"as requested"}
    assert (folder / "drift.txt").read_text() == "gpu: no drift. 11 as requested.\n"
    # The round trip of a capture: its state after a whole run is the same in the twin that loads it.
    assert "\n".join(recaptured.differing(one.twin, tmp_path, FACES)) == ""
    changed_at = by_another_user(one)
    planted(one)
    first, today = captured_again(one, tmp_path)
    forget_requests(one)
    before = everything(one)
    run, reported, folder = drift(one, "--extra-vars", json.dumps({"drift_captures": [first, today]}))
    assert everything(one) == before
    assert nothing_but_reads(one)
    assert (run.status, run.changed) == (2, 0), run.output
    assert (reported["status"], reported["code"]) == ("drift", 10)
    assert PLANTED - differing(reported) == set()
    # Its adapter cannot be compared while its host rejects PVRDMA. The later capture has no switches.
    unknown = [(row["object"], row["why"]) for row in reported["rows"] if row["state"] == "unknown"]
    assert [name for name, dummy in unknown] == [JOB_01, "each switch"]
    assert "The firewall ruleset pvrdma of host esx-01.lab.example is closed" in unknown[0][1]
    changed = [row for row in reported["rows"] if row["state"] == "changed since"]
    assert {row["run"] for row in changed} == {"first", "1.zip"}
    # vCenter has an event of the other user. The changes of the model have none, and drift reads none from a switch.
    who = {(row["changed_by"], row["changed_at"]) for row in changed if row["object"] == JOB_02}
    assert who == {(r"VSPHERE.LOCAL\ops", changed_at)}
    who = {(row["changed_by"], row["changed_at"]) for row in changed if row["object"].startswith("leaf-")}
    assert who == {("", "")}
    # Ansible prints the backslash twice in some formats.
    assert f"ops {changed_at})" in run.text
    assert rf"| {changed_at} VSPHERE.LOCAL\ops |" in folder.joinpath("drift.md").read_text()
    (row,) = [row for row in reported["rows"] if (row["object"], row["setting"]) == ("VM job-02", "CPUs")]
    assert (row["state"], row["found"], row["run"]) == ("changed since", "8", "1.zip"), row
    text = folder.joinpath("drift.txt").read_text()
    assert len(text.splitlines()) == 7
    assert one.twin.password not in run.output + text + json.dumps(reported)
