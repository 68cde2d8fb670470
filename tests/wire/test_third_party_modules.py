"""The twin is what clients take for a vCenter that nobody here wrote: modules of community.vmware and vmware.vmware."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import NamedTuple

import pytest

from . import third_party
from .observe import client, gpu_setup, virtual_machine

HOST = "esx-01.lab.example"
OTHER_HOST = "esx-02.lab.example"
ONE = {"datacenter": "lab", "name": "train-01"}
TWO = {"datacenter": "lab", "name": "train-02"}
GIB = 1 << 30


class Step(NamedTuple):
    """A call of a module, and what its documentation states of it: values by their place in the answer."""

    module: str
    arguments: dict
    documented: dict


def community(module, documented, **arguments):
    return Step(f"community.vmware.{module}", arguments, documented)


def vmware(module, documented, **arguments):
    return Step(f"vmware.vmware.{module}", arguments, documented)


# {seed: (version, API version)}
RELEASES = {"small": ("8.0.3", "8.0.3.0"), "small-9.1": ("9.1.0", "9.1.0.0")}


def of_release(version, api_version):
    """Steps whose results name the release."""
    documented = {"api_type": "VirtualCenter", "version": version, "api_version": api_version}
    return [
        community("vmware_about_info", {f"about_info/{key}": value for key, value in documented.items()}),
        community("vmware_host_facts", {"ansible_facts/ansible_distribution_version": version}, esxi_hostname=HOST),
    ]


READS = [
    community("vmware_datacenter_info", {"datacenter_info/0/name": "lab"}),
    community(
        "vmware_cluster_info",
        {
            "clusters/gpu/datacenter": "lab",
            "clusters/gpu/enabled_drs": True,
            "clusters/gpu/drs_default_vm_behavior": "manual",
            "clusters/gpu/hosts/0/name": HOST,
        },
        cluster_name="gpu",
    ),
    vmware("cluster_info", {"clusters/gpu/datacenter": "lab", "clusters/gpu/drs_enabled": True}, datacenter="lab"),
    community("vmware_folder_info", {"flat_folder_info/2/path": "/lab/vm/training"}, datacenter="lab"),
    community(
        "vmware_datastore_info",
        {
            "datastores/0/name": "datastore-01",
            "datastores/0/capacity": 20480 * GIB,
            "datastores/0/type": "VMFS",
            "datastores/0/accessible": True,
        },
        datacenter="lab",
    ),
    community(
        "vmware_dvs_portgroup_info",
        {
            "dvs_portgroup_info/dvs-train/1/portgroup_name": "pg-train",
            "dvs_portgroup_info/dvs-train/1/vlan_info/vlan_id": "111",
        },
        datacenter="lab",
        dvswitch="dvs-train",
        show_vlan_info=True,
    ),
    community(
        "vmware_dvswitch_info",
        {
            "distributed_virtual_switches/0/configure/name": "dvs-train",
            "distributed_virtual_switches/0/configure/hosts": [HOST, OTHER_HOST],
        },
    ),
    community(
        "vmware_portgroup_info",
        {f"hosts_portgroup_info/{HOST}/1/portgroup": "VM Network", f"hosts_portgroup_info/{HOST}/1/vlan_id": 0},
        esxi_hostname=HOST,
    ),
    community(
        "vmware_vswitch_info", {f"hosts_vswitch_info/{HOST}/vSwitch0/pnics": ["vmnic0", "vmnic1"]}, esxi_hostname=HOST
    ),
    community(
        "vmware_host_vmnic_info",
        {f"hosts_vmnics_info/{HOST}/used": ["vmnic5", "vmnic2", "vmnic3", "vmnic0", "vmnic1"]},
        esxi_hostname=HOST,
    ),
    community(
        "vmware_vmkernel_info",
        {f"host_vmk_info/{HOST}/0/device": "vmk0", f"host_vmk_info/{HOST}/0/enable_management": True},
        esxi_hostname=HOST,
    ),
    community(
        "vmware_host_facts",
        {
            "ansible_facts/ansible_hostname": HOST,
            "ansible_facts/ansible_distribution": "VMware ESXi",
            "ansible_facts/ansible_in_maintenance_mode": False,
            "ansible_facts/ansible_datastore/0/name": "datastore-01",
        },
        esxi_hostname=HOST,
    ),
    community("vmware_host_config_info", {f"hosts_info/{HOST}/UserVars.SuppressShellWarning": 0}, esxi_hostname=HOST),
    community(
        "vmware_host_graphics",
        {"changed": False, f"{HOST}/msg": "All Host Graphics Settings have already been configured"},
        esxi_hostname=HOST,
        graphic_type="sharedDirect",
    ),
    community("vmware_vm_info", {"virtual_machines/0/guest_name": "train-01", "virtual_machines/0/cluster": "gpu"}),
    community("vmware_guest_find", {"folders": ["/lab/vm/training"]}, name="train-01"),
    community(
        "vmware_guest_info",
        {
            "instance/hw_name": "train-01",
            "instance/hw_power_status": "poweredOff",
            "instance/hw_processor_count": 16,
            "instance/hw_memtotal_mb": 65536,
            "instance/hw_folder": "/lab/vm/training",
            "instance/hw_esxi_host": HOST,
            "instance/hw_eth0/summary": "DVSwitch: {switch_uuid}",
            "instance/hw_product_uuid": "{bios_uuid}",
            "instance/instance_uuid": "{instance_uuid}",
        },
        **ONE,
    ),
    community(
        "vmware_guest_disk_info",
        {"guest_disk_info/0/capacity_in_bytes": 100 * GIB, "guest_disk_info/0/backing_datastore": "datastore-01"},
        **ONE,
    ),
    vmware("vm_resource_info", {"vms/0/cpu/processor_count": 16, "vms/0/esxi_host/name": HOST}, name="train-01"),
]

VGPU = {**ONE, "vgpu": "grid_a100-40c"}
NIC = {**ONE, "network_name": "VM Network", "device_type": "vmxnet3"}
CLONE = {"datacenter": "lab", "name": "clone-01"}
ON_ONE_VM = [
    community("vmware_guest_vgpu", {"changed": True, "vgpu/Vgpu": "grid_a100-40c"}, **VGPU),
    community("vmware_guest_vgpu", {"changed": False, "vgpu/Key": 13000}, **VGPU),
    community("vmware_guest_vgpu_info", {"vgpu/0/Vgpu": "grid_a100-40c"}, **ONE),
    community("vmware_guest_vgpu", {"changed": True}, state="absent", **VGPU),
    community("vmware_guest_vgpu_info", {"vgpu": []}, **ONE),
    community("vmware_guest_network", {"changed": True}, **NIC),
    vmware("vm_advanced_settings", {"changed": True}, name="train-01", settings={"note": "seen"}, state="present"),
    community(
        "vmware_guest_snapshot",
        {"changed": True, "snapshot_results/current_snapshot/name": "before"},
        folder="/lab/vm/training",
        snapshot_name="before",
        **ONE,
    ),
]
ON_ANOTHER = [
    community("vmware_guest_powerstate", {"changed": True}, **TWO, state="powered-on"),
    community("vmware_guest_powerstate", {"changed": False}, **TWO, state="powered-on"),
    vmware("vm_powerstate", {"changed": True}, **TWO, state="powered-off"),
]
ON_A_CLONE = [
    community(
        "vmware_guest",
        {"changed": True, "instance/hw_folder": "/lab/vm/training", "instance/hw_power_status": "poweredOff"},
        cluster="gpu",
        template="ubuntu-template",
        folder="/lab/vm/training",
        **CLONE,
    ),
    community("vmware_guest_move", {"changed": True}, dest_folder="/lab/vm/templates", **CLONE),
    community("vmware_guest_find", {"folders": ["/lab/vm/templates"]}, name="clone-01"),
    community("vmware_guest", {"changed": True}, state="absent", **CLONE),
]
ON_THE_CLUSTER = [
    vmware(
        "cluster_drs",
        {"changed": True},
        datacenter="lab",
        cluster="gpu",
        enable=True,
        drs_default_vm_behavior="fullyAutomated",
    ),
    community(
        "vmware_vm_vm_drs_rule",
        {"changed": True, "result/rule_vms": ["train-01", "train-02"], "result/rule_affinity": False},
        cluster_name="gpu",
        drs_rule_name="apart",
        vms=["train-01", "train-02"],
        affinity_rule=False,
        enabled=True,
    ),
    vmware("folder", {"changed": True}, datacenter="lab", absolute_path="/lab/vm/made", folder_type="vm"),
]
ON_A_HOST = [
    community("vmware_maintenancemode", {"changed": True}, esxi_hostname=OTHER_HOST, state="present", timeout=60),
]
CHANGES = [ON_ONE_VM, ON_ANOTHER, ON_A_CLONE, ON_THE_CLUSTER, ON_A_HOST]

# What does not exist, and the words that must be in the message.
FAILURES = [
    (community("vmware_guest_info", {}, datacenter="lab", name="nobody"), "nobody"),
    (community("vmware_guest_vgpu", {}, **ONE, vgpu="grid_a100-41c"), "vGPU Profile"),
    (community("vmware_cluster_info", {}, cluster_name="none"), "none"),
]


def run(running, chains):
    """The answers of all steps of all chains, in their order."""
    options = {
        "hostname": running.host,
        "port": running.port,
        "username": running.username,
        "password": running.password,
    }
    ended = subprocess.run(
        [sys.executable, third_party.__file__, json.dumps(sys.path)],
        input=json.dumps([[[step.module, {**options, **step.arguments}] for step in chain] for chain in chains]),
        capture_output=True,
        text=True,
        check=False,
        # They trust what the system trusts; certificates are checked.
        env={**os.environ, "SSL_CERT_FILE": str(running.ca_file)},
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def differences(running, chains, **known):
    """What is not as documented, one line each."""
    lines = []
    done = zip(chains, run(running, chains), strict=True)
    for step, answer in [pair for chain, answers in done for pair in zip(chain, answers, strict=True)]:
        if answer["failed"]:
            lines.append(f"{step.module}: {answer['msg']}")
            continue
        for place, value in step.documented.items():
            wanted = value.format(**known) if isinstance(value, str) else value
            found = at(answer, place)
            if found != wanted:
                lines.append(f"{step.module}: {place} is {found!r}, not {wanted!r}")
    return lines


def at(answer, place):
    for part in place.split("/"):
        try:
            answer = answer[int(part) if isinstance(answer, list) else part]
        except (KeyError, IndexError):
            return f"missing; there is {sorted(answer) if isinstance(answer, dict) else len(answer)}"
    return answer


@pytest.mark.parametrize("seed", RELEASES)
def test_modules_that_read_see_the_data_centre_of_the_seed(twin, seed):
    running = twin(seed=seed)
    with client(running) as service, virtual_machine(running, "train-01") as machine:
        switch = next(
            one for one in service.content.rootFolder.childEntity[0].networkFolder.childEntity if hasattr(one, "uuid")
        )
        known = {
            "switch_uuid": switch.uuid,
            "bios_uuid": machine.config.uuid,
            "instance_uuid": machine.config.instanceUuid,
        }
    assert differences(running, [[*of_release(*RELEASES[seed]), *READS[::2]], READS[1::2]], **known) == []
    assert running.unserved == {}


@pytest.mark.parametrize("seed", RELEASES)
def test_modules_that_change_something_do_so_once_and_an_observer_sees_it(twin, seed):
    running = twin(seed=seed)
    assert differences(running, CHANGES) == []
    assert running.unserved == {}
    assert gpu_setup(running, "train-01")["train-01"]["profiles"] == []
    with client(running) as service:
        center = service.content.rootFolder.childEntity[0]
        assert [one.name for one in center.vmFolder.childEntity] == ["templates", "training", "made"]
        cluster = center.hostFolder.childEntity[0]
        assert [(rule.name, len(rule.vm)) for rule in cluster.configurationEx.rule] == [("apart", 2)]
        assert cluster.configurationEx.drsConfig.defaultVmBehavior == "fullyAutomated"
        assert {host.name: host.runtime.inMaintenanceMode for host in cluster.host} == {HOST: False, OTHER_HOST: True}
    with virtual_machine(running, "train-01") as machine:
        assert [network.name for network in machine.network] == ["pg-train", "VM Network"]
        assert machine.snapshot.currentSnapshot is not None
        assert {"note": "seen"}.items() <= {one.key: one.value for one in machine.config.extraConfig}.items()
    with virtual_machine(running, "train-02") as machine:
        assert machine.runtime.powerState == "poweredOff"


def test_modules_fail_in_their_own_words_where_there_is_nothing(twin):
    (answers,) = run(twin(), [[step for step, _says in FAILURES]])
    for (step, says), answer in zip(FAILURES, answers, strict=True):
        assert answer["failed"], step
        assert says in answer["msg"], step
