#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: nvaie_vib
short_description: NVIDIA host driver of an ESXi host
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Installs, updates and removes the NVIDIA host driver (the vGPU Manager) of one ESXi host. Works through vCenter, so
    that SSH stays off and lockdown mode does not matter.
  - Knows the package of NVIDIA AI Enterprise, which compute boards need, from that of NVIDIA vGPU for graphics, which
    installs and loads on them as well and then offers no compute profile. What the package says of itself decides, not
    the name of its file.
  - There are no modules for VIBs in the community.vmware and vmware.vmware collections.
notes:
  - After an installation a reboot is always due, although C(esxcli) answers that none is required; RV(host.pending)
    tells it until the driver that is installed is the one that runs. This module does not reboot.
  - The host has to be in maintenance mode when its software changes. This is looked at after the plan was made, so that
    check mode tells what would be installed on a host that still works. VMs in the way are named and never touched.
  - The checks of the installer stay on. There is no option to force an installation, to skip the check of signatures,
    or to lower the acceptance level of the host.
  - Whether the driver that runs is the installed one is told by the version and the VIB of the loaded module, and by
    the time of the last change of the host's software, which is compared with the time of its boot. A change of other
    software on the day on which the driver was installed can then ask for a reboot that is not needed.
  - A run that was killed leaves nothing that the next run does not continue. Files are uploaded under another name
    first, an own draft of a cluster's image is taken up again, and an answer that was lost is replaced by a look at the
    host.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.host_identity
  - aiready.vsphere.esxcli_transport
  - aiready.vsphere.attributes
options:
  state:
    description:
      - V(present) installs the driver of O(depot), O(url) or O(file), or updates the one that is there.
      - V(absent) removes the driver of O(family). One of another family is left alone.
    type: str
    choices: [present, absent]
    default: present
  depot:
    description:
      - The offline depot (zip) or the VIB of the driver on a datastore of the host, as V([datastore-01]
        depots/name.zip) or V(/vmfs/volumes/datastore-01/depots/name.zip).
      - This is the depot of the host driver, not NVIDIA's download in which it is packed.
    type: str
  url:
    description:
      - The address of the driver, from where the host or vCenter fetches it, without a user or a password in it.
      - On a host of its own this can be a single VIB or the C(index.xml) of an online depot, since C(esxcli) takes zip
        files only from datastores. For a cluster with an image it has to be the offline depot (zip).
    type: str
  file:
    description:
      - The depot or VIB on the machine that runs the module. It is copied to O(datastore) before it is installed, and
        is not copied again when the same file is there.
    type: path
  datastore:
    description: The datastore of the host that O(file) is copied to. Required with O(file).
    type: str
  folder:
    description: The folder on O(datastore) that O(file) is copied to. It is made when it is not there.
    type: str
    default: aiready
  keep_upload:
    description:
      - Whether O(file) stays on O(datastore) after the installation, where the other hosts of a cluster find it.
      - With V(false) what this run has copied is removed again.
    type: bool
    default: true
  checksum:
    description:
      - The SHA-256 that O(file) or O(depot) must have, as 64 hexadecimal digits, with or without V(sha256:) before
        them.
      - For O(depot) the whole file is read over the network to compare it.
    type: str
  family:
    description:
      - The product that the driver belongs to. The package is refused when it is of the other one.
      - V(nvaie) is NVIDIA AI Enterprise, for compute profiles. V(graphics) is NVIDIA vGPU, for virtual desktops.
    type: str
    choices: [nvaie, graphics]
    default: nvaie
  replace:
    description:
      - Whether a driver of another family that is installed is removed for the wanted one. Otherwise it is an error
        that names the driver.
    type: bool
    default: false
  other_release:
    description:
      - What happens to a driver whose version reads as built for another release of ESXi than the host's.
      - That reading is no vendor's word, so V(allow) leaves the decision to the installer of the host.
    type: str
    choices: [refuse, allow]
    default: refuse
  downgrade:
    description:
      - What to do when a newer driver of the same family is installed.
      - V(refuse) fails. V(allow) installs the older one. Guests with newer drivers then start without their vGPU.
    type: str
    choices: [refuse, allow]
    default: refuse
  method:
    description:
      - How the software of the host is changed.
      - V(auto) asks vCenter whether one image manages the cluster of the host, and uses the image if so. Otherwise it
        uses C(esxcli).
      - V(esxcli) changes the host alone. It is refused where an image manages the cluster, because the host would drift
        from it.
      - V(image) puts the driver into the image of the cluster and then brings this host, and no other, to the image.
        vCenter may reboot the host for it.
    type: str
    choices: [auto, esxcli, image]
    default: auto
  task_timeout_s:
    description:
      - How many seconds one task of vCenter may take, such as the remediation of the host with O(method=image). After
        that the module fails, and the task goes on in vCenter.
    type: int
    default: 3600
