#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: nvaie_vib
short_description: Manage the NVIDIA host driver of an ESXi host
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Installs, updates and removes the NVIDIA host driver (the vGPU Manager) of one ESXi host.
  - Works through vCenter. SSH stays off, and lockdown mode does not matter.
  - Distinguishes the package of NVIDIA AI Enterprise from the package of NVIDIA vGPU for graphics. Compute boards need
    the former. The graphics package also installs and loads on them, but then offers no compute profile.
  - The metadata in the package decides, not its file name.
  - The collections community.vmware and vmware.vmware have no modules for VIBs.
notes:
  - An installation always needs a reboot, although C(esxcli) returns that none is required. RV(host.pending) reports
    the reboot until the installed driver is the running one. This module does not reboot the host.
  - The host must be in maintenance mode when its software changes. The module checks this after it has made the plan,
    so check mode also works for a host in service. It names the VMs that block the change, and never touches them.
  - The checks of the installer stay on. The module has no option to force an installation, to skip the signature check,
    or to lower the acceptance level of the host.
  - The module identifies the running driver by the version and the VIB of the loaded module. It also compares the time
    of the last software change with the boot time of the host.
  - If other software changed on the installation day of the driver, the module can report a reboot that is not needed.
  - The next run continues after a killed run. The module uploads files under a temporary name first. It continues its
    own draft of a cluster's image. After a lost answer it reads the host again.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.host_identity
  - aiready.vsphere.esxcli_transport
  - aiready.vsphere.attributes
options:
  state:
    description:
      - V(present) installs the driver of O(depot), O(url), O(file) or O(version), or updates the installed one.
      - V(absent) removes the driver of O(family). It leaves a driver of another family alone.
    type: str
    choices: [present, absent]
    default: present
  depot:
    description:
      - Offline depot (zip) or VIB of the driver on a datastore of the host, as V([datastore-01] depots/name.zip) or
        V(/vmfs/volumes/datastore-01/depots/name.zip).
      - This is the depot of the host driver, not NVIDIA's download, which contains the depot.
    type: str
  url:
    description:
      - URL of the driver, without a user or a password. The host or vCenter downloads it.
      - On a host without an image it is a single VIB or the C(index.xml) of an online depot, because C(esxcli) accepts
        zip files only from datastores. For a cluster with an image it must be the offline depot (zip).
    type: str
  file:
    description:
      - Depot or VIB on the machine that runs the module. The module copies it to O(datastore) before the installation,
        and skips the copy if the same file is already there.
    type: path
  datastore:
    description: Datastore of the host that receives O(file). Required with O(file).
    type: str
  folder:
    description: Folder on O(datastore) that receives O(file). The module creates a missing folder.
    type: str
    default: aiready
  keep_upload:
    description:
      - Whether to keep O(file) on O(datastore) after the installation, for the other hosts of a cluster.
      - With V(false) the module deletes the file that this run has copied.
    type: bool
    default: true
  checksum:
    description:
      - SHA-256 checksum of O(file) or O(depot), as 64 hexadecimal digits, with or without the prefix V(sha256:).
      - For O(depot) the module reads the whole file over the network to compare it.
    type: str
  version:
    description:
      - Version of the driver, with or without the suffix for ESXi. The module rejects a package with another version.
      - Without O(depot), O(url) and O(file), the module takes the component of this version from a depot of vCenter, if
        an image manages the cluster of the host. It prefers that component to a package.
    type: str
    version_added: 0.2.0
  family:
    description:
      - Product that the driver belongs to. The module rejects a package of the other product.
      - V(nvaie) is NVIDIA AI Enterprise, for compute profiles. V(graphics) is NVIDIA vGPU, for virtual desktops.
    type: str
    choices: [nvaie, graphics]
    default: nvaie
  replace:
    description:
      - Whether to remove an installed driver of another family first. With V(false) the module fails and names that
        driver.
    type: bool
    default: false
  other_release:
    description:
      - Action for a driver whose version indicates a build for another release of ESXi than the host's.
      - No vendor documents this part of the version. V(allow) therefore leaves the decision to the installer of the
        host.
    type: str
    choices: [refuse, allow]
    default: refuse
  downgrade:
    description:
      - Action if a newer driver of the same family is installed.
      - V(refuse) fails. V(allow) installs the older driver. Guests with newer drivers then start without their vGPU.
      - vCenter does not replace a component by an older one. For a cluster with an image, V(allow) therefore removes
        the newer VIB from the host before the remediation.
    type: str
    choices: [refuse, allow]
    default: refuse
  method:
    description:
      - Method to change the software of the host.
      - V(auto) uses the image if one image manages the cluster of the host, and C(esxcli) otherwise.
      - V(esxcli) changes only the host. The module rejects it if an image manages the cluster, because the host would
        drift from the image.
      - V(image) adds the driver to the image of the cluster and then remediates only this host. vCenter may reboot the
        host for it.
      - vCenter 9 and newer manage clusters only by images. The module rejects V(esxcli) there for a host in a cluster,
        and every method if the cluster has no image yet. V(esxcli) is accepted for a host of ESXi 8 in a cluster
        without an image, in case vCenter still has baselines for it [unsure].
    type: str
    choices: [auto, esxcli, image]
    default: auto
  task_timeout_s:
    description:
      - Maximum time in seconds of one vCenter task, such as the remediation of the host with O(method=image). After
        that the module fails, and the task continues in vCenter.
    type: int
    default: 3600
