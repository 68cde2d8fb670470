#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vm_clone
short_description: Manage fleets of VMs that are cloned from one template
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Creates VMs from a template, from a VM that is powered off, or from an item of a content library. Each VM gets its
    host and datastore. vCenter copies several VMs in parallel.
  - Supplies the data for the first boot of the guest, either cloud-init data or a customization.
  - Leaves an existing VM of the same name unchanged. It does not compare the template, the cloud-init data or the
    customization of that VM, because these take effect only at creation.
  - Checks everything before it starts the first copy. It rejects a missing template, a host in maintenance mode, and a
    name that is already in use. It rejects a datastore with too little space for all VMs together. Each error states
    the fix.
  - Can run again after a killed run. vCenter continues its copies without the module. The next run waits for them and
    creates the missing VMs. No VM is created twice.
  - The peers M(vmware.vmware.deploy_folder_template) and M(community.vmware.vmware_guest) create one VM per task, one
    after the other. Use this module for several VMs at once, for check mode and diff, and for cloud-init data.
notes:
  - New VMs are powered off. They have the network adapters of the template. Use the network adapter modules to change
    them.
  - The module writes cloud-init data to C(guestinfo.metadata) and C(guestinfo.userdata) in the advanced settings of the
    VM. Every vCenter user who can read the VM can read them. Do not put valuable passwords into
    O(vms[].cloud_init.userdata), or let the guest change them at its first boot.
  - The template needs cloud-init 21.3 or newer. Its VMware data source reads these settings.
  - The advanced setting C(aiready.vsphere.cloned_from) of a VM contains its template. C(aiready.vsphere.owner) contains
    the O(owner) and the name of the VM. A copy that another client creates has the same settings under another name.
    The module treats the copy as a VM that it did not create.
  - The module copies a template of a content library like any other template. It deploys OVF items one after the other,
    because vCenter handles one request per item and answers at the end. Convert such an item into a template for a
    fleet. vCenter reports its firmware only after the deployment.
  - O(state=absent) removes only VMs that are powered off and that this module created. It rejects a VM of another owner
    and a VM with snapshots. It also rejects a VM with a disk in the folder of another VM, or with a disk that several
    VMs write to.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.task_waiting
  - aiready.vsphere.attributes
