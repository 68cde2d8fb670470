"""Switches and cables of a seed."""

from __future__ import annotations

from ..model.seed_file import Problem, SeedError, changed, line_of
from .device import kind
from .model import PhysicalSwitch, User


def build(world, entry):
    """Put the switches of a seed into the world, cable them, and let them run their configuration."""
    problems = []
    for one in _each(entry.get("switches", [])):
        found = []
        _switch(world, one, found)
        problems += [Problem(words, line_of(one)) for words in found]
    if not problems:
        for position, cable in enumerate(entry.get("cables", [])):
            found = []
            _cable(world, cable, f"seed.fabric.cables[{position}]", found)
            problems += [Problem(words, line_of(entry["cables"], position)) for words in found]
    if not problems:
        _base(world, entry, problems)
    if problems:
        raise SeedError(problems)


def _switch(world, one, problems):
    fabric, name = world.fabric, one["name"]
    try:
        found = kind(one["platform"])
    except ValueError as problem:
        problems.append(f"Switch {name}: {problem}")
        return
    if name in fabric.switches:
        problems.append(f"Switch {name}: there are two of this name.")
        return
    version = one.get("version")
    if version is not None and version not in found.VERSIONS:
        problems.append(f"Switch {name}: {found.platform} {version} is none of {', '.join(found.VERSIONS)}.")
        return
    switch = PhysicalSwitch(world, name, found, version, one.get("model"), one.get("ports", 32), one.get("speed", 100))
    password = next(iter(world.users.values()), "")
    for user in getattr(found, "USERS", ("admin",)):
        switch.users[user] = User(password, getattr(found, "PRIVILEGE", 1))
    for user, reported in one.get("users", {}).items():
        how = reported or {}
        switch.users[user] = User(how.get("password", password), how.get("privilege", getattr(found, "PRIVILEGE", 1)))
    fabric.switches[name] = switch


def _base(world, entry, problems):
    """Return an operator's basic setup, the VLANs of the port groups on each cabled port; then the seed's lines."""
    groups = world.of_kind("DistributedVirtualPortgroup")
    served = [one.vlan or 1 for one in groups if isinstance(one.vlan, int) and not one.uplink]
    vlans = {*entry.get("vlans", served)}
    seeded = {one["name"]: one for one in _each(entry.get("switches", []))}
    for name, switch in world.fabric.switches.items():
        cabled = [port for port in switch.ports if (name, port) in world.fabric.cables]
        base = switch.device.base(cabled, vlans) if vlans and cabled else []
        try:
            _load(world, switch, [*base, *seeded[name].get("config", [])], seeded[name].get("captured", False))
        except ValueError as problem:
            problems.append(Problem(f"Switch {name}: {problem}", line_of(seeded[name], "config")))


def _load(world, switch, lines, captured):
    """Load the configuration. Of a captured one, lines that the twin does not know are left out by name."""
    if not captured:
        switch.device.load(lines)
        return

    def assume(fact, value, why):
        reason = f"the twin does not accept it: {why}"
        world.assumptions.append({"object": f"switch {switch.name}", "fact": fact, "value": value, "reason": reason})

    try:
        switch.device.load(lines, lambda line, why: assume(line.strip(), "absent", why))
    except ValueError as problem:
        assume("configuration", "factory defaults", problem)


def _cable(world, cable, place, problems):
    if not isinstance(cable, (list, tuple)) or len(cable) != 2 or not all(isinstance(end, str) for end in cable):
        problems.append(f"{place}: a cable is a list of its two ends, each owner/port.")
        return
    ends = [_end(world, end, place, problems) for end in cable]
    if None in ends:
        return
    if ends[0] == ends[1]:
        problems.append(f"{place}: both ends are {cable[0]}.")
        return
    used = [text for end, text in zip(ends, cable, strict=True) if end in world.fabric.cables]
    problems.extend(f"{place}: {text} has a cable already." for text in used)
    if not used:
        world.fabric.connect(*ends)


def _end(world, text, place, problems):
    owner, _slash, port = text.partition("/")
    fabric = world.fabric
    if owner in fabric.switches:
        if port in fabric.switches[owner].ports:
            return owner, port
        ports = list(fabric.switches[owner].ports)
        problems.append(f"{place}: {owner} has no port {port}; it has {ports[0]} to {ports[-1]}.")
        return None
    host = next((one for one in world.of_kind("HostSystem") if one.name == owner), None)
    if host is None:
        problems.append(f"{place}: there is no switch and no host {owner}.")
        return None
    devices = [nic.device for nic in host.ports]
    if port not in devices:
        problems.append(f"{place}: {owner} has no port {port}; it has {', '.join(devices)}.")
        return None
    return owner, port


def _each(entries):
    """Yield every entry, as often as its count; {n} in its name is the number."""
    number = 0
    for entry in entries:
        for _copy in range(entry.get("count", 1)):
            number += 1
            yield changed(entry, name=entry["name"].format(n=number) if "count" in entry else entry["name"])
