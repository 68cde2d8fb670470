"""Physical switches of a capture: their running configuration as lines, and cables by LLDP."""

from __future__ import annotations

import json

from ..switches.device import kind

LOADED = ("cumulus", "eos")


def fabric(bundle, hosts, assumptions):
    """The switches and cables of a seed; hosts has the names of the ports of each host."""
    switches, told = [], {}
    for name in sorted(bundle.files):
        parts = name.split("/")
        if len(parts) != 3 or parts[0] != "switches" or parts[2] != "commands.json":
            continue
        listed = bundle.data(name)
        texts = {
            row["command"]: bundle.files.get(f"switches/{parts[1]}/{row['file']}", "") for row in listed["commands"]
        }
        if listed.get("platform") not in LOADED:
            reason = f"the twin does not load {listed.get('platform')} yet"
            assumptions.assume(f"switch {parts[1]}", "presence", "absent", reason)
            continue
        entry, neighbours = _READERS[listed["platform"]](texts, parts[1])
        entry.update(_model(listed, entry["name"], assumptions))
        switches.append(entry)
        told[entry["name"]] = neighbours
    if not switches:
        assumptions.assume("fabric", "physical switches", "none", "no switch is loaded from the capture")
        return {}
    return {"switches": switches, "vlans": [], "cables": _cables(told, hosts)}


def _model(listed, name, assumptions):
    made = {"platform": listed["platform"], "captured": True}
    known = kind(listed["platform"]).VERSIONS
    if listed.get("version") in known:
        made["version"] = listed["version"]
    else:
        reason = f"the twin has no {listed.get('version') or 'release of an unknown number'}"
        assumptions.assume(f"switch {name}", "release", "the usual one of the twin", reason)
    if listed.get("model"):
        made["model"] = listed["model"]
    return made


def _eos(texts, name):
    config = _text(texts, "show running-config |").splitlines()
    lines = [line for line in config if line.strip() and not line.startswith("!")]
    named = [line.split()[1] for line in lines if line.startswith("hostname ")]
    found = _json(texts, "show lldp neighbors detail").get("lldpNeighbors", {})
    neighbours = {}
    for port, row in found.items():
        for one in row.get("lldpNeighborInfo", ()):
            place = one.get("neighborInterfaceInfo", {})
            other = place.get("interfaceId_v2") or place.get("interfaceId", "").strip('"')
            neighbours[port] = (one.get("systemName", ""), other)
    return {"name": named[0] if named else name, "config": lines}, neighbours


def _cumulus(texts, name):
    tree = {}
    for part in _json(texts, "nv config show") or ():
        tree = part.get("set", tree)
    lines = [" ".join(["nv", "set", *words]) for words in _words(tree)]
    neighbours = {}
    for port, row in _json(texts, "nv show interface lldp").items():
        for one in (row.get("lldp") or {}).get("neighbor", {}).values():
            neighbours[port] = (one["chassis"].get("system-name", ""), one["port"].get("name", ""))
    return {"name": tree.get("system", {}).get("hostname", name), "config": lines}, neighbours


_READERS = {"eos": _eos, "cumulus": _cumulus}


def _words(tree):
    """The words of each leaf of a configuration tree."""
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            yield from ([key, *words] for words in _words(value))
        elif isinstance(value, list):
            yield from ([key, str(one)] for one in value)
        else:
            yield [key] if isinstance(value, dict) else [key, str(value)]


def _cables(told, hosts):
    """Each cable once. The other end is a port of a captured host or switch; other neighbours are left out."""
    cables, taken = [], set()
    for name, neighbours in sorted(told.items()):
        for port, (system, other) in sorted(neighbours.items()):
            owner = _owner(system, {*told, *hosts})
            known = owner in told or other in hosts.get(owner, ())
            ends = [f"{owner}/{other}", f"{name}/{port}"]
            if owner and known and not taken.intersection(ends):
                taken.update(ends)
                cables.append(ends)
    return cables


def _owner(system, names):
    """The name of a neighbour, which LLDP may write without its domain."""
    found = [one for one in names if one.lower() == system.lower()]
    found = found or [one for one in names if one.lower().partition(".")[0] == system.lower().partition(".")[0]]
    return found[0] if len(found) == 1 else ""


def _text(texts, start):
    return next((text for command, text in texts.items() if command.startswith(start)), "")


def _json(texts, start):
    try:
        return json.loads(_text(texts, start))
    except ValueError:
        return {}
