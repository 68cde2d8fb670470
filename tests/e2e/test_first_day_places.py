"""Wrong inputs of a first day that only vCenter, BMCs and switches can refute: cause, key and fix in each playbook."""

from __future__ import annotations

import contextlib
import functools
import json

import pytest
import yaml

from vsphere_twin.launch import launch

from .conftest import Lab
from .fabric import ready
from .hosts import factory
from .machines import untouched
from .test_first_day import PLAYBOOKS

# Characters of a failure that a reader finds the sentence in.
LONGEST_FAILURE = 700
ESX_01, ESX_02 = "esx-01.lab.example", "esx-02.lab.example"
OF_BMC = "`bmc_address of the host in the inventory`"
DEPOT = "depots/NVD-AIE-800_550.54.16-1OEM.800.1.0.20613240_23471877.zip"
SEEDS = {"ready": ready(("leaf-01", "leaf-02")), "bare": factory(2)}
OBJECTS = {
    "machine": {"template": "ubuntu-tmplate", "folder": "trainings", "datastore": "datastore-1"},
    "network": {"portgroup": "pg-rdmaa"},
}
PARTS = {"network": {"nics": ["vmnic9"], "vmknic": "vmk9"}, "driver": {"depot": f"[datastore-1] {DEPOT}"}}
BMCS = {ESX_01: {"bmc_address": "127.0.0.1:9"}, ESX_02: {"bmc_address": "bmc-02.example.invalid"}}
SWITCHES = {"leaf-01": {"ansible_port": 9}, "leaf-02": {"switch_host_ports": ["Ethernet1/99"]}}
# For preflight: the data centre, what is wrong, and (where, what) of all that blocks with words of cause and fix.
LOOKS = {
    "objects": (
        "ready",
        {"site": OBJECTS, "switches": SWITCHES},
        {
            ("datastore datastore-1", "object"): ("There are: datastore-01.", "Correct site.machine.datastore, or"),
            ("network pg-rdmaa", "object"): (
                "vCenter has no object of this name",
                "Correct site.network.portgroup, or",
            ),
            ("vm ubuntu-tmplate", "object"): (
                "vCenter has no object of this name",
                "Correct site.machine.template, or",
            ),
            ("job-01, job-02", "creation"): ("has no such folder of VMs; there are:", "Correct `site.machine.folder`"),
            ("leaf-01", "switch"): ("Connection refused", "Check its address (ansible_host, ansible_port)"),
            ("leaf-02", "switch"): (
                "The ports Ethernet1/99 do not exist.",
                "Correct switch_host_ports or switch_fabric_",
            ),
        },
    ),
    "datacenter": (
        "ready",
        {"site": {"datacenter": "labb"}},
        {("datacenter labb", "object"): ("There are: lab.", "Correct site.datacenter, or")},
    ),
    "board of the profile": (
        "ready",
        {"site": {"gpu": {"profile": "nvidia_a40-48c"}}},
        {(host, "vGPU profiles"): ("needs another GPU board.", "Set site.gpu.profile,") for host in (ESX_01, ESX_02)},
    ),
    "authority": (
        "ready",
        {"site": {"vcenter": {"ca_file": "/no/such/ca.pem"}}},
        {
            ("vCenter", "login"): (
                "The file /no/such/ca.pem has no usable trusted certificates",
                "Set `site.vcenter.ca_file` to a file",
            )
        },
    ),
    "port of vCenter": (
        "ready",
        {"site": {"vcenter": {"port": 9}}},
        {("vCenter", "login"): ("refuses connections on port 9.", "`site.vcenter.hostname` and `site.vcenter.port`")},
    ),
    "address of vCenter": (
        "ready",
        {"site": {"vcenter": {"hostname": "vcenter.example.invalid"}}},
        {("vCenter", "login"): ("vcenter.example.invalid cannot be resolved", "Check `site.vcenter.hostname`")},
    ),
    "user": (
        "ready",
        {"site": {"vcenter": {"username": "admin@vsphere.local"}}},
        {("vCenter", "login"): ("log in as admin@vsphere.local", "Check `site.vcenter.username` (with its domain")},
    ),
    "user of a switch": (
        "ready",
        {"switches": {"leaf-01": {"ansible_user": "adm1n"}}},
        {
            ("leaf-01", "switch"): (
                "Access denied",
                "Check its address (ansible_host, ansible_port), ansible_network_os, ansible_user, ansible_password",
            )
        },
    ),
    "no password": (
        "ready",
        {"extra": {"site_vcenter_password": ""}},
        {("vCenter", "password"): ("It is missing.", "Set site_vcenter_password in a vault, or VMWARE_PASSWORD")},
    ),
    "parts of hosts": (
        "bare",
        {"site": PARTS, "esxi_hosts": BMCS},
        {
            **{
                (host, what): words
                for host in (ESX_01, ESX_02)
                for what, words in {
                    "ports": ("has no ports vmnic9. It has vmnic0,", "Correct site.network.nics, or"),
                    "NVIDIA host driver": ("It has: datastore-01.", "Correct the datastore in `site.driver.depot`"),
                    "PVRDMA": ("There is no such VMkernel adapter; there are: vmk0", "`site.network.vmknic`"),
                }.items()
            },
            (ESX_01, "BMC"): ("127.0.0.1 refuses connections on port 9.", OF_BMC),
            (ESX_02, "BMC"): (
                "bmc-02.example.invalid cannot be resolved",
                OF_BMC,
            ),
        },
    ),
}
# The same in a stage, which ends with the first of them: what its last screen says of cause and fix.
STAGES = {
    "template": (
        "ready",
        "machines",
        {"site": {"machine": {"template": "ubuntu-tmplate"}}},
        ("template ubuntu-tmplate", "there are: ubuntu-template. Correct `site.machine.template`."),
    ),
    "folder": (
        "ready",
        "machines",
        {"site": {"machine": {"folder": "trainings"}}},
        ("folder trainings", "Correct `site.machine.folder`, or create the folder first"),
    ),
    "datastore": (
        "ready",
        "machines",
        {"site": {"machine": {"datastore": "datastore-1"}}},
        ("no datastore datastore-1", "Similar names: datastore-01. Correct site.machine.datastore."),
    ),
    "port group": (
        "ready",
        "machines",
        {"site": {"network": {"portgroup": "pg-rdmaa"}}},
        ("no port group pg-rdmaa", "Similar names: pg-rdma, pg-train. Correct site.network.portgroup."),
    ),
    "datacenter": (
        "ready",
        "machines",
        {"site": {"datacenter": "labb"}},
        ("no datacenter labb", "Similar names: lab. Correct site.datacenter."),
    ),
    "authority": (
        "ready",
        "machines",
        {"site": {"vcenter": {"ca_file": "/no/such/ca.pem"}}},
        (
            "The file /no/such/ca.pem has no usable trusted certificates",
            "Set `site.vcenter.ca_file` to a file with certificates in PEM",
        ),
    ),
    "address of vCenter": (
        "ready",
        "machines",
        {"site": {"vcenter": {"hostname": "vcenter.example.invalid"}}},
        ("The name vcenter.example.invalid cannot be resolved", "Check `site.vcenter.hostname`"),
    ),
    "user": (
        "ready",
        "machines",
        {"site": {"vcenter": {"username": "admin@vsphere.local"}}},
        ("log in as admin@vsphere.local", "Check `site.vcenter.username` (with its domain"),
    ),
    "cluster": (
        "ready",
        "hosts",
        {"site": {"cluster": "gpus"}},
        ("It is connected, in the cluster gpu, not in gpus.", "Correct site.cluster, or remove the host from"),
    ),
    "board of the profile": (
        "ready",
        "hosts",
        {"site": {"gpu": {"profile": "nvidia_a40-48c"}}},
        ("nvidia_a40-48c needs another GPU board.", "Set site.gpu.profile, or profiles of single VMs in site.vms"),
    ),
    "port of a host": (
        "bare",
        "hosts",
        {"site": {"network": {"nics": ["vmnic9"]}}},
        ("has no ports vmnic9.", "Correct site.network.nics, or for this host alone site_host.network.nics."),
    ),
    "datastore of the driver": (
        "bare",
        "hosts",
        {"site": {"driver": {"depot": f"[datastore-1] {DEPOT}"}}},
        (
            "host has no datastore datastore-1. It has: datastore-01.",
            "Correct the datastore in `site.driver.depot`, or connect the host to it",
        ),
    ),
    "file of the driver": (
        "bare",
        "hosts",
        {"site": {"driver": {"depot": "[datastore-01] depots/NVD-AIE-801.zip"}}},
        ("The datastore has no such file.", "Correct `site.driver.depot`, or upload the file with `site.driver.file`."),
    ),
    "BMC": (
        "bare",
        "hosts",
        {"esxi_hosts": BMCS},
        ("bmc-02.example.invalid cannot be resolved", "Check `bmc_address of the host in the inventory`"),
    ),
    "port of a switch": (
        "ready",
        "fabric",
        {"switches": {**SWITCHES, "leaf-01": {"switch_host_ports": ["Eth 1"]}}},
        ("the ports Ethernet1/99 do not exist.", "Correct switch_host_ports or switch_fabric_ports of the switch."),
    ),
    "user of a switch": (
        "ready",
        "fabric",
        {"switches": {"leaf-01": {"ansible_user": "adm1n"}, "leaf-02": {"ansible_user": "adm1n"}}},
        ("Access denied", "(ansible_host, ansible_port), ansible_user, ansible_password and host key"),
    ),
    "connection of a switch": (
        "ready",
        "fabric",
        {"switches": {"leaf-01": {"ansible_port": 9}, "leaf-02": {"ansible_port": 9}}},
        (
            "ssh connect failed: Connection refused. Check its address (ansible_host, ansible_port)",
            "Each switch failed before this task",
        ),
    ),
}


