"""The networks of the lab: a bridge for each network of the model, with a subnet that is free on this machine."""

from __future__ import annotations

import ipaddress
import threading

import docker.errors
from docker.types import IPAMConfig, IPAMPool

from .engine import EngineProblem

# Pool of subnets, the first free one first.
SPACE = ipaddress.ip_network("10.100.0.0/14")
PREFIX = 24
BRIDGE_MTU = 1500  # of the bridge itself, for traffic from outside; traffic between guests does not meet it


class Segment:
    """One broadcast domain: a bridge, its subnet, and its assigned addresses."""

    def __init__(self, key, bridge, subnet):
        self.key, self.bridge, self.subnet = key, bridge, subnet
        self._leases = {}

    @property
    def gateway(self):
        """The host's own address."""
        return self.subnet.network_address + 1

    def lease(self, mac, requested):
        """Return the permanent address of an adapter: the requested number. No other adapter gets it later."""
        if mac not in self._leases:
            taken = set(self._leases.values())
            numbers = range(2, self.subnet.num_addresses - 2)  # the last address is the registry's
            first = requested % len(numbers)
            free = (number for number in (*numbers[first:], *numbers[:first]) if number not in taken)
            number = next(free, None)
            if number is None:
                raise EngineProblem(f"The network {self.subnet} of the lab has no free address left.")
            self._leases[mac] = number
        return ipaddress.ip_interface(f"{self.subnet.network_address + self._leases[mac]}/{self.subnet.prefixlen}")


class Networks:
    """The segments by the key of their network in the model; made when first needed."""

    def __init__(self, client, lab, hands):
        self._client, self._lab, self._hands = client, lab, hands
        self._segments = {}
        self._lock = threading.Lock()

    def segment(self, key):
        """The segment of a network, made if it is not there yet."""
        with self._lock:
            if key not in self._segments:
                self._segments[key] = self._make(key)
            return self._segments[key]

    def known(self, key):
        """Return the segment of a network, or None before its creation."""
        return self._segments.get(key)

    def gateway_for(self, segment, interface):
        """Return the host's own address in the network of an interface; one more for an unmanaged network."""
        if segment.gateway in interface.network:
            return segment.gateway
        hosts = interface.network.hosts()
        gateway = next((one for one in hosts if one != interface.ip), interface.ip)
        self._hands.ip([f"address replace {gateway}/{interface.network.prefixlen} dev {segment.bridge}"])
        return gateway

    def name(self, key):
        """The engine's name of a network."""
        return self._lab.name(f"net-{key}")

    def _make(self, key):
        bridge = f"ai{self._lab.id[:6]}-{len(self._segments)}"
        taken = _networks(self._hands.routes())
        for row in self._client.api.networks():
            taken += _networks(one.get("Subnet", "") for one in (row["IPAM"] or {}).get("Config") or [])
        for subnet in SPACE.subnets(new_prefix=PREFIX):
            if any(subnet.overlaps(one) for one in taken):
                continue
            try:
                self._create(key, bridge, subnet)
            except docker.errors.APIError as problem:
                if "overlap" not in str(problem.explanation or ""):
                    raise
                continue  # another lab took it at the same moment
            return Segment(key, bridge, subnet)
        raise EngineProblem(f"No subnet of {SPACE} is free on this machine for a network of the lab.")

    def _create(self, key, bridge, subnet):
        pool = IPAMPool(subnet=str(subnet), gateway=str(subnet.network_address + 1))
        self._client.networks.create(
            self.name(key),
            driver="bridge",
            ipam=IPAMConfig(pool_configs=[pool]),
            labels=self._lab.labels,
            options={"com.docker.network.bridge.name": bridge},
        )
        # Only an explicitly set MTU stays when adapters with smaller ones are plugged.
        self._hands.ip([f"link set {bridge} mtu {mtu}" for mtu in (BRIDGE_MTU - 1, BRIDGE_MTU)])


def _networks(texts):
    found = []
    for text in texts:
        try:
            one = ipaddress.ip_network(text, strict=False)
        except ValueError:
            continue
        if one.version == 4 and one.prefixlen:
            found.append(one)
    return found
