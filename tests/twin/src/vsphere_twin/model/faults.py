"""Failures on demand: wrong behaviour that a test may request from the twin."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from pyVmomi import VmomiSupport


@dataclass
class TaskFault:
    """The next `count` tasks of a kind end with this fault."""

    method: str
    count: int
    fault: str = "GenericVmConfigFault"
    message: str = "The operation failed."
    entity: str | None = None
    data: dict = field(default_factory=dict)

    def build(self):
        """The vim fault that the task reports."""
        return vim_fault(self.fault, self.message, **self.data)


class FaultPlan:
    """All planned failures. The methods named take_* use up what they report."""

    def __init__(self):
        self._lock = threading.Lock()
        self.clear()

    def clear(self):
        """Forget every plan."""
        with self._lock:
            self.latency_s = 0.0
            self.refusing = False
            self.session_epoch = getattr(self, "session_epoch", 0)
            self._task_faults: list[TaskFault] = []
            self._closings: dict[str, int] = {}
            self._unavailable = 0
            self._hanging: dict[str, int] = {}
            self._slow: dict[str, float] = {}
            self._driverless: dict[str, int] = {}
            self._guests_without: dict[str, set] = {"tools": set(), "address": set()}

    def latency(self, seconds: float):
        """Every request is answered this much later."""
        self.latency_s = float(seconds)

    def refuse(self, on: bool = True):
        """New connections are refused."""
        self.refusing = bool(on)

    def drop_sessions(self):
        """Every session that exists now is gone; clients must log in again."""
        with self._lock:
            self.session_epoch += 1

    def fail_tasks(self, method, count=1, fault="GenericVmConfigFault", message="The operation failed.", entity=None):
        """The next tasks of this method (ReconfigVM_Task, ...), on one named entity or on any, fail."""
        known_fault(fault)
        with self._lock:
            self._task_faults.append(TaskFault(method, int(count), fault, message, entity))

    def close_after(self, method, count=1):
        """The next calls of this method are executed, then the connection closes without an answer."""
        with self._lock:
            self._closings[method] = self._closings.get(method, 0) + int(count)

    def unavailable(self, count=1):
        """The next HTTP requests are answered 503."""
        with self._lock:
            self._unavailable += int(count)

    def hang_boot(self, host, count=1):
        """The next boots of a host never end; only its power button brings it back."""
        with self._lock:
            self._hanging[host] = self._hanging.get(host, 0) + int(count)

    def slow_boot(self, host, seconds: float):
        """The next boot of a host takes this long."""
        with self._lock:
            self._slow[host] = float(seconds)

    def lose_driver(self, host, count=1):
        """Prevent the NVIDIA driver from loading at the next boots of a host."""
        with self._lock:
            self._driverless[host] = self._driverless.get(host, 0) + int(count)

    def guest_without_tools(self, vm, on: bool = True):
        """VMware Tools does not start in the guest of a VM from its next boot on."""
        self._guest_without("tools", vm, on)

    def guest_without_address(self, vm, on: bool = True):
        """The guest of a VM gets no address from its next boot on."""
        self._guest_without("address", vm, on)

    def has_no_tools(self, vm):
        """Return whether VMware Tools does not start in this VM."""
        return vm in self._guests_without["tools"]

    def has_no_address(self, vm):
        """Return whether this VM's guest gets no address."""
        return vm in self._guests_without["address"]

    def _guest_without(self, what, vm, on):
        with self._lock:
            (set.add if on else set.discard)(self._guests_without[what], vm)

    def take_hanging_boot(self, host):
        """Return whether this boot hangs."""
        return self._take(self._hanging, host)

    def take_slow_boot(self, host):
        """The seconds that this boot takes, or None for as long as ever."""
        with self._lock:
            return self._slow.pop(host, None)

    def take_lost_driver(self, host):
        """Return whether the driver does not load in this boot."""
        return self._take(self._driverless, host)

    def take_task_fault(self, method, entity_name=None):
        """Return the fault with which this task must end, or None."""
        with self._lock:
            for plan in self._task_faults:
                if plan.method == method and plan.count > 0 and plan.entity in (None, entity_name):
                    plan.count -= 1
                    return plan.build()
        return None

    def take_closing(self, method):
        """Return whether the connection closes after this call."""
        return self._take(self._closings, method)

    def take_unavailable(self):
        """Return whether this request is answered 503."""
        with self._lock:
            if self._unavailable > 0:
                self._unavailable -= 1
                return True
        return False

    def _take(self, plans, name):
        with self._lock:
            if plans.get(name, 0) > 0:
                plans[name] -= 1
                return True
        return False


def known_fault(name):
    """The type of a fault by its name on the wire."""
    for prefix in ("vim.fault.", "vmodl.fault."):
        try:
            return VmomiSupport.GetVmodlType(prefix + name)
        except KeyError:
            continue
    raise ValueError(f"{name} is no fault that vSphere knows.")


def vim_fault(name, message, **data):
    """A fault with the vendor's message set."""
    return known_fault(name)(msg=message, **data)
