#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vm_clone
short_description: Make a fleet of VMs from one template
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Makes VMs from a template, a VM that is off, or an item of a content library, each on its host and datastore. Many
    are copied at the same time.
  - Brings along what the guest has to find at its first boot, the data of cloud-init or a customization.
  - A VM of this name that is there already is left as it is. What a template, cloud-init data or a customization would
    give it is not compared, because all of these act only when a VM is made.
  - Looks at everything before the first copy is begun. A template that is not there, a host in maintenance, a name
    that is taken or a datastore with too little space for all VMs together is refused with what to do about it.
  - Can be started again after it was killed. vCenter goes on copying by itself; the next run waits for the copies that
    are under way and makes those that are missing. No VM is made twice.
  - The peers M(vmware.vmware.deploy_folder_template) and M(community.vmware.vmware_guest) make one VM per task, one
    after the other. Use this module for several VMs at once, for check mode and diff, and for cloud-init data.
notes:
  - The VMs are off afterwards. Network adapters are those of the template; use the modules for network adapters to
    change them.
  - cloud-init's data are kept in C(guestinfo.metadata) and C(guestinfo.userdata) of the VM's advanced settings, and
    everybody who may read the VM in vCenter can read them there. Put no password into O(vms[].cloud_init.userdata)
    that is worth keeping, or let the guest change it at its first boot. The guest's template needs cloud-init 21.3 or
    newer, whose data source for VMware reads these settings.
  - The advanced setting C(aiready.vsphere.cloned_from) of a VM names the template it was made from, and
    C(aiready.vsphere.owner) the O(owner) with the name of the VM. A copy that another client makes of the VM has the
    same settings under another name, and counts as a VM that this module did not make.
  - A template of a content library is copied as any other template. Items of type OVF are deployed one after the
    other, since vCenter takes one request for each and answers it at the end. Turn such an item into a template for a
    fleet. Its firmware is known only after it was deployed.
  - O(state=absent) removes only VMs that are off and were made by this module. A VM of another owner, with snapshots,
    with a disk in the folder of another VM or with a disk that several VMs write to is refused.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.task_waiting
  - aiready.vsphere.attributes
