"""Seeded mutants of whole sites: what a person, an anchor or a program may make of a site file."""

from __future__ import annotations

import copy
import itertools
import random
from pathlib import Path

from ansible.module_utils.common.yaml import yaml_load

ROOT = Path(__file__).parents[4]
LONG = "x" * 5000


class Text(str):
    """As Ansible gives texts: not of the class str itself."""


def sites():
    """The sites that mutants are made of: the example, one with vGPUs, and one that uses other parts."""
    example = yaml_load((ROOT / "inventories/example/group_vars/all/site.yml").read_text())["site"]
    vgpus = copy.deepcopy(example)
    del vgpus["licence"]
    vgpus.update(
        driver={"depot": "[datastore-01] depots/driver.zip"},
        gpu={"mode": "vgpu", "profile": "grid_a100-40c", "per_vm": 1},
        network={"path": "pvrdma", "nics": ["vmnic2"], "vmknic": "vmk1", "portgroup": "pg-rdma"},
    )
    vgpus["vms"][1]["profiles"] = ["grid_a100-20c"]
    vgpus["guests"].update(driver={"package": "/srv/driver.deb"}, licence={"wait_s": 120})
    other = copy.deepcopy(vgpus)
    other.update(
        gpu={"mode": "passthrough", "per_vm": 1},
        network={"path": "sriov", "nics": ["vmnic2"], "portgroup": "pg", "vfs": 4},
        bios={"functions": {"c_states": "disabled"}, "attributes": {"SriovGlobalEnable": "Enabled"}},
        fabric={"cables": [{"switch": "leaf-01", "port": "Ethernet1", "host": "esx-01", "nic": "vmnic2"}]},
        runtime={"engine": "docker", "proxy": {"http": "http://proxy:3128"}, "registries": [{"address": "r:5000"}]},
        validation={"checks": ["pair.ping_mtu"], "nodes": [2], "thresholds": {"pair.iperf3": {"low": 0.9}}},
    )
    other["vms"][1].pop("profiles")
    other["machine"].update(metadata={"a": {"b": ["c"]}}, advanced={"numa.autosize.once": "FALSE"})
    other["guests"].update(data_addresses={"subnet": "198.51.100.0/24"}, ntp_servers=["ntp"], mtu=9000)
    other["training"].update(environment={"A": "b"}, mounts=[{"source": "/data", "target": "/data"}], slots=1)
    return [example, vgpus, other]


VALUES = [
    *(None, True, False, 0, -1, 1, 30000, 300000000, 10**9, 10**19, 10**400, 0.5, -0.0),
    *(float("inf"), float("-inf"), float("nan"), 1e308),
    *(
        "",
        " ",
        "x",
        "~",
        "0",
        "-1",
        "1e9",
        "30000",
        "9" * 400,
        "²",
        "٣",
        ".inf",
        "yes",
        "no",
        LONG,
        "\x1b[2J\x07\x9b",
        "a\nb",
    ),
    *("--privileged", "/", "../..", "{{ 7 * 7 }}", "%s%n{0}", "\ud800", "https://u:p@h", "u:p@h", "[", "(", "*", "\\"),
    *("Ethernet1", "1/1", "vmk99999999999", "0.0.0.0/0", "::/0", "::1%x", "25%", "999%", "grid_a100-40c", "grid_-c"),
    *(
        [],
        {},
        [[]],
        [{}],
        {"a": None},
        [None],
        {None: "x"},
        {1: 2},
        {True: "x"},
        {"a" * 300: 1},
        [1, "x", None],
        (1, 2),
    ),
    *(b"bytes", Text("text"), Text(""), {"x": {"y": {"z": [1]}}}),
]
NAMES = [None, True, 5, 1.5, "", " ", "x", "name", "count", "digits", LONG, "\x1b", "a.b", "[0]", ("a", 1), "password"]


def mutant(seed):
    """A site with one to four mutations."""
    chance = random.Random(seed)
    made = copy.deepcopy(chance.choice(sites()))
    for _turn in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        mutate(chance, made)
    return made


def mutate(chance, made):
    path = chance.choice(some(made))
    above = made
    for step in path[:-1]:
        above = above[step]
    chance.choice((replace, replace, replace, remove, rename, double, wrap, swap, loop, deepen))(
        chance, made, above, path[-1]
    )


def some(made):
    """Paths into a site, not all of them: parts that are there many times have no end."""
    return list(itertools.islice(paths(made), 3000))


def paths(value, at=(), depth=0):
    if depth < 12:
        for step, below in list(value.items() if isinstance(value, dict) else enumerate(value)):
            yield (*at, step)
            if isinstance(below, (dict, list)):
                yield from paths(below, (*at, step), depth + 1)


def replace(chance, _made, above, step):
    above[step] = copy.deepcopy(chance.choice(VALUES))


def remove(_chance, _made, above, step):
    del above[step]


def rename(chance, _made, above, step):
    if isinstance(above, dict):
        above[chance.choice(NAMES)] = above.pop(step)


def double(chance, _made, above, step):
    if isinstance(above, list):
        above.extend([above[step]] * chance.choice((1, 3, 200)))
    else:
        above[chance.choice(NAMES)] = above[step]


def wrap(chance, _made, above, step):
    above[step] = chance.choice(([above[step]], {"x": above[step]}, [[above[step]]], f"{type(above[step])}"))


def swap(chance, made, above, step):
    """Another part of the same site, as an anchor makes it."""
    path = chance.choice(some(made))
    value = made
    for one in path:
        value = value[one]
    above[step] = value


def loop(chance, made, above, step):
    """A part that contains itself."""
    above[step] = chance.choice((made, above))


def deepen(chance, _made, above, step):
    for _level in range(chance.choice((5, 50, 2000))):
        above[step] = {"x": above[step]} if chance.random() < 0.5 else [above[step]]
