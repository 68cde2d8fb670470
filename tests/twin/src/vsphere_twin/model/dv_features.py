"""Features of distributed switches: resource control (NIOC), health check, LACP groups, port mirroring."""

from __future__ import annotations

import copy

from pyVmomi import vim, vmodl

from . import kept, members

SWITCH = vim.dvs.VmwareDistributedVirtualSwitch
TRAFFIC = vim.DistributedVirtualSwitch.HostInfrastructureTrafficResource
# Classes of traffic of NIOC version 3 (vSphere Networking, About vSphere Network I/O Control). Later ones have more.
CLASSES = ("management", "faultTolerance", "vmotion", "virtualMachine", "iSCSI", "nfs", "hbr", "vsan", "vdp")
SHARES = {"low": 25, "normal": 50, "high": 100}
CUSTOM_SHARES = range(1, 101)
RESERVABLE = 0.75  # of the slowest uplink (vSphere Networking, Bandwidth Allocation for System Traffic)
HEALTH = (SWITCH.VlanMtuHealthCheckConfig, SWITCH.TeamingHealthCheckConfig)
MOST_GROUPS, MOST_LINKS = 64, 32  # vSphere Networking, LACP Support; the number of links is [unsure]
MODES = SWITCH.UplinkLacpMode.values
ALGORITHMS = SWITCH.LacpLoadBalanceAlgorithm.values
SESSIONS = SWITCH.VspanSessionType.values
SHORTEST_PACKET = 60  # vSphere API reference, VMwareVspanSession
OF_PORTS = ("sourcePortTransmitted", "sourcePortReceived", "destinationPort")


class Features:
    """What a switch has of them."""

    def __init__(self):
        self.nioc = False  # of a switch that the API creates; the vSphere Client enables it
        self.traffic = {name: (-1, _shares("high" if name == "virtualMachine" else "normal"), 0) for name in CLASSES}
        self.health = dict.fromkeys(HEALTH, (False, 1))
        self.lags: dict = {}  # by key
        self.sessions: dict = {}  # by key
        self.port_settings: dict = {}  # by key of a port
        self.last_key = 0

    def new_key(self):
        self.last_key += 1
        return str(self.last_key)


def _shares(level):
    return vim.SharesInfo(level=level, shares=SHARES[level])


def traffic(switch, rows):
    """The allocations that a specification leads to; an unset field stays. InvalidArgument for an impossible one."""
    result = dict(switch.features.traffic)
    for row in rows:
        if row.key not in result:
            raise kept.wrong("spec.infrastructureTrafficResourceConfig.key")
        limit, shares, reservation = result[row.key]
        wanted = row.allocationInfo
        limit = limit if wanted.limit is None else wanted.limit
        reservation = reservation if wanted.reservation is None else wanted.reservation
        if wanted.shares is not None:
            shares = _known_shares(wanted.shares)
        if limit < -1 or reservation < 0 or -1 < limit < reservation:
            raise kept.wrong("spec.infrastructureTrafficResourceConfig.allocationInfo")
        result[row.key] = (limit, shares, reservation)
    reserved = sum(reservation for _limit, _given, reservation in result.values())
    speeds = [nic.speed_mbps for host in switch.hosts.values() for nic in switch.uplinks_of(host)]
    if reserved and speeds and reserved > RESERVABLE * min(speeds):
        words = "The available resources are insufficient."
        # That it is this fault is [unsure].
        raise vim.fault.ResourceNotAvailable(msg=words, containerType=SWITCH, containerName=switch.name)
    return result


def _known_shares(wanted):
    if wanted.level in SHARES:
        return _shares(wanted.level)
    if wanted.shares not in CUSTOM_SHARES:
        raise kept.wrong("spec.infrastructureTrafficResourceConfig.allocationInfo.shares")
    return vim.SharesInfo(level="custom", shares=wanted.shares)


def set_health(switch, configs):
    """Change health checks; the ones that the request does not name stay."""
    result = dict(switch.features.health)
    for config in configs:
        kind = type(config)
        if kind not in result or config.interval is not None and config.interval < 0:
            raise kept.wrong("healthCheckConfig")
        enable, interval = result[kind]
        result[kind] = (
            enable if config.enable is None else config.enable,
            interval if config.interval is None else config.interval,
        )
    switch.features.health = result


