"""The TCP/IP stacks of a host: name servers, gateway and settings of each."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field

from pyVmomi import vim, vmodl

from . import kept

DEFAULT = "defaultTcpipStack"
KEYS = ("vSphereProvisioning", "vmotion", DEFAULT)  # as every ESXi has them. GOV simulator/esx
ALGORITHMS = vim.host.NetStackInstance.CongestionControlAlgorithmType.values
LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
SERVED = ("key", "name", "dnsConfig", "ipRouteConfig", "requestedMaxNumberOfConnections", "congestionControlAlgorithm")


@dataclass
class NetStack:
    """One stack; the defaults are those of ESXi."""

    key: str
    dns: vim.host.DnsConfig = field(default_factory=lambda: vim.host.DnsConfig(dhcp=False, hostName="", domainName=""))
    route: vim.host.IpRouteConfig = field(default_factory=vim.host.IpRouteConfig)
    connections: int = 11000
    algorithm: str = "newreno"


def all_of():
    """Return the stacks of a new host by their keys."""
    return {key: NetStack(key) for key in KEYS}


def set_up(host, name, domain, servers):
    """Set the names and name servers of a host in its default stack."""
    host.net_stacks[DEFAULT].dns = vim.host.DnsConfig(
        dhcp=False, hostName=name, domainName=domain, address=list(servers), searchDomain=[domain] if domain else []
    )
    host.net_stacks[DEFAULT].route = vim.host.IpRouteConfig(defaultGateway="10.0.0.1")


def check_dns(host, config):
    """Refuse a DNS configuration that no host can have (vSphere API reference, HostNetworkSystem.UpdateDnsConfig)."""
    if config.dhcp:
        if config.virtualNicDevice not in [nic.device for nic in host.vmkernel]:
            raise vim.fault.NotFound(
                msg=f"The object or item referred to could not be found: {config.virtualNicDevice}"
            )
        return
    if not LABEL.fullmatch(config.hostName or ""):
        raise kept.wrong("config.hostName")
    for address in config.address:
        _check_address(address, "config.address")


def set_dns(stack, config):
    """Replace the DNS configuration; with DHCP the names and servers stay, because the model has no DHCP server."""
    if config.dhcp:
        stack.dns = kept.overlay(stack.dns, vim.host.DnsConfig(dhcp=True, virtualNicDevice=config.virtualNicDevice))
    else:
        stack.dns = vim.host.DnsConfig(
            dhcp=False,
            hostName=config.hostName,
            domainName=config.domainName,
            address=list(config.address),
            searchDomain=list(config.searchDomain),
        )


def check_route(config):
    """Refuse a gateway that is no address."""
    kept.refuse_unserved(config, ("defaultGateway", "ipV6DefaultGateway"))
    if config.defaultGateway:
        _check_address(config.defaultGateway, "config.defaultGateway")
    if config.ipV6DefaultGateway:
        _check_address(config.ipV6DefaultGateway, "config.ipV6DefaultGateway")


def check(host, spec):
    """Refuse a NetStackSpec that adds or removes a stack, names an unknown one, or has a wrong value."""
    if spec.operation not in (None, "edit"):
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object: the stacks are fixed.")
    wanted = spec.netStackInstance
    kept.refuse_unserved(wanted, SERVED, on=("ipV6Enabled",) if host.ipv6 else ())
    if wanted.key not in host.net_stacks:
        raise vim.fault.NotFound(msg=f"The object or item referred to could not be found: {wanted.key}")
    if wanted.dnsConfig is not None:
        if wanted.key != DEFAULT:
            raise kept.wrong("netStackSpec.netStackInstance.dnsConfig")  # names belong to the default stack [unsure]
        check_dns(host, wanted.dnsConfig)
    if wanted.ipRouteConfig is not None:
        check_route(wanted.ipRouteConfig)
    kept.require_one_of(wanted.congestionControlAlgorithm, ALGORITHMS, "congestionControlAlgorithm")


def change(host, spec):
    """Change a stack as a checked NetStackSpec requests; unset fields stay."""
    wanted = spec.netStackInstance
    stack = host.net_stacks[wanted.key]
    if wanted.dnsConfig is not None:
        set_dns(stack, wanted.dnsConfig)
    stack.route = kept.overlay(stack.route, wanted.ipRouteConfig)
    stack.connections = wanted.requestedMaxNumberOfConnections or stack.connections
    stack.algorithm = wanted.congestionControlAlgorithm or stack.algorithm


def _check_address(text, place):
    try:
        ipaddress.ip_address(text)
    except ValueError:
        raise kept.wrong(place) from None
