"""Bringing hosts to their cluster's image, one after the other: maintenance mode, software, reboot, back to work."""

from __future__ import annotations

from pyVmomi import vmodl

from . import image as images
from . import lifecycle, maintenance, software, tasks

LOOK_EVERY_S = 0.05
PATIENCE = 40  # boot times that a host may be away
ENTER_TIMEOUT_S = 5


def apply(world, cluster, operation, hosts):
    """Begin; the operation reports the progress and ends with the result of every host."""
    _Run(world, cluster, operation, hosts).next_host()


class _Run:
    """One remediation. Each step checks again a little later until its condition is met."""

    def __init__(self, world, cluster, operation, hosts):
        self.world, self.cluster, self.operation = world, cluster, operation
        self.waiting = list(hosts)
        self.total = len(self.waiting)
        self.results: dict[str, tuple] = {}  # host's moid: (status, texts)
        self.host = None

    def next_host(self):
        """The next host, or the end."""
        if not self.waiting or any(status == "ERROR" for status, _texts in self.results.values()):
            self._end()
            return
        self.host = self.waiting.pop(0)
        found = images.finding(self.world, self.cluster, self.host)
        if found.status in ("INCOMPATIBLE", "UNAVAILABLE"):
            self._close("ERROR", found.texts)
        elif found.status == "COMPLIANT":
            self._close("OK", [f"Host {self.host.name} is already compliant."])
        else:
            self._enter()

    def _enter(self):
        self.was_in_maintenance = self.host.maintenance
        self._report(5, "Entering maintenance mode")
        if self.was_in_maintenance:
            self._install()
            return
        task = None

        def work():
            return maintenance.enter(self.world, self.host, task, ENTER_TIMEOUT_S)

        task = tasks.start(self.world, "EnterMaintenanceMode_Task", self.host, work, user=self.operation.user)
        self._later(lambda: self._entering(task))

    def _entering(self, task):
        if task.completed_at is None:
            self._later(lambda: self._entering(task))
        elif task.state == "success":
            self._install()
        else:
            reason = getattr(task.error, "msg", "") or "The task failed."
            self._close("ERROR", [f"Host {self.host.name} could not enter maintenance mode. {reason}"])

    def _install(self):
        self._report(30, "Installing software")
        bundle, extra = images.steps_for(self.world, self.cluster, self.host)
        try:
            if extra:
                software.remove_components(self.world, self.host, extra)
            software.install_bundle(self.world, self.host, bundle)
        except software.Refused as refusal:
            self._leave("ERROR", [refusal.text])
            return
        self._report(60, "Rebooting")
        self.boots, self.looks_left = self.host.boots, PATIENCE * max(1, self.host.boot_seconds / LOOK_EVERY_S)
        lifecycle.restart(self.world, self.host)
        self._later(self._rebooting)

    def _rebooting(self):
        self.looks_left -= 1
        if self.host.boots > self.boots and self.host.reachable:
            self._leave("OK", [f"Host {self.host.name} was remediated."])
        elif self.looks_left <= 0:
            self._close("ERROR", [f"Host {self.host.name} did not come back after the reboot."])
        else:
            self._later(self._rebooting)

    def _leave(self, status, texts):
        if self.was_in_maintenance or not self.host.reachable:
            self._close(status, texts)
            return
        self._report(90, "Exiting maintenance mode")
        try:
            maintenance.leave(self.world, self.host)
        except vmodl.MethodFault as fault:
            status, texts = "ERROR", [*texts, fault.msg]
        self._close(status, texts)

    def _close(self, status, texts):
        self.results[self.host.moid] = (status, texts)
        if self.cluster.image.findings is not None:
            found = images.finding(self.world, self.cluster, self.host)
            self.cluster.image.findings[self.host.moid] = found
        self._later(self.next_host)

    def _end(self):
        failed = [moid for moid, (status, _texts) in self.results.items() if status == "ERROR"]
        result = {
            "status": "ERROR" if failed else "OK",
            "commit": self.cluster.image.commit,
            "successful_hosts": [moid for moid in self.results if moid not in failed],
            "failed_hosts": failed,
            "skipped_hosts": [host.moid for host in self.waiting],
            "results": dict(self.results),
        }
        self.cluster.image.last_apply = result
        self.operation.succeed(result)

    def _report(self, percent, text):
        done = self.total - len(self.waiting) - 1
        overall = int((done * 100 + percent) / max(1, self.total))
        self.operation.advance(overall, f"{text} on host {self.host.name}.")

    def _later(self, work):
        self.world.timeline.after(LOOK_EVERY_S, work)