def update_lags(switch, specs):
    """Add, change and remove LACP groups: all or none."""
    if switch.kept.get("lacpApiVersion", "multipleLag") != "multipleLag":
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object.")
    result, renamed = dict(switch.features.lags), {}
    for spec in specs:
        kept.require_one_of(spec.operation, ("add", "edit", "remove"), "lacpGroupSpec.operation")
        config = copy.copy(spec.lacpGroupConfig)
        if spec.operation == "add":
            _check_lag(config, result.values(), whole=True)
            config.key = switch.features.new_key()
            result[config.key] = _with_links(config)
            continue
        if config.key not in result:
            raise kept.wrong("lacpGroupSpec.lacpGroupConfig.key")
        others = [lag for key, lag in result.items() if key != config.key]
        if spec.operation == "edit":
            _check_lag(config, others)
            before = result[config.key].name
            result[config.key] = _with_links(kept.overlay(result[config.key], config))
            renamed[before] = result[config.key].name
        else:
            _require_unused(switch, result.pop(config.key).name)
    if len(result) > MOST_GROUPS:
        raise vim.fault.LimitExceeded(msg="A specified limit was exceeded.", property="lacpGroup", limit=MOST_GROUPS)
    members.follow(switch, renamed)
    switch.features.lags = result


def _check_lag(config, others, whole=False):
    place = "lacpGroupSpec.lacpGroupConfig"
    if whole and not (config.name and config.uplinkNum and config.mode and config.loadbalanceAlgorithm):
        raise kept.wrong(place)
    if config.name in [lag.name for lag in others]:
        raise vim.fault.DuplicateName(msg=f"The name '{config.name}' already exists.", name=config.name)
    if config.uplinkNum is not None and not 1 <= config.uplinkNum <= MOST_LINKS:
        raise kept.wrong(f"{place}.uplinkNum")
    kept.require_one_of(config.mode, MODES, f"{place}.mode")
    kept.require_one_of(config.loadbalanceAlgorithm, ALGORITHMS, f"{place}.loadbalanceAlgorithm")
    served = ("key", "name", "mode", "uplinkNum", "loadbalanceAlgorithm", "uplinkName", "uplinkPortKey")
    kept.refuse_unserved(config, served)


def _with_links(config):
    config.uplinkName = [f"{config.name}-{number}" for number in range(config.uplinkNum)]
    config.uplinkPortKey = []
    return config


def _require_unused(switch, name):
    for group in switch.portgroups.values():
        if name in (*(group.teaming.active or ()), *group.teaming.standby):
            raise vim.fault.ResourceInUse(msg=f"The resource '{name}' is in use.", name=name)


def sessions(switch, specs, port_keys):
    """The sessions of port mirroring that a specification leads to. `port_keys` are the ports of the switch."""
    result = dict(switch.features.sessions)
    for spec in specs:
        kept.require_one_of(spec.operation, ("add", "edit", "remove"), "spec.vspanConfigSpec.operation")
        session = copy.copy(spec.vspanSession)
        if spec.operation != "add" and session.key not in result:
            raise vim.fault.NotFound(msg=f"The object or item referred to could not be found: {session.key}")
        if spec.operation == "remove":
            del result[session.key]
            continue
        if spec.operation == "edit":
            session = kept.overlay(result[session.key], session)
        else:
            session.key = switch.features.new_key()
        others = [one.name for key, one in result.items() if key != session.key]
        _check_session(switch, session, others, port_keys)
        result[session.key] = session
    return result


def _check_session(switch, session, others, port_keys):
    place = "spec.vspanConfigSpec.vspanSession"
    if not session.name:
        raise kept.wrong(f"{place}.name")
    if session.name in others:
        raise vim.fault.DuplicateName(msg=f"The name '{session.name}' already exists.", name=session.name)
    kept.require_one_of(session.sessionType, SESSIONS, f"{place}.sessionType")
    if session.mirroredPacketLength is not None and session.mirroredPacketLength < SHORTEST_PACKET:
        raise kept.wrong(f"{place}.mirroredPacketLength")
    if session.samplingRate is not None and session.samplingRate < 1:
        raise kept.wrong(f"{place}.samplingRate")
    if session.encapsulationVlanId is not None and not 1 <= session.encapsulationVlanId <= 4094:
        raise kept.wrong(f"{place}.encapsulationVlanId")
    for name in OF_PORTS:
        ports = getattr(session, name)
        if ports is not None and not set(ports.portKey or ()) <= port_keys:
            raise vim.fault.NotFound(msg="The object or item referred to could not be found.")
        if ports is not None and not set(ports.uplinkPortName or ()) <= set(switch.uplinks):
            raise kept.wrong(f"{place}.{name}")


def set_ports(switch, specs, port_keys):
    """Settings of single ports; that the policy of the group must allow an override is not checked [unsure]."""
    for spec in specs:
        if spec.operation != "edit":
            raise vmodl.fault.NotSupported(msg="The operation is not supported on the object: the group has the ports.")
        if spec.key not in port_keys:
            raise vim.fault.NotFound(msg=f"The object or item referred to could not be found: {spec.key}")
        kept.refuse_unserved(spec, ("operation", "key", "setting", "configVersion"))
        if spec.setting is not None:
            kept.refuse_unserved(spec.setting, ("macManagementPolicy",))
    for spec in specs:
        before = switch.features.port_settings.get(spec.key)
        switch.features.port_settings[spec.key] = kept.overlay(before, spec.setting)