options:
  vms:
    description:
      - The VMs, each with its name and what differs from the task. They are looked up together and made together.
      - What goes wrong with one VM does not keep the others from being made. The task fails with a summary, and
        RV(vms) has the result of each.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the VM, of at most 80 characters. Has to be unique within the datacenter.
        type: str
        required: true
      folder:
        description: O(folder) for this VM alone.
        type: str
      host:
        description: O(host) for this VM alone.
        type: str
      datastore:
        description: O(datastore) for this VM alone.
        type: str
      annotation:
        description: O(annotation) for this VM alone.
        type: str
      cloud_init:
        description:
          - Data for cloud-init in the guest. A part that is left out here is taken from O(cloud_init).
          - Mutually exclusive with O(vms[].customization).
        type: dict
        suboptions: &cloud_init
          metadata:
            description:
              - The metadata as a dictionary, or as a text in YAML or JSON. Host name and network configuration stand
                here.
              - C(instance-id) and C(local-hostname) are made from the name of the VM where they are missing.
              - It is no place for secrets, since it stands in the invocation and in the log.
            type: raw
          userdata:
            description:
              - The userdata as a text, for example one that begins with C(#cloud-config).
              - It never shows in results, diffs or logs.
            type: str
      customization:
        description: O(customization) for this VM alone. Mutually exclusive with O(vms[].cloud_init).
        type: dict
        suboptions: &customization
          spec:
            description:
              - Name of a customization specification for Linux that vCenter keeps.
              - For several VMs it has to take the VM's name as host name.
            type: str
          hostname:
            description: Host name of the guest. Without it, one is made from the name of the VM.
            type: str
          domain:
            description: DNS domain of the guest.
            type: str
          networks:
            description:
              - One entry for each network adapter of the template, in their order. Without it, all use DHCP.
            type: list
            elements: dict
            suboptions:
              type:
                description: Where the address comes from.
                type: str
                choices: [dhcp, static]
                default: dhcp
              ip:
                description: The IPv4 address, for V(static).
                type: str
              netmask:
                description: The netmask, for V(static).
                type: str
              gateway:
                description: The gateway.
                type: str
          dns_servers:
            description: Addresses of DNS servers.
            type: list
            elements: str
          dns_suffixes:
            description: DNS domains to search.
            type: list
            elements: str
  state:
    description:
      - V(present) makes the VMs that are missing.
      - V(absent) removes the VMs, with their disks, as far as they are off and were made by this module.
    type: str
    choices: [present, absent]
    default: present
  owner:
    description:
      - Name of what the VMs belong to, such as a site. It is written into each new VM, and into a VM of this module
        that has none. A VM keeps the owner that it has.
      - With O(state=absent), a VM with another owner is refused.
      - M(aiready.vsphere.vm_owner_info) reads it.
    type: str
  planned:
    description:
      - What earlier tasks of the same play will have made of the VMs. It is looked at in check mode only.
    type: dict
    suboptions:
      power:
        description: V(off) when the VMs will be off, so that O(state=absent) can be checked while they run.
        type: str
        choices: ["off"]
  template:
    description:
      - Name, inventory path or MoID of the template. A VM that is off can serve as one.
      - Looked at only when a VM is missing, so that a template may go once the VMs are there.
    type: str
  library_item:
    description: Name of an item of a content library, a template or an OVF, instead of O(template).
    type: str
  library:
    description: Name of the content library. Needed when several have an item of this name.
    type: str
  accept_eula:
    description: Whether you accept the licence agreements that come with an item of type OVF.
    type: bool
    default: false
  datacenter:
    description: Name or inventory path of the datacenter. Needed when vCenter has more than one.
    type: str
  cluster:
    description:
      - Name of the cluster for VMs without a O(host). Needed when the datacenter has more than one.
      - A host that is named has to be in it.
    type: str
  resource_pool:
    description: Name of a resource pool of the cluster. Without it, the cluster's own.
    type: str
  folder:
    description:
      - The folder of VMs, as a path from the datacenter's folder of VMs such as V(training), or in full such as
        V(/dc1/vm/training). It has to exist.
      - Without it, a VM that is there may be in any folder, and a new one comes into the datacenter's folder of VMs.
    type: str
  host:
    description:
      - Name of the host. Without it, the host of the cluster with the fewest VMs, those of this task included.
    type: str
  datastore:
    description:
      - Name of the datastore. Without it, the one with the most free space that the host sees, with what this task
        puts there counted.
    type: str
  annotation:
    description: The notes of a new VM. Without it, those of the template.
    type: str
  cloud_init:
    description: Data for cloud-init of all VMs, when they are made. Mutually exclusive with O(customization).
    type: dict
    suboptions: *cloud_init
  customization:
    description:
      - How vCenter customizes the guests of all VMs at their first boot. Needs VMware Tools (open-vm-tools) in the
        template. Mutually exclusive with O(cloud_init).
    type: dict
    suboptions: *customization
  disk:
    description:
      - Format of the disks of new VMs.
      - V(template) keeps that of the template.
    type: str
    choices: [thin, thick, template]
    default: template
  disk_gb:
    description:
      - Size in GB of the first disk of new VMs. The disk grows to it when the VM is made. Without it, or with V(0),
        the disk has the size that the template has.
      - The first disk has the lowest unit on the first controller, SCSI before NVMe before SATA. Its partitions and
        file systems are those of the template until the guest grows them, as cloud-init does by default.
      - A template with a larger disk is refused, since vSphere does not shrink disks. The size of an item of type OVF
        is known only after it was deployed. A VM that is refused then stays, off and not set up, and the next run with
        a sufficient size finishes it.
      - VMs that are there keep the size that they have.
    type: int
  firmware:
    description:
      - V(efi) refuses a template with BIOS firmware, with which GPUs that have large memory windows do not work.
      - V(ignore) takes any.
    type: str
    choices: [efi, ignore]
    default: efi
  move:
    description:
      - What to do about a VM that is there, but not on the host or datastore that is named.
      - V(keep) leaves it where it is, and tells the other place in RV(vms[].host_wanted) and
        RV(vms[].datastore_wanted).
      - V(refuse) fails.
      - V(cold) moves it if it is off, and fails if it runs.
    type: str
    choices: [keep, refuse, cold]
    default: keep
seealso:
  - module: aiready.vsphere.vm_owner_info
  - module: aiready.vsphere.vm_power
  - module: aiready.vsphere.vgpu_profile
  - module: vmware.vmware.deploy_folder_template
  - module: community.vmware.vmware_guest
"""

EXAMPLES = r"""
- name: Make one VM from a template
  aiready.vsphere.vm_clone:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    template: ubuntu-template
    vms:
      - name: train-01

- name: Make a fleet of VMs whose guests know their names
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Copy the template to two hosts
      aiready.vsphere.vm_clone:
        template: /dc1/vm/ubuntu-template
        cluster: gpu
        folder: training
        disk: thin
        disk_gb: 400
        cloud_init:
          userdata: |
            #cloud-config
            users:
              - name: ops
                ssh_authorized_keys: [ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExample ops@example.com]
        vms:
          - name: train-02
            host: esx-01
            cloud_init:
              metadata: {local-hostname: train-02.example.com}
          - name: train-03
            host: esx-02
      register: machines

    - name: Show where they are
      ansible.builtin.debug:
        msg: "{{ item.name }}: {{ item.after.host }}, {{ item.after.datastore }}"
      loop: "{{ machines.vms }}"
      loop_control:
        label: "{{ item.name }}"

- name: Let vCenter customize the guest instead
  aiready.vsphere.vm_clone:
    template: ubuntu-template
    folder: training
    vms:
      - name: train-04
        customization:
          hostname: train-04
          domain: example.com
          networks:
            - type: static
              ip: 192.0.2.14
              netmask: 255.255.255.0
              gateway: 192.0.2.1
          dns_servers: [192.0.2.53]

- name: Remove the VMs again
  aiready.vsphere.vm_clone:
    vms:
      - name: train-01
      - name: train-02
      - name: train-03
      - name: train-04
    state: absent
"""

RETURN = r"""
vms:
  description: One result per VM, in the order of the task, also when the task fails.
  returned: unless the parameters are wrong
  type: list
  elements: dict
  contains:
    name:
      description: Name of the VM.
      type: str
      returned: always
      sample: train-02
    moid:
      description: Managed object ID of the VM, null for one that is not there yet.
      type: str
      returned: always
      sample: vm-42
    instance_uuid:
      description: Instance UUID of the VM, null for one that is not there yet.
      type: str
      returned: always
      sample: 52b6d2a1-8c0f-4c5e-9a39-3f1f0c9f3a11
    path:
      description: Inventory path of the VM, in check mode of the one that would be made.
      type: str
      returned: always
      sample: /dc1/vm/training/train-02
    host:
      description: Name of the host that the VM is on, in check mode of the one that it would be on.
      type: str
      returned: always
      sample: esx-01
    cluster:
      description: Name of the host's cluster, or of the compute resource of a host without one.
      type: str
      returned: always
      sample: gpu
    host_wanted:
      description: The host that was named, where the VM is on another one and stays there. Null otherwise.
      type: str
      returned: always
      sample: null
    datastore_wanted:
      description: The datastore that was named, where the VM is on another one and stays there. Null otherwise.
      type: str
      returned: always
      sample: null
    changed:
      description: Whether this VM was made, moved or removed, or would be in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: What was found, in the same terms as RV(vms[].after).
      type: dict
      returned: always
      sample:
        exists: false
        path: null
        host: null
        datastore: null
        source: null
        owner: null
        disk_gb: null
        cloud_init: []
    after:
      description: What is there now, read again after the change; in check mode, what would be there.
      type: dict
      returned: always
      contains:
        exists:
          description: Whether the VM is there.
          type: bool
          returned: success
        path:
          description: Its inventory path.
          type: str
          returned: success
        host:
          description: The host it is on.
          type: str
          returned: success
        datastore:
          description: The datastore that has its configuration.
          type: str
          returned: success
        source:
          description: What it was made from, null for a VM that was not made by this module.
          type: str
          returned: success
        owner:
          description: What it belongs to, null for a VM without O(owner).
          type: str
          returned: success
        disk_gb:
          description: Size of its first disk in GB, null without O(disk_gb).
          type: float
          returned: success
        cloud_init:
          description: Which data for cloud-init it has, never what is in them.
          type: list
          elements: str
          returned: success
      sample:
        exists: true
        path: /dc1/vm/training/train-02
        host: esx-01
        datastore: datastore-01
        source: /dc1/vm/ubuntu-template
        owner: null
        disk_gb: null
        cloud_init: [metadata, userdata]
    changes:
      description: What was changed, or would be in check mode, one entry per setting.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: exists, before: false, after: true, needs: null}
        - {path: host, before: null, after: esx-01, needs: null}
    pending:
      description: Always empty. Here because every module of VMs has it.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: Whether this VM is not as wanted.
      type: bool
      returned: always
      sample: false
    msg:
      description: Why this VM is not as wanted, and what to do. Empty when it is.
      type: str
      returned: always
      sample: ""
    failure:
      description: The reason for machines, with a stable C(code). Empty when the VM is as wanted.
      type: dict
      returned: always
      sample: {}
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
  returned: failure
  type: dict
  sample: {code: some_failed, failed: [train-03]}
"""

from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import params
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.module import CloneModule
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.noun import Clones

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Wish
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.state import Machine


def main() -> None:
    module = CloneModule(argument_spec=params.ARGUMENTS, supports_check_mode=True)
    _pyvmomi.require(module)
    fail_if_invalid(module, params.check_params(module.params))
    items: list[Item[Wish, Machine]] = [
        Item(wish["name"], wish, params.ids(wish)) for wish in params.wishes(module.params)
    ]
    noun = Clones(module.params, module.warn, module.check_mode)
    try:
        run(module, noun, items, "vms")
    finally:
        noun.close()


if __name__ == "__main__":
    main()