options:
  vms:
    description:
      - List of VMs. Each entry has the name of a VM and its differences from the task. The module looks up and creates
        all VMs together.
      - A failure of one VM does not prevent the creation of the others. The task then fails with a summary. RV(vms)
        contains the result of each VM.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the VM, at most 80 characters. It must be unique within the datacenter.
        type: str
        required: true
      instance_uuid:
        description:
          - Instance UUID that the VM must have, with O(state=absent). The module rejects another VM of the same name.
        type: str
        version_added: 0.2.0
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
          - cloud-init data for the guest. A missing part comes from O(cloud_init).
          - Mutually exclusive with O(vms[].customization).
        type: dict
        suboptions: &cloud_init
          metadata:
            description:
              - cloud-init metadata as a dictionary, or as a YAML or JSON text. It contains the host name and the
                network configuration.
              - The module derives a missing C(instance-id) or C(local-hostname) from the name of the VM.
              - Do not put secrets here. The metadata appears in the invocation and in the log.
            type: raw
          userdata:
            description:
              - cloud-init userdata as a text, for example one that begins with C(#cloud-config).
              - It never appears in results, diffs or logs.
            type: str
      customization:
        description: O(customization) for this VM. Mutually exclusive with O(vms[].cloud_init).
        type: dict
        suboptions: &customization
          spec:
            description:
              - Name of a customization specification for Linux in vCenter.
              - For several VMs, the specification must use the name of the VM as host name.
            type: str
          hostname:
            description: Host name of the guest. Defaults to a host name from the name of the VM.
            type: str
          domain:
            description: DNS domain of the guest.
            type: str
          networks:
            description:
              - Network settings, one entry for each network adapter of the template, in their order. Without this
                option, all adapters use DHCP.
            type: list
            elements: dict
            suboptions:
              type:
                description: Source of the IP address.
                type: str
                choices: [dhcp, static]
                default: dhcp
              ip:
                description: IPv4 address, for V(static).
                type: str
              netmask:
                description: Netmask, for V(static).
                type: str
              gateway:
                description: Gateway.
                type: str
          dns_servers:
            description: Addresses of the DNS servers.
            type: list
            elements: str
          dns_suffixes:
            description: DNS search domains.
            type: list
            elements: str
  state:
    description:
      - Desired state of the VMs.
      - V(present) creates the missing VMs.
      - V(absent) removes VMs with their disks, if they are powered off and this module created them.
    type: str
    choices: [present, absent]
    default: present
  owner:
    description:
      - Name of the owner of the VMs, such as a site. The module writes it into each new VM, and into a VM that it
        created earlier without an owner. An existing owner remains.
      - With O(state=absent), the module rejects a VM of another owner.
      - M(aiready.vsphere.vm_owner_info) returns the owner.
    type: str
  planned:
    description:
      - Predicted state of the VMs after earlier tasks of the same play. It applies only in check mode.
    type: dict
    suboptions:
      power:
        description: V(off) if the VMs will be powered off, so that check mode can plan O(state=absent) for running VMs.
        type: str
        choices: ["off"]
  template:
    description:
      - Name, inventory path or managed object ID of the template. A VM that is powered off can serve as a template.
      - The module reads the template only if a VM is missing. You can delete the template after all VMs exist.
    type: str
  library_item:
    description: Name of a content library item, either a template or an OVF. Replaces O(template).
    type: str
  library:
    description: Name of the content library. Needed if several libraries have an item of this name.
    type: str
  accept_eula:
    description: Whether to accept the license agreements of an OVF item.
    type: bool
    default: false
  datacenter:
    description: Name or inventory path of the datacenter. Needed if vCenter has more than one.
    type: str
  cluster:
    description:
      - Name of the cluster for VMs without O(host). Needed if the datacenter has more than one.
      - A given O(host) must be in this cluster.
    type: str
  resource_pool:
    description: Name of a resource pool of the cluster. Defaults to the root resource pool of the cluster.
    type: str
  folder:
    description:
      - Folder of the VMs, either relative to the VM folder of the datacenter, such as V(training), or as a full path,
        such as V(/dc1/vm/training). It must exist.
      - Without this option, an existing VM can be in any folder. A new VM gets the VM folder of the datacenter.
    type: str
  host:
    description:
      - Name of the host. Defaults to the host of the cluster with the fewest VMs, including those of this task.
    type: str
  datastore:
    description:
      - Name of the datastore. Defaults to the datastore of the host with the most free space, after the space for this
        task.
    type: str
  annotation:
    description: Notes of a new VM. Defaults to the notes of the template.
    type: str
  cloud_init:
    description: cloud-init data for all new VMs. Mutually exclusive with O(customization).
    type: dict
    suboptions: *cloud_init
  customization:
    description:
      - Customization of all guests by vCenter at their first boot. It needs VMware Tools (open-vm-tools) in the
        template. Mutually exclusive with O(cloud_init).
    type: dict
    suboptions: *customization
  disk:
    description:
      - Format of the disks of new VMs.
      - V(template) keeps the format of the template.
    type: str
    choices: [thin, thick, template]
    default: template
  disk_gb:
    description:
      - Size in GB of the first disk of new VMs. The disk grows when the module creates the VM. Without this option, or
        with V(0), the disk keeps the size of the template.
      - The first disk has the lowest unit number on the first controller, in the order SCSI, NVMe, SATA. The guest
        grows partitions and file systems. cloud-init does this by default.
      - The module rejects a template with a larger disk, because vSphere does not shrink disks. vCenter reports the
        disk size of an OVF item only after the deployment. A rejected VM then remains powered off and not configured.
        The next run with a sufficient size finishes it.
      - The module does not change the disks of existing VMs.
    type: int
  firmware:
    description:
      - Firmware that the template must have.
      - V(efi) rejects a template with BIOS firmware. GPUs with a large MMIO window do not work with BIOS.
      - V(ignore) accepts both.
    type: str
    choices: [efi, ignore]
    default: efi
  move:
    description:
      - Reaction to an existing VM that is on another host or datastore than requested.
      - V(keep) leaves it there, and returns the requested ones in RV(vms[].host_wanted) and RV(vms[].datastore_wanted).
      - V(refuse) fails.
      - V(cold) moves the VM if it is powered off, and fails if it runs.
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
- name: Create one VM from a template
  aiready.vsphere.vm_clone:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    template: ubuntu-template
    vms:
      - name: train-01

- name: Create a fleet of VMs with host names
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Clone the template to two hosts
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

    - name: Show the hosts of the VMs
      ansible.builtin.debug:
        msg: "{{ item.name }}: {{ item.after.host }}, {{ item.after.datastore }}"
      loop: "{{ machines.vms }}"
      loop_control:
        label: "{{ item.name }}"

- name: Use guest customization instead of cloud-init
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

- name: Remove the VMs
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
  description: One result per VM, in the order of the task. Also returned if the task fails.
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
      description: Managed object ID of the VM. Null if it does not exist yet.
      type: str
      returned: always
      sample: vm-42
    instance_uuid:
      description: Instance UUID of the VM. Null if it does not exist yet.
      type: str
      returned: always
      sample: 52b6d2a1-8c0f-4c5e-9a39-3f1f0c9f3a11
    path:
      description: Inventory path of the VM. In check mode, the path of the VM to create.
      type: str
      returned: always
      sample: /dc1/vm/training/train-02
    host:
      description: Name of the host of the VM. In check mode, the host for the VM to create.
      type: str
      returned: always
      sample: esx-01
    cluster:
      description: Name of the cluster of the host. For a standalone host, name of its compute resource.
      type: str
      returned: always
      sample: gpu
    host_wanted:
      description: Requested host, if the VM is on another host and stays there. Otherwise null.
      type: str
      returned: always
      sample: null
    datastore_wanted:
      description: Requested datastore, if the VM is on another datastore and stays there. Otherwise null.
      type: str
      returned: always
      sample: null
    changed:
      description: V(true) if the module created, moved or removed this VM, or would do so in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: State before the change, with the same keys as RV(vms[].after).
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
      description: State after the change, read again from vCenter. In check mode, the predicted state.
      type: dict
      returned: always
      contains:
        exists:
          description: V(true) if the VM exists.
          type: bool
          returned: success
        path:
          description: Inventory path of the VM.
          type: str
          returned: success
        host:
          description: Host of the VM.
          type: str
          returned: success
        datastore:
          description: Datastore with the configuration of the VM.
          type: str
          returned: success
        source:
          description: Template or item that the VM was created from. Null if this module did not create the VM.
          type: str
          returned: success
        owner:
          description: Owner of the VM. Null for a VM without O(owner).
          type: str
          returned: success
        disk_gb:
          description: Size of the first disk in GB. Null without O(disk_gb).
          type: float
          returned: success
        cloud_init:
          description: Kinds of cloud-init data of the VM, never their content.
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
      description: Changes that the module made, or would make in check mode. One entry per setting.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: exists, before: false, after: true, needs: null}
        - {path: host, before: null, after: esx-01, needs: null}
    pending:
      description: Always empty. All VM modules return this key.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: V(true) if this VM differs from the request.
      type: bool
      returned: always
      sample: false
    msg:
      description: Cause of the failure of this VM, and the fix. Empty if the VM matches the request.
      type: str
      returned: always
      sample: ""
    failure:
      description: Machine-readable cause with a stable C(code). Empty if the VM matches the request.
      type: dict
      returned: always
      sample: {}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: some_failed, failed: [train-03]}
"""

from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import planned, run
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import params
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.module import CloneModule
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.noun import Clones

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.state import Machine


def main() -> None:
    module = CloneModule(argument_spec=params.ARGUMENTS, supports_check_mode=True)
    _pyvmomi.require(module)
    fail_if_invalid(module, params.check_params(module.params))
    items: list[Item[params.CloneRequest, Machine]] = [
        Item(one.name, one, params.ids(one.name))
        for one in params.requests(dict(module.params, planned=planned(module, module.params["planned"])))
    ]
    noun = Clones(module.params, module.warn)
    try:
        run(module, noun, items, "vms")
    finally:
        noun.close()


if __name__ == "__main__":
    main()
