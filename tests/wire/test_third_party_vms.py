"""VMs in the hands of modules that nobody here wrote: clones, customization, rules, moves, content libraries."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .observe import client, virtual_machine
from .test_third_party_modules import HOST, OTHER_HOST, community, differences, run, vmware

ANSIBLE = Path(sys.executable).with_name("ansible-playbook")
MADE = {"datacenter": "lab", "name": "made-01"}
FOLDER = "/lab/vm/training"

CLONE = [
    community(
        "vmware_guest",
        {
            "changed": True,
            "instance/hw_power_status": "poweredOn",
            "instance/hw_processor_count": 8,
            "instance/hw_memtotal_mb": 32768,
            "instance/hw_esxi_host": OTHER_HOST,
            "instance/hw_interfaces": ["eth0"],
            "instance/hw_eth0/ipaddresses": ["192.0.2.41"],
            "instance/ipv4": "192.0.2.41",
            "instance/annotation": "made by a stranger",
        },
        folder=FOLDER,
        template="ubuntu-template",
        esxi_hostname=OTHER_HOST,
        datastore="datastore-01",
        state="poweredon",
        annotation="made by a stranger",
        hardware={"num_cpus": 8, "num_cpu_cores_per_socket": 4, "memory_mb": 32768, "memory_reservation_lock": True},
        advanced_settings=[{"key": "numa.nodeAffinity", "value": "0"}],
        networks=[{"name": "pg-train", "ip": "192.0.2.41", "netmask": "255.255.255.0", "gateway": "192.0.2.1"}],
        customization={"hostname": "node-41", "domain": "lab.example", "dns_servers": ["192.0.2.2"]},
        wait_for_ip_address=True,
        wait_for_customization=True,
        **MADE,
    ),
    # The module of community.vmware reads the guest's address twice after the request, and fails if it is gone between.
    vmware("vm_powerstate", {"changed": True}, state="shutdown-guest", **MADE),
]
FROM_STORED_SPEC = [
    community(
        "vmware_guest_customization_info",
        {"custom_spec_info/linux-dhcp/name": "linux-dhcp", "custom_spec_info/linux-dhcp/type": "Linux"},
        spec_name="linux-dhcp",
    ),
    community(
        "vmware_guest",
        {"changed": True, "instance/hw_power_status": "poweredOff"},
        datacenter="lab",
        name="made-02",
        folder=FOLDER,
        template="ubuntu-template",
        cluster="gpu",
        state="poweredoff",
        customization_spec="linux-dhcp",
        wait_for_ip_address=False,
    ),
    vmware("vm_powerstate", {"changed": True}, datacenter="lab", name="made-02", state="powered-on"),
]
DEPLOYED = [
    vmware(
        "deploy_folder_template",
        {"changed": True, "vm/name": "made-03"},
        datacenter="lab",
        vm_name="made-03",
        vm_folder="templates",
        template_name="ubuntu-template",
        cluster="gpu",
        datastore="datastore-01",
    ),
    vmware(
        "vm",
        {"changed": True},
        name="made-03",
        datacenter="lab",
        cpu={"cores": 8, "cores_per_socket": 8},
        memory={"size_mb": 16384, "reserve_all_memory": True},
    ),
    vmware("vm", {"changed": False}, name="made-03", datacenter="lab", memory={"size_mb": 16384}),
    vmware(
        "folder_template_from_vm",
        {"changed": True},
        datacenter="lab",
        vm_name="made-03",
        template_name="made-template",
        template_folder="templates",
    ),
]
RULES = [
    community(
        "vmware_vm_vm_drs_rule",
        {"changed": True, "result/rule_mandatory": True},
        cluster_name="gpu",
        drs_rule_name="apart",
        vms=["train-01", "train-02"],
        affinity_rule=False,
        enabled=True,
        mandatory=True,
    ),
    community("vmware_drs_override", {"changed": True}, vm_name="train-01", drs_behavior="partiallyAutomated"),
    community("vmware_drs_override", {"changed": False}, vm_name="train-01", drs_behavior="partiallyAutomated"),
    community("vmware_guest_powerstate", {"changed": True}, datacenter="lab", name="train-01", state="powered-on"),
]
ON_HOSTS = [
    community(
        "vmware_drs_group", {"changed": True}, cluster_name="gpu", datacenter="lab", group_name="jobs", vms=["train-02"]
    ),
    community(
        "vmware_drs_group",
        {"changed": True},
        cluster_name="gpu",
        datacenter="lab",
        group_name="fast",
        hosts=[OTHER_HOST],
    ),
    community(
        "vmware_vm_host_drs_rule",
        {"changed": True},
        cluster_name="gpu",
        datacenter="lab",
        drs_rule_name="on-fast",
        vm_group_name="jobs",
        host_group_name="fast",
        affinity_rule=True,
        mandatory=False,
        enabled=True,
    ),
    community(
        "vmware_drs_rule_info",
        {"drs_rule_info/gpu/0/rule_enabled": True},
        cluster_name="gpu",
    ),
]
REFUSED = [
    (
        community("vmware_vmotion", {}, vm_name="train-02", destination_host=HOST),
        "would violate the rule 'apart'",
    ),
    (
        community(
            "vmware_guest",
            {},
            template="ubuntu-template",
            cluster="gpu",
            folder=FOLDER,
            state="poweredoff",
            networks=[{"name": "pg-train"}, {"name": "VM Network"}],
            customization_spec="linux-dhcp",
            datacenter="lab",
            name="refused",
        ),
        "number of network adapters",
    ),
]


@pytest.mark.parametrize("seed", ["small", "small-9.1"])
def test_strangers_clone_customize_and_start_vms_and_an_observer_sees_them(twin, seed):
    running = twin(seed=seed)
    assert differences(running, [CLONE, FROM_STORED_SPEC, DEPLOYED]) == []
    assert running.unserved == {}
    with virtual_machine(running, "made-01") as machine:
        assert [one.name for one in machine.network] == ["pg-train"]
        assert (machine.config.hardware.numCoresPerSocket, machine.config.memoryReservationLockedToMax) == (4, True)
        assert {"numa.nodeAffinity": "0"}.items() <= {one.key: one.value for one in machine.config.extraConfig}.items()
    (made,) = [one for one in running.world.of_kind("VirtualMachine") if one.name == "made-01"]
    with running.world.changed:  # its guest was asked to go and takes its time
        assert running.world.changed.wait_for(lambda: made.power == "poweredOff", timeout=120)
    with virtual_machine(running, "made-02") as machine:
        assert machine.guest.hostName == "made-02"
        (nic,) = machine.guest.net
        assert nic.network == "VM Network"
        assert nic.ipAddress[0] == machine.guest.ipAddress
    with client(running) as service:
        assert service.content.searchIndex.FindByInventoryPath("lab/vm/templates/made-template").config.template


def test_strangers_rules_hold_for_what_they_start_and_move(twin):
    running = twin()
    assert differences(running, [RULES]) == []
    assert differences(running, [ON_HOSTS]) == []
    with virtual_machine(running, "train-02") as machine, client(running):
        machine.PowerOnVM_Task()
    (answers,) = run(running, [[step for step, _says in REFUSED]])
    for (step, says), answer in zip(REFUSED, answers, strict=True):
        assert answer["failed"], step
        assert says in answer["msg"], answer["msg"]
    with client(running) as service:
        assert service.content.searchIndex.FindByInventoryPath("lab/vm/training/refused") is None
    with virtual_machine(running, "train-02") as machine:
        assert machine.runtime.host.name == OTHER_HOST


LIBRARY = """
- hosts: localhost
  gather_facts: false
  tasks:
    - vmware.vmware_rest.content_locallibrary_info:
      register: libraries
    - vmware.vmware_rest.content_library_item_info:
        library_item_id: "%(template)s"
      register: item
    - vmware.vmware_rest.vcenter_vmtemplate_libraryitems:
        name: from-template
        template_library_item: "%(template)s"
        placement: {cluster: "%(cluster)s", folder: "%(folder)s"}
        state: deploy
      register: deployed
    - vmware.vmware_rest.vcenter_ovf_libraryitem:
        ovf_library_item_id: "%(ovf)s"
        state: deploy
        target: {resource_pool_id: "%(pool)s", folder_id: "%(folder)s"}
        deployment_spec: {name: from-ovf, accept_all_EULA: true, storage_provisioning: thin}
      register: imported
    - ansible.builtin.copy:
        content: >-
          {{ {'libraries': libraries.value, 'item': item.value, 'deployed': deployed, 'imported': imported} | to_json }}
        dest: "%(out)s"
        mode: "0600"
