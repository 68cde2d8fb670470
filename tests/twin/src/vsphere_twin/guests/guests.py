"""Guests of a world: requests of the model, and reports of the guests."""

from __future__ import annotations

import logging
import sys
import threading
import time
from pathlib import Path

import docker
import docker.errors

from ..model import cloudinit, customization, power
from ..model import guest as guest_model
from . import engine, image, paths
from . import lab as labs
from .copies import Copies
from .hands import Hands
from .keys import HostKeys
from .machine import ASKED_OFF, ASKED_REBOOT, Machine, addresses
from .networks import Networks
from .observer import Observer

LOG = logging.getLogger(__name__)
USER = "ops"
REWIRE_S = 1.0  # how long a change of the model takes at most to reach the adapters of running guests
CALM_S = 0.1


def _report(line):
    """Show the progress of slow steps at once, whatever the log level."""
    print(line, file=sys.stderr, flush=True)


class Guests:
    """All guests of one twin. Methods that take a VM are called under the world's lock and do not wait."""

    def __init__(self, world, keyring, directory, ca_file, say=None, install=False):
        self.world, self.ca_file = world, ca_file
        say = say or _report
        self.folder = Path(directory) / "guests"
        self.folder.mkdir(mode=0o755)
        self.stopping = False
        self.lab = labs.Lab()
        self.client = engine.have(say, install)
        labs.remove_forgotten(self.client, say)
        self.base = image.ensure(self.client, say)
        self.hands = Hands(self.client, self.lab, self.base)
        self.networks = Networks(self.client, self.lab, self.hands)
        self.copies = Copies(self.client, self.lab, self.base)
        self.keys = HostKeys(keyring)
        self._machines = {}  # by MoID
        self._threads = [
            threading.Thread(target=work, name=f"guests-{work.__name__.strip('_')}", daemon=True)
            for work in (self._watch_engine, self._watch_model)
        ]
        self._events = None
        try:
            self.hands.start()
            self.resolv_conf = self.hands.read("/etc/resolv.conf")
            self.networks.segment(self.management)
        except BaseException:
            self.stop()
            raise

    # The life of the lab.

    def start(self):
        """Every VM that runs has its guest."""
        self._events = self.client.api.events(filters={"label": f"{labs.LABEL}={self.lab.id}"}, decode=True)
        for thread in self._threads:
            thread.start()
        with self.world.lock:
            for vm in self.world.of_kind("VirtualMachine"):
                if vm.power == "poweredOn" and self.runs(vm):
                    vm.tools_running, vm.addresses = False, {}
                    self.boot(vm)

    def stop(self):
        """Everything of the lab is gone."""
        self.stopping = True
        if self._events is not None:
            self._events.close()
        with self.world.changed:
            self.world.changed.notify_all()
        # Containers first, so that no job waits for one that boots.
        labs.remove(self.client, self.lab.id)
        for machine in list(self._machines.values()):
            machine.close()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout=10)
        labs.remove(self.client, self.lab.id)  # what a job that was under way has made meanwhile
        self.client.close()

    @property
    def management(self):
        """The key of the network that operators reach guests on: the first of a standard switch with VMs, else any."""
        nics = (nic for vm in self.world.of_kind("VirtualMachine") for nic in vm.nics)
        used = [paths.key_of(self.world, nic) for nic in nics]
        standard = [one.moid for one in self.world.of_kind("Network")]
        return next((one for one in standard if one in used), next(iter([*used, *standard]), "management"))

    @property
    def gateway(self):
        """This machine's own address on the management network, as a text."""
        return str(self.networks.segment(self.management).gateway)

    # Requests of the model.

    @staticmethod
    def runs(vm):
        """Return whether a VM has a Linux guest."""
        return vm.guest_id.startswith(guest_model.LINUX) and vm.tools_installed and guest_model.starts(vm)

    def boot(self, vm):
        """Its operating system starts."""
        machine = self._machine(vm)
        machine.later(machine.boot, vm.booted)

    def power_off(self, vm):
        """Its power is gone."""
        self._do(vm, "kill")

    def reset(self, vm):
        """Its power is gone for a moment."""
        self._do(vm, "kill")
        self.boot(vm)

    def shut_down(self, vm):
        """It is asked to go; the model hears when it has gone."""
        self._do(vm, "ask", ASKED_OFF)

    def reboot(self, vm):
        """It is asked to restart."""
        self._do(vm, "ask", ASKED_REBOOT)

    def suspend(self, vm):
        """Suspend it."""
        self._do(vm, "freeze", True)

    def resume(self, vm):
        """It goes on."""
        self._do(vm, "freeze", False)
        machine = self._machine(vm)
        machine.later(machine.report_again)

    def clone(self, source, copy):
        """A VM whose disk is a copy of another one's."""
        if source.moid in self._machines:
            machine = self._machines[copy.moid] = Machine(self, copy, None)
            self._do(source, "copy_to", machine)

    def destroy(self, vm):
        """Remove it completely."""
        if vm.moid in self._machines:
            self._machines[vm.moid].gone = True
            self._do(vm, "destroy")

    # Reports of machines, from their own threads, without the lock.

    def settle_in(self, vm):
        """Apply, under the lock, the operating system's own discoveries during its boot."""
        if vm.customization is not None:
            customization.apply(self.world, vm)
        cloudinit.apply(vm)
        self.world.touch(vm)

    def heard(self, machine, what):
        """Handle a report of VMware Tools in a guest."""
        vm = machine.vm
        with self.world.lock:
            if vm.power != "poweredOn" or self.world.faults.has_no_tools(vm.name):
                return
            if what.get("stopping"):
                vm.tools_running = False
            else:
                # Bridges inside of guests have the same addresses everywhere.
                own = {nic.macAddress.lower() for nic in vm.nics}
                own |= {port.mac.lower() for port in guest_model.ports(vm)}
                seen = {mac: one for mac, one in addresses(what).items() if mac in own}
                guest_model.report(self.world, vm, what.get("hostname"), seen)
                names = [vm.name, what.get("hostname") or vm.name, *(one.partition("/")[0] for one in seen.values())]
                self.keys.know(vm.moid, list(dict.fromkeys(names)), machine.public)
            self.world.touch(vm)

    def ended(self, machine, restart):
        """A guest ended by itself."""
        vm = machine.vm
        with self.world.lock:
            if self.stopping or vm.power != "poweredOn":
                return
            if restart:
                vm.tools_running = False
                self.world.touch(vm)
                self.boot(vm)
            else:
                power.stop(self.world, vm)

    def forget(self, machine):
        """A VM is gone for good."""
        with self.world.lock:
            self._machines.pop(machine.vm.moid, None)
        self.keys.know(machine.vm.moid, [], machine.public)

    # Data for tests and other interfaces.

    def guest(self, name):
        """Return the Observer of the VM of a name; ValueError with the existing names."""
        found = {one.vm.name: one for one in list(self._machines.values())}
        if name not in found:
            raise ValueError(f"There is no guest {name!r}; these exist: {', '.join(sorted(found)) or 'none'}.")
        return Observer(self, found[name])

    def plugged(self, name):
        """{interface of a guest: (the largest packet that gets away from there, whether anything does)}."""
        machine = next(one for one in list(self._machines.values()) if one.vm.name == name)
        return {wire.name: (wire.mtu, wire.reaches) for wire in machine.plugged()}

    @property
    def running(self):
        """Return how many guests share this machine's processors."""
        return sum(one.vm.power == "poweredOn" for one in list(self._machines.values()))

    def endpoints(self):
        """Return {name of a running VM: address and user of the login}."""
        with self.world.lock:
            vms = [one.vm for one in self._machines.values()]
            return {
                vm.name: {"address": vm.ip_address, "user": USER} for vm in vms if vm.tools_running and vm.ip_address
            }

    def _machine(self, vm):
        if vm.moid not in self._machines:
            self._machines[vm.moid] = Machine(self, vm, self.base)
        return self._machines[vm.moid]

    def _do(self, vm, job, *arguments):
        machine = self._machines.get(vm.moid)
        if machine is not None:
            machine.later(getattr(machine, job), *arguments)

    def _watch_engine(self):
        """Containers that end by themselves."""
        try:
            for event in self._events:
                moid = event.get("Actor", {}).get("Attributes", {}).get("aiready.vm")
                machine = self._machines.get(moid) if event.get("Action") == "die" else None
                if machine is not None:
                    machine.later(machine.look)
        except (OSError, ValueError, AttributeError, docker.errors.DockerException):
            if not self.stopping:
                LOG.exception("The engine no longer reports on its containers.")

    def _watch_model(self):
        """Changes of the model reach the adapters of guests that run. A switch's settings change without a signal."""
        seen = -1
        while not self.stopping:
            with self.world.changed:
                if self.world.generation == seen:
                    self.world.changed.wait(REWIRE_S)
                seen = self.world.generation
                machines = [one for one in self._machines.values() if one.vm.power == "poweredOn" and one.idle]
            for machine in machines:
                machine.later(machine.rewire)
            time.sleep(CALM_S)
