"""The SNMP agent of an ESXi host."""

from __future__ import annotations

from pyVmomi import vim

from . import kept

PORT = 161
PORTS = range(1, 65536)
MOST_COMMUNITIES, MOST_TARGETS, LONGEST_COMMUNITY, BUFFER = 10, 3, 64, 1500
# Options of a new agent (esxcli system snmp get); their order is [unsure].
OPTIONS = {"EnvEventSource": "indications", "loglevel": "info"}
SOURCES = ("indications", "sensors")
LEVELS = ("debug", "info", "warning", "error")
KNOWN = ("EnvEventSource", "EventFilter", "loglevel", "syscontact", "syslocation", "engineid", "authProtocol")
FILTER_RESET = "reset"


class Agent:
    """Settings of an agent. A list that is unset in a specification stays as it is."""

    def __init__(self):
        self.enabled = False
        self.port = PORT
        self.communities: list[str] = []
        self.targets: list = []
        self.options = dict(OPTIONS)


def limits():
    """The limits of the agent (Configure SNMP for ESXi; the size of its buffer is [unsure])."""
    return vim.host.SnmpSystem.AgentLimits(
        maxReadOnlyCommunities=MOST_COMMUNITIES,
        maxTrapDestinations=MOST_TARGETS,
        maxCommunityLength=LONGEST_COMMUNITY,
        maxBufferSize=BUFFER,
        capability="COMPLETE",
    )


def reconfigure(agent, spec):
    """Change the settings of an agent, all or none; an empty community or host name clears its list."""
    communities = [one for one in spec.readOnlyCommunities or [] if one]
    targets = [one for one in spec.trapTargets or [] if one.hostName]
    if len(communities) > MOST_COMMUNITIES or len(targets) > MOST_TARGETS:
        raise vim.fault.InsufficientResourcesFault(msg="Insufficient resources.")
    if any(len(one) > LONGEST_COMMUNITY for one in communities):
        raise kept.wrong("spec.readOnlyCommunities")
    if spec.port and spec.port not in PORTS:
        raise kept.wrong("spec.port")
    if any(one.port not in PORTS or not one.community for one in targets):
        raise kept.wrong("spec.trapTargets")
    for one in spec.option or []:
        kept.require_one_of(one.key, KNOWN, "spec.option")
        if one.key == "EnvEventSource":
            kept.require_one_of(one.value, SOURCES, "spec.option")
        if one.key == "loglevel":
            kept.require_one_of(one.value, LEVELS, "spec.option")
    agent.enabled = agent.enabled if spec.enabled is None else spec.enabled
    agent.port = spec.port or agent.port
    agent.communities = communities if spec.readOnlyCommunities else agent.communities
    agent.targets = targets if spec.trapTargets else agent.targets
    for one in spec.option or []:
        agent.options[one.key] = one.value
    if agent.options.get("EventFilter") == FILTER_RESET:
        del agent.options["EventFilter"]
