#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: host_graphics
short_description: Manage the graphics types of a host and of each of its GPUs
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Sets the default graphics type of a host, the type of each GPU, and the assignment policy of VMs to GPUs. VMs get
    vGPUs only from GPUs whose type is Shared Direct, both as the default and on the device.
  - A type takes effect after a restart of Xorg on the host, or of the host itself. Until then every run reports it in
    RV(host.pending). The module restarts Xorg only if the task requests it.
  - M(community.vmware.vmware_host_graphics) sets only the default, so known GPUs of the host stay as they are. In check
    mode it reports no change.
notes:
  - A GPU has a type only while a driver manages it. O(default_type) can be set before the driver is installed and the
    host restarted. GPUs that the driver finds at its first start get this type.
  - vSphere reports the active types, but not the assignment policy that Xorg was started with. Before this module
    changes the policy, it notes that value in vCenter, as the custom attribute
    C(aiready.vsphere.graphics_policy.at_boot) of the host.
  - V(all) does not include GPUs in passthrough mode. The module rejects such a GPU if the task names it.
  - With the device mode V(system_select), the host picks the mode of a GPU when a VM starts. A requested type or size
    ends this, so it is a change even if the GPU has that type at the moment.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.host_identity
  - aiready.vsphere.attributes
options:
  default_type:
    description:
      - Type of GPUs that have no type of their own.
      - V(shared_direct) is for vGPU, V(shared) is for software that shares a GPU through ESXi.
      - If not set, the current value stays.
    type: str
    choices: [shared, shared_direct]
  assignment_policy:
    description:
      - V(performance) spreads VMs over the GPUs, V(consolidation) fills one GPU after another. The policy has no effect
        on GPUs in MIG mode or with vGPUs of mixed size.
      - If not set, the current value stays.
    type: str
    choices: [performance, consolidation]
  devices:
    description: Desired state of GPUs. GPUs that are not named stay as they are.
    type: list
    elements: dict
    suboptions:
      id:
        description: PCI address of the GPU, for example V(0000:17:00.0), or V(all).
        type: str
        required: true
      type:
        description: Type of this GPU. If not set, the current value stays.
        type: str
        choices: [shared, shared_direct]
      vgpu_mode:
        description:
          - Size of the vGPUs on this GPU, one size or mixed sizes. Requires ESXi 8.0.3 or newer.
          - If not set, the current value stays.
        type: str
        choices: [same_size, mixed_size]
      device_mode:
        description:
          - V(system_select) leaves the mode of the device to the host, which then picks it when a VM starts. The module
            sets the type and size first, unless the device is in that mode already. Requires vSphere 9.1 and REST.
          - If not set, a requested type or size ends that mode.
        type: str
        choices: [system_select]
        version_added: 0.2.0
  method:
    description:
      - Interface for the type and the vGPU size of a GPU.
      - V(auto) sets the device mode over REST for GPUs of which vCenter reports a mode, as vSphere 9.1 does. It uses
        SOAP for all others.
      - V(rest) fails for a GPU without a reported mode. V(soap) fails for a GPU in the mode V(system_select), because
        only REST can change it.
      - The default type, the assignment policy, and the size on a GPU of type V(shared) exist only in SOAP.
    type: str
    choices: [auto, soap, rest]
    default: auto
    version_added: 0.2.0
  restart:
    description:
      - V(xorg) restarts the X server of the host if a setting waits for it, and waits until the types are active. The
        module fails if running VMs use a GPU of the host.
      - V(none) leaves the restart to you.
    type: str
    choices: [none, xorg]
    default: none
  xorg_timeout_s:
    description: Maximum time in seconds until the types are active after O(restart=xorg).
    type: int
    default: 60
seealso:
  - module: aiready.vsphere.nvaie_vib
  - module: aiready.vsphere.vgpu_profile
"""

EXAMPLES = r"""
- name: Prepare all GPUs of a host for vGPU
  aiready.vsphere.host_graphics:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    host: esx-01.example.com
    default_type: shared_direct
    devices:
      - id: all
        type: shared_direct

- name: Activate the graphics types without a host restart
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Set the assignment policy and restart Xorg
      aiready.vsphere.host_graphics:
        host: esx-01.example.com
        assignment_policy: consolidation
        restart: xorg

- name: Restore the defaults of ESXi
  aiready.vsphere.host_graphics:
    host: esx-01.example.com
    default_type: shared
    assignment_policy: performance
    devices:
      - id: all
        type: shared
    restart: xorg
