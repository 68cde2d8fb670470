"""Schema of a seed; all problems are found at once and named by their path."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from . import adapters, catalogue
from .release import API_VERSIONS, RELEASES
from .seed_file import Problem, SeedError, line_of


@dataclass(frozen=True)
class Key:
    """Value of one key: a type, a list of choices, a nested table, or a list of tables."""

    type: type | tuple = str
    required: bool = False
    choices: tuple = ()
    table: dict | None = None
    least: int | None = None


TEXT, NEEDED, FLAG = Key(str), Key(str, required=True), Key(bool)
COUNT = Key(int, least=1)
WHOLE = Key(int, least=0)

DVX = Key(
    dict,
    table={
        "class": NEEDED,
        "vendor": TEXT,
        "checkpoint": FLAG,
        "dma_tracing": FLAG,
        "sriov_nic": FLAG,
        "active": FLAG,
    },
)
GPU = {
    "board": Key(str, required=True, choices=tuple(catalogue.board_keys())),
    "count": COUNT,
    "graphics_type": Key(str, choices=("shared", "sharedDirect")),
    "mig": Key((bool, dict), table={"enabled": FLAG, "instances": Key(list)}),
    "root": TEXT,
    "vgpu_mode": Key(str, choices=("sameSize", "mixedSize")),
    "passthrough": FLAG,
    "label": TEXT,
    "dvx": DVX,
    "nvlink": TEXT,
    "numa_node": WHOLE,
    "pci": TEXT,
    "parent": TEXT,
}
NIC = {
    "device": NEEDED,
    "model": Key(str, choices=tuple(adapters.MODELS)),
    "root": TEXT,
    "numa_node": WHOLE,
    "firmware": Key(dict, table={"ats": FLAG, "sriov": FLAG, "num_vfs": WHOLE, "knows_ats": FLAG, "version": TEXT}),
    "uplink_of": TEXT,
    "link": Key(str, choices=("up", "down")),
    "passthrough": FLAG,
    "label": TEXT,
    "dvx": DVX,
    "pci": TEXT,
    "parent": TEXT,
    "mac": TEXT,
    "uplink_port": TEXT,
    "virtual_functions": WHOLE,
}
VMKERNEL = {
    "device": NEEDED,
    "portgroup": TEXT,
    "network": TEXT,
    "ip": TEXT,
    "netmask": TEXT,
    "mtu": COUNT,
    "mac": TEXT,
    "services": Key(list),
}
BRIDGE = {"address": NEEDED, "parent": TEXT, "numa_node": WHOLE, "name": TEXT}
STANDARD_SWITCH = {"name": NEEDED, "mtu": COUNT, "portgroups": Key(list, table={"name": NEEDED, "vlan": WHOLE})}
HOST = {
    "name": NEEDED,
    "count": COUNT,
    "release": Key(str, choices=tuple(RELEASES)),
    "connection": Key(str, choices=("connected", "disconnected", "notResponding")),
    "maintenance": FLAG,
    "state": Key(str, choices=("ready", "factory")),
    "bios": Key(
        dict,
        table={"vendor": Key(str, choices=("dell", "hpe", "supermicro", "other")), "attributes": Key(dict)},
    ),
    "vibs": Key(list),
    "acceptance": Key(str, choices=("VMwareCertified", "VMwareAccepted", "PartnerSupported", "CommunitySupported")),
    "kernel": Key(dict),
    "module_options": Key(dict),
    "options": Key(dict),
    "rulesets": Key(dict),
    "nics": Key(list, table=NIC),
    "vmkernel": Key(list, table=VMKERNEL),
    "ssh": Key(str, choices=("running", "stopped")),
    "lockdown": Key(str, choices=("disabled", "normal", "strict")),
    "lockdown_exceptions": Key(list),
    "boot_seconds": Key((int, float), least=0),
    "driver": Key(
        dict, table={"family": Key(str, required=True, choices=("nvaie", "graphics", "none")), "version": TEXT}
    ),
    "assignment_policy": Key(str, choices=("performance", "consolidation")),
    "gpus": Key(list, table=GPU),
    "moids": Key(list),
    "compute_moids": Key(list),
    "folder": TEXT,
    "uuid": TEXT,
    "build": TEXT,
    "version": TEXT,
    "bridges": Key(list, table=BRIDGE),
    "nvswitches": COUNT,
    "fabric_manager": FLAG,
    "standard_switches": Key(list, table=STANDARD_SWITCH),
    "datastores": Key(list),
    "networks": Key(list),
    "switches": Key(list),
    "domain": TEXT,
    "dns": Key(list),
    "ntp": Key(list),
    "services": Key(dict),
    "default_graphics_type": Key(str, choices=("shared", "sharedDirect")),
    "hardware": Key(
        dict,
        table={
            "vendor": TEXT,
            "model": TEXT,
            "cpu_model": TEXT,
            "sockets": COUNT,
            "cores_per_socket": COUNT,
            "mhz": COUNT,
            "memory_gb": COUNT,
            "memory_bytes": COUNT,
            "serial": TEXT,
        },
    ),
}
ADAPTER = {
    "network": NEEDED,
    "type": Key(str, choices=("vmxnet3", "pvrdma", "sriov")),
    "protocol": TEXT,
    "physical_function": TEXT,
    "mac": TEXT,
}
VM = {
    "name": NEEDED,
    "count": COUNT,
    "folder": TEXT,
    "host": TEXT,
    "cluster": TEXT,
    "pool": TEXT,
    "datastore": TEXT,
    "networks": Key(list),
    "cpus": COUNT,
    "cores_per_socket": COUNT,
    "memory_gb": COUNT,
    "disk_gb": COUNT,
    "firmware": Key(str, choices=("bios", "efi")),
    "guest_id": TEXT,
    "hardware_version": COUNT,
    "template": FLAG,
    "power": Key(str, choices=("on", "off")),
    "memory_reservation": Key(str, choices=("all", "none")),
    "vgpus": Key(list),
    "adapters": Key(list, table=ADAPTER),
    "pci_devices": Key(list, table={"id": TEXT, "allowed": Key(list), "label": TEXT, "dvx": TEXT}),
    "device_groups": Key(list),
    "extra_config": Key(dict),
    "tools": Key(str, choices=("installed", "none")),
    "annotation": TEXT,
    "host_name": TEXT,
    "connection": Key(str, choices=("connected", "disconnected", "inaccessible", "orphaned")),
    "uuid": TEXT,
    "instance_uuid": TEXT,
    "moids": Key(list),
    "home": TEXT,
    "memory_mb": COUNT,
    "devices": Key(list),
    "on_gpus": Key(list),
    "settings": Key(dict),
}
CUSTOMIZATION = {"name": NEEDED, "hostname": TEXT, "domain": TEXT, "dns": Key(list), "nics": Key(list)}
LIBRARY = {
    "name": NEEDED,
    "datastore": TEXT,
    "id": TEXT,
    "subscribed": FLAG,
    "items": Key(
        list,
        table={
            "name": NEEDED,
            "id": TEXT,
            "type": Key(str, choices=("vm-template", "ovf", "iso")),
            "from": TEXT,
            "size": WHOLE,
            "files": Key(list),
            "description": TEXT,
            "eula": TEXT,
        },
    ),
}
FILE = {
    "path": TEXT,
    "depot": Key(dict),
    "package": TEXT,
    "text": TEXT,
}
DATACENTER = {
    "name": NEEDED,
    "datastores": Key(
        list,
        table={
            "name": NEEDED,
            "count": COUNT,
            "capacity_gb": COUNT,
            "free_gb": WHOLE,
            "capacity_bytes": WHOLE,
            "free_bytes": WHOLE,
            "uuid": TEXT,
            "folder": TEXT,
            "moids": Key(list),
            "type": Key(str, choices=("VMFS", "NFS", "NFS41", "vsan")),
            "files": Key(list, table=FILE),
        },
    ),
    "networks": Key(list, table={"name": NEEDED, "vlan": WHOLE, "folder": TEXT, "moids": Key(list)}),
    "switches": Key(
        list,
        table={
            "name": NEEDED,
            "mtu": COUNT,
            "uplinks": COUNT,
            "members": Key(str, choices=("all", "uplinks")),
            "uuid": TEXT,
            "version": TEXT,
            "folder": TEXT,
            "moids": Key(list),
            "uplink_names": Key(list),
            "uplink_group": TEXT,
            "lldp": Key(str, choices=("none", "listen", "advertise", "both")),
            "portgroups": Key(
                list,
                table={
                    "name": NEEDED,
                    "vlan": WHOLE,
                    "active": Key(list),
                    "standby": Key(list),
                    "teaming": TEXT,
                    "ports": COUNT,
                    "moids": Key(list),
                },
            ),
        },
    ),
    "moids": Key(list),
    "vm_folders": Key(list),
    "host_folders": Key(list),
    "datastore_folders": Key(list),
    "network_folders": Key(list),
    "clusters": Key(
        list,
        table={
            "name": NEEDED,
            "count": COUNT,
            "drs": Key(str, choices=("off", "manual", "partiallyAutomated", "fullyAutomated")),
            "ha": FLAG,
            "drs_options": Key(dict),
            "image": Key((str, dict)),
            "configuration": Key((str, dict)),
            "pools": Key(list),
            "moids": Key(list),
            "folder": TEXT,
            "settings": Key(dict),
            "hosts": Key(list, table=HOST),
        },
    ),
    "hosts": Key(list, table=HOST),
    "vms": Key(list, table=VM),
    "libraries": Key(list, table=LIBRARY),
}
SWITCH = {
    "name": NEEDED,
    "count": COUNT,
    "platform": NEEDED,
    "version": TEXT,
    "model": TEXT,
    "ports": COUNT,
    "speed": COUNT,
    "captured": FLAG,
    "users": Key(dict),
    "config": Key(list),
}
CATEGORY = {
    "id": NEEDED,
    "name": NEEDED,
    "description": TEXT,
    "cardinality": Key(str, choices=("SINGLE", "MULTIPLE")),
    "kinds": Key(list),
}
PERMISSION = {"user": NEEDED, "role": NEEDED, "object": TEXT, "propagate": FLAG}
SEED = {
    "description": TEXT,
    "release": Key(str, choices=tuple(RELEASES)),
    "users": Key(dict, required=True),
    "captured": TEXT,
    "assumptions": Key(list),
    "instance_uuid": TEXT,
    "federated_domains": Key(list),
    "extends": TEXT,
    "every_host": Key(dict, table={key: value for key, value in HOST.items() if key != "name"}),
    "api_version": Key(str, choices=tuple(API_VERSIONS)),
    "roles": Key(dict),
    "permissions": Key(list, table=PERMISSION),
    "task_seconds": Key(dict),
    "customizations": Key(list, table=CUSTOMIZATION),
    "categories": Key(list, table=CATEGORY),
    "tags": Key(
        list, table={"id": NEEDED, "name": NEEDED, "category": NEEDED, "description": TEXT, "objects": Key(list)}
    ),
    "datacenters": Key(list, required=True, table=DATACENTER),
    "fabric": Key(dict, table={"switches": Key(list, table=SWITCH), "cables": Key(list), "vlans": Key(list)}),
}
NAMES = {
    (bool, dict): "true, false or a table",
    (int, float): "a number",
    (str, dict): "a text or a table",
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}


def check(data):
    """Raise SeedError when the data is not a seed."""
    problems = []
    _table(data, SEED, "seed", problems)
    if problems:
        raise SeedError(problems)


def word(value):
    """YAML reads on and off as true and false; here they are words."""
    return {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value


def _table(data, keys, place, problems):
    if not isinstance(data, dict):
        problems.append(Problem(f"{place}: must be a table of {', '.join(keys)}.", line_of(data)))
        return
    for name in data:
        if name not in keys:
            words = f"{place}.{name}: unknown key. {_hint(name, keys)}Known keys are {', '.join(sorted(keys))}."
            problems.append(Problem(words, line_of(data, name)))
    for name, key in keys.items():
        if name in data:
            _value(data[name], key, f"{place}.{name}", problems, line_of(data, name))
        elif key.required:
            problems.append(Problem(f"{place}.{name}: this key is missing. Add it here.", line_of(data)))


def _value(value, key, place, problems, line):
    if isinstance(value, bool) and "off" in key.choices:
        value = word(value)
    if key.type is str and isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, key.type) or (key.type is int and isinstance(value, bool)):
        problems.append(Problem(f"{place}: must be {NAMES[key.type]}, not {value!r}.", line))
    elif key.choices and value not in key.choices:
        words = f"{place}: {value!r} is none of {', '.join(key.choices)}."
        problems.append(Problem(f"{words} {_hint(value, key.choices)}".rstrip(), line))
    elif key.least is not None and value < key.least:
        problems.append(Problem(f"{place}: must be at least {key.least}, not {value}.", line))
    elif key.table is not None and key.type is list:
        for position, entry in enumerate(value):
            found = []
            _table(entry, key.table, f"{place}[{position}]", found)
            problems.extend(Problem(one, one.line or line_of(value, position)) for one in found)
    elif key.table is not None and isinstance(value, dict):
        _table(value, key.table, place, problems)


def _hint(found, known):
    """Return a hint at the known word that was probably meant."""
    longer = [one for one in known if str(found) and one.startswith(str(found))]
    near = longer or difflib.get_close_matches(str(found), known, 1)
    return f"Did you mean {near[0]}? " if near else ""
