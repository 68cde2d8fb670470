"""Physical switches of a capture: their running configuration as lines, and cables by LLDP."""

from __future__ import annotations

import re

from ..switches.device import kind
from . import switch_configs

# No switch has more ports; a number beyond it is no port.
MOST_PORTS = 576


def fabric(bundle, hosts, assumptions):
    """The switches and cables of a seed; hosts has the names of the ports of each host."""
    switches, reported, ports = [], {}, {}
    for name in sorted(bundle.files):
        parts = name.split("/")
        if len(parts) != 3 or parts[0] != "switches" or parts[2] != "commands.json":
            continue
        listed = bundle.listing(name)
        texts = {
            str(row["command"]): bundle.files.get(f"switches/{parts[1]}/{row['file']}", "")
            for row in listed["commands"]
        }
        platform, what = str(listed.get("platform")), f"switch {parts[1]}"
        if platform not in switch_configs.READERS:
            assumptions.assume(what, "presence", "absent", f"the twin has no switch with {platform}")
            continue
        found = switch_configs.read(platform, texts, parts[1])
        if found is None:
            assumptions.assume(what, "presence", "absent", "its configuration is not captured")
            continue
        if found.name in reported:
            reason = f"another switch is named {found.name} too"
            found.name = assumptions.assume(what, "name", parts[1], reason)
        entry = {"name": found.name, "config": found.lines, **_model(listed, found, texts, assumptions)}
        ports[found.name] = set(kind(platform).port_names(entry["ports"]))
        switches.append(entry)
        reported[found.name] = found.neighbours
    _snapshots(bundle, assumptions)
    if not switches:
        assumptions.assume("fabric", "physical switches", "none", "no switch is loaded from the capture")
        return {}
    return {"switches": switches, "vlans": [], "cables": _cables(reported, ports, hosts)}


def _snapshots(bundle, assumptions):
    """Name the switches of which the capture has only a configuration, from a snapshot of Batfish."""
    for name in sorted(bundle.files):
        own = re.fullmatch(r"snapshot/configs/([^/]+)\.cfg", name)
        if own and f"switches/{own[1]}/commands.json" not in bundle.files:
            reason = "the capture has its configuration alone, without the outputs of its commands"
            assumptions.assume(f"switch {own[1]}", "presence", "absent", reason)


def _model(listed, found, texts, assumptions):
    platform, what = listed["platform"], f"switch {found.name}"
    device = kind(platform)
    made = {"platform": platform, "captured": True}
    version = str(listed.get("version") or "")
    # A build of a release has its number, and more.
    known = [one for one in device.VERSIONS if re.match(rf"{re.escape(one)}(?![\w(])", version)]
    if known:
        made["version"] = max(known, key=len)
    else:
        reason = f"the twin has no {version or 'release of an unknown number'}"
        assumptions.assume(what, "release", "the usual one of the twin", reason)
    model = str(listed.get("model") or "").removesuffix(" Chassis")
    if model and model != "x86onie":  # Onyx prints this for all models
        made["model"] = model
    elif platform == "onyx":
        assumptions.assume(what, "model", device.MODEL, "its outputs do not name it")
    made["ports"] = _count(device, found, texts)
    speed = switch_configs.speed(platform, texts)
    made["speed"] = speed or assumptions.assume(what, "speed of its ports in Gbit/s", 100)
    if found.unsaved:
        reason = "its running configuration has unsaved changes, and the capture has only these"
        assumptions.assume(what, "saved configuration", "the running one", reason)
    return made


def _count(device, found, texts):
    """How many ports the switch has: up to the last one that its outputs name."""
    named = device.port_names(MOST_PORTS)
    places = {name.lower(): number for number, name in enumerate(named, 1)}
    # Onyx and Enterprise SONiC have a blank in some lines: interface ethernet 1/7.
    stem = re.match(r"[A-Za-z]+", named[0])[0]
    words = rf"(?<![\w/])(?:{stem}|ethernet |eth)[\d/]+(?![\w/.])"
    last = 0
    for text in [*found.lines, *texts.values()]:
        for word in re.findall(words, text, re.IGNORECASE):
            digits = re.search(r"[\d/]+", word)[0]
            last = max(last, places.get(f"{stem}{digits}".lower(), 0))
    return max(last, 1)


def _cables(reported, ports, hosts):
    """Each cable once. The other end is a port of a captured host or switch; other neighbours are left out."""
    cables, taken = [], set()
    for name, neighbours in sorted(reported.items()):
        for port, (system, other) in sorted(neighbours.items()):
            owner = _owner(system, {*reported, *hosts})
            known = port in ports[name] and other in (ports.get(owner) or hosts.get(owner, ()))
            ends = [f"{owner}/{other}", f"{name}/{port}"]
            if owner and known and ends[0] != ends[1] and not taken.intersection(ends):
                taken.update(ends)
                cables.append(ends)
    return cables


def _owner(system, names):
    """The name of a neighbour, which LLDP may write without its domain."""
    found = [one for one in names if one.lower() == system.lower()]
    found = found or [one for one in names if one.lower().partition(".")[0] == system.lower().partition(".")[0]]
    return found[0] if len(found) == 1 else ""
