"""Start a twin in this process, and be sure that it is gone afterwards."""

from __future__ import annotations

import contextlib
import functools
import tempfile
from pathlib import Path

from .control import Control
from .controller.server import Controller
from .guests.engine import require_library
from .kubernetes import classes
from .kubernetes.cluster import Cluster
from .kubernetes.machines import VirtualMachines
from .kubernetes.server import ApiServer
from .model import bmc as bmcs
from .model import seed as seeds
from .redfish.server import Bmcs
from .shell.server import Shells
from .sshd import Keyring
from .switches.ssh import SwitchDoors
from .vcenter.certificates import server_context
from .vcenter.dispatch import Dispatcher
from .vcenter.server import Server

USUAL = ("ssh", "redfish", "switches")  # beside the vCenter, which is always there
BESIDE_GUESTS = ("depot", "registry")  # server of the guests' downloads
CONTROLLER = "controller"  # the automation controller; nothing else of the twin knows it
KUBERNETES = "kubernetes"  # the API server of a Supervisor, which creates VMs in the vCenter
FACES = (*USUAL, CONTROLLER, KUBERNETES, "guests", *BESIDE_GUESTS)  # the last ones need a container engine


class Twin:
    """A running twin, as a test sees it."""

    def __init__(self, world, directory, host="127.0.0.1", port=0, names=("localhost", "127.0.0.1"), faces=()):
        unknown = sorted(set(faces).difference(FACES))
        if unknown:
            raise ValueError(f"There is no face {', '.join(unknown)}; these exist: {', '.join(FACES)}.")
        if set(BESIDE_GUESTS).intersection(faces) and "guests" not in faces:
            raise ValueError(f"{' and '.join(BESIDE_GUESTS)} are for guests: name the face guests too.")
        self.world = world
        self.host = host
        tls, self.ca_file = server_context(Path(directory), names)
        self._dispatcher = Dispatcher(world)
        self._server = Server(self._dispatcher, tls, host, port)
        self.port = self._server.server_address[1]
        self.username, self.password = next(iter(world.users.items()))
        self.requests = self._dispatcher.requests  # a Counter by method; total(), clear()
        self.unserved = self._dispatcher.unserved
        keyring = Keyring(Path(directory)) if {"ssh", "switches", "guests"}.intersection(faces) else None
        self.ssh_key_file = keyring and keyring.key_file  # the private key that opens every shell and switch, or None
        self.known_hosts_file = keyring and keyring.known_hosts_file  # the keys of all of them, or None
        self._shells = Shells(world, keyring, host) if "ssh" in faces else None
        self._switches = SwitchDoors(world, keyring, host) if "switches" in faces else None
        self._bmcs = Bmcs(world, tls, host) if "redfish" in faces else None
        self.controller = Controller(directory, tls, host) if CONTROLLER in faces else None
        self.kubernetes = _supervisor(world, directory, host) if KUBERNETES in faces else None
        self.bmc_username, self.bmc_password = bmcs.USERNAME, bmcs.PASSWORD
        self.guests = self.depot = self.registry = None
        if "guests" in faces:
            self._engage(keyring, Path(directory), faces)
        self._started = []
        self.control = Control(self)

    @property
    def sessions(self):
        """Return the present sessions."""
        with self.world.lock:
            return self._dispatcher.sessions.living()

    @property
    def sts_url(self):
        """The address of the security token service."""
        return f"https://{self.host}:{self.port}/sts/STSService"

    def saml_token(self, user=None, **options):
        """A SAML token of a user, as the security token service issues it; options of model.sso.Sso.issue."""
        with self.world.lock:
            return self.world.sso.issue(user or self.username, **options)

    def start(self):
        """Let time run and answer."""
        self.world.timeline.start()
        self._server.start()
        try:
            for face in self._faces():
                face.start()
                self._started.append(face)
        except BaseException:
            self.stop()
            raise

    @property
    def ssh_endpoints(self):
        """(address, port) of each host's SSH, by the host's name; empty without that face."""
        return dict(self._shells.endpoints) if self._shells is not None else {}

    @property
    def switch_endpoints(self):
        """(address, port) of each switch's SSH, by the switch's name; empty without that face."""
        return dict(self._switches.endpoints) if self._switches is not None else {}

    @property
    def switch_sessions(self):
        """A Counter of logins by the switch's name."""
        return self._switches.sessions

    @property
    def switch_arrivals(self):
        """Return a Counter of connections by the switch's name, including refused ones."""
        return self._switches.arrivals

    @property
    def switch_commands(self):
        """{switch: every line that was typed there, or program that was run}."""
        return {name: list(one.lines) for name, one in self.world.fabric.switches.items()}

    @property
    def bmc_endpoints(self):
        """The https address of each host's BMC, by the host's name; empty without that face."""
        return dict(self._bmcs.endpoints) if self._bmcs is not None else {}

    def endpoint(self):
        """Return all addresses and logins, as data for clients in other processes."""
        hosts = {}
        for name, (address, port) in self.ssh_endpoints.items():
            hosts.setdefault(name, {}).update(ssh_host=address, ssh_port=port)
        for name, url in self.bmc_endpoints.items():
            hosts.setdefault(name, {})["bmc_url"] = url
        found = {
            "host": self.host,
            "port": self.port,
            "ca_file": str(self.ca_file),
            "username": self.username,
            "password": self.password,
            "hosts": hosts,
        }
        if self.world.captured:
            found.update(captured=self.world.captured, assumptions=list(self.world.assumptions))
        if self.ssh_key_file is not None:
            found.update(ssh_key_file=str(self.ssh_key_file), known_hosts_file=str(self.known_hosts_file))
        if self._switches is not None:
            found.update(switches=self._switch_rows(), switch_username="admin", switch_password=self.password)
        if self._bmcs is not None:
            found.update(bmc_username=self.bmc_username, bmc_password=self.bmc_password)
        if self.controller is not None:
            found.update(controller=self.controller.endpoint())
        if self.kubernetes is not None:
            found.update(kubernetes=self.kubernetes.endpoint())
        if self.guests is not None:
            found.update(guests=self.guests.endpoints())
        if self.depot is not None:
            found.update(depot=self.depot.endpoint(), licence=self.depot.licences())
        if self.registry is not None:
            found.update(registry=self.registry.endpoint())
        return found

    def _engage(self, keyring, directory, faces):
        """The faces that need a container engine; who has none has no library for it either."""
        require_library()
        from .guests.depot import Depot
        from .guests.guests import Guests
        from .guests.registry import Registry

        guests = self.guests = self.world.guests = Guests(self.world, keyring, directory, self.ca_file)
        try:
            if "depot" in faces:
                self.depot = Depot(self.world, directory, guests.gateway)
            if "registry" in faces:
                self.registry = Registry(guests.client, guests.lab, guests.networks.name(guests.management), directory)
        except BaseException:
            guests.stop()
            raise

    def _switch_rows(self):
        rows = {}
        for name, (address, port) in self.switch_endpoints.items():
            switch = self.world.fabric.switches[name]
            rows[name] = {
                "ssh_host": address,
                "ssh_port": port,
                "platform": switch.platform,
                "version": switch.version,
                "username": next(iter(switch.users)),
            }
        return rows

    def _faces(self):
        # The depot starts before the guests, which query it when they boot.
        faces = [self._shells, self._bmcs, self._switches, self.controller, self.kubernetes]
        faces += [self.depot, self.guests, self.registry]
        return [face for face in faces if face is not None]

    def guest(self, name):
        """The guest of the VM of this name, as a test sees it."""
        if self.guests is None:
            raise ValueError("This twin has no guests: it was started without the face guests.")
        return self.guests.guest(name)

    def drop_ssh(self):
        """Close all SSH connections, as when a network goes away."""
        if self._shells is not None:
            self._shells.hang_up()

    def hang_up(self):
        """Close all connections, as a vCenter closes those that were idle for long."""
        self._server.hang_up()

    def stop(self):
        """Close all connections and end all threads."""
        for face in reversed(self._faces()):
            if face in self._started or face is self.guests:  # guests have something from the beginning
                face.stop()
        self._server.stop()
        self.world.close()


def _supervisor(world, directory, host):
    # The Supervisor creates the other clusters of the twin. Each has its own operators. It has the lock of the vCenter,
    # because a VM class of vCenter changes its objects, and its machines are VMs of vCenter.
    made = ApiServer(directory, Cluster(lock=world.lock), host, installed=("vks",))
    made.world.machines = VirtualMachines(world)
    made.service.logins = world.users
    world.workloads.offered.append(functools.partial(classes.offer, made.cluster))
    return made


@contextlib.contextmanager
def launch(seed="small", faults=(), **options):
    """A twin of a seed (a name, a file, or its data) with faults planned: [("latency", {"seconds": 0.1}), ...].

    Other options: port, the names that the certificate is for, and the FACES beside the vCenter.
    """
    world = seeds.from_data(seed) if isinstance(seed, dict) else seeds.load(seed)
    with running(world, faults, **options) as twin:
        yield twin


@contextlib.contextmanager
def running(world, faults=(), **options):
    """Run a twin of an existing world."""
    with tempfile.TemporaryDirectory(prefix="twin-") as directory:
        twin = Twin(world, directory, **options)
        for verb, how in faults:
            twin.control.do(verb, **how)
        twin.start()
        try:
            yield twin
        finally:
            twin.stop()