@pytest.fixture(scope="module")
def rehearse(tmp_path_factory):
    """Runs a playbook on a data centre that all share, since nothing is changed there: (run, what preflight wrote)."""
    with contextlib.ExitStack() as running:

        @functools.lru_cache(maxsize=None)
        def started(seed):
            faces = ("ssh", "redfish", "switches")
            return Lab(running.enter_context(launch(seed=SEEDS[seed], faces=faces)), tmp_path_factory.mktemp(seed))

        def run(seed, playbook_name, wrong, callback="aiready.vsphere.stages", arguments=()):
            lab = started(seed)
            before = [untouched(vm) for vm in lab.twin.world.of_kind("VirtualMachine")]
            inventory = lab.inventory(wrong.get("site"))
            own = {group: {"hosts": wrong[group]} for group in ("esxi_hosts", "switches") if group in wrong}
            (inventory / "zz.yml").write_text(yaml.safe_dump(own))
            folder = tmp_path_factory.mktemp("run")
            env = {"AIREADY_RUN_FOLDER": str(folder)}
            if playbook_name != "preflight":
                env["ANSIBLE_STDOUT_CALLBACK"] = callback
            extra = ["--extra-vars", json.dumps(wrong.get("extra", {})), *arguments]
            ran = lab.run(*extra, of=PLAYBOOKS / f"{playbook_name}.yml", inventory=inventory, env=env)
            assert [untouched(vm) for vm in lab.twin.world.of_kind("VirtualMachine")] == before
            file = folder / "preflight.json"
            return ran, json.loads(file.read_text())["findings"] if file.is_file() else None

        yield run