attributes:
  check_mode:
    details: The changes and refusals are those of a real run, except that the host need not be in maintenance mode.
  diff_mode:
    details: The driver before and after, and each VIB that is installed, updated or removed.
seealso:
  - module: aiready.vsphere.nvaie_driver_info
  - module: aiready.vsphere.vgpu_profile
"""

EXAMPLES = r"""
- name: Install the driver from a datastore
  aiready.vsphere.nvaie_vib:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    host: esx-01.example.com
    depot: "[datastore-01] depots/NVD-AIE-800_550.54.16-1OEM.800.1.0.20613240_23471877.zip"

- name: Bring the hosts of a cluster to one driver
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: The driver is installed
      aiready.vsphere.nvaie_vib:
        host: "{{ item }}"
        depot: /vmfs/volumes/datastore-01/depots/NVD-AIE-800_550.54.16-1OEM.800.1.0.20613240_23471877.zip
        replace: true
      loop:
        - esx-01.example.com
        - esx-02.example.com
      register: drivers

    - name: Show which hosts have to be rebooted
      ansible.builtin.debug:
        msg: "{{ item.host.after.version }} is installed, {{ item.host.after.booted_version or 'no driver' }} runs"
      loop: "{{ drivers.results | rejectattr('host.pending', 'equalto', []) }}"
      loop_control:
        label: "{{ item.host.name }}"

- name: Remove the driver
  aiready.vsphere.nvaie_vib:
    host: esx-01.example.com
    state: absent
"""

RETURN = r"""
host:
  description: What became of the driver of the host, also when the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the host.
      type: str
      returned: always
      sample: esx-01.example.com
    moid:
      description: Managed object ID of the host. Null for a host that was not found.
      type: str
      returned: always
      sample: host-42
    cluster:
      description: Name of the host's cluster. Null for a host without one.
      type: str
      returned: always
      sample: gpu
    changed:
      description: Whether something was changed, or would be in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: What was found, in the same terms as RV(host.after). Empty for a host that could not be read.
      type: dict
      returned: always
    after:
      description: What is there now, read again after the change. In check mode, what would be there.
      type: dict
      returned: always
      contains:
        family:
          description: V(nvaie) or V(graphics), the product of the driver that is installed. Null without a driver.
          type: str
          returned: success
        version:
          description: The version of the driver that is installed, without the suffix for ESXi.
          type: str
          returned: success
        branch:
          description: The branch of that driver, by which host and guest drivers are paired.
          type: int
          returned: success
        release:
          description: The release of NVIDIA vGPU software that the driver belongs to. Null for an unknown one.
          type: str
          returned: success
        vibs:
          description: The VIBs of host drivers, with C(name), C(version), C(family) and C(acceptance).
          type: list
          elements: dict
          returned: success
        components:
          description: The components of host drivers, with C(name) and C(version).
          type: list
          elements: dict
          returned: success
        loaded:
          description: Whether the host runs a driver, that is, whether the module C(nvidia) is loaded.
          type: bool
          returned: success
        booted_version:
          description: The version of the driver that the host runs. Null when it runs none, or when it cannot be told.
          type: str
          returned: success
        guest_branches:
          description: The driver branches that guests on this host may have, newest first, once this driver runs.
          type: list
          elements: int
          returned: success
        esxi:
          description: The version of ESXi.
          type: str
          returned: success
        acceptance:
          description: The acceptance level of the host.
          type: str
          returned: success
        managed_by:
          description: V(image) where one image manages the software of the host's cluster, otherwise V(baselines).
          type: str
          returned: success
        image_components:
          description: The components of host drivers in that image, with C(name) and C(version).
          type: list
          elements: dict
          returned: success
        in_maintenance:
          description: Whether the host is in maintenance mode.
          type: bool
          returned: success
        devices:
          description: The graphics devices of NVIDIA, with C(id), C(name) and the active graphics C(type).
          type: list
          elements: dict
          returned: success
      sample:
        family: nvaie
        version: 550.54.16
        branch: 550
        release: "17.1"
        vibs:
          - name: NVD-AIE_ESXi_8.0.0_Driver
            version: 550.54.16-1OEM.800.1.0.20613240
            family: nvaie
            acceptance: VMwareAccepted
        components:
          - name: NVD-AIE-800
            version: 550.54.16-1OEM.800.1.0.20613240
        loaded: false
        booted_version: null
        guest_branches: [550, 535]
        esxi: 8.0.3
        acceptance: PartnerSupported
        managed_by: baselines
        image_components: []
        in_maintenance: true
        devices:
          - id: "0000:39:00.0"
            name: NVIDIA A100 PCIe 40GB
            type: basic
    changes:
      description: What was changed, or would be in check mode, with one entry for the driver and one for each VIB.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: driver, before: null, after: nvaie 550.54.16-1OEM.800.1.0.20613240, needs: reboot}
        - path: vibs.NVD-AIE_ESXi_8.0.0_Driver
          before: null
          after: 550.54.16-1OEM.800.1.0.20613240
          needs: null
    pending:
      description: What waits for a restart. A driver that does not run yet, or that was removed and still runs.
      type: list
      elements: dict
      returned: always
      sample:
        - {what: driver, needs: reboot}
    failed:
      description: Whether the host is not as wanted.
      type: bool
      returned: always
      sample: false
    msg:
      description: Why the host is not as wanted, and what to do. Empty when it is.
      type: str
      returned: always
      sample: ""
    failure:
      description: The reason for machines, with a stable C(code). Empty when the host is as wanted.
      type: dict
      returned: always
      sample: {}
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
  returned: failure
  type: dict
  sample: {code: not_in_maintenance, running_vms: [train-01]}
