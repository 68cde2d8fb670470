"""The machine behind one VM: a container that is started, stopped and wired, one thing after the other."""

from __future__ import annotations

import contextlib
import logging
import queue
import shutil
import threading
from concurrent.futures import Future
from pathlib import Path

import docker.errors

from ..model import slots
from . import furniture, limits, pace, paths
from . import lab as labs
from .answers import Line
from .engine import EngineProblem, freeze

LOG = logging.getLogger(__name__)
ENDED_WELL = (0, 129, 130)
REBOOTED = 129  # exit status of a container whose system requested a restart: SIGHUP
BOOT_LIMIT_S = 540  # only a failure takes this long, however busy this machine is
NOT_STARTED = 255  # how a system ends that could not even begin
# Each packet on its own: bundles of segments are let through whatever their size.
SINGLE = "gso_max_segs 1"
ASKED_OFF, ASKED_REBOOT = "SIGRTMIN+4", "SIGRTMIN+5"  # signals of systemd for poweroff and reboot


class Machine:
    """Run jobs of one VM on a thread of their own, in order; the model waits for none of them."""

    def __init__(self, guests, vm, image):
        self.guests, self.vm = guests, vm
        self.container_name = guests.lab.name(vm.moid)
        self.volume = guests.lab.name(f"disk-{vm.moid}")
        self.folder = guests.folder / vm.moid
        self.disk = Future()  # the image that the machine's disk was copied from
        if image is not None:
            self.disk.set_result(image)
        self.private, self.public = guests.keys.make()
        self.boots = 0
        self.problem = ""  # reason why it did not start, for waiting callers
        self.gone = False
        self.made = False
        self._running = False
        self._plugged = {}  # MAC: (the host's end, Wire)
        self._quota = pace.UNLIMITED
        self._ends = 0
        self._line = None
        self._last_report = None
        self._jobs = queue.Queue()
        self._thread = threading.Thread(target=self._work, name=f"guest-{vm.moid}", daemon=True)
        self._thread.start()

    # Requests of the model, without blocking.

    def later(self, job, *arguments):
        """Run a job after the present one."""
        self._jobs.put((job, arguments))

    @property
    def idle(self):
        """Return whether no job is running."""
        return not self._jobs.unfinished_tasks

    @property
    def failed(self):
        """Return whether it does not run, and will not start by itself."""
        return bool(self.problem) and self.idle and not self._running

    def plugged(self):
        """The Wires as they are now."""
        return [wire for _end, wire in list(self._plugged.values())]

    def close(self):
        """The lab ends: no more jobs."""
        self._jobs.put(None)
        self._thread.join(timeout=30)
        if self._line is not None:
            self._line.stop()

    def _work(self):
        while (entry := self._jobs.get()) is not None:
            job, arguments = entry
            try:
                job(*arguments)
            except (EngineProblem, docker.errors.DockerException, OSError) as problem:
                self.problem = f"{type(problem).__name__}: {problem}"
                if not self.guests.stopping:
                    LOG.error("Guest %s: %s", self.vm.name, self.problem)
            except Exception:
                LOG.exception("Guest %s: a defect of the lab.", self.vm.name)
            finally:
                self._jobs.task_done()

    # Jobs.

    def boot(self, booted):
        """The operating system starts, unless power was switched meanwhile."""
        with self.guests.world.lock:
            if not self._wanted(booted):
                return
            self.guests.settle_in(self.vm)
            name, wires = self.vm.host_name, paths.wires(self.guests.world, self.vm)
        self._make()
        furniture.furnish(self, name, wires)
        container = self._container()
        container.start()
        self._running, self._plugged = True, {}
        self.boots += 1
        self.problem = ""
        container.reload()
        self._plug(container.attrs["State"]["Pid"], wires)
        (self.folder / "plugged").touch()
        self.guests.world.timeline.after(BOOT_LIMIT_S, lambda: self._check(booted, self.boots))

    def kill(self):
        """Power is gone."""
        if not self._running:
            return
        self._running = False
        container = self._container()
        with _ended_already():
            if container.status == "paused":
                container.unpause()  # a frozen container cannot even be killed
            container.kill()
        container.wait(timeout=60)
        self._unplugged()

    def ask(self, signal):
        """Send a request to the operating system."""
        if self._running:
            with _ended_already():
                self._container().kill(signal=signal)

    def freeze(self, frozen):
        """Suspended, or resumed."""
        if self._running:
            container = self._container()
            freeze(container) if frozen else container.unpause()

    def look(self):
        """The container may have ended by itself: a restart, a shutdown, or a crash."""
        if not self._running:
            return
        container = self._container()
        state = container.attrs["State"]
        if state["Running"]:
            return
        self._running = False
        if state["ExitCode"] not in ENDED_WELL:
            last = container.logs(tail=5).decode(errors="replace").strip()
            self.problem = f"it ended with status {state['ExitCode']}{': ' if last else ''}{last}"
            if state["ExitCode"] == NOT_STARTED:
                self.problem += limits.reported(self.guests.hands)
        self._unplugged()
        self.guests.ended(self, restart=state["ExitCode"] == REBOOTED)

    def rewire(self):
        """Adapters follow the model while the machine runs."""
        if not self._running:
            return
        with self.guests.world.lock:
            wires = paths.wires(self.guests.world, self.vm)
            speed = pace.share(self.vm)
        if [wire for _end, wire in self._plugged.values()] != wires:
            container = self._container()
            self._plug(container.attrs["State"]["Pid"], wires)
        self._go_at(speed)

    def copy_to(self, copy):
        """The disk of another machine becomes a copy of this one's."""
        if copy.gone:
            copy.disk.cancel()
        elif not self.made:
            copy.disk.set_result(self.disk.result())
        else:
            copy.disk.set_result(self.guests.copies.take(self, copy))

    def report_again(self):
        """Report again after a suspend: the last report of VMware Tools is still valid."""
        if self._last_report is not None:
            self.guests.heard(self, self._last_report)

    def destroy(self):
        """Remove it completely."""
        self.kill()
        if self._line is not None:
            self._line.stop()
            self._line = None
        if self.made:
            self.guests.client.api.remove_container(self.container_name, force=True, v=True)
            self.made = False
            with labs.gone_already():
                self.guests.client.api.remove_volume(self.volume, force=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.guests.forget(self)
        self._jobs.put(None)

    # Parts of them.

    def _wanted(self, booted):
        return self.vm.power == "poweredOn" and self.vm.booted == booted and not self.gone

    def _container(self):
        return self.guests.client.containers.get(self.container_name)

    def _make(self):
        """The container, with a disk of its own."""
        if self.made:
            return
        guests = self.guests
        image = self.disk.result()
        guests.client.volumes.create(self.volume, labels=guests.lab.labels)
        guests.copies.fill(self)
        self.folder.mkdir(parents=True, exist_ok=True)
        binds = [f"{self.folder}:/opt/lab", f"{self.volume}:/opt/disk"]
        options = {}
        if not Path("/sys/fs/cgroup/cgroup.controllers").exists():
            binds.append("/sys/fs/cgroup:/sys/fs/cgroup")
        else:
            options["cgroupns"] = "private"
        container = guests.client.containers.create(
            image,
            [furniture.INIT],
            name=self.container_name,
            hostname=self.vm.moid,
            labels={**guests.lab.labels, "aiready.vm": self.vm.moid},
            network_mode="none",
            cap_add=["IPC_LOCK", "NET_ADMIN", "NET_RAW", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_PTRACE"],
            security_opt=["seccomp=unconfined", "apparmor=unconfined"],
            # Mount options of initramfs-tools of Debian and Ubuntu.
            tmpfs={"/run": "noexec,nosuid,nodev,mode=0755", "/run/lock": "", "/tmp": "exec,mode=1777"},
            volumes=binds,
            stop_signal="SIGRTMIN+3",
            **options,
        )
        container.put_archive("/", furniture.archive())
        self.made = True
        self._line = Line(self.folder / "model.sock", guests.world, self.vm, self._reported)

    def _plug(self, pid, wires):
        """Configure the adapters as in the model."""
        lines, plugged = [], {}
        before = dict(self._plugged)
        for wire in wires:
            end, old = before.pop(wire.mac, (None, None))
            bridge = self.guests.networks.segment(wire.network).bridge
            if end is None:
                self._ends += 1
                end = f"ai{self.guests.lab.id[:4]}{self.vm.moid.rpartition('-')[2]}n{self._ends}"
                name = self._free_name(wire, plugged)
                lines.append(f"link add {end} type veth peer name {name} address {wire.mac} {SINGLE} netns {pid}")
            if old is None or old.mtu != wire.mtu:
                lines.append(f"link set {end} mtu {wire.mtu}")
            if old is None or (old.network, old.reaches) != (wire.network, wire.reaches):
                lines.append(f"link set {end} master {bridge}" if wire.reaches else f"link set {end} nomaster")
            if old is None or old.connected != wire.connected:
                lines.append(f"link set {end} {'up' if wire.connected else 'down'}")
            plugged[wire.mac] = (end, wire)
        lines += [f"link delete {end}" for end, _wire in before.values()]
        self.guests.hands.ip(lines)
        self._plugged = plugged

    def _go_at(self, speed):
        """Give the machine that share of its processors."""
        quota = pace.quota_us(speed, self.guests.running)
        if quota != self._quota:
            options = {"cpu_period": pace.PERIOD_US, "cpu_quota": quota}
            self.guests.client.api.update_container(self.container_name, **options)
            self._quota = quota

    def _free_name(self, wire, plugged):
        """The name of a new adapter; one that was plugged while the machine ran may find its own in use."""
        taken = {one.name for _end, one in (*self._plugged.values(), *plugged.values())}
        return wire.name if wire.name not in taken else next(name for name in slots.names(self.vm) if name not in taken)

    def _unplugged(self):
        self._plugged = {}
        (self.folder / "plugged").unlink(missing_ok=True)

    def _reported(self, what):
        self._last_report = what
        self.guests.heard(self, what)

    def _check(self, booted, boots):
        """Check, on the model's thread and under its lock, that the machine has reported its start in time."""
        if self._wanted(booted) and self.boots == boots and not self.vm.tools_running and not self.guests.stopping:
            self.problem = self.problem or f"it did not come up within {BOOT_LIMIT_S} s"
            LOG.error("Guest %s: %s.", self.vm.name, self.problem)


def addresses(what):
    """Return {MAC: the first IPv4 interface} from a report of VMware Tools."""
    found = {}
    for row in what.get("interfaces", []):
        shown = [
            one for one in row.get("addr_info", []) if one.get("family") == "inet" and one.get("scope") == "global"
        ]
        if row.get("address") and shown:
            found.setdefault(row["address"].lower(), f"{shown[0]['local']}/{shown[0]['prefixlen']}")
    return found


@contextlib.contextmanager
def _ended_already():
    """Ignore requests to a container that has just ended."""
    try:
        yield
    except docker.errors.APIError as problem:
        if problem.status_code != 409:
            raise