"""

RETURN = r"""
host:
  description: Result for the host, also if the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the host in vCenter. For a host that was not found, the value of O(host).
      type: str
      returned: always
      sample: esx-01.example.com
    moid:
      description: Managed object ID of the host, null for a host that was not found.
      type: str
      returned: always
      sample: host-12
    changed:
      description: True if the task changed something, or would in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: State before the task, with the keys of RV(host.after). Empty for a host that could not be read.
      type: dict
      returned: always
      sample:
        default_type: shared
        assignment_policy: performance
        devices:
          - id: "0000:17:00.0"
            name: NVIDIA A100-PCIE-40GB
            configured: shared
            active: shared
            vgpu_mode: same_size
            mode: none
            device_mode: null
    after:
      description: State after the task, read again. In check mode, the state that a run would produce.
      type: dict
      returned: always
      contains:
        default_type:
          description: V(shared) or V(shared_direct).
          type: str
          returned: success
        assignment_policy:
          description: V(performance) or V(consolidation).
          type: str
          returned: success
        devices:
          description:
            - NVIDIA GPUs, each with C(id), C(name), C(configured), C(active), C(vgpu_mode), C(mode) and C(device_mode).
            - C(configured) and C(active) are the types, V(basic), V(direct), V(shared) or V(shared_direct).
            - C(vgpu_mode) is the configured mode and C(mode) the active one, V(none), V(same_size), V(mixed_size) or
              V(mig). A mode is null on ESXi before 8.0.3.
            - C(device_mode) contains C(current), C(configurable) and C(used_memory_mb), as in
              M(aiready.vsphere.esxi_host_info). It is null before vSphere 9.1.
          type: list
          elements: dict
          returned: success
      sample:
        default_type: shared_direct
        assignment_policy: performance
        devices:
          - id: "0000:17:00.0"
            name: NVIDIA A100-PCIE-40GB
            configured: shared_direct
            active: shared
            vgpu_mode: same_size
            mode: none
            device_mode: null
    changes:
      description: Changes of the task, one entry per setting. In check mode, the changes that a run would make.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: graphics.default_type, before: shared, after: shared_direct, needs: null}
        - {path: "graphics.0000:17:00.0", before: shared, after: shared_direct, needs: xorg_restart}
    pending:
      description: Settings that wait for a restart of Xorg or of the host. Every result lists them until then.
      type: list
      elements: dict
      returned: always
      sample:
        - {what: "graphics.0000:17:00.0", needs: xorg_restart}
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
  sample: {code: graphics_impossible}
"""

from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import (
    at_boot,
    device_mode,
    device_mode_rest,
    facts,
    gather,
    graphics,
    graphics_spec,
    marks,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.host.noun import HostNoun, run_for_host
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound

TYPES = ["shared", "shared_direct"]
ARGUMENTS = dict(
    args.CONNECTION,
    **args.HOST_IDENTITY,
    default_type={"type": "str", "choices": TYPES},
    assignment_policy={"type": "str", "choices": ["performance", "consolidation"]},
    devices={
        "type": "list",
        "elements": "dict",
        "options": {
            "id": {"type": "str", "required": True},
            "type": {"type": "str", "choices": TYPES},
            "vgpu_mode": {"type": "str", "choices": ["same_size", "mixed_size"]},
            "device_mode": {"type": "str", "choices": device_mode.BY_NAME},
        },
    },
    method={"type": "str", "choices": device_mode.METHODS, "default": device_mode.AUTO},
    restart={"type": "str", "choices": ["none", "xorg"], "default": "none"},
    xorg_timeout_s={"type": "int", "default": 60},
)


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters by themselves, one sentence each."""
    if 1 <= params["xorg_timeout_s"] <= 3600:
        return []
    return [f"xorg_timeout_s is {params['xorg_timeout_s']}; it must be between 1 and 3600."]


