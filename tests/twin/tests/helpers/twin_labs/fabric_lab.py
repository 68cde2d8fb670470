"""Fabrics for tests: hosts with RDMA ports behind leaves and a spine, and clients at the switches' command lines."""

from __future__ import annotations

import asyncio
import re
import subprocess

import asyncssh

from . import host_lab

HOSTS = (host_lab.ESX, host_lab.OTHER)
# What an adapter of a host needs so that RoCE is lossless on it.
TUNED = {"nmlx5_core": "pfctx=0x08 pfcrx=0x08 trust_state=2", "nmlx5_rdma": "dscp_force=26"}
PORTS = {
    "eos": "Ethernet{}",
    "nxos": "Ethernet1/{}",
    "onyx": "Eth1/{}",
    "os10": "ethernet1/1/{}",
    "enterprise_sonic": "Eth1/{}",
    "cumulus": "swp{}",
}
EOS_LINES = """
    qos map dscp 26 to traffic-class 3
    qos profile ROCE
       priority-flow-control on
       priority-flow-control priority 3 no-drop
       tx-queue 3
          no priority
          bandwidth percent 50
          random-detect ecn minimum-threshold 150 kbytes maximum-threshold 1500 kbytes max-mark-probability 100 weight 0
       tx-queue 6
          priority strict
    priority-flow-control pause watchdog default timeout 0.2
    interface Ethernet1-4
       mtu 9214
       qos trust dscp
       service-profile ROCE
"""
NXOS_LINES = """
    feature lldp
    class-map type qos match-all ROCE
      match dscp 26
    class-map type qos match-all CNP
      match dscp 48
    policy-map type qos ROCE-IN
      class ROCE
        set qos-group 3
      class CNP
        set qos-group 6
    policy-map type network-qos ROCE-NQ
      class type network-qos c-8q-nq3
        pause pfc-cos 3
        mtu 9216
    policy-map type queuing ROCE-OUT
      class type queuing c-out-8q-q6
        priority level 1
      class type queuing c-out-8q-q3
        bandwidth remaining percent 50
        random-detect minimum-threshold 150 kbytes maximum-threshold 1500 kbytes drop-probability 100 weight 0 ecn
      class type queuing c-out-8q-q-default
        bandwidth remaining percent 50
    system qos
      service-policy type network-qos ROCE-NQ
      service-policy type queuing output ROCE-OUT
    priority-flow-control watch-dog-interval on
    interface Ethernet1/1-4
      mtu 9216
      priority-flow-control mode on
      priority-flow-control watch-dog-interval on
      service-policy type qos input ROCE-IN
"""


def lines(text):
    """The lines of a configuration without blank ones."""
    return [line for line in text.splitlines() if line.strip()]


def port(platform, number):
    """The name of the port of a number."""
    return f"Ethernet{4 * (number - 1)}" if platform == "sonic" else PORTS[platform].format(number)


def switch(name, platform, config="", **more):
    """A switch of a seed."""
    return {"name": name, "platform": platform, "ports": 4, "config": lines(config), **more}


def fabric(*switches, cables=None, hosts=None, **options):
    """A seed with two hosts and these switches: the hosts' vmnic2 go to port 1 of the first and of the last switch.

    Between two switches a cable goes from port 3 of one to port 4 of the next.
    """
    hosts = hosts or [host_lab.esx(name, module_options=TUNED) for name in HOSTS]
    data = host_lab.seed(*hosts, mtu=9000, **options)
    if cables is None:
        first, last = switches[0], switches[-1]
        far = 1 if first is not last else 2
        cables = [[f"{HOSTS[0]}/vmnic2", _place(first, 1)], [f"{HOSTS[1]}/vmnic2", _place(last, far)]]
        cables += [[_place(one, 3), _place(other, 4)] for one, other in zip(switches, switches[1:], strict=False)]
    return {**data, "fabric": {"switches": list(switches), "cables": cables}}


def _place(one, number):
    return f"{one['name']}/{port(one['platform'], number)}"


def openssh(twin, name, *words, stdin="", argv_only=False):
    """OpenSSH's own client at a switch: the completed process, or its command line alone."""
    address, number = twin.switch_endpoints[name]
    user = twin.endpoint()["switches"][name]["username"]
    settings = ["StrictHostKeyChecking=yes", "BatchMode=yes", "IdentitiesOnly=yes"]
    options = [word for one in (*settings, f"UserKnownHostsFile={twin.known_hosts_file}") for word in ("-o", one)]
    argv = ["ssh", "-F", "none", "-i", str(twin.ssh_key_file), *options, "-p", str(number)]
    argv += [f"{user}@{address}", *words]
    if argv_only:
        return argv
    return subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=120, check=False)


class Cli:
    """A client at a switch's command line that types like a person: it waits for the prompt after each line."""

    def __init__(
        self, twin, name, password=None, prompt=r"[\w.@:~-]+(?:\([^)]*\))?(?: \[[^\]]*\])?(?: \([^)]*\))? ?[>#$] ?$"
    ):
        self._twin, self._name = twin, name
        self._password = password or twin.password
        self._prompt = re.compile(prompt)
        self._loop = asyncio.new_event_loop()

    def __enter__(self):
        self._loop.run_until_complete(self._open())
        return self

    def __exit__(self, *trouble):
        self._connection.abort()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _open(self):
        address, number = self._twin.switch_endpoints[self._name]
        user = self._twin.endpoint()["switches"][self._name]["username"]
        self._connection = await asyncssh.connect(
            address,
            number,
            username=user,
            password=self._password,
            client_keys=None,
            config=None,
            known_hosts=str(self._twin.known_hosts_file),
        )
        self._process = await self._connection.create_process(term_type="vt100", term_size=(200, 24))
        self.greeting = await self._until(self._prompt)

    async def _until(self, pattern):
        seen = ""
        while not pattern.search(seen.rpartition("\n")[2]):
            piece = await asyncio.wait_for(self._process.stdout.read(4096), 120)
            if not piece:
                raise ConnectionError(f"The switch hung up after {seen!r}.")
            seen += piece.replace("\r\n", "\n")
        return seen

    def press(self, keys, until=None):
        """What comes back after keys, up to the next prompt or what is waited for."""
        self._process.stdin.write(keys)
        return self._loop.run_until_complete(self._until(re.compile(until) if until else self._prompt))

    def type(self, line, until=None):
        """What comes back after a line: its echo, the answer, and the next prompt or the question."""
        return self.press(f"{line}\r", until)

    def __call__(self, *typed):
        """The answers to lines, without echoes and prompts."""
        answers = [self.type(line) for line in typed]
        return "".join(answer.partition("\n")[2].rpartition("\n")[0] + "\n" for answer in answers).strip("\n")


def cli(twin, name, **options):
    """A client at a switch's command line: `with cli(twin, "leaf-01") as console: console("show version")`."""
    return Cli(twin, name, **options)
