"""FetchDVPorts: the ports of a distributed switch, free ones included; ephemeral ports exist while they are in use."""

from __future__ import annotations

from pyVmomi import vim

from vsphere_twin.model import members

from .shape import make
from .switch import port_setting


def fetch(switch, criteria):
    """Return the matching ports; port groups count only if the criteria contain inside or outside (vSphere API)."""
    used = list(_of_vms(switch))
    taken = {row.key for row in used}
    running = set(_running(switch))
    rows = [*_uplinks(switch), *used, *(row for row in _free(switch) if row.key not in taken)]
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
        (criteria.portKey or None, lambda row, value: row.key in value),
        (criteria.inside, lambda row, value: _inside(row, criteria) is value),
    )
    return [row for row in rows if all(value is None or fits(row, value) for value, fits in tests)]


def _inside(row, criteria):
    return not criteria.portgroupKey or row.portgroupKey in criteria.portgroupKey


def _uplinks(switch):
    group = switch.uplink_group
    for host in switch.hosts.values():
        plugged = {key: nic.device for nic, key, _name in members.plug(switch, host)}
        for key, name in zip(members.keys(switch, host), switch.uplinks, strict=True):
            device = plugged.get(key)
            connectee = (
                make(vim.dvs.PortConnectee, connectedEntity=host, nicKey=device, type="pnic") if device else None
            )
            yield _port(switch, group, host, key, name, connectee)


def _of_vms(switch):
    for group in switch.portgroups.values():
        for vm in group.vms.values():
            for nic in vm.nics:
                port = getattr(nic.backing, "port", None)
                if port is not None and port.portgroupKey == group.key:
                    connectee = make(
                        vim.dvs.PortConnectee,
                        connectedEntity=vm,
                        nicKey=str(nic.key),
                        type="vmVnic",
                        addressHint=nic.macAddress,
                    )
                    yield _port(switch, group, vm.host, port.portKey, None, connectee, port.connectionCookie)


def _running(switch):
    for group in switch.portgroups.values():
        for vm in group.vms.values():
            if vm.power == "poweredOn":
                yield from (port.portKey for port in vm.ports_of(group))


def _free(switch):
    for group in switch.portgroups.values():
        if not group.uplink and group.bound:
            for key in group.port_keys:
                yield _port(switch, group, None, key, None, None)


def _port(switch, group, host, key, name, connectee, cookie=None):
    return make(
        vim.dvs.DistributedVirtualPort,
        key=key,
        config=make(
            vim.dvs.DistributedVirtualPort.ConfigInfo, name=name, configVersion="1", setting=port_setting(switch, group)
        ),
        dvsUuid=switch.uuid,
        portgroupKey=group.key,
        proxyHost=host,
        connectee=connectee,
        conflict=False,
        connectionCookie=cookie,
    )