class HostGraphics(HostNoun[graphics.GraphicsRequest, graphics.Graphics]):
    """The graphics of one host."""

    PROPERTIES = facts.GRAPHICS

    def __init__(self, params: Mapping[str, Any], warn: Callable[[str], None]) -> None:
        super().__init__(params, warn)
        # {address: what the last change of its device mode needs}
        self._needs: dict[str, str | None] = {}

    def request(self) -> graphics.GraphicsRequest:
        return graphics.request_of(self._params)

    def look(self, found: HostFound, requested: graphics.GraphicsRequest) -> graphics.Graphics:
        found, vms = gather.read(self._vcenter, found, self.paths)
        self._found = found
        state = facts.graphics_of(found.row, facts.running_vms(vms))
        if state is None:
            raise _no_graphics(self.label)
        return state

    def want(self, item: Item[graphics.GraphicsRequest, graphics.Graphics]) -> graphics.Graphics:
        if _is_without_gpu(item):
            # The settings have no device to apply to, and some hosts without a GPU reject them.
            return item.now
        return graphics.want(self.label, item.now, item.requested)

    def compare(self, now: graphics.Graphics, wanted: graphics.Graphics) -> list[Change]:
        return graphics.compare(now, wanted)

    def explain(self, item: Item[graphics.GraphicsRequest, graphics.Graphics]) -> None:
        if _is_without_gpu(item):
            self._warn(f"{self.label} has no NVIDIA GPU. Its graphics settings stay as they are.")

    def change(self, item: Item[graphics.GraphicsRequest, graphics.Graphics]) -> None:
        method = item.requested.method
        graphics.refuse_in_use(self.label, item.now, item.wanted, method)
        if item.now.policy != item.wanted.policy or item.wanted.restarted:
            self._note(item)
        soap = graphics.over_soap(item.now, item.wanted, method)
        if any(change.path != "graphics.xorg" for change in graphics.compare(item.now, soap)):
            config = graphics_spec.config(self._found.row.get("config.graphicsConfig"), item.now, soap)
            item.touched = True
            with self.asking("cannot change its graphics settings"):
                self.manager("graphicsManager").UpdateGraphicsConfig(config=config)
        with device_mode_rest.opened(self._vcenter, self._found) as modes:
            for device, mode in graphics.over_rest(item.now, item.wanted, method):
                item.touched = True
                self._needs[device.id] = modes.configure(device.id, mode) or self._needs.get(device.id)
        if item.wanted.restarted:
            item.touched = True
            with self.asking("cannot restart Xorg"):
                self.manager("serviceSystem").RestartService(id="xorg")
            self._note(item)

    def prove(self, items: Sequence[Item[graphics.GraphicsRequest, graphics.Graphics]]) -> None:
        for item in items:
            if item.wanted.restarted and item.error is None:
                self._wait(item)
        super().prove(items)

    def gap(self, proved: graphics.Graphics, wanted: graphics.Graphics) -> list[Change]:
        return [change for change in self.compare(proved, wanted) if change.path != "graphics.xorg"] + [
            graphics.not_active(waiting) for waiting in graphics.pending(proved) if wanted.restarted
        ]

    def project(self, state: graphics.Graphics) -> dict[str, Any]:
        return graphics.project(state)

    def pending(self, state: graphics.Graphics) -> list[dict[str, Any]]:
        needs = {f"graphics.{address}": need for address, need in self._needs.items()}
        return [dict(entry, needs=needs.get(entry["what"]) or entry["needs"]) for entry in graphics.pending(state)]

    def _wait(self, item: Item[graphics.GraphicsRequest, graphics.Graphics]) -> None:
        """Wait: a restarted Xorg needs a moment before the host reports the new types."""
        clock = self._vcenter.clock
        deadline = clock.now() + self._params["xorg_timeout_s"]
        while graphics.pending(self.look(self._found, item.requested)) and clock.now() < deadline:
            clock.sleep(1)

    def _note(self, item: Item[graphics.GraphicsRequest, graphics.Graphics]) -> None:
        """Save the policy that Xorg runs with, which vSphere does not report."""
        boot_time = self._found.row.get("runtime.bootTime")
        policy = item.wanted.policy if item.touched and item.wanted.restarted else item.now.active_policy
        if boot_time is None or item.now.policy == item.wanted.policy == item.now.active_policy:
            return
        try:
            name = at_boot.note_name(facts.POLICY_NOTE)
            marks.write(self._vcenter, self._found.ref, name, at_boot.note(boot_time, policy))
        except OperatorError as error:
            self._warn(f"Later runs cannot detect that the assignment policy waits for a restart. {error.message}")


def _is_without_gpu(item: Item[graphics.GraphicsRequest, graphics.Graphics]) -> bool:
    return not item.now.devices and not item.requested.devices


def _no_graphics(label: str) -> OperatorError:
    return OperatorError(
        label,
        "cannot read its graphics settings",
        "vCenter reports none for this host",
        "Check that the host runs ESXi 6.5 or newer, and that the user may read its configuration",
        "graphics_unknown",
    )


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    run_for_host(module, HostGraphics(module.params, module.warn), check_params(module.params))


if __name__ == "__main__":
    main()