attributes:
  check_mode:
    details: Changes and errors are those of a real run, but the host need not be in maintenance mode.
  diff_mode:
    details: The driver before and after the task, and each VIB that is installed, updated or removed.
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

- name: Install the same driver on all hosts of a cluster
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Install the driver
      aiready.vsphere.nvaie_vib:
        host: "{{ item }}"
        depot: /vmfs/volumes/datastore-01/depots/NVD-AIE-800_550.54.16-1OEM.800.1.0.20613240_23471877.zip
        replace: true
      loop:
        - esx-01.example.com
        - esx-02.example.com
      register: drivers

    - name: Print the hosts that need a reboot
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
  description: Result for the driver of the host, also if the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the host.
      type: str
      returned: always
      sample: esx-01.example.com
    moid:
      description: Managed object ID of the host, null for a host that was not found.
      type: str
      returned: always
      sample: host-42
    cluster:
      description: Name of the host's cluster, null for a host without a cluster.
      type: str
      returned: always
      sample: gpu
    changed:
      description: True if the task changed something, or would in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: State before the task, with the keys of RV(host.after). Empty for a host that could not be read.
      type: dict
      returned: always
    after:
      description: State after the task, read again. In check mode, the state that a run would produce.
      type: dict
      returned: always
      contains:
        family:
          description: Product of the installed driver, V(nvaie) or V(graphics). Null without a driver.
          type: str
          returned: success
        version:
          description: Version of the installed driver, without the suffix for ESXi.
          type: str
          returned: success
        branch:
          description: Branch of the installed driver. It decides which guest drivers the host supports.
          type: int
          returned: success
        release:
          description: Release of NVIDIA vGPU software that contains the driver. Null for a driver that the collection
            does not know.
          type: str
          returned: success
        vibs:
          description: VIBs of host drivers, with C(name), C(version), C(family) and C(acceptance).
          type: list
          elements: dict
          returned: success
        components:
          description: Components of host drivers, with C(name) and C(version).
          type: list
          elements: dict
          returned: success
        loaded:
          description: True if the host runs a driver, that is, if the module C(nvidia) is loaded.
          type: bool
          returned: success
        booted_version:
          description: Version of the driver that the host runs. Null if no driver runs or the version is unknown.
          type: str
          returned: success
        guest_branches:
          description: Driver branches that guests on this host can use once this driver runs, newest first.
          type: list
          elements: int
          returned: success
        esxi:
          description: Version of ESXi.
          type: str
          returned: success
        acceptance:
          description: Acceptance level of the host.
          type: str
          returned: success
        managed_by:
          description: V(image) if one image manages the software of the host's cluster, otherwise V(baselines).
            V(nothing) for a cluster of vCenter 9 or newer without an image.
          type: str
          returned: success
        image_components:
          description: Components of host drivers in that image, with C(name) and C(version).
          type: list
          elements: dict
          returned: success
        in_maintenance:
          description: True if the host is in maintenance mode.
          type: bool
          returned: success
        devices:
          description: NVIDIA graphics devices, with C(id), C(name) and the active graphics C(type).
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
      description: Changes of the task, one entry for the driver and one for each VIB. In check mode, the changes that a
        run would make.
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
      description: Driver changes that wait for a restart. A new driver does not run yet, or a removed driver still
        runs.
      type: list
      elements: dict
      returned: always
      sample:
        - {what: driver, needs: reboot}
    failed:
      description: True if the host is not in the desired state.
      type: bool
      returned: always
      sample: false
    msg:
      description: Cause and fix if the host is not in the desired state. Empty otherwise.
      type: str
      returned: always
      sample: ""
    failure:
      description: Machine-readable cause with a stable C(code). Empty if the host is in the desired state.
      type: dict
      returned: always
      sample: {}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: not_in_maintenance, running_vms: [train-01]}