"""


def test_modules_of_vmware_rest_deploy_from_content_libraries(twin, tmp_path):
    running = twin()
    with client(running) as service:
        find = service.content.searchIndex.FindByInventoryPath
        (library,) = running.world.libraries.known.values()
        places = {
            **{one.kind.rpartition("-")[2]: one.id for one in library.items.values()},
            "cluster": find("lab/host/gpu")._GetMoId(),
            "pool": find("lab/host/gpu").resourcePool._GetMoId(),
            "folder": find("lab/vm/training")._GetMoId(),
            "out": tmp_path / "said.json",
        }
    play = tmp_path / "play.yml"
    play.write_text(LIBRARY % places, encoding="utf-8")
    environment = {
        **os.environ,
        "ANSIBLE_HOME": str(tmp_path),
        "ANSIBLE_LOCAL_TEMP": str(tmp_path / "local"),
        "ANSIBLE_LOCALHOST_WARNING": "False",
        "VMWARE_HOST": f"{running.host}:{running.port}",
        "VMWARE_USER": running.username,
        "VMWARE_PASSWORD": running.password,
        "VMWARE_VALIDATE_CERTS": "no",
    }
    done = subprocess.run([ANSIBLE, play], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads((tmp_path / "said.json").read_text(encoding="utf-8"))
    assert [one["name"] for one in said["libraries"]] == ["images"]
    assert (said["item"]["name"], said["item"]["type"]) == ("ubuntu-24.04", "vm-template")
    with client(running) as service:
        made = {
            name: service.content.searchIndex.FindByInventoryPath(f"lab/vm/training/{name}")
            for name in ("from-template", "from-ovf")
        }
        assert said["deployed"]["value"] == made["from-template"]._GetMoId()
        assert said["imported"]["value"]["resource_id"]["id"] == made["from-ovf"]._GetMoId()
        assert [one.runtime.powerState for one in made.values()] == ["poweredOff"] * 2
