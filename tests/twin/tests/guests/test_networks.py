"""Subnets of the lab are free ones, and an address that was given stays with its adapter."""

from __future__ import annotations

import ipaddress
import types

import docker.errors
import pytest

from vsphere_twin.guests.engine import EngineProblem
from vsphere_twin.guests.lab import Lab
from vsphere_twin.guests.networks import Networks, Segment

FIRST, SECOND, THIRD = (f"10.100.{number}.0/24" for number in range(3))


class Engine:
    """The engine's networks: those that are there, and subnets that somebody takes at the same moment."""

    def __init__(self, there=(), taken=()):
        self.networks, self.api = self, types.SimpleNamespace(networks=self.rows)
        self._there, self._taken = there, taken
        self.made = []

    def rows(self):
        return [{"IPAM": {"Config": [{"Subnet": one}]}} for one in self._there]

    def create(self, name, ipam, **_more):
        subnet = ipam["Config"][0]["Subnet"]
        if subnet in self._taken:
            raise docker.errors.APIError("conflict", explanation="Pool overlaps with other one on this address space")
        self.made.append((name, subnet))


class Hands:
    def __init__(self, routes=()):
        self._routes, self.lines = list(routes), []

    def routes(self):
        return self._routes

    def ip(self, lines):
        self.lines += lines


@pytest.mark.parametrize(
    "routes, there, taken, wanted",
    [
        ((), (), (), FIRST),
        (("10.100.0.0/24", "192.0.2.0/24"), (), (), SECOND),
        (("10.100.0.7",), (), (), SECOND),
        ((), ("10.100.0.0/23",), (), THIRD),
        ((), (), (FIRST, SECOND), THIRD),
        (("0.0.0.0/0",), ("fd00::/64", ""), (), FIRST),
    ],
    ids=["all free", "a route", "a route to one machine", "another network", "taken meanwhile", "no networks"],
)
def test_the_first_subnet_that_is_free(routes, there, taken, wanted):
    engine = Engine(there, taken)
    networks = Networks(engine, Lab(), Hands(routes))
    assert str(networks.segment("network-1").subnet) == wanted
    assert networks.segment("network-1") is networks.segment("network-1")
    assert [subnet for _name, subnet in engine.made] == [wanted]


def test_no_subnet_is_left():
    with pytest.raises(EngineProblem, match=r"No subnet of 10\.100\.0\.0/14 is free"):
        Networks(Engine(["10.0.0.0/8"]), Lab(), Hands()).segment("network-1")


def test_an_address_stays_with_its_adapter_and_never_goes_to_another():
    segment = Segment("network-1", "bridge", ipaddress.ip_network(FIRST))
    given = [
        segment.lease(mac, requested).with_prefixlen for mac, requested in (("a", 0), ("b", 0), ("a", 9), ("c", 251))
    ]
    assert given == ["10.100.0.2/24", "10.100.0.3/24", "10.100.0.2/24", "10.100.0.253/24"]


def test_a_network_without_addresses_says_so():
    segment = Segment("network-1", "bridge", ipaddress.ip_network("10.100.0.0/29"))
    for mac in "abcd":
        segment.lease(mac, 0)
    with pytest.raises(EngineProblem, match="no free address"):
        segment.lease("e", 0)


@pytest.mark.parametrize(
    "address, gateway, more",
    [
        ("10.100.0.9/24", "10.100.0.1", []),
        ("192.0.2.7/24", "192.0.2.1", ["address replace 192.0.2.1/24 dev br"]),
        ("192.0.2.1/24", "192.0.2.2", ["address replace 192.0.2.2/24 dev br"]),
    ],
    ids=["of the subnet", "of somebody's plan", "the first of somebody's plan"],
)
def test_the_host_is_reached_from_any_network(address, gateway, more):
    hands = Hands()
    networks = Networks(Engine(), Lab(), hands)
    segment = Segment("network-1", "br", ipaddress.ip_network(FIRST))
    assert str(networks.gateway_for(segment, ipaddress.ip_interface(address))) == gateway
    assert hands.lines == more