def failures(run):
    """Lines of Ansible's own callback; those of hosts that cannot be reached are short by themselves."""
    return [line for line in run.output.splitlines() if line.startswith("fatal: ") and "FAILED!" in line]


def refused(run):
    assert run.status != 0, run.output
    assert run.changed == 0
    assert "Traceback" not in run.output


@pytest.mark.parametrize("seed, wrong, rows", LOOKS.values(), ids=LOOKS.keys())
def test_preflight_has_one_row_for_each_cause_and_none_for_a_consequence(rehearse, seed, wrong, rows):
    run, findings = rehearse(seed, "preflight", wrong)
    refused(run)
    # Failures of modules are in the table alone. What Ansible's own callback shows besides are sentences of assertions.
    assert [line for line in failures(run) if not line.endswith("{") and '"assertion"' not in line] == [], run.output
    blocks = {(one["where"], one["what"]): one for one in findings if one["state"] == "blocks"}
    assert set(blocks) == set(rows), run.output
    for place, (cause, fix) in rows.items():
        assert cause in blocks[place]["found"], blocks[place]
        assert fix in blocks[place]["todo"], blocks[place]


@pytest.mark.parametrize("seed, stage, wrong, words", STAGES.values(), ids=STAGES.keys())
def test_stage_ends_with_cause_key_and_fix_before_anything_is_changed(rehearse, seed, stage, wrong, words):
    run, dummy = rehearse(seed, stage, wrong)
    refused(run)
    screen = " ".join(run.output[run.output.index("PLAY RECAP") :].split())
    for one in words:
        assert one in screen, run.output
    assert "no changes" in screen


# One of each way a stage fails: a module, an action plugin and a task that asks for the message.
@pytest.mark.parametrize("name", ["port group", "file of the driver", "port of a switch"])
def test_callback_of_ansible_shows_the_same_in_a_few_words(rehearse, name):
    seed, stage, wrong, words = STAGES[name]
    run, dummy = rehearse(seed, stage, wrong, "ansible.builtin.default")
    refused(run)
    shown = failures(run)
    for one in words:
        assert any(one in line for line in shown), run.output
    assert max(map(len, shown)) < LONGEST_FAILURE, run.output
    # Ansible 2.19 and later print the message of the error above.
    assert all(one in run.text for one in words)
    assert "Correct portgroup" not in run.output


def test_verbose_run_shows_the_whole_result(rehearse):
    seed, stage, wrong, dummy = STAGES["file of the driver"]
    run, dummy = rehearse(seed, stage, wrong, "ansible.builtin.default", ["-v"])
    assert any('"before": {' in line and "site.driver.depot" in line for line in failures(run)), run.output