"""

from typing import TYPE_CHECKING, Any, Callable, Sequence

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item, Wish
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun, run
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import (
    apply,
    image,
    params,
    plan,
    read,
    source,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import state as driver_state
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi, datastore_file, session

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter


class HostDriver(Noun[Wish, driver_state.HostDriver]):
    """The NVIDIA driver of an ESXi host."""

    def __init__(self, params: Wish, warn: Callable[[str], None], progress: Callable[[str], None]) -> None:
        self._params = params
        self._warn = warn
        self._progress = progress
        self._vcenter: VCenter | None = None
        self._reach: read.Reach = None  # type: ignore[assignment]
        self._files: datastore_file.DatastoreFiles = None  # type: ignore[assignment]
        self._source: source.Source | None = None
        self._method: str | None = None
        self._uncertain: OperatorError | None = None

    def read(self, items: Sequence[Item[Wish, driver_state.HostDriver]]) -> None:
        (item,) = items
        self._vcenter = session.connect(self._params, self._warn)
        self._reach = read.open_reach(self._vcenter, self._params)
        host = self._reach.host
        item.label = f"Host {host.name}"
        item.ids.update(name=host.name, moid=host.moid, cluster=host.cluster)
        item.now = read.read(self._reach)
        self._files = datastore_file.DatastoreFiles(self._vcenter, host, self._params["task_timeout_s"])
        if self._params["state"] == "present":
            self._source = source.find(self._reach, self._files, self._params)

    def want(self, item: Item[Wish, driver_state.HostDriver]) -> driver_state.HostDriver:
        if self._source is not None:
            wanted = plan.want_present(item.label, item.now, self._source.package, self._params)
        else:
            wanted = plan.want_absent(item.now, self._params)
        if plan.compare(item.now, wanted):
            self._method = plan.method(item.label, item.now, self._params)
            plan.demand_usable_source(item.label, self._source, self._method)
            if self._source is not None and self._source.package.told_by == "name":
                self._warn(f"Only the name of {self._source.name} tells what is in it, until it is installed.")
            if self._method == plan.IMAGE:
                return plan.by_image(item.now, wanted)
        return wanted

    def compare(self, now: driver_state.HostDriver, wanted: driver_state.HostDriver) -> list[Change]:
        return plan.compare(now, wanted)

    def apply(self, items: Sequence[Item[Wish, driver_state.HostDriver]]) -> None:
        (item,) = items
        if self._method == plan.IMAGE:
            cluster = image.ClusterImage(self._reach, self._params["task_timeout_s"], self._progress)
            image.bring(cluster, item, self._source)
        else:
            self._uncertain = apply.by_esxcli(self._reach, self._files, item, self._source, self._params["keep_upload"])

    def prove(self, items: Sequence[Item[Wish, driver_state.HostDriver]]) -> None:
        (item,) = items
        apply.prove(self._reach, item, self._uncertain)

    def project(self, state: driver_state.HostDriver) -> dict[str, Any]:
        return driver_state.project(state)

    def pending(self, state: driver_state.HostDriver) -> list[dict[str, Any]]:
        return driver_state.pending(state)

    def close(self) -> None:
        if self._reach is not None:
            self._reach.rest.close()
        if self._vcenter is not None:
            self._vcenter.close()


def main() -> None:
    module = AnsibleModule(argument_spec=params.ARGUMENTS, supports_check_mode=True, **params.RELATIONS)
    _pyvmomi.require(module)
    fail_if_invalid(module, params.check_params(module.params))
    host = module.params["host"]
    item: Item[Wish, driver_state.HostDriver] = Item(
        f"Host {host}", module.params, {"name": host, "moid": None, "cluster": None}
    )
    noun = HostDriver(module.params, module.warn, module.log)
    try:
        run(module, noun, [item], "host", single=True)
    finally:
        noun.close()


if __name__ == "__main__":
    main()