"""

from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
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


class HostDriver(Noun[params.DriverRequest, driver_state.HostDriver]):
    """The NVIDIA driver of an ESXi host."""

    def __init__(self, params: Mapping[str, Any], warn: Callable[[str], None], progress: Callable[[str], None]) -> None:
        self._params = params
        self._warn = warn
        self._progress = progress
        self._vcenter: VCenter | None = None
        self._reach: read.Reach = None  # type: ignore[assignment]
        self._files: datastore_file.DatastoreFiles = None  # type: ignore[assignment]
        self._source: source.Source | None = None
        self._uncertain: OperatorError | None = None

    def read(self, items: Sequence[Item[params.DriverRequest, driver_state.HostDriver]]) -> None:
        (item,) = items
        self._vcenter = session.connect(self._params, self._warn)
        self._reach = read.open_reach(self._vcenter, self._params)
        host = self._reach.host
        item.label = f"Host {host.name}"
        item.ids.update(name=host.name, moid=host.moid, cluster=host.cluster)
        item.now = read.read(self._reach)
        self._files = datastore_file.DatastoreFiles(self._vcenter, host, item.requested.task_timeout_s)
        if item.requested.state == "present":
            self._source = source.find(self._reach, self._files, item.requested, item.now)

    def want(self, item: Item[params.DriverRequest, driver_state.HostDriver]) -> driver_state.HostDriver:
        if self._source is not None:
            wanted = plan.want_present(item.label, item.now, self._source.package, item.requested)
        else:
            wanted = plan.want_absent(item.now, item.requested)
        if plan.compare(item.now, wanted):
            method = plan.method(item.label, item.now, item.requested)
            plan.demand_usable_source(item.label, self._source, method)
            if method == plan.IMAGE:
                return plan.by_image(item.now, wanted)
        return wanted

    def compare(self, now: driver_state.HostDriver, wanted: driver_state.HostDriver) -> list[Change]:
        return plan.compare(now, wanted)

    def explain(self, item: Item[params.DriverRequest, driver_state.HostDriver]) -> None:
        if item.changes and self._source is not None and self._source.package.reported_by == "name":
            self._warn(f"The content of {self._source.name} is known only by its file name until it is installed.")

    def apply(self, items: Sequence[Item[params.DriverRequest, driver_state.HostDriver]]) -> None:
        (item,) = items
        if plan.method(item.label, item.now, item.requested) == plan.IMAGE:
            cluster = image.ClusterImage(self._reach, item.requested.task_timeout_s, self._progress)
            image.bring(self._reach, cluster, item, self._source)
        else:
            self._uncertain = apply.by_esxcli(self._reach, self._files, item, self._source, item.requested.keep_upload)

    def prove(self, items: Sequence[Item[params.DriverRequest, driver_state.HostDriver]]) -> None:
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
    item: Item[params.DriverRequest, driver_state.HostDriver] = Item(
        f"Host {host}", request(params.DriverRequest, module.params), {"name": host, "moid": None, "cluster": None}
    )
    noun = HostDriver(module.params, module.warn, module.log)
    try:
        run(module, noun, [item], "host", single=True)
    finally:
        noun.close()


if __name__ == "__main__":
    main()
