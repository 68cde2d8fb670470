"""Configuration Profiles: one document for the settings of all hosts of a cluster, drift and remediation."""

from __future__ import annotations

import copy
import itertools
import json
from dataclasses import dataclass

from . import kernel
from .image import Refused
from .seed_file import SeedError

# Where the sections of a document are. Documents of VMware Edge Compute Stack 3.5 have options of kernel modules there
# (github.com/alanrenouf/ECSExample, edge-host-config) [unsure: that the schema of vSphere has them]. No source has a
# place of kernel settings, so the schema has them only if a seed says so.
PLACES = {
    "module_options": ("profile", "esx", "vmkernel", "module_settings"),
    "kernel_settings": ("profile", "esx", "system", "kernel_settings"),
}
SECTIONS = ("module_options",)
# The modules are a list: each has its name and its options as one text.
MODULE, OPTIONS = "module_name", "options"


@dataclass
class Draft:
    """A working copy of the document."""

    id: str
    owner: str
    document: dict
    revision: int = 1


class Configuration:
    """The desired configuration of one cluster."""

    def __init__(self):
        self.managed = False
        self.sections = SECTIONS  # those that the schema has
        self.document: dict = {}
        self.commits = 0
        self.drafts: dict[str, Draft] = {}
        self.reports: dict[str, dict] = {}
        self.numbers = itertools.count(1)

    @property
    def commit(self):
        return str(self.commits)


def furnish(world, cluster, entry):
    """The configuration that a seed describes: managed, or the sections that the schema has."""
    wanted = entry.get("configuration")
    if wanted is None:
        return
    if not world.release.at_least(8, 0, 1) or not cluster.image.managed:
        raise SeedError([f"Cluster {cluster.name}: a configuration needs vSphere 8.0.1 and an image."])
    one = cluster.configuration
    if isinstance(wanted, dict):
        if set(wanted) != {"sections"} or not set(wanted["sections"]) <= set(PLACES):
            raise SeedError([f"Cluster {cluster.name}: configuration is managed, or a table with sections."])
        one.sections = tuple(wanted["sections"])
    elif wanted != "managed":
        raise SeedError([f"Cluster {cluster.name}: configuration is managed, or a table with sections."])
    one.managed, one.commits = True, 1
    host = next(iter(cluster.hosts.values()), None)
    found = _settings(host) if host is not None else {}
    one.document = _nested({name: _section(name, found.get(name, {})) for name in one.sections})


def schema(one):
    """The JSON schema of the document."""
    text = {"type": "string"}
    entry = {"type": "object", "properties": {MODULE: text, OPTIONS: text}, "required": [MODULE]}
    section = {
        "kernel_settings": {"type": "object", "additionalProperties": text},
        "module_options": {"type": "array", "items": entry},
    }
    found = {"type": "object", "properties": {}, "additionalProperties": False}
    for name in one.sections:
        part = found
        for key in PLACES[name][:-1]:
            fresh = {"type": "object", "properties": {}, "additionalProperties": False}
            part = part["properties"].setdefault(key, fresh)
        part["properties"][PLACES[name][-1]] = section[name]
    return found


def parsed(one, text):
    """A document from its text; raises for a part that the schema does not have."""
    try:
        document = json.loads(text)
    except (TypeError, ValueError):
        raise Refused("INVALID_ARGUMENT", "The configuration is not a JSON document.") from None
    if not _fits(document, schema(one)):
        raise Refused("INVALID_ARGUMENT", "The configuration does not match the schema.")
    return document


def _fits(value, part):
    kind = {"object": dict, "array": list, "string": str}[part["type"]]
    if not isinstance(value, kind):
        return False
    if kind is list:
        names = [one.get(MODULE) for one in value if isinstance(one, dict)]
        return len(set(names)) == len(value) and all(_fits(one, part["items"]) for one in value)
    if kind is str:
        return True
    known, others = part.get("properties", {}), part.get("additionalProperties", False)
    return set(part.get("required", ())) <= set(value) and all(
        _fits(inner, known[name]) if name in known else bool(others) and _fits(inner, others)
        for name, inner in value.items()
    )


def commit(one, document):
    """The document becomes the desired one."""
    one.document = copy.deepcopy(document)
    one.commits += 1


def drift(one, host):
    """[(path, value of the host, value of the document)]; None for a value that is not there."""
    wanted, found = _flat(_sections(one)), _flat(_only(one, _settings(host)))
    defaults = {("kernel_settings", name): setting.default for name, setting in host.kernel.settings.items()}
    return [
        (_path(path), found.get(path), wanted.get(path))
        for path in sorted({*wanted, *found})
        if wanted.get(path, defaults.get(path)) != found.get(path, defaults.get(path))
    ]


def reverts(host, one):
    """Every setting of a host that is not as the document has it, also those that the schema does not cover."""
    return [*drift(one, host), *((_path(path), value, None) for path, value in _uncovered(one, host))]


def remediate(world, one, host):
    """The host gets the document's settings, and loses those that it does not have."""
    wanted = _sections(one)
    for name, setting in host.kernel.settings.items():
        value = wanted.get("kernel_settings", {}).get(name, setting.default)
        if value != setting.configured:
            kernel.set_setting(world, host, name, value)
    for name, module in host.kernel.modules.items():
        value = " ".join(f"{key}={text}" for key, text in wanted.get("module_options", {}).get(name, {}).items())
        if kernel.parse(value) != kernel.parse(module.options):
            kernel.set_options(world, host, name, value)


def _settings(host):
    """Settings of a host that differ from their defaults."""
    return {
        "kernel_settings": {
            name: one.configured for name, one in host.kernel.settings.items() if one.configured != one.default
        },
        "module_options": {
            name: kernel.parse(one.options) for name, one in host.kernel.modules.items() if kernel.parse(one.options)
        },
    }


def _only(one, settings):
    return {name: settings[name] for name in one.sections}


def _uncovered(one, host):
    rest = {name: value for name, value in _settings(host).items() if name not in one.sections}
    return sorted(_flat(rest).items())


def _path(path):
    """A path in a report, as /profile/esx/security/settings/account_lock_failures (vmware/vmware-config-modules)."""
    return "/" + "/".join((*PLACES[path[0]], *path[1:]))


def _section(name, settings):
    """A section of the document from the settings of a host."""
    if name != "module_options":
        return settings
    return [
        {MODULE: module, OPTIONS: " ".join(f"{key}={text}" for key, text in options.items())}
        for module, options in settings.items()
    ]


def _nested(sections):
    found = {}
    for name, section in sections.items():
        part = found
        for key in PLACES[name][:-1]:
            part = part.setdefault(key, {})
        part[PLACES[name][-1]] = section
    return found


def _sections(one):
    """{section: its settings} of the document."""
    found = {}
    for name in one.sections:
        part = one.document
        for key in PLACES[name][:-1]:
            part = part.get(key, {})
        section = part.get(PLACES[name][-1], [] if name == "module_options" else {})
        if name == "module_options":
            section = {entry[MODULE]: kernel.parse(entry.get(OPTIONS, "")) for entry in section}
        found[name] = section
    return found


def _flat(part, before=()):
    found = {}
    for name, value in part.items():
        if isinstance(value, dict):
            found.update(_flat(value, (*before, name)))
        else:
            found[(*before, name)] = str(value)
    return found
