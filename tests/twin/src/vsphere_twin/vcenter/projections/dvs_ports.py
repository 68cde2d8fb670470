"""FetchDVPorts: the ports of a distributed switch, free ones included; ephemeral ports exist while they are in use."""

from __future__ import annotations

from pyVmomi import vim

from vsphere_twin.model import kept, members

from .shape import make
from .switch import port_setting


def fetch(switch, criteria):
    """Return the matching ports; port groups count only if the criteria contain inside or outside (vSphere API)."""
    ports = _Ports(switch, criteria)
    used = list(_of_vms(ports))
    taken = {row.key for row in used}
    running = set(_running(switch))
    rows = [*_uplinks(ports), *used, *_free(ports, taken)]
    tests = (
        (criteria.uplinkPort, lambda row, value: (row.portgroupKey == switch.uplink_group.key) is value),
        (criteria.connected, lambda row, value: (row.connectee is not None) is value),
        (
            criteria.active,
            lambda row, value: (
                (row.key in running or row.connectee is not None and row.connectee.type != "vmVnic") is value
            ),
        ),
        (criteria.host or None, lambda row, value: row.proxyHost in value),
    )
    return [row for row in rows if all(value is None or fits(row, value) for value, fits in tests)]


class _Ports:
    """What the ports of one request have in common. A switch has tens of thousands of ports."""

    def __init__(self, switch, criteria):
        self.switch = switch
        self._keys = set(criteria.portKey or ())
        self._inside, self._groups = criteria.inside, set(criteria.portgroupKey or ())
        self._settings = {}

    def are_asked(self, group):
        """Whether the criteria select ports of this group."""
        return self._inside is None or (not self._groups or group.key in self._groups) is self._inside

    def is_asked(self, key):
        """Whether the criteria select this port of a selected group."""
        return not self._keys or key in self._keys

    def port(self, group, host, key, name, connectee, cookie=None):
        """A port; all ports of a group have one setting, unless a port has its own."""
        if group.key not in self._settings:
            self._settings[group.key] = port_setting(self.switch, group)
        return make(
            vim.dvs.DistributedVirtualPort,
            key=key,
            config=make(
                vim.dvs.DistributedVirtualPort.ConfigInfo,
                name=name,
                configVersion="1",
                setting=kept.overlay(self._settings[group.key], self.switch.features.port_settings.get(key)),
            ),
            dvsUuid=self.switch.uuid,
            portgroupKey=group.key,
            proxyHost=host,
            connectee=connectee,
            conflict=False,
            connectionCookie=cookie,
        )


def _uplinks(ports):
    switch, group = ports.switch, ports.switch.uplink_group
    for host in switch.hosts.values() if ports.are_asked(group) else ():
        plugged = {key: nic.device for nic, key, _name in members.plug(switch, host)}
        for key, name in zip(members.keys(switch, host), switch.uplinks, strict=True):
            device = plugged.get(key)
            connectee = (
                make(vim.dvs.PortConnectee, connectedEntity=host, nicKey=device, type="pnic") if device else None
            )
            if ports.is_asked(key):
                yield ports.port(group, host, key, name, connectee)


def _of_vms(ports):
    for group in filter(ports.are_asked, ports.switch.portgroups.values()):
        for vm in group.vms.values():
            for nic in vm.nics:
                port = getattr(nic.backing, "port", None)
                if port is not None and port.portgroupKey == group.key and ports.is_asked(port.portKey):
                    connectee = make(
                        vim.dvs.PortConnectee,
                        connectedEntity=vm,
                        nicKey=str(nic.key),
                        type="vmVnic",
                        addressHint=nic.macAddress,
                    )
                    yield ports.port(group, vm.host, port.portKey, None, connectee, port.connectionCookie)


def _running(switch):
    for group in switch.portgroups.values():
        for vm in group.vms.values():
            if vm.power == "poweredOn":
                yield from (port.portKey for port in vm.ports_of(group))


def _free(ports, taken):
    for group in filter(ports.are_asked, ports.switch.portgroups.values()):
        if not group.uplink and group.bound:
            for key in group.port_keys:
                if key not in taken and ports.is_asked(key):
                    yield ports.port(group, None, key, None, None)
