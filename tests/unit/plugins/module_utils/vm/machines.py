# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A VM as a server keeps it, and a fleet whose requests go there."""

from __future__ import annotations

import dataclasses

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.tasks import Outcome
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.fleet import Fleet
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import POWER_ON_AGAIN

LATE = OperatorError("VM train-01", "it should start", "The task did not end", "Wait for it", code="task_timeout")
LOST = OperatorError("vcenter", "an answer was wanted", "The connection was closed", "", code="fate_unknown")


class Clock:
    """Time that passes only while someone sleeps."""

    def __init__(self):
        self.time = 0.0

    def now(self):
        return self.time

    def sleep(self, seconds):
        self.time += seconds


class Machine:
    """A VM as a server keeps it; trouble maps a method to the faults of its next calls, in order."""

    def __init__(self, state, clock, trouble=None, guest_takes_s=None, first_key=13000):
        self.state = state
        self.clock = clock
        self.trouble = trouble or {}
        self.guest_takes_s = guest_takes_s
        self.first_key = first_key
        self.off_at = None
        self.gone = False
        self.log = []

    def look(self):
        if self.off_at is not None and self.clock.now() >= self.off_at:
            self.off_at = None
            self.change(power="off")
        return self.state

    def change(self, **fields):
        """Change settings, or facts about the VM itself."""
        own = {field.name for field in dataclasses.fields(self.state)}
        version = str(int(self.state.vm.change_version or "0") + 1)
        common = {name: value for name, value in fields.items() if name not in own}
        vm = dataclasses.replace(self.state.vm, change_version=version, **common)
        settings = {name: value for name, value in fields.items() if name in own}
        self.state = dataclasses.replace(self.state, vm=vm, **settings)

    def ReconfigVM_Task(self, spec):
        note = [option.key for option in spec.extraConfig] == [POWER_ON_AGAIN]
        return self._do("note" if note else "reconfigure", lambda: self._reconfigure(spec))

    def PowerOnVM_Task(self):
        return self._do("power on", lambda: self.change(power="on"))

    def PowerOffVM_Task(self):
        return self._do("power off", lambda: self.change(power="off"))

    def ShutdownGuest(self):
        self.log.append("shut down")
        if self.guest_takes_s is not None:
            self.off_at = self.clock.now() + self.guest_takes_s

    def _do(self, what, effect):
        self.log.append(what)
        troubles = self.trouble.get(what, [])
        trouble = troubles.pop(0) if troubles else None
        if trouble == "answer lost":
            effect()
        if trouble == "late":
            return Outcome(error=LATE, uncertain=True)
        if trouble == "removed":
            self.gone = True
            return Outcome(error=LOST, uncertain=True)
        if trouble in ("answer lost", "request lost"):
            return Outcome(error=LOST, uncertain=True)
        if trouble is not None:
            return Outcome(error=explain(trouble, "VM train-01", "a change"), fault=trouble)
        effect()
        return Outcome()

    def _reconfigure(self, spec):
        assert spec.changeVersion in (None, self.state.vm.change_version)
        vmx = dict(self.state.vmx)
        for option in spec.extraConfig:
            vmx.pop(option.key, None)
            if option.value:
                vmx[option.key] = option.value
        noted = vmx.pop(POWER_ON_AGAIN, None) if POWER_ON_AGAIN in vmx else None
        touched = any(option.key == POWER_ON_AGAIN for option in spec.extraConfig)
        devices = dict(self.state.devices)
        for entry in spec.deviceChange:
            if entry.operation == "remove":
                del devices[entry.device.key]
        for entry in spec.deviceChange:
            if entry.operation == "add":
                key = next(key for key in range(self.first_key, 14000) if key not in devices)
                devices[key] = entry.device.backing.vgpu
        locked = spec.memoryReservationLockedToMax
        self.change(
            vmx=vmx,
            power_on_again=noted == "true" if touched else self.state.vm.power_on_again,
            devices=tuple(sorted(devices.items())),
            memory_locked=self.state.memory_locked if locked is None else locked,
        )


class Rehearsed(Fleet):
    """A fleet whose requests go to machines of the test."""

    def __init__(self, machine):
        self.machine = machine
        self.clock = machine.clock

    def refresh(self, items):
        if self.machine.gone:
            return items
        for item in items:
            item.proved = self.machine.look()
        return []

    def ref(self, item):
        return self.machine

    def run(self, items, wanted, start, guarded=False):
        for item in items:
            item.touched = True
        return {item.ids["moid"]: start(self.ref(item), item) for item in items}


class Several(Rehearsed):
    """A fleet of more than one machine, by the MoIDs of their VMs."""

    def __init__(self, machines):
        self.machines = machines
        self.clock = next(iter(machines.values())).clock

    def refresh(self, items):
        lost = [item for item in items if self.ref(item).gone]
        for item in items:
            if item not in lost:
                item.proved = self.ref(item).look()
        return lost

    def ref(self, item):
        return self.machines[item.ids["moid"]]
